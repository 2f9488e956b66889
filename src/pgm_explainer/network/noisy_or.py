"""A conditional distribution with local structure: each cause may change the prediction by itself.

In a full table every combination of the parents' states has a probability of its own, learnt from
the few samples that show it. A noisy-or (Pearl 1988, *Probabilistic Reasoning in Intelligent
Systems*, section 4.3) has one number for each parent: the chance that it changes the prediction
when it is the only one. The prediction holds if no parent changes it. So many parents fit the same
samples, and no combination is "never seen".
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
    """What a noisy-or is learnt from; see :meth:`NoisyOr.fit` for the fields."""

    variable: Variable
    parents: Sequence[Variable]
    codes: NDArray[Any]
    active: Sequence[NDArray[np.bool_]]

    @property
    def share_perturbed(self) -> float | None:
        """The share of samples in which the target is perturbed; None if it cannot be."""
        if not self.variable.perturbable:
            return None
        return float(np.count_nonzero(self.codes[:, -1] > 1) / len(self.codes))

    def patterns(self) -> Patterns:
        """Return which of the parents, and of the target itself, may change the prediction."""
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
        perturbed: the chance that the target itself is perturbed; None if it cannot be.
        leak: the chance that the prediction changes when nothing known changes it.
        own: the chance that perturbing the target itself changes its prediction.
        chances: for each parent, the chance of each of its states to change the prediction.
        log_likelihood: of the samples that it was learnt from.
        num_parameters: how many numbers were learnt.
        num_samples: from how many samples.

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
        """Estimate by maximum likelihood, which has one maximum.

        Args:
            variable: the target; its prediction has two levels.
            parents: the others.
            codes: states ``[n, parents + 1]``, the target's last.
            active: for each parent, which of its states may change the prediction.
            smoothing: added to the counts of *kept* and *changed* of every pattern that was seen.
        """
        return cls.fit_many([NoisyOrData(variable, parents, codes, active)], smoothing)[0]

    @classmethod
    def fit_many(cls, data: Sequence[NoisyOrData], smoothing: float = 0.0) -> list[NoisyOr]:
        """Estimate several at once, which takes less time. Each is the same as alone."""
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
        """The whole table: an axis for each parent, and the variable's own last.

        Raises:
            QueryError: it would be too large.
        """
        shape = tuple(each.cardinality for each in (*self.parents, self.variable))
        if prod(shape) > MOST_CELLS:
            raise QueryError(
                f"the whole table of {self.variable.id!r} would have {prod(shape):,} numbers; "
                f"lower max_nodes to see it written out"
            )
        holds = np.ones(shape[:-1])
        for axis, chance in enumerate(self.chances):
            along = [1] * len(self.parents)
            along[axis] = len(chance)
            holds = holds * (1 - chance).reshape(along)
        constant, product = self.sides
        return constant + product * holds[..., None]

    def terms(self, at: int, parents: Sequence[int]) -> list[list[Factor]]:
        """Return products of factors whose sum is this distribution, for exact inference.

        Each term is a product of functions of one variable, so any number of parents is cheap.
        """
        constant, product = self.sides
        unary = [
            Factor((parent,), 1 - chance)
            for parent, chance in zip(parents, self.chances, strict=True)
        ]
        return [[Factor((at,), constant)], [Factor((at,), product), *unary]]

    def score(self, score: Score) -> float:
        """Return the score of the variable's family: the log-likelihood less what it pays.

        A score that has no price for a parameter of its own takes BIC's, which approximates any
        marginal likelihood.
        """
        priced = score if isinstance(score, PenalisedLikelihood) else SCORES["bic"]
        price = priced.penalty(1, 2, max(2, self.num_samples))
        return self.log_likelihood - float(price) * self.num_parameters

    def to_pandas(self) -> DataFrame:
        """Return the whole table: a column a state, a row a configuration of the parents."""
        from .formats.frames import table_to_pandas

        return table_to_pandas(self)

    def renamed(self, variable: Variable, parents: Sequence[Variable]) -> NoisyOr:
        """Return the same distribution of other variables."""
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
        """P(state | parents) = constant + product * P(no parent changes the prediction)."""
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
    """The log-likelihood of coin flips of which this share came up."""
    return -samples * float(special.entr(share) + special.entr(1 - share))
