"""How far two sets of nodes agree: with the truth, or one run with the next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np

__all__ = ["jaccard", "stability"]


def jaccard(found: Collection[int], truth: Collection[int]) -> float:
    """Return the share that two sets have in common of what either holds; 1 if both are empty.

    Of an explanation and the truth this is the *graph explanation accuracy* (GEA), which PyTorch
    Geometric does not have.

    Examples:
        >>> jaccard([1, 2, 3], [2, 3, 4])
        0.5
    """
    either = set(found) | set(truth)
    return len(set(found) & set(truth)) / len(either) if either else 1.0


def stability(runs: Sequence[Sequence[Collection[int]]]) -> float:
    """Return how alike explanations with different seeds are: 1 if all find the same nodes.

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
