"""Joint states of discrete variables, numbered."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["joint_states"]

_DENSE = 4


def joint_states(
    columns: Iterable[NDArray[np.integer]], sizes: Iterable[int], *, only_seen: bool = False
) -> tuple[NDArray[np.int64], int]:
    """Number the joint states of some variables, the state of the last varying fastest.

    Args:
        columns: the states of each variable, arrays of one shape, at least one.
        sizes: how many states each variable has.
        only_seen: where there are many more joint states than samples, number those that occur,
            in the same order. So numbers stay small however many variables there are.

    Returns:
        The number of each sample's joint state, and how many numbers there are.

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
