"""Blocks of targets that fit into memory."""

from __future__ import annotations

from pgm_explainer.batching import memory_blocks

MEGABYTE = 2**20


def sizes(candidates, num_samples, max_memory):
    results = [range(candidates)] * 300
    return [len(block) for block in memory_blocks(results, num_samples, max_memory)]


def test_small_results_are_in_large_blocks():
    assert sizes(10, 1000, 1024 * MEGABYTE) == [300]


def test_blocks_are_smaller_with_many_candidates():
    assert set(sizes(100_000, 1000, 64 * MEGABYTE)) == {1}


def test_blocks_are_smaller_with_many_samples():
    """The predictions of 128 targets in a million samples would take more than a gigabyte."""
    assert set(sizes(10, 1_000_000, 64 * MEGABYTE)) == {1}
    assert set(sizes(10, 100_000, 64 * MEGABYTE)) == {10}
