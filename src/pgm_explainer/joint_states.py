"""Integer codes of the joint states of discrete variables."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["joint_states"]

_DENSE = 4


def joint_states(
    columns: Iterable[NDArray[np.integer]], sizes: Iterable[int], *, only_seen: bool = False
) -> tuple[NDArray[np.int64], int]:
    """Encode the joint states of some variables as integers; the last variable varies fastest.

    Args:
        columns: the states of each variable, arrays of the same shape; at least one.
        sizes: the number of states of each variable.
        only_seen: if there are many more joint states than samples, encode only those that occur,
            in the same order, so that codes stay small.

    Returns:
        The code of each sample's joint state, and the number of codes.

    Examples:
        >>> joint_states([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3])
        (array([2, 3, 5]), 6)
    """
    codes, total = np.zeros(1, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        codes = codes * size + column
        total *= size
        if only_seen and total > _DENSE * codes.size:
            seen, codes = np.unique(codes, return_inverse=True)
            total = len(seen)
    return codes, total
