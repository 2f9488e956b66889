"""The noisy-or distribution, in which causes act independently.

A full table has a probability for every combination of the parents' states. Each is estimated from
the samples with that combination, which may be few. A noisy-or (Pearl 1988, *Probabilistic
Reasoning in Intelligent Systems*, section 4.3) has one parameter for each parent: the probability
that the parent changes the prediction when it is the only active one. A parent is active if it is
in a state that may change the prediction. The prediction is kept if no parent changes it. With so
few parameters, few samples are enough for many parents, and every combination has an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ..errors import QueryError
from ..limits import brief
from ..sampling import Variable
from ..structure import SCORES, PenalisedLikelihood, Score
from .factors import MOST_CELLS, Factor
from .noisy_or_fit import Patterns, count_patterns, log_likelihood, maximise

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["NoisyOr", "NoisyOrData"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyOrData:
    """The data to fit a noisy-or; see :meth:`NoisyOr.fit` for the fields."""

    variable: Variable
    parents: Sequence[Variable]
    codes: NDArray[Any]
    active: Sequence[NDArray[np.bool_]]

    @property
    def share_perturbed(self) -> float | None:
        """The fraction of samples in which the target is perturbed; None if it cannot be."""
        if not self.variable.perturbable:
            return None
        return float(np.count_nonzero(self.codes[:, -1] > 1) / len(self.codes))

    def patterns(self) -> Patterns:
        """Count how often each pattern of active parents (and a perturbed target) occurs."""
        target = self.codes[:, -1]
        bits = np.empty((len(target), len(self.parents) + self.variable.perturbable), dtype=bool)
        for at, states in enumerate(self.active):
            bits[:, at] = states[self.codes[:, at]]
        if self.variable.perturbable:
            bits[:, -1] = target > 1
        return count_patterns(bits, target % 2 > 0)


@dataclass(frozen=True, eq=False)
class NoisyOr:
    """P(variable | parents) of a target whose prediction is either kept or changed.

    Attributes:
        perturbed: the probability that the target is perturbed; None if it cannot be.
        leak: the probability that the prediction changes without any active parent.
        own: the probability that perturbing the target changes its prediction.
        chances: for each parent, the probability that each of its states changes the prediction.
        log_likelihood: the log-likelihood of the samples.
        num_parameters: the number of parameters.
        num_samples: the number of samples.

    Examples:
        >>> cause, graph = Variable(7, True, 1), Variable("graph", False, 2)
        >>> table = NoisyOr(graph, (cause,), None, 0.1, 0.0, (np.array([0.0, 0.5]),))
        >>> table.values.round(3).tolist()
        [[0.9, 0.1], [0.45, 0.55]]
    """

    variable: Variable
    parents: tuple[Variable, ...]
    perturbed: float | None
    leak: float
    own: float
    chances: tuple[Vector, ...]
    log_likelihood: float = 0.0
    num_parameters: int = 0
    num_samples: int = 0

    @classmethod
    def fit(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        codes: NDArray[Any],
        active: Sequence[NDArray[np.bool_]],
        smoothing: float = 0.0,
    ) -> NoisyOr:
        """Estimate the parameters by maximum likelihood; the maximum is unique.

        Args:
            variable: the target, whose prediction has two levels.
            parents: the parents of the target.
            codes: states ``[n, parents + 1]``, the target last.
            active: for each parent, which of its states may change the prediction.
            smoothing: a pseudocount, added to the counts of *kept* and of *changed* for every
                observed pattern of active parents.
        """
        return cls.fit_many([NoisyOrData(variable, parents, codes, active)], smoothing)[0]

    @classmethod
    def fit_many(cls, data: Sequence[NoisyOrData], smoothing: float = 0.0) -> list[NoisyOr]:
        """Estimate several distributions at once, which is faster and gives the same results."""
        patterns = [each.patterns() for each in data]
        weights = maximise(patterns, smoothing)
        return [cls._of(*each) for each in zip(data, patterns, weights, strict=True)]

    @classmethod
    def _of(cls, data: NoisyOrData, patterns: Patterns, weights: Vector) -> NoisyOr:
        chance = -np.expm1(-weights)
        likelihood = log_likelihood(patterns, weights)
        perturbed = data.share_perturbed
        if perturbed is not None:
            likelihood += _coin_likelihood(perturbed, len(data.codes))
        return cls(
            data.variable,
            tuple(data.parents),
            perturbed,
            float(chance[0]),
            float(chance[-1]) if data.variable.perturbable else 0.0,
            tuple(
                np.where(states, each, 0.0)
                for states, each in zip(
                    data.active, chance[1 : 1 + len(data.parents)].tolist(), strict=True
                )
            ),
            likelihood,
            len(weights) + (perturbed is not None),
            len(data.codes),
        )

    @cached_property
    def values(self) -> Vector:
        """The full table, with an axis for each parent and the last one for the variable.

        Raises:
            QueryError: the table would be too large.
        """
        shape = tuple(each.cardinality for each in (*self.parents, self.variable))
        if prod(shape) > MOST_CELLS:
            raise QueryError(
                f"the full table of {brief(self.variable.id)} would have {prod(shape):,} numbers; "
                f"lower max_nodes or set max_parents"
            )
        holds = np.ones(shape[:-1])
        for axis, chance in enumerate(self.chances):
            along = [1] * len(self.parents)
            along[axis] = len(chance)
            holds = holds * (1 - chance).reshape(along)
        constant, product = self.sides
        return constant + product * holds[..., None]

    def terms(self, at: int, parents: Sequence[int]) -> list[list[Factor]]:
        """Return the distribution as a sum of products of factors, for exact inference.

        Each factor is a function of one variable, so that the cost grows slowly with the number of
        parents.
        """
        constant, product = self.sides
        unary = [
            Factor((parent,), 1 - chance)
            for parent, chance in zip(parents, self.chances, strict=True)
        ]
        return [[Factor((at,), constant)], [Factor((at,), product), *unary]]

    def score(self, score: Score) -> float:
        """Return the score of the variable and its parents: the log-likelihood minus a penalty.

        If the score has no penalty per parameter, the penalty of BIC is used, which approximates
        the marginal likelihood.
        """
        priced = score if isinstance(score, PenalisedLikelihood) else SCORES["bic"]
        price = priced.penalty(1, 2, max(2, self.num_samples))
        return self.log_likelihood - float(price) * self.num_parameters

    def to_pandas(self) -> DataFrame:
        """Return a data frame with a column per state and a row per combination of the parents."""
        from .formats.frames import table_to_pandas

        return table_to_pandas(self)

    def renamed(self, variable: Variable, parents: Sequence[Variable]) -> NoisyOr:
        """Return the same distribution for other variables."""
        return replace(self, variable=variable, parents=tuple(parents))

    def rows(self, codes: NDArray[Any]) -> Vector:
        """Return the distribution ``[n, states]`` for parents in states ``codes [n, parents]``."""
        holds = np.ones(len(codes))
        for column, chance in zip(codes.T, self.chances, strict=True):
            holds *= 1 - chance[column]
        constant, product = self.sides
        return constant + product * holds[:, None]

    @property
    def sides(self) -> tuple[Vector, Vector]:
        """Arrays a, b with P(state | parents) = a + b * P(no parent changes the prediction)."""
        coin = [1.0] if self.perturbed is None else [1 - self.perturbed, self.perturbed]
        alone = (1 - self.leak) * np.array([1.0, 1 - self.own])[: len(coin)]
        constant = np.outer(coin, [0.0, 1.0]).ravel()
        return constant, np.outer(coin * alone, [1.0, -1.0]).ravel()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NoisyOr)
            and (self.variable, self.parents, self.perturbed, self.leak, self.own)
            == (other.variable, other.parents, other.perturbed, other.leak, other.own)
            and all(map(np.array_equal, self.chances, other.chances))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = f" | {', '.join(str(parent.id) for parent in self.parents)}"
        return f"P({self.variable.id}{given if self.parents else ''}) noisy-or"


def _coin_likelihood(share: float, samples: int) -> float:
    """Return the maximum log-likelihood of coin flips, of which this fraction is 1."""
    return -samples * float(special.entr(share) + special.entr(1 - share))
