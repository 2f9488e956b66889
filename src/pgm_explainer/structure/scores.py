"""Decomposable scores of a network: the paper's BIC, and AIC, BDeu and the bare likelihood.

A network's score is the sum of the scores of its families (a variable with its parents). Each of
these scores makes a family's the difference of two values: one of the counts of child and parents
together, one of the counts of the parents alone. So it is *sets* of variables that are counted
and remembered, and one set serves many families.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log, prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ..arrays import as_array, resolve
from ..errors import InputError
from .dag import DAG

__all__ = [
    "SCORES",
    "BDeuScore",
    "FamilyScores",
    "PenalisedLikelihood",
    "Score",
    "as_score",
    "bic_score",
    "check_data",
    "family_score",
    "network_score",
]

_DENSE = 4
_CELLS_AT_ONCE = 1 << 22
Counts = NDArray[np.int64]
VariableSet = tuple[int, ...]


class Score(Protocol):
    """A score whose families are differences of values of sets, less a penalty.

    Where the penalty is above 0, that difference must be at most 0, as a log-likelihood is: exact
    search relies on it to leave hopeless families out.
    """

    @property
    def name(self) -> str: ...

    def value(self, counts: Counts, cells: int) -> NDArray[np.float64]:
        """Value ``m`` sets of variables at once.

        Args:
            counts: ``[m, c]``, how often each joint state of a set was seen; states never seen may
                be left out.
            cells: how many joint states each set has, seen or not.
        """
        ...

    def penalty(self, configurations: int, states: int, samples: int) -> float:
        """Return what a family pays for its parents' configurations and its child's states."""
        ...


@dataclass(frozen=True)
class PenalisedLikelihood:
    """Log-likelihood at its maximum, minus a price for every free parameter.

    Attributes:
        per_parameter: the fixed price of a parameter (AIC: 1).
        per_log_n: the price in units of log n (BIC: 1/2).
    """

    name: str
    per_parameter: float = 0.0
    per_log_n: float = 0.0

    def value(self, counts: Counts, cells: int) -> NDArray[np.float64]:
        return np.asarray(_n_log_n(int(counts.max(initial=0)))[counts].sum(axis=1))

    def penalty(self, configurations: int, states: int, samples: int) -> float:
        price = self.per_parameter + self.per_log_n * log(samples)
        return price * configurations * (states - 1)


@dataclass(frozen=True)
class BDeuScore:
    """Bayesian Dirichlet score with a uniform prior worth ``equivalent_samples`` samples."""

    equivalent_samples: float = 10.0
    name: str = "bdeu"

    def value(self, counts: Counts, cells: int) -> NDArray[np.float64]:
        prior = self.equivalent_samples / cells
        gained = special.gammaln(prior + counts) - special.gammaln(prior)
        return np.asarray(gained.sum(axis=1))

    def penalty(self, configurations: int, states: int, samples: int) -> float:
        return 0.0


_tables: dict[str, NDArray[np.float64]] = {}


def _n_log_n(largest: int) -> NDArray[np.float64]:
    """Return n log n for n = 0, 1, 2, …: counts are whole numbers, and a look-up is fast."""
    table = _tables.get("n log n")
    if table is None or len(table) <= largest:
        numbers = np.arange(max(1024, 2 * largest))
        table = _tables["n log n"] = special.xlogy(numbers, numbers)
    return table


SCORES: dict[str, Score] = {
    "bic": PenalisedLikelihood("bic", per_log_n=0.5),
    "aic": PenalisedLikelihood("aic", per_parameter=1.0),
    "bdeu": BDeuScore(),
    "log_likelihood": PenalisedLikelihood("log_likelihood"),
}


def as_score(choice: Any) -> Score:
    """Return the score meant by a name or an instance."""
    named = resolve(choice, "score", SCORES)
    if named is not None:
        return named
    usable = hasattr(choice, "value") and hasattr(choice, "penalty")
    if not usable or isinstance(choice, type):
        raise InputError(
            f"score must be a name ({', '.join(SCORES)}) or an object with the methods "
            f"value and penalty, not {choice!r}"
        )
    return choice


def check_data(data: ArrayLike, cardinalities: ArrayLike) -> tuple[Counts, tuple[int, ...]]:
    """Return data ``[n, V]`` and cardinalities as checked integers."""
    codes = as_array(data, "data")
    sizes = as_array(cardinalities, "cardinalities")
    if codes.ndim != 2 or len(codes) == 0:
        raise InputError(f"data must be a matrix [samples, variables], not {codes.shape}")
    if sizes.shape != codes.shape[1:] or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise InputError(
            f"cardinalities must give a positive whole number for each of the "
            f"{codes.shape[1]} variables, not {cardinalities!r}"
        )
    if codes.dtype.kind not in "biu":
        raise InputError(f"data must hold states as small integers, but its type is {codes.dtype}")
    codes = codes.astype(np.int64)
    wrong = (codes < 0) | (codes >= sizes)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"data[{row}, {column}] is {codes[row, column]}, but variable {column} has states "
            f"0 to {sizes[column] - 1}"
        )
    return codes, tuple(int(size) for size in sizes)


class FamilyScores:
    """Scores of families on one data set; every set of variables is counted once.

    A set of variables is an ascending tuple of column numbers.
    """

    def __init__(self, data: ArrayLike, cardinalities: ArrayLike, score: Any = "bic") -> None:
        codes, self.cardinalities = check_data(data, cardinalities)
        self.score = as_score(score)
        self.num_samples, self.num_variables = codes.shape
        self._columns = np.ascontiguousarray(codes.T)
        self._values: dict[VariableSet, float] = {}
        self._extended: dict[VariableSet, NDArray[np.float64]] = {}
        self._sizes = np.array(self.cardinalities)
        self._by_size = {size: np.flatnonzero(self._sizes == size) for size in set(self._sizes)}

    def configurations(self, variables: Iterable[int]) -> int:
        """Return how many joint states the variables have."""
        return prod(self.cardinalities[variable] for variable in variables)

    def penalty(self, child: int, parents: VariableSet) -> float:
        """Return the part of a family's score that does not depend on the data."""
        return self.score.penalty(
            self.configurations(parents), self.cardinalities[child], self.num_samples
        )

    def family(self, child: int, parents: VariableSet) -> float:
        """Return the score of a child with its parents."""
        together = self._value(tuple(sorted((*parents, child))))
        return together - self._value(parents) - self.penalty(child, parents)

    def with_each_other_parent(self, child: int, parents: VariableSet) -> NDArray[np.float64]:
        """Return the family's score with each variable as one more parent.

        Entries of the child itself and of its present parents mean nothing.
        """
        gained = self._with_each_other(tuple(sorted((*parents, child))))
        configurations = self.configurations(parents)
        penalties = {
            size: self.score.penalty(
                configurations * int(size), self.cardinalities[child], self.num_samples
            )
            for size in self._by_size
        }
        lost = self._with_each_other(parents)
        if len(penalties) == 1:
            return np.asarray(gained - lost - next(iter(penalties.values())))
        return np.asarray(gained - lost - [penalties[size] for size in self._sizes])

    def network(self, dag: DAG) -> float:
        """Return the score of a whole network."""
        return sum(self.family(child, dag.parents(child)) for child in range(self.num_variables))

    def count_ahead(self, sets: Iterable[VariableSet]) -> None:
        """Value many sets in bulk, so that asking for them later costs nothing."""
        new = [each for each in sets if each not in self._values]
        new.sort(key=lambda each: tuple(self.cardinalities[v] for v in each))
        alike = groupby(new, key=lambda each: tuple(self.cardinalities[v] for v in each))
        for sizes, group in alike:
            cells = prod(sizes)
            if cells > _DENSE * self.num_samples:
                continue  # few of their states are ever seen: better one at a time
            members = list(group)
            at_once = max(1, _CELLS_AT_ONCE // (cells + self.num_samples))
            for start in range(0, len(members), at_once):
                self._count_alike(members[start : start + at_once], sizes)

    def _count_alike(self, sets: Sequence[VariableSet], sizes: tuple[int, ...]) -> None:
        """Value sets whose members have the same numbers of states."""
        cells = prod(sizes)
        codes = np.repeat(np.arange(len(sets))[:, None], self.num_samples, axis=1)
        for size, variables in zip(sizes, np.array(sets).T, strict=True):
            codes *= size
            codes += self._columns[variables]
        counts = np.bincount(codes.ravel(), minlength=len(sets) * cells).reshape(-1, cells)
        self._values.update(zip(sets, self.score.value(counts, cells).tolist(), strict=True))

    def _value(self, variables: VariableSet) -> float:
        known = self._values.get(variables)
        if known is None and variables and variables[:-1] in self._extended:
            known = float(self._extended[variables[:-1]][variables[-1]])
        if known is None:
            codes, seen = self._joint_codes(variables)
            counts = np.bincount(codes, minlength=seen)[None]
            values = self.score.value(counts, self.configurations(variables))
            known = self._values[variables] = float(values[0])
        return known

    def _with_each_other(self, variables: VariableSet) -> NDArray[np.float64]:
        """Value a set with each variable added to it, by one count for all of them."""
        known = self._extended.get(variables)
        if known is not None:
            return known
        codes, seen = self._joint_codes(variables)
        answer = np.empty(self.num_variables)
        for size, members in self._by_size.items():
            cells = int(size) * seen
            joint = self._columns[members] * seen + codes
            joint += (np.arange(len(members)) * cells)[:, None]
            counts = np.bincount(joint.ravel(), minlength=len(members) * cells)
            possible = self.configurations(variables) * int(size)
            answer[members] = self.score.value(counts.reshape(-1, cells), possible)
        self._extended[variables] = answer
        return answer

    def _joint_codes(self, variables: VariableSet) -> tuple[Counts, int]:
        """Number the joint states; only those seen, when there are many more than samples."""
        codes, total = np.zeros(self.num_samples, dtype=np.int64), 1
        for variable in variables:
            codes = codes * self.cardinalities[variable] + self._columns[variable]
            total *= self.cardinalities[variable]
            if total > _DENSE * self.num_samples:
                seen, codes = np.unique(codes, return_inverse=True)
                total = len(seen)
        return codes, total


def family_score(counts: Counts, score: Score) -> float:
    """Return the score of one family from its counts, the child's states on the last axis."""
    states, samples = counts.shape[-1], int(counts.sum())
    parents = counts.sum(axis=-1).reshape(1, -1)
    together = score.value(counts.reshape(1, -1), counts.size) - score.value(parents, parents.size)
    return float(together[0]) - score.penalty(parents.size, states, samples)


def network_score(
    data: ArrayLike, cardinalities: ArrayLike, edges: Iterable[Iterable[int]], score: Any = "bic"
) -> float:
    """Return the score of the network with the given edges (pairs of column numbers)."""
    families = FamilyScores(data, cardinalities, score)
    return families.network(DAG(families.num_variables, edges))


def bic_score(
    data: ArrayLike, cardinalities: ArrayLike, edges: Iterable[Iterable[int]] = ()
) -> float:
    """Return the paper's equation (4), natural logarithm: the fit minus log(n)/2 a parameter.

    Examples:
        >>> data = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
        >>> bic_score(data, [2, 2], [(0, 1)]) > bic_score(data, [2, 2], [])
        True
    """
    return network_score(data, cardinalities, edges)
