"""Agreement between two sets of nodes: with the truth, or between runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np

__all__ = ["jaccard", "stability"]


def jaccard(found: Collection[int], truth: Collection[int]) -> float:
    """Return the size of the intersection over that of the union; 1 if both sets are empty.

    For an explanation and the truth this is the *graph explanation accuracy* (GEA), which PyTorch
    Geometric does not provide.

    Examples:
        >>> jaccard([1, 2, 3], [2, 3, 4])
        0.5
    """
    either = set(found) | set(truth)
    return len(set(found) & set(truth)) / len(either) if either else 1.0


def stability(runs: Sequence[Sequence[Collection[int]]]) -> float:
    """Return the similarity of explanations with different seeds: 1 if all find the same nodes.

    Args:
        runs: for each seed the nodes found for each target, the targets in the same order.

    Returns:
        The mean Jaccard index over targets and over pairs of seeds.

    Examples:
        >>> stability([[{1, 2}, {5}], [{1, 2}, {6}]])
        0.5
    """
    pairs = combinations(runs, 2)
    return float(np.mean([jaccard(*found) for pair in pairs for found in zip(*pair, strict=True)]))
