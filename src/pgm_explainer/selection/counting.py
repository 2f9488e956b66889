"""Contingency tables of pairs of variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..joint_states import joint_states

__all__ = ["one_hot", "pair_counts", "stratified_counts"]

Counts = NDArray[np.float64]
_SMALL = 10_000_000


def one_hot(codes: NDArray[np.uint8], states: int) -> NDArray[np.float32]:
    """Return indicator rows ``[variables * (states - 1), n]`` of all states except the first.

    The count of the first state follows from those of the others.
    """
    hot = codes.T[:, None] == np.arange(1, states, dtype=codes.dtype)[:, None]
    return hot.reshape(-1, len(codes)).astype(np.float32)


def pair_counts(
    left: NDArray[np.uint8],
    right: NDArray[np.uint8],
    states: int,
    wanted: NDArray[np.bool_] | None = None,
) -> Counts:
    """Count the pairs of states of many pairs of variables with one matrix product.

    Args:
        left: states ``[n, L]`` of some variables.
        right: states ``[n, R]`` of others.
        states: more than any state that occurs.
        wanted: a mask ``[L, R]`` of the pairs to return; None for all of them.

    Returns:
        Counts ``[wanted pairs, states, states]``, or ``[L, R, states, states]`` for all. Single
        precision is exact for integers up to 2**24.

    Examples:
        >>> x = np.array([[0], [1], [1]], dtype=np.uint8)
        >>> pair_counts(x, x, states=2)[0, 0].tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """
    shape = (left.shape[1], states - 1, right.shape[1], states - 1)
    hot_left, hot_right = one_hot(left, states), one_hot(right, states)
    product = _product(hot_left, hot_right).reshape(shape).swapaxes(1, 2)
    rows, columns = np.nonzero(np.ones(product.shape[:2], bool) if wanted is None else wanted)
    counts = np.empty((len(rows), states, states))
    counts[:, 1:, 1:] = product[rows, columns]
    left_totals = hot_left.sum(axis=1, dtype=np.float64).reshape(-1, states - 1)[rows]
    right_totals = hot_right.sum(axis=1, dtype=np.float64).reshape(-1, states - 1)[columns]
    counts[:, 1:, 0] = left_totals - counts[:, 1:, 1:].sum(axis=2)
    counts[:, 0, 1:] = right_totals - counts[:, 1:, 1:].sum(axis=1)
    counts[:, 0, 0] = len(left) - left_totals.sum(axis=1) - counts[:, 0, 1:].sum(axis=1)
    return counts if wanted is not None else counts.reshape(*product.shape[:2], states, states)


def _product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``left @ right.T``, without BLAS for small matrices.

    BLAS threads spin for tens of milliseconds after a product and slow down the next call of the
    model: explaining one target of Syn 6 took 50 % longer.
    """
    if left.size * len(right) <= _SMALL:
        return np.asarray(np.einsum("ln,rn->lr", left, right))
    return left @ right.T


def stratified_counts(
    left: NDArray[np.uint8],
    right: NDArray[np.uint8],
    given: NDArray[np.uint8],
    states: int,
    least: int = 1,
) -> Counts:
    """Count pairs of states of two variables within each observed combination of others.

    Args:
        left, right: states ``[n]``.
        given: states ``[n, G]`` of the conditioning variables.
        least: combinations observed less often are left out.

    Returns:
        Counts ``[strata, states, states]`` of the observed combinations, in the order of their
        states; a single one without conditioning variables.
    """
    kept = np.arange(len(left))
    stratum, strata = np.zeros(len(left), dtype=np.int64), 1
    for column in given.T:
        stratum, strata = joint_states((stratum, column[kept]), (strata, states), only_seen=True)
        # Further variables only split combinations, so rare combinations can be dropped early.
        enough = np.bincount(stratum, minlength=strata)[stratum] >= least
        if not enough.all():
            stratum, kept = stratum[enough], kept[enough]
            if not len(kept):
                break
    cells, total = joint_states((stratum, left[kept], right[kept]), (strata, states, states))
    counts = np.bincount(cells, minlength=total).reshape(strata, states, states)
    return counts[counts.any(axis=(1, 2))].astype(np.float64)
