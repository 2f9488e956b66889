"""Scores of families (a variable with its parents) on a data set.

Counts are cached for *sets* of variables, because each set is part of many families.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from itertools import groupby
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..variables import joint_states
from .dag import DAG, mask_of
from .scores import Counts, as_score, check_data, num_folds

__all__ = [
    "FamilyScores",
    "VariableSet",
    "are_few",
    "bic_score",
    "family_scores",
    "network_score",
    "score_all_families",
]

_DENSE = 4
_CELLS_AT_ONCE = 1 << 22
_FEW_CELLS = 1 << 15

VariableSet = tuple[int, ...]
"""Column numbers, ascending."""


class FamilyScores(ABC):
    """The scores of the families of some variables."""

    def __init__(self, codes: Counts, cardinalities: tuple[int, ...], score: Any) -> None:
        self.cardinalities = cardinalities
        self.score = score
        self.num_samples, self.num_variables = codes.shape

    @abstractmethod
    def family(self, child: int, parents: VariableSet) -> float:
        """Return the score of a child with its parents."""

    @abstractmethod
    def toggled(self, child: int, parents: VariableSet) -> NDArray[np.float64]:
        """Return the family's score with each variable added to or removed from the parents.

        The entry of the child is undefined.
        """

    def count_ahead(self, sets: Iterable[VariableSet]) -> None:
        """Count these sets in one batch for later use, where that saves time."""
        return

    def every_family(self) -> NDArray[np.float64] | None:
        """Return the scores ``[child, bit mask of parents]`` of all families, if available."""
        return None

    def configurations(self, variables: Iterable[int]) -> int:
        """Return the number of joint states of the variables."""
        return prod(self.cardinalities[variable] for variable in variables)

    def penalty(self, child: int, parents: VariableSet) -> float:
        """Return the part of a family's score that does not depend on the data."""
        return float(
            self.score.penalty(
                self.configurations(parents), self.cardinalities[child], self.num_samples
            )
        )

    def network(self, dag: DAG) -> float:
        """Return the score of a whole network."""
        return sum(self.family(child, dag.parents(child)) for child in range(self.num_variables))


def are_few(cardinalities: Iterable[int]) -> bool:
    """Return whether all families of these variables can be counted at once."""
    return prod(int(size) + 1 for size in cardinalities) <= _FEW_CELLS


def family_scores(data: ArrayLike, cardinalities: ArrayLike, score: Any = "bic") -> FamilyScores:
    """Return the scores of families on a data set, with the implementation for its size."""
    codes, sizes = check_data(data, cardinalities)
    chosen = as_score(score)
    if are_few(sizes):
        return FewFamilies(codes, sizes, chosen)
    by_configuration = hasattr(chosen, "configuration_terms")
    form = ManyByConfiguration if by_configuration else ManyFamilies
    return form(codes, sizes, chosen)


class FewFamilies(FamilyScores):
    """All families of a few variables, from one table of their joint states.

    Every axis of the table has an additional entry for the sum over the axis, so the table has the
    counts of every set of variables. The terms of the score are summed along each axis in the same
    way. A set is a bit mask.
    """

    def __init__(self, codes: Counts, cardinalities: tuple[int, ...], score: Any) -> None:
        super().__init__(codes, cardinalities, score)
        self._families = score_all_families(codes[None], cardinalities, score)[0]

    def family(self, child: int, parents: VariableSet) -> float:
        return float(self._families[child, mask_of(parents)])

    def toggled(self, child: int, parents: VariableSet) -> NDArray[np.float64]:
        return self._families[child, mask_of(parents) ^ _bits(self.num_variables)]

    def every_family(self) -> NDArray[np.float64]:
        return self._families


def score_all_families(
    codes: Counts, cardinalities: tuple[int, ...], score: Any
) -> NDArray[np.float64]:
    """Return the scores ``[problem, child, bit mask of parents]`` for data ``[problem, n, V]``."""
    if hasattr(score, "configuration_terms"):
        return _score_all_by_configuration(codes, cardinalities, score)
    every, bits = np.arange(1 << len(cardinalities)), _bits(len(cardinalities))
    values = _values_of_all_sets(codes, cardinalities, score)
    sizes = np.array(cardinalities)[:, None]
    penalties = score.penalty(_configurations(cardinalities), sizes, codes.shape[1])
    return np.asarray(values[:, every | bits[:, None]] - values[:, None] - penalties)


def _values_of_all_sets(
    codes: Counts, cardinalities: tuple[int, ...], score: Any
) -> NDArray[np.float64]:
    """Return the value ``[problem, bit mask]`` of every set of variables."""
    counts = _counts_of_all_sets(codes, cardinalities, num_folds(score))
    extended = _cells_of_sets(cardinalities)[..., None]
    shape = counts.shape[: len(cardinalities) + 1]
    values = score.terms(counts, np.broadcast_to(extended, shape))
    return _sums_over_states(values, cardinalities)


def _counts_of_all_sets(codes: Counts, cardinalities: tuple[int, ...], folds: int = 1) -> Counts:
    """Return the extended table of counts, with the problems, and folds if any, as last axes."""
    problems, rows = codes.shape[:2]
    # The problems are the last axis, so that sums round in the same way for any number of them.
    columns = (*np.moveaxis(codes, 2, 0), np.arange(problems)[:, None])
    shape: tuple[int, ...] = (*cardinalities, problems)
    if folds > 1:
        columns, shape = (*columns, np.arange(rows) % folds), (*shape, folds)
    cells, total = joint_states(columns, shape)
    counts = np.bincount(cells.ravel(), minlength=total).reshape(shape)
    for axis in range(len(cardinalities)):
        counts = np.concatenate((counts, counts.sum(axis=axis, keepdims=True)), axis=axis)
    return counts


def _sums_over_states(values: NDArray[Any], cardinalities: tuple[int, ...]) -> NDArray[Any]:
    """Sum a table ``[…, problem]`` over the states of each set, as ``[problem, mask]``."""
    problems = values.shape[-1]
    for size in cardinalities:
        # Replace the first axis by a last one with two entries: without and with the variable.
        values = np.stack((values[size], reduce(np.add, values[:size])), axis=-1)
    # The axes are now problem, first variable, …, but the lowest bit must vary fastest.
    return (
        values.reshape(problems, *(2,) * len(cardinalities))
        .transpose(0, *range(len(cardinalities), 0, -1))
        .reshape(problems, -1)
    )


def _score_all_by_configuration(
    codes: Counts, cardinalities: tuple[int, ...], score: Any
) -> NDArray[np.float64]:
    """Return the same scores for a score that is a sum over the configurations of the parents."""
    size, problems = len(cardinalities), len(codes)
    counts = _counts_of_all_sets(codes, cardinalities)
    families = np.empty((problems, size, 1 << size))
    every = np.arange(1 << size)
    for child, states in enumerate(cardinalities):
        others = (*cardinalities[:child], *cardinalities[child + 1 :])
        tables = np.moveaxis(counts, child, -1)[..., :states]
        seen = _sums_over_states((tables.sum(axis=-1) > 0).astype(np.int64), others)
        masks = _masks_of_cells(others)
        observed = np.moveaxis(seen[:, masks], 0, -1)
        scores = _sums_over_states(score.configuration_terms(tables, observed), others)
        # The mask of the other variables, without the bit of the child.
        low = (1 << child) - 1
        families[:, child] = scores[:, every & low | every >> 1 & ~low]
    return families


@lru_cache(maxsize=256)
def _masks_of_cells(cardinalities: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the bit mask of the set of each entry of the extended table."""
    bits = ([1 << axis] * size + [0] for axis, size in enumerate(cardinalities))
    return reduce(np.bitwise_or, np.ix_(*bits), np.zeros((), dtype=np.int64))


@lru_cache(maxsize=256)
def _cells_of_sets(cardinalities: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the number of joint states of the set of each entry of the extended table."""
    sizes = ([size] * size + [1] for size in cardinalities)
    return reduce(np.multiply, np.ix_(*sizes), np.ones((), dtype=np.int64))


@lru_cache(maxsize=256)
def _configurations(cardinalities: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the number of joint states of each set, by its bit mask."""
    counts = np.ones(1, dtype=np.int64)
    for size in cardinalities:
        counts = np.concatenate((counts, counts * size))
    return counts


@lru_cache(maxsize=64)
def _bits(count: int) -> NDArray[np.int64]:
    return 1 << np.arange(count)


class ManyFamilies(FamilyScores):
    """Families of any number of variables; every required set is counted once."""

    def __init__(self, codes: Counts, cardinalities: tuple[int, ...], score: Any) -> None:
        super().__init__(codes, cardinalities, score)
        self._columns = np.ascontiguousarray(codes.T)
        self._folds = num_folds(score)
        self._values: dict[VariableSet, float] = {}
        self._extended: dict[VariableSet, NDArray[np.float64]] = {}
        self._sizes = np.array(self.cardinalities)
        self._by_size = {size: np.flatnonzero(self._sizes == size) for size in set(self._sizes)}

    def family(self, child: int, parents: VariableSet) -> float:
        joint = self._value(tuple(sorted((*parents, child))))
        return joint - self._value(parents) - self.penalty(child, parents)

    def toggled(self, child: int, parents: VariableSet) -> NDArray[np.float64]:
        scores = self._with_each_other_parent(child, parents)
        for at, parent in enumerate(parents):
            scores[parent] = self.family(child, parents[:at] + parents[at + 1 :])
        return scores

    def _with_each_other_parent(self, child: int, parents: VariableSet) -> NDArray[np.float64]:
        """Return the family's score with each other variable added to the parents."""
        joint = self._with_each_other(tuple(sorted((*parents, child))))
        configurations = self.configurations(parents) * self._sizes
        penalty = self.score.penalty(configurations, self.cardinalities[child], self.num_samples)
        return np.asarray(joint - self._with_each_other(parents) - penalty)

    def count_ahead(self, sets: Iterable[VariableSet]) -> None:
        def sizes_of(variables: VariableSet) -> tuple[int, ...]:
            return tuple(self.cardinalities[variable] for variable in variables)

        new = sorted((each for each in sets if each not in self._values), key=sizes_of)
        for sizes, group in groupby(new, key=sizes_of):
            cells = prod(sizes)
            if cells > _DENSE * self.num_samples:
                continue  # few of the joint states occur, so counting one set at a time is faster
            members = list(group)
            at_once = max(1, _CELLS_AT_ONCE // (cells + self.num_samples))
            for start in range(0, len(members), at_once):
                self._count_same_size(members[start : start + at_once], sizes)

    def _count_same_size(self, sets: Sequence[VariableSet], sizes: tuple[int, ...]) -> None:
        """Compute the values of sets whose variables have the same numbers of states."""
        each = np.repeat(np.arange(len(sets))[:, None], self.num_samples, axis=1)
        columns = (self._columns[variables] for variables in np.array(sets).T)
        codes, total = joint_states((each, *columns), (len(sets), *sizes))
        cells = total // len(sets)
        counts = self._tally(codes, total, (len(sets), cells))
        values = self.score.terms(counts, cells).sum(axis=1)
        self._values.update(zip(sets, values.tolist(), strict=True))

    def _value(self, variables: VariableSet) -> float:
        known = self._values.get(variables)
        if known is None and variables and variables[:-1] in self._extended:
            known = float(self._extended[variables[:-1]][variables[-1]])
        if known is None:
            codes, seen = self._joint_codes(variables)
            counts = self._tally(codes, seen, (seen,))
            terms = self.score.terms(counts, self.configurations(variables))
            known = self._values[variables] = float(terms.sum())
        return known

    def _with_each_other(self, variables: VariableSet) -> NDArray[np.float64]:
        """Return the values of a set with each variable added to it, from one count."""
        if (known := self._extended.get(variables)) is not None:
            return known
        codes, seen = self._joint_codes(variables)
        answer = np.empty(self.num_variables)
        for size, members in self._by_size.items():
            cells = int(size) * seen
            joint = self._columns[members] * seen + codes
            joint += (np.arange(len(members)) * cells)[:, None]
            counts = self._tally(joint, len(members) * cells, (len(members), cells))
            possible = self.configurations(variables) * int(size)
            answer[members] = self.score.terms(counts, possible).sum(axis=1)
        self._extended[variables] = answer
        return answer

    def _tally(self, codes: Counts, total: int, shape: tuple[int, ...]) -> Counts:
        """Count codes ``[…, n]``, by the parts of the rows too if the score needs them."""
        if self._folds == 1:
            return np.bincount(codes.ravel(), minlength=total).reshape(shape)
        parts = codes * self._folds + np.arange(self.num_samples) % self._folds
        counts = np.bincount(parts.ravel(), minlength=total * self._folds)
        return counts.reshape(*shape, self._folds)

    def _joint_codes(self, variables: VariableSet) -> tuple[Counts, int]:
        """Encode the joint states; only those that occur, if there are many more than samples."""
        # The empty set has one joint state.
        first = np.zeros(self.num_samples, dtype=np.int64)
        columns = (first, *(self._columns[variable] for variable in variables))
        sizes = (1, *(self.cardinalities[variable] for variable in variables))
        return joint_states(columns, sizes, only_seen=True)


class ManyByConfiguration(ManyFamilies):
    """Families for a score that is a sum over configurations; each family is counted once."""

    def __init__(self, codes: Counts, cardinalities: tuple[int, ...], score: Any) -> None:
        super().__init__(codes, cardinalities, score)
        self._scores: dict[tuple[int, VariableSet], float] = {}

    def family(self, child: int, parents: VariableSet) -> float:
        known = self._scores.get((child, parents))
        if known is None:
            codes, seen = self._joint_codes(parents)
            known = float(self._family_scores(child, codes[None], seen)[0])
            self._scores[child, parents] = known
        return known

    def penalty(self, child: int, parents: VariableSet) -> float:
        return 0.0

    def count_ahead(self, sets: Iterable[VariableSet]) -> None:
        """Do nothing, because sets are not counted."""

    def _with_each_other_parent(self, child: int, parents: VariableSet) -> NDArray[np.float64]:
        codes, seen = self._joint_codes(parents)
        answer = np.empty(self.num_variables)
        for size, members in self._by_size.items():
            joint = self._columns[members] * seen + codes
            answer[members] = self._family_scores(child, joint, int(size) * seen)
        return answer

    def _family_scores(self, child: int, parents: Counts, cells: int) -> NDArray[np.float64]:
        """Score the child with each of several sets of parents, encoded as ``[set, n]``."""
        states, sets = self.cardinalities[child], len(parents)
        joint = (parents + (np.arange(sets) * cells)[:, None]) * states + self._columns[child]
        counts = np.bincount(joint.ravel(), minlength=sets * cells * states)
        tables = counts.reshape(sets, cells, states)
        observed = np.count_nonzero(tables.any(axis=-1), axis=1)[:, None]
        return np.asarray(self.score.configuration_terms(tables, observed).sum(axis=1))


def network_score(
    data: ArrayLike, cardinalities: ArrayLike, edges: Iterable[Iterable[int]], score: Any = "bic"
) -> float:
    """Return the score of the network with the given edges.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        edges: pairs (parent, child) of column numbers.
        score: a name in :data:`SCORES` or an object like those.

    Examples:
        >>> from pgm_explainer.structure import network_score
        >>> data = [[0, 0], [1, 1]] * 50
        >>> network_score(data, [2, 2], [(0, 1)]) > network_score(data, [2, 2], [])
        True
    """
    families = family_scores(data, cardinalities, score)
    return families.network(DAG(families.num_variables, edges))


def bic_score(
    data: ArrayLike, cardinalities: ArrayLike, edges: Iterable[Iterable[int]] = ()
) -> float:
    """Return the BIC score, equation (4) of the paper, with natural logarithms.

    The arguments are those of :func:`network_score`.

    Examples:
        >>> data = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
        >>> bic_score(data, [2, 2], [(0, 1)]) > bic_score(data, [2, 2], [])
        True
    """
    return network_score(data, cardinalities, edges)
