"""Decomposable scores of a network: BIC, as in the paper, AIC, BDeu and the log-likelihood.

The score of a network is the sum of the scores of its families (a variable with its parents). The
score of a family is the difference of two values, minus a penalty: one of the joint counts of child
and parents, and one of the counts of the parents. Each value is a sum over joint states.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ..arrays import (
    as_array,
    call_own,
    check_not_negative,
    described,
    has_attributes,
    is_number,
    resolve,
)
from ..choices import Choice, Described, UserDefined
from ..errors import InputError
from ..limits import brief

__all__ = [
    "SCORES",
    "BDeuScore",
    "PenalisedLikelihood",
    "Score",
    "as_score",
    "check_data",
    "family_score",
]

Counts = NDArray[np.int64]


class Score(Choice, Protocol):
    """A decomposable score: the difference of the values of two sets, minus a penalty.

    If the penalty is positive, the difference must be at most 0, like a log-likelihood. Exact
    search relies on this for pruning.
    """

    @property
    def name(self) -> str: ...

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the contribution of each joint state to the value of its set; 0 for a count of 0.

        Args:
            counts: the count of each joint state, in any shape.
            cells: the number of joint states of the set; one number, or one for each count.
        """
        ...

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        """Return the penalty for the numbers of parents' configurations and child's states.

        For arrays, it is an array too.
        """
        ...


@dataclass(frozen=True)
class PenalisedLikelihood(Described):
    """Maximum log-likelihood, minus a penalty for every free parameter.

    Attributes:
        per_parameter: the constant part of the penalty per parameter (AIC: 1).
        per_log_n: the part of the penalty in units of log n (BIC: 1/2).
    """

    name: str
    per_parameter: float = 0.0
    per_log_n: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"the name of a score must be a string, not {brief(self.name)}")
        check_not_negative(self.per_parameter, "per_parameter")
        check_not_negative(self.per_log_n, "per_log_n")

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        return _n_log_n(int(counts.max(initial=0)))[counts]

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        price = self.per_parameter + self.per_log_n * log(samples)
        return price * configurations * (states - 1)


@dataclass(frozen=True)
class BDeuScore(Described):
    """Bayesian Dirichlet score with a uniform prior of weight ``equivalent_samples``."""

    equivalent_samples: float = 10.0
    name: str = "bdeu"

    def __post_init__(self) -> None:
        if not is_number(self.equivalent_samples) or not 0 < self.equivalent_samples < np.inf:
            raise InputError(
                f"equivalent_samples must be a number above 0, not {brief(self.equivalent_samples)}"
            )

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        prior = self.equivalent_samples / np.asarray(cells)
        return np.asarray(scipy.special.gammaln(prior + counts) - scipy.special.gammaln(prior))

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        return 0.0


@dataclass(frozen=True)
class _CustomScore(UserDefined):
    """A custom score with validated outputs."""

    score: Any

    @property
    def name(self) -> str:
        name = getattr(self.score, "name", None)
        return name if isinstance(name, str) else described(self.score)

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        usage = "terms(counts, cells) -> numbers, of the shape of counts"
        return self._numbers(self.score.terms, counts, cells, usage=usage, shape=counts.shape)

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        usage = "penalty(configurations, states, samples) -> numbers, one for each configuration"
        shape = np.broadcast_shapes(np.shape(configurations), np.shape(states))
        arguments = (configurations, states, samples)
        return self._numbers(self.score.penalty, *arguments, usage=usage, shape=shape)

    def _numbers(
        self, method: Any, *arguments: Any, usage: str, shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        called = f"the score {brief(self.name)}"
        answer = call_own(method, *arguments, what=called, usage=usage)
        numbers = as_array(answer, f"the output of {called}")
        if numbers.shape not in ((), shape) or not np.isfinite(numbers).all():
            raise InputError(
                f"{called} returned {brief(numbers)}; it is called as {usage}, all finite"
            )
        return np.broadcast_to(numbers.astype(np.float64), shape)


_tables: dict[str, NDArray[np.float64]] = {}


def _n_log_n(largest: int) -> NDArray[np.float64]:
    """Return a table of n log n for n = 0, 1, 2, …, as a look-up is faster than computing it."""
    table = _tables.get("n log n")
    if table is None or len(table) <= largest:
        numbers = np.arange(max(1024, 2 * largest))
        table = _tables["n log n"] = scipy.special.xlogy(numbers, numbers)
    return table


SCORES: dict[str, Score] = {
    "bic": PenalisedLikelihood("bic", per_log_n=0.5),
    "aic": PenalisedLikelihood("aic", per_parameter=1.0),
    "bdeu": BDeuScore(),
    "log_likelihood": PenalisedLikelihood("log_likelihood"),
}


def as_score(choice: Any) -> Score:
    """Return the score for a name or an instance."""
    named = resolve(choice, "score", SCORES)
    if named is not None:
        return named
    usable = has_attributes(choice, "terms", "penalty")
    if not usable or isinstance(choice, type):
        raise InputError(
            f"score must be a name ({', '.join(SCORES)}) or an object with the methods "
            f"terms and penalty, not {brief(choice)}"
        )
    if type(choice) in (PenalisedLikelihood, BDeuScore, _CustomScore):
        return choice
    return _CustomScore(choice)


def check_data(data: ArrayLike, cardinalities: ArrayLike) -> tuple[Counts, tuple[int, ...]]:
    """Return validated data ``[n, V]`` and cardinalities as integers."""
    codes = as_array(data, "data")
    sizes = as_array(cardinalities, "cardinalities")
    if codes.ndim != 2 or len(codes) == 0:
        raise InputError(f"data must be a matrix [samples, variables], not {codes.shape}")
    if sizes.shape != codes.shape[1:] or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise InputError(
            f"cardinalities must be a positive whole number for each of the "
            f"{codes.shape[1]} variables, not {brief(cardinalities)}"
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


def family_score(counts: Counts, score: Score) -> float:
    """Return the score of a family from its counts, with the child's states on the last axis."""
    states, samples = counts.shape[-1], int(counts.sum())
    parents = counts.sum(axis=-1)
    fit = score.terms(counts, counts.size).sum() - score.terms(parents, parents.size).sum()
    return float(fit) - float(score.penalty(parents.size, states, samples))
