"""The noisy-or distribution, in which causes act independently.

A full table has a probability for every combination of the parents' states. Each is estimated from
the samples with that combination, which may be few. A noisy-or (Pearl 1988, *Probabilistic
Reasoning in Intelligent Systems*, section 4.3) has one parameter for each parent: the probability
that the parent changes the prediction when it is the only active one. A parent is active if it is
in a state that may change the prediction. The prediction is kept if no parent changes it. With so
few parameters, few samples are enough for many parents, and every combination has an estimate.

An active parent keeps the prediction with probability exp(-weight), independently of the others. So
P(kept) = exp(-design @ weights), and the log-likelihood is concave in the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ..errors import QueryError
from ..limits import brief
from ..sampling import Variable
from ..structure import SCORES, PenalisedLikelihood, Score
from .conditional_table import Codes, conditional_name
from .factors import MOST_CELLS, Factor

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["NoisyOr", "NoisyOrData"]

Values = NDArray[np.float64]

_TINY = 1e-8
_LARGEST = 14.0
"""The largest weight, at which a prediction is kept with a probability of one in a million."""
_STEPS = 60
_CLOSE = 1e-7
_FEW_COLUMNS = 10
_COLUMNS_AT_ONCE = 32
_FEWEST_ROWS = 8
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Patterns:
    """The observed patterns of active parents.

    Attributes:
        design: a row of zeros and ones for each pattern, with a one first.
        kept, changed: the number of samples in which the prediction was kept and changed.
    """

    design: Values
    kept: Values
    changed: Values


def count_patterns(bits: NDArray[np.bool_], changed: NDArray[np.bool_]) -> Patterns:
    """Count the patterns of bits ``[n, k]``, separately for kept and changed predictions."""
    columns = bits.shape[1]
    if columns <= _FEW_COLUMNS:
        powers = 1 << np.arange(columns)[::-1]
        which = bits @ powers
        both = np.bincount(2 * which + changed, minlength=2 << columns).reshape(-1, 2)
        seen = np.flatnonzero(both.any(axis=1))
        rows, counts = seen[:, None] & powers > 0, both[seen]
    else:
        which = np.zeros(len(bits), dtype=np.int64)
        first = which[:1]
        for start in range(0, columns, _COLUMNS_AT_ONCE):
            block = bits[:, start : start + _COLUMNS_AT_ONCE]
            powers = 1 << np.arange(block.shape[1])[::-1]
            # Renumbered in each step, so that the codes stay small.
            which = (which << block.shape[1]) + block @ powers
            _, first, which = np.unique(which, return_index=True, return_inverse=True)
        rows = bits[first]
        counts = np.bincount(2 * which + changed, minlength=2 * len(first)).reshape(-1, 2)
    design = np.ones((len(rows), columns + 1))
    design[:, 1:] = rows
    kept_and_changed = counts.astype(np.float64)
    return Patterns(design, kept_and_changed[:, 0], kept_and_changed[:, 1])


def log_likelihood(patterns: Patterns, weights: Values) -> float:
    """Return the log-likelihood of weights."""
    exponent = np.maximum(patterns.design @ np.minimum(weights, _LARGEST), _TINY)
    changed = patterns.changed @ np.log(-np.expm1(-exponent))
    return float(changed - patterns.kept @ exponent)


def maximise(problems: Sequence[Patterns], smoothing: float) -> list[Values]:
    """Return the weights of highest likelihood for each problem.

    Args:
        smoothing: added to the counts of *kept* and *changed* of every pattern.
    """
    found: list[Values] = [np.empty(0)] * len(problems)
    for rows, members in _by_size(problems):
        some = [problems[at] for at in members]
        design = np.stack([_padded(each.design, rows) for each in some])
        kept = np.stack([_padded(each.kept + smoothing, rows) for each in some])
        changed = np.stack([_padded(each.changed + smoothing, rows) for each in some])
        for at, weights in zip(members, _newton(design, kept, changed), strict=True):
            found[at] = weights
    return found


def _by_size(problems: Sequence[Patterns]) -> Iterator[tuple[int, list[int]]]:
    """Group problems of the same size, with the number of patterns to pad them to.

    The padded size of a problem does not depend on the others, so that its result is bitwise
    independent of the problems that are solved with it.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for at, each in enumerate(problems):
        patterns, terms = each.design.shape
        rows = max(_FEWEST_ROWS, 1 << (patterns - 1).bit_length())
        groups.setdefault((rows, terms), []).append(at)
    for (rows, terms), members in groups.items():
        step = max(1, _CELLS_AT_ONCE // (rows * terms))
        for start in range(0, len(members), step):
            yield rows, members[start : start + step]


def _padded(values: Values, rows: int) -> Values:
    """Return the values padded with rows of zeros, which have no effect."""
    filled = np.zeros((rows, *values.shape[1:]))
    filled[: len(values)] = values
    return filled


def _newton(design: Values, kept: Values, changed: Values) -> Values:
    """Return the weights ``[g, k]`` of ``g`` problems.

    Newton steps are clipped to the bounds. If a clipped step lowers the likelihood, a shorter step
    closer to the gradient is tried (Levenberg-Marquardt).

    Args:
        design: ``[g, patterns, k]``.
        kept, changed: counts ``[g, patterns]``.
    """
    count, _, terms = design.shape
    weights = np.full((count, terms), 0.3)
    weights[:, 0] = 0.05
    size = ((kept + changed)[:, None, :] @ design)[:, 0] + 1e-9
    damping = np.full(count, 0.1)
    value, gradient, hessian = _derivatives(weights, design, kept, changed)
    answers, open_ones, every = weights.copy(), np.arange(count), np.arange(terms)
    for _ in range(_STEPS):
        bound = (weights <= _TINY) & (gradient < 0) | (weights >= _LARGEST) & (gradient > 0)
        curved = np.where(bound[:, :, None] | bound[:, None, :], 0.0, hessian)
        curved[:, every, every] += damping[:, None] * (size + curved[:, every, every])
        scale = 1 / np.sqrt(curved[:, every, every])  # preconditioning for weights near 0
        slope = np.where(bound, 0.0, gradient) * scale
        curved *= scale[:, :, None] * scale[:, None, :]
        step = np.linalg.solve(curved, slope[:, :, None])[:, :, 0] * scale
        trial = np.clip(weights + step, _TINY, _LARGEST)
        new_value, new_gradient, new_hessian = _derivatives(trial, design, kept, changed)
        gain = new_value - value
        better = gain >= 0
        weights = np.where(better[:, None], trial, weights)
        value = np.where(better, new_value, value)
        gradient = np.where(better[:, None], new_gradient, gradient)
        hessian = np.where(better[:, None, None], new_hessian, hessian)
        damping = np.where(better, np.maximum(damping / 10, 1e-8), damping * 10)
        answers[open_ones] = weights
        left = ~(better & (gain <= _CLOSE))
        if not left.any():
            break
        if not left.all():
            open_ones, weights, value = open_ones[left], weights[left], value[left]
            gradient, hessian, damping = gradient[left], hessian[left], damping[left]
            size, design, kept, changed = size[left], design[left], kept[left], changed[left]
    # Weights at a bound become probabilities of exactly 0 or 1.
    return np.where(answers <= 2 * _TINY, 0.0, np.where(answers >= _LARGEST, np.inf, answers))


def _derivatives(
    weights: Values, design: Values, kept: Values, changed: Values
) -> tuple[Values, Values, Values]:
    """Return the log-likelihood of each problem, its gradient and its negative Hessian."""
    exponent = np.maximum((design @ weights[:, :, None])[:, :, 0], _TINY)
    odds = 1 / np.expm1(exponent)
    value = (changed * np.log(-np.expm1(-exponent)) - kept * exponent).sum(axis=1)
    gradient = ((changed * odds - kept)[:, None, :] @ design)[:, 0]
    curvature = changed * odds * (1 + odds)
    return value, gradient, (design.swapaxes(1, 2) * curvature[:, None, :]) @ design


@dataclass(frozen=True)
class NoisyOrData:
    """The data to fit a noisy-or; see :meth:`NoisyOr.fit` for the fields."""

    variable: Variable
    parents: Sequence[Variable]
    codes: Codes
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
        >>> table
        P(graph | 7) noisy-or: leak 0.1, 7 0.5
    """

    variable: Variable
    parents: tuple[Variable, ...]
    perturbed: float | None
    leak: float
    own: float
    chances: tuple[Values, ...]
    log_likelihood: float = 0.0
    num_parameters: int = 0
    num_samples: int = 0

    @classmethod
    def fit(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        codes: Codes,
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
    def _of(cls, data: NoisyOrData, patterns: Patterns, weights: Values) -> NoisyOr:
        chance = -np.expm1(-weights)
        likelihood = log_likelihood(patterns, weights)
        perturbed = data.share_perturbed
        if perturbed is not None:
            likelihood += _coin_likelihood(perturbed, len(data.codes))
        of_parents = zip(data.active, chance[1 : 1 + len(data.parents)].tolist(), strict=True)
        return cls(
            data.variable,
            tuple(data.parents),
            perturbed,
            float(chance[0]),
            float(chance[-1]) if data.variable.perturbable else 0.0,
            tuple(np.where(states, each, 0.0) for states, each in of_parents),
            likelihood,
            len(weights) + (perturbed is not None),
            len(data.codes),
        )

    @cached_property
    def values(self) -> Values:
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
        penalised = score if isinstance(score, PenalisedLikelihood) else SCORES["bic"]
        per_parameter = float(penalised.penalty(1, 2, max(2, self.num_samples)))
        return self.log_likelihood - per_parameter * self.num_parameters

    def to_pandas(self) -> DataFrame:
        """Return a data frame with a column per state and a row per combination of the parents."""
        from .formats.frames import table_to_pandas

        return table_to_pandas(self)

    def renamed(self, variable: Variable, parents: Sequence[Variable]) -> NoisyOr:
        """Return the same distribution for other variables."""
        return replace(self, variable=variable, parents=tuple(parents))

    def rows(self, codes: Codes) -> Values:
        """Return the distribution ``[n, states]`` for parents in states ``codes [n, parents]``."""
        holds = np.ones(len(codes))
        for column, chance in zip(codes.T, self.chances, strict=True):
            holds *= 1 - chance[column]
        constant, product = self.sides
        return constant + product * holds[:, None]

    @property
    def sides(self) -> tuple[Values, Values]:
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

    def __repr__(self) -> str:
        parents = [parent.id for parent in self.parents]
        parts = [f"leak {self.leak:.3g}"]
        parts += [] if self.perturbed is None else [f"own {self.own:.3g}"]
        for parent, chance in zip(parents, self.chances, strict=True):
            parts.append(f"{parent} {chance.max():.3g}")
        name = conditional_name(self.variable.id, parents)
        return f"{name} noisy-or: {', '.join(parts)}"


def _coin_likelihood(share: float, samples: int) -> float:
    """Return the maximum log-likelihood of coin flips, of which this fraction is 1."""
    return -samples * float(scipy.special.entr(share) + scipy.special.entr(1 - share))
