"""Sums over perturbed samples: one block or many."""

import numpy as np
import pytest

from pgm_explainer.effects import designs as module
from pgm_explainer.effects.designs import PerturbedSamples
from pgm_explainer.sampling import SampleTable, Variable


@pytest.fixture
def mixed():
    """A table of variables with one, two and three levels, and which samples are perturbed."""
    rng = np.random.default_rng(0)
    levels = np.array([1, 2, 3, 2, 1, 3, 2])
    perturbed = rng.random((203, 7)) < 0.3
    codes = perturbed * levels + rng.integers(0, levels, (203, 7))
    table = SampleTable([Variable(v, True, int(n)) for v, n in enumerate(levels)], 203)
    table.write(0, codes.astype(np.uint8))
    return table, perturbed


def test_bits_are_read_from_states_with_any_levels(mixed):
    table, perturbed = mixed
    columns = np.array([6, 2, 0])
    samples = PerturbedSamples(table, columns)
    assert len(samples) == 3
    np.testing.assert_array_equal(samples.count, perturbed[:, columns].sum(axis=0))
    np.testing.assert_array_equal(samples.rows(np.array([1, 2])), perturbed[:, [2, 0]].T)


def test_sums_are_over_perturbed_samples(mixed):
    table, perturbed = mixed
    values = np.random.default_rng(1).normal(size=(3, 203))
    sums = PerturbedSamples(table, np.arange(7)).sums(values)
    np.testing.assert_allclose(sums, perturbed.T.astype(float) @ values.T, atol=1e-12)


@pytest.mark.parametrize("many", [1, 204])
@pytest.mark.parametrize("cells", [1, 203 * 2, 203 * 3])
def test_block_by_block_is_the_whole_to_the_last_bit(mixed, monkeypatch, cells, many):
    table, _ = mixed
    values = np.random.default_rng(2).normal(size=(2, 203))
    whole = PerturbedSamples(table, np.arange(7))
    expected = whole.sums(values)
    monkeypatch.setattr(module, "_UNPACKED", cells)
    monkeypatch.setattr(module, "_KEPT", 100)
    monkeypatch.setattr(module, "_MANY_SAMPLES", many)
    split = PerturbedSamples(table, np.arange(7))
    assert split._kept is None
    assert whole._kept is not None
    np.testing.assert_array_equal(split.sums(values), expected)
    np.testing.assert_array_equal(split.count, whole.count)
    np.testing.assert_array_equal(split.rows(np.arange(7)), whole.rows(np.arange(7)))


def test_a_range_of_samples_is_part_of_the_whole(mixed):
    table, _ = mixed
    samples, places = PerturbedSamples(table, np.arange(7)), np.array([4, 1, 6])
    for some in (slice(0, 8), slice(16, 120), slice(200, 203)):
        np.testing.assert_array_equal(samples.rows(places, some), samples.rows(places)[:, some])


def test_a_columns_sums_do_not_depend_on_the_others(mixed):
    table, _ = mixed
    values = np.random.default_rng(3).normal(size=(2, 203))
    whole = PerturbedSamples(table, np.arange(7)).sums(values)
    for column in range(7):
        alone = PerturbedSamples(table, np.array([column])).sums(values)
        np.testing.assert_array_equal(alone[0], whole[column])
