"""Contingency tables of variables, and tests of their independence, on many tables at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import as_array, call_own, check_string, described, has_attributes, resolve
from .choices import Choice, Described, UserDefined
from .errors import InputError
from .limits import brief
from .variables import joint_states

__all__ = [
    "TESTS",
    "ChiSquareTest",
    "GTest",
    "IndependenceTest",
    "PairwiseTests",
    "as_test",
    "conditional_tests",
    "log_chi_square_tail",
    "one_hot",
    "pair_counts",
    "pairwise_tests",
    "stratified_counts",
]

Counts = NDArray[np.float64]

_SMALL = 10_000_000
MIN_PER_CELL = 5
"""A stratum is tested only if it has this many samples per cell on average."""
LEAST_PER_STRATUM = 4 * MIN_PER_CELL
"""The minimum number of samples of a tested stratum, which has at least 2 by 2 cells."""
_TINY = 1e-280
_TERMS = 60


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
    model: explaining one target of Syn 6 took 50% longer.
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


class IndependenceTest(Choice, Protocol):
    """A test whose statistic is chi-square distributed if the variables are independent.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.selection import TESTS
        >>> sorted(TESTS)
        ['chi_square', 'g']
    """

    @property
    def name(self) -> str: ...

    def statistic(self, counts: Counts) -> NDArray[np.float64]:
        """Return the statistic of each table ``[..., r, c]``, without empty rows and columns."""
        ...


@dataclass(frozen=True)
class ChiSquareTest(Described):
    """Pearson's test, without continuity correction.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import ChiSquareTest
        >>> counts = np.array([[40.0, 10], [10, 40]])
        >>> float(ChiSquareTest().statistic(counts).round(2))
        36.0
    """

    name: str = "chi_square"

    def __post_init__(self) -> None:
        check_string(self.name, "the name of a test")

    def statistic(self, counts: Counts) -> NDArray[np.float64]:
        # The same as summing (count - expected)² / expected, in fewer steps.
        cells = _cells_first(counts)
        rows, columns = cells.sum(axis=1), cells.sum(axis=0)
        shares = np.square(cells)
        shares /= np.maximum(rows[:, None] * columns, 1)
        return np.maximum(rows.sum(axis=0) * (_in_order(_in_order(shares)) - 1), 0)


@dataclass(frozen=True)
class GTest(Described):
    """The likelihood-ratio test; the statistic is 2n times the mutual information.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import GTest
        >>> counts = np.array([[40, 10], [10, 40]])
        >>> float(GTest().statistic(counts).round(2))
        38.55
    """

    name: str = "g"

    def __post_init__(self) -> None:
        check_string(self.name, "the name of a test")

    def statistic(self, counts: Counts) -> NDArray[np.float64]:
        def information(part: Counts) -> NDArray[np.float64]:
            return np.asarray(scipy.special.xlogy(part, part))

        cells = _cells_first(counts)
        inside = _in_order(_in_order(information(cells)))
        rows = _in_order(information(cells.sum(axis=1)))
        columns = _in_order(information(cells.sum(axis=0)))
        total = information(cells.sum(axis=(0, 1)))
        return np.maximum(2 * (inside - rows - columns + total), 0)


TESTS: dict[str, IndependenceTest] = {test.name: test for test in (ChiSquareTest(), GTest())}


@dataclass(frozen=True)
class CheckedTest(UserDefined):
    """A custom test with validated outputs."""

    test: Any

    @property
    def name(self) -> str:
        name = getattr(self.test, "name", None)
        return name if isinstance(name, str) else described(self.test)

    def statistic(self, counts: Counts) -> NDArray[np.float64]:
        called = f"the test {self.name!r}"
        usage = "statistic(counts [..., r, c]) -> numbers [...]"
        statistic = as_array(
            call_own(self.test.statistic, counts, what=called, usage=usage), called
        )
        if statistic.shape != counts.shape[:-2]:
            raise InputError(
                f"{called} returned an array of shape {statistic.shape}; it must return one number "
                f"for each table, {counts.shape[:-2]}"
            )
        if not (np.isfinite(statistic) & (statistic >= 0)).all():
            bad = statistic[~(statistic >= 0) | np.isinf(statistic)].flat[0]
            raise InputError(
                f"{called} returned {bad}; a statistic must be a finite number of at least 0, also "
                f"for tables with empty rows or columns"
            )
        return statistic.astype(np.float64)


def as_test(choice: Any) -> IndependenceTest:
    """Return the test for a name or an instance.

    Examples:
        >>> from pgm_explainer.selection import as_test
        >>> as_test("g"), as_test("chi_square")
        (GTest(name='g'), ChiSquareTest(name='chi_square'))
    """
    named = resolve(choice, "test", TESTS)
    if named is not None:
        return named
    if not has_attributes(choice, "statistic") or isinstance(choice, type):
        raise InputError(
            f"test must be a name ({', '.join(TESTS)}) or an object with a method "
            f"statistic(counts), not {brief(choice)}"
        )
    known = type(choice) in (ChiSquareTest, GTest, CheckedTest)
    return choice if known else CheckedTest(choice)


@dataclass(frozen=True)
class PairwiseTests:
    """Test results for many pairs, as arrays of the same shape.

    Attributes:
        statistic: the test statistic; larger means stronger evidence.
        dof: degrees of freedom, from the states that occur; 0 if no test is possible.
        log_p: natural logarithm of the p-value; 0 if no test is possible.
        effect_size: Cramér's V, from 0 (independent) to 1 (one determines the other).
    """

    statistic: NDArray[np.float64]
    dof: NDArray[np.int64]
    log_p: NDArray[np.float64]
    effect_size: NDArray[np.float64]

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> PairwiseTests:
        """Return empty results of this shape."""
        return cls(
            np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
        )

    def at(self, where: Any) -> PairwiseTests:
        """Return the results of the pairs at an index."""
        return PairwiseTests(
            self.statistic[where], self.dof[where], self.log_p[where], self.effect_size[where]
        )

    def put(self, where: Any, results: PairwiseTests) -> None:
        """Store the results of the pairs at an index."""
        self.statistic[where], self.dof[where] = results.statistic, results.dof
        self.log_p[where], self.effect_size[where] = results.log_p, results.effect_size


def pairwise_tests(counts: Counts, test: IndependenceTest) -> PairwiseTests:
    """Test every table of ``counts [..., r, c]`` at once.

    Examples:
        >>> counts = np.array([[30.0, 10.0], [10.0, 30.0]])
        >>> result = pairwise_tests(counts, ChiSquareTest())
        >>> float(result.statistic), int(result.dof), float(result.effect_size)
        (20.0, 1, 0.5)
    """
    tables: Counts = np.asarray(counts, dtype=np.float64)
    rows, columns = _occupied(tables)
    dof = (rows - 1) * (columns - 1)
    statistic = np.where(dof > 0, test.statistic(tables), 0.0)
    chi_square = statistic
    if not isinstance(test, ChiSquareTest):
        chi_square = np.where(dof > 0, ChiSquareTest().statistic(tables), 0.0)
    most = tables.sum(axis=(-2, -1)) * np.maximum(np.minimum(rows, columns) - 1, 1)
    effect = np.sqrt(chi_square / np.maximum(most, 1))
    return PairwiseTests(statistic, dof, log_chi_square_tail(statistic, dof), effect)


def conditional_tests(
    tables: Sequence[Counts], test: IndependenceTest, per_cell: int = MIN_PER_CELL
) -> NDArray[np.float64]:
    """Return the log p-value of conditional independence for each stratified table.

    Each stratum of a table ``[strata, r, c]`` is tested separately, over the states that occur in
    it, and statistics and degrees of freedom are summed. A stratum with fewer than ``per_cell``
    samples per cell is left out, because its statistic is not chi-square distributed. If all strata
    are left out, the result is 0 (p = 1).
    """
    counts = np.concatenate(tables, dtype=np.float64)
    owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    rows, columns = _occupied(counts)
    dof = (rows - 1) * (columns - 1)
    usable = (dof > 0) & (counts.sum(axis=(1, 2)) >= per_cell * rows * columns)
    owner, dof = owner[usable], dof[usable]
    statistic = np.bincount(owner, test.statistic(counts[usable]), minlength=len(tables))
    return log_chi_square_tail(statistic, np.bincount(owner, dof, minlength=len(tables)))


def _occupied(counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of nonempty rows and columns of each table."""
    seen = _cells_first(counts) > 0
    rows, columns = seen.any(axis=1).sum(axis=0), seen.any(axis=0).sum(axis=0)
    return np.maximum(rows, 1), np.maximum(columns, 1)


def _in_order(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum along the first axis in a fixed order.

    The order of ``np.sum`` depends on the shape, but the statistic of a pair must not depend on the
    other pairs that are tested with it, not even by rounding.
    """
    return np.asarray(reduce(np.add, values))


def _cells_first(counts: Counts) -> Counts:
    """Return tables ``[..., r, c]`` as ``[r, c, ...]``, which is faster to sum."""
    return np.ascontiguousarray(np.moveaxis(counts, (-2, -1), (0, 1)))


def log_chi_square_tail(statistic: ArrayLike, dof: ArrayLike) -> NDArray[np.float64]:
    """Return ``log P(X >= statistic)`` for X chi-square with ``dof`` degrees of freedom.

    The p-values of strong dependences underflow to 0 and could not be ranked; their logarithms can.
    With zero degrees of freedom the result is 0 (p = 1).

    Examples:
        >>> round(float(log_chi_square_tail(5000.0, 9)), 3)
        -2475.068
    """
    x, shape = np.broadcast_arrays(np.asarray(statistic, float) / 2, np.asarray(dof, float) / 2)
    testable = shape > 0
    tail = np.where(testable, scipy.special.gammaincc(np.where(testable, shape, 1.0), x), 1.0)
    far = tail < _TINY
    log_tail = np.array(np.log(np.where(far, 1.0, tail)))
    if far.any():
        log_tail[far] = _log_far_tail(shape[far], x[far])
    return log_tail


def _log_far_tail(shape: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Legendre's continued fraction of the upper incomplete gamma function, by Lentz's method."""
    denominator = x + 1 - shape
    ratio = 1 / denominator
    fraction = ratio.copy()
    growth = np.full_like(x, 1 / np.finfo(float).tiny)
    for term in range(1, _TERMS):
        numerator = -term * (term - shape)
        denominator = denominator + 2
        ratio = 1 / (numerator * ratio + denominator)
        growth = denominator + numerator / growth
        fraction *= ratio * growth
    return -x + shape * np.log(x) - scipy.special.gammaln(shape) + np.log(fraction)
