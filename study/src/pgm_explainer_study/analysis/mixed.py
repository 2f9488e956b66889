"""A linear mixed model of scores: arms, with raters, items and their interactions with arms.

    score = arm + rater + item + rater:arm + item:arm + error

Raters and items are samples of larger populations, so their effects are random. Without the
interactions, a difference between arms that varies from rater to rater would look more certain than
it is.
The fit is REML. The variances are profiled as in lme4 (Bates et al., 2015), but with dense matrices
of the random effects, of which there are a few hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.stats import t as student

from pgm_explainer import InputError

__all__ = ["Contrast", "MixedModel", "contrasts", "fit", "holm"]

Matrix = NDArray[np.float64]
TERMS: tuple[tuple[str, ...], ...] = (("rater",), ("item",), ("rater", "arm"), ("item", "arm"))


@dataclass(frozen=True)
class MixedModel:
    """A fitted model.

    Attributes:
        arms: the arms, in the order of ``means``.
        means: the mean score of each arm.
        covariance: of the means.
        variances: of each term, such as ``"rater:arm"``, and of the ``"error"``.
        deviance: minus twice the restricted log-likelihood, up to a constant.
        degrees: degrees of freedom for intervals: the smaller of the numbers of raters and of
            items, minus one. This is cautious if the interactions are small.
    """

    arms: tuple[str, ...]
    means: Matrix
    covariance: Matrix
    variances: dict[str, float]
    deviance: float
    degrees: int


@dataclass(frozen=True)
class Contrast:
    """A difference between two arms, with its 95% interval; ``adjusted`` is Holm's p-value."""

    first: str
    second: str
    difference: float
    error: float
    low: float
    high: float
    p: float
    adjusted: float


def fit(
    scores: pd.DataFrame, arms: Sequence[str], terms: Sequence[tuple[str, ...]] = TERMS
) -> MixedModel:
    """Fit the model to ``rater``, ``item``, ``arm`` and ``score``.

    Raises:
        InputError: an arm has no scores, or there are fewer than two raters or items.
    """
    scores = scores[scores.arm.isin(list(arms))]
    present = [arm for arm in arms if (scores.arm == arm).any()]
    raters, items = scores.rater.nunique(), scores["item"].nunique()
    if len(present) < len(arms) or min(raters, items) < 2:
        raise InputError("a mixed model needs scores of every arm, two raters and two items")
    problem = _Problem(scores, tuple(arms), tuple(terms))
    # Variances, not standard deviations: as a function of these, the deviance is flat at 0, and the
    # search would get stuck there.
    best = minimize(
        problem.deviance,
        np.full(len(terms), 0.25),
        method="L-BFGS-B",
        bounds=[(0.0, 1e8)] * len(terms),
        options={"ftol": 1e-12, "gtol": 1e-7},
    )
    return problem.solution(best.x, min(raters, items) - 1)


class _Problem:
    """Cross products of the design matrices, from which the deviance of any variances follows."""

    def __init__(
        self, scores: pd.DataFrame, arms: tuple[str, ...], terms: tuple[tuple[str, ...], ...]
    ) -> None:
        self.arms, self.terms = arms, terms
        y = scores.score.to_numpy(float)
        fixed = (scores.arm.to_numpy()[:, None] == np.array(arms)[None]).astype(float)
        blocks = [_indicators(scores, term) for term in terms]
        self.sizes = [block.shape[1] for block in blocks]
        z = np.concatenate(blocks, axis=1)
        self.n, self.p = len(y), len(arms)
        self.zz, self.zx, self.zy = z.T @ z, z.T @ fixed, z.T @ y
        self.xx, self.xy, self.yy = fixed.T @ fixed, fixed.T @ y, float(y @ y)

    @cached_property
    def _identity(self) -> Matrix:
        return np.eye(len(self.zz))

    def _solve(self, ratios: Matrix) -> tuple[Matrix, Matrix, float, float]:
        """Return means, their covariance over the error variance, that variance, the deviance.

        Args:
            ratios: the variance of each term over that of the error.
        """
        scale = np.sqrt(np.repeat(ratios, self.sizes))
        inner = scale[:, None] * self.zz * scale[None] + self._identity
        factor = cho_factor(inner, lower=True)
        zx, zy = scale[:, None] * self.zx, scale * self.zy
        solved = cho_solve(factor, np.column_stack((zx, zy)))
        xx = self.xx - zx.T @ solved[:, :-1]
        xy = self.xy - zx.T @ solved[:, -1]
        yy = self.yy - float(zy @ solved[:, -1])
        means = np.linalg.solve(xx, xy)
        error = max(yy - float(xy @ means), 1e-12) / (self.n - self.p)
        log_det = 2 * np.log(np.diag(factor[0])).sum() + np.linalg.slogdet(xx)[1]
        deviance = float(log_det + (self.n - self.p) * (1 + np.log(2 * np.pi * error)))
        return means, np.linalg.inv(xx), error, deviance

    def deviance(self, ratios: Matrix) -> float:
        return self._solve(ratios)[3]

    def solution(self, ratios: Matrix, degrees: int) -> MixedModel:
        means, shape, error, deviance = self._solve(ratios)
        names = [":".join(term) for term in self.terms]
        variances = {name: float(r * error) for name, r in zip(names, ratios, strict=True)}
        variances["error"] = error
        return MixedModel(self.arms, means, shape * error, variances, deviance, degrees)


def _indicators(scores: pd.DataFrame, term: tuple[str, ...]) -> Matrix:
    """Return a column for each combination of the variables of a term that occurs."""
    numbers = scores.groupby(list(term), sort=True).ngroup().to_numpy()
    columns = np.zeros((len(scores), numbers.max() + 1))
    columns[np.arange(len(scores)), numbers] = 1
    return columns


def contrasts(model: MixedModel, pairs: Sequence[tuple[str, str]]) -> list[Contrast]:
    """Return planned differences of arms; their p-values are adjusted together by Holm's method."""
    rows = []
    for first, second in pairs:
        weights = np.zeros(len(model.arms))
        weights[model.arms.index(first)], weights[model.arms.index(second)] = 1, -1
        difference = float(weights @ model.means)
        error = float(np.sqrt(weights @ model.covariance @ weights))
        half = float(student.ppf(0.975, model.degrees)) * error
        p = float(2 * student.sf(abs(difference) / error, model.degrees))
        rows.append((first, second, difference, error, difference - half, difference + half, p))
    adjusted = holm([row[-1] for row in rows])
    return [Contrast(*row, each) for row, each in zip(rows, adjusted, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's method.

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = largest
    return adjusted
