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

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["NoisyOr"]

Vector = NDArray[np.float64]

_TINY = 1e-8
_LARGEST = 14.0
"""Minus the log of the least chance that a prediction holds: one in a million."""
_STEPS = 60
_CLOSE = 1e-7


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
        own, changed = np.divmod(codes[:, -1], 2)
        bits = [states[column] for column, states in zip(codes[:, :-1].T, active, strict=True)]
        if variable.perturbable:
            bits.append(own > 0)
        patterns, kept, broken = _patterns(np.stack((*bits, changed > 0), axis=1))
        weights = _maximise(patterns, kept + smoothing, broken + smoothing)
        likelihood = _likelihood(np.minimum(weights, _LARGEST), patterns, kept, broken)[0]
        chance = -np.expm1(-weights)
        perturbed = float(np.mean(own > 0)) if variable.perturbable else None
        if perturbed is not None:
            likelihood += _coin_likelihood(perturbed, len(codes))
        return cls(
            variable,
            tuple(parents),
            perturbed,
            float(chance[0]),
            float(chance[-1]) if variable.perturbable else 0.0,
            tuple(
                np.where(states, each, 0.0)
                for states, each in zip(active, chance[1 : 1 + len(parents)], strict=True)
            ),
            likelihood,
            len(weights) + (perturbed is not None),
            len(codes),
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
        from ..io.frames import table_to_pandas

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


def _patterns(bits: NDArray[np.bool_]) -> tuple[Vector, Vector, Vector]:
    """Patterns that occur, with a column of ones first; how often each was kept, and changed."""
    which = np.zeros(len(bits), dtype=np.int64)
    first = which[:1]
    for column in bits[:, :-1].T:  # number them anew at each step, so that they stay few
        _, first, which = np.unique(2 * which + column, return_index=True, return_inverse=True)
    changed = np.bincount(which, bits[:, -1], minlength=len(first)).astype(np.float64)
    total = np.bincount(which, minlength=len(first)).astype(np.float64)
    design: Vector = np.ones((len(first), bits.shape[1]))
    design[:, 1:] = bits[first, :-1]
    return design, total - changed, changed


def _maximise(design: Vector, kept: Vector, changed: Vector) -> Vector:
    """The weights, minus the logs of the chances to hold, of highest likelihood.

    P(kept) = exp(-design @ weights). The log-likelihood is concave in the weights. Newton's steps,
    kept within 0 to a bound, lead to its maximum; where the bound bends one so that it leads down,
    a shorter one closer to the gradient is tried (Levenberg and Marquardt).
    """
    weights = np.full(design.shape[1], 0.3)
    weights[0] = 0.05
    size = (kept + changed) @ design + 1e-9
    damping = 1e-3
    value, gradient, hessian = _likelihood(weights, design, kept, changed)
    for _ in range(_STEPS):
        bound = (weights <= _TINY) & (gradient < 0) | (weights >= _LARGEST) & (gradient > 0)
        curved = hessian.copy()
        curved[bound] = curved[:, bound] = 0.0
        curved.flat[:: len(curved) + 1] += damping * (size + curved.diagonal())
        scale = 1 / np.sqrt(curved.diagonal())  # to solve it well where one weight is near 0
        slope = np.where(bound, 0.0, gradient) * scale
        step = np.linalg.solve(curved * np.outer(scale, scale), slope) * scale
        trial = np.clip(weights + step, _TINY, _LARGEST)
        new = _likelihood(trial, design, kept, changed)
        gain = new[0] - value
        if gain >= 0:
            weights, (value, gradient, hessian) = trial, new
            damping = max(damping / 10, 1e-8)
            if gain <= _CLOSE:
                break
        else:
            damping *= 10
    # What never changes it has a chance of 0, and what always does one of 1.
    return np.where(weights <= 2 * _TINY, 0.0, np.where(weights >= _LARGEST, np.inf, weights))


def _likelihood(
    weights: Vector, design: Vector, kept: Vector, changed: Vector
) -> tuple[float, Vector, Vector]:
    """The log-likelihood, its gradient, and minus its second derivatives."""
    exponent = np.maximum(design @ weights, _TINY)
    odds = 1 / np.expm1(exponent)
    value = float(changed @ np.log(-np.expm1(-exponent)) - kept @ exponent)
    gradient = (changed * odds - kept) @ design
    curvature = changed * odds * (1 + odds)
    return value, gradient, (design.T * curvature) @ design
