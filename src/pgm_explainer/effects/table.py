"""The table of the effects of all candidates on a prediction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray, as_array
from ..node_names import NodeNames
from ..node_table import NodeTable, TestedRow
from ..sampling import VariableId

__all__ = [
    "EFFECT_COLUMNS",
    "Effect",
    "Effects",
    "PairEffect",
    "agree",
]

EFFECT_COLUMNS = ("nodes", "effect", "low", "high", "strength", "log_p", "significant")

_ROUNDING = 1e-4


@dataclass(frozen=True)
class Effect(TestedRow):
    """The effect of perturbing one node; see :class:`Effects` for the fields.

    Examples:
        >>> row = Effect(7, -0.2, -0.3, -0.1, strength=1.0, log_p=-9.0, significant=True)
        >>> f"{row.p:.0e}"
        '1e-04'
    """

    node: VariableId
    effect: float
    low: float
    high: float
    strength: float
    log_p: float
    significant: bool


@dataclass(frozen=True)
class PairEffect:
    """Two nodes whose joint effect is not the sum of their effects.

    Attributes:
        nodes: the indices of the two nodes; :attr:`Effects.pair_parts` has their names.
        joint: the effect of perturbing both; for a probability, at most what is possible.
        excess: the joint effect minus the sum of the two effects, with its 95% interval.

    Examples:
        >>> from pgm_explainer.effects import PairEffect
        >>> pair = PairEffect((3, 5), joint=-0.1, excess=0.2, low=0.1, high=0.3, log_p=-12.0)
        >>> round(pair.joint - pair.excess, 2)  # the sum of the two effects
        -0.3
    """

    nodes: tuple[int, int]
    joint: float
    excess: float
    low: float
    high: float
    log_p: float


@dataclass(frozen=True, eq=False)
class Effects(NodeTable[Effect]):
    """The effects of perturbing each candidate, as a table with the strongest node first.

    The nodes to perturb are chosen at random in each sample, as in a randomised experiment. So
    these are causal effects on the model's output, averaged over random perturbations of all other
    nodes.

    Attributes:
        nodes: the indices of the nodes, including those of the target.
        effect: the average change of the explained class's probability (or the value of a
            regression) when the node is perturbed; negative if the probability falls.
        low, high: the 95% confidence interval of ``effect``.
        strength: how much perturbing the node changes the prediction in either direction, relative
            to the strongest node (from 0 to 1). If a node raises and lowers the prediction equally
            often, its effect is near 0 but its strength is not. Rows are sorted by this column.
        log_p: natural logarithm of the p-value of the null hypothesis that the node has no effect.
        significant: whether the effect is significant, after any correction for multiple testing.
        pairs: the strongest pairs of nodes whose joint effect is not the sum of their effects.
        left_out: the number of further candidates that are not stored.
        names: the names of nodes, used in the rows.

    Examples:
        >>> one = np.ones(1)
        >>> Effects(np.array([7]), -0.2 * one, -0.3 * one, -0.1 * one, one, -9 * one, one > 0)[0]
        Effect(node=7, effect=-0.2, low=-0.3, high=-0.1, strength=1.0, log_p=-9.0, significant=True)
    """

    nodes: IntArray
    effect: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    strength: NDArray[np.float64]
    log_p: NDArray[np.float64]
    significant: NDArray[np.bool_]
    pairs: tuple[PairEffect, ...] = ()
    left_out: int = 0
    names: NodeNames = field(default_factory=NodeNames)

    column_names: ClassVar = EFFECT_COLUMNS
    row_type: ClassVar = Effect

    def keeping(self, *nodes: IntArray) -> Effects:
        """Return the effects of these nodes, and the pairs among them."""
        wanted = [as_array(each, "nodes").ravel() for each in nodes]
        kept = np.isin(self.nodes, np.concatenate([np.zeros(0, np.int64), *wanted]))
        left = set(self.nodes[kept].tolist())
        return replace(
            self,
            **self._rows(kept),
            pairs=tuple(pair for pair in self.pairs if left.issuperset(pair.nodes)),
            left_out=self.left_out + int((~kept).sum()),
        )

    def __repr__(self) -> str:
        found = int(self.significant.sum())
        return self._preview(f"Effects of {len(self)} parts, {found} significant", "part")

    @property
    def pair_parts(self) -> list[tuple[VariableId, VariableId]]:
        """The two parts of each of ``pairs``, by name."""
        named = [self.names.of(pair.nodes) for pair in self.pairs]
        return [(first, second) for first, second in named]

    def agrees(self, other: object) -> bool:
        """Return whether both are equal up to rounding errors of the model."""
        return isinstance(other, Effects) and agree(self, other, "nodes")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Effects)
            and (self.pairs, self.left_out) == (other.pairs, other.left_out)
            and super().__eq__(other)
        )

    __hash__ = None


def agree(one: Any, two: Any, *keys: str) -> bool:
    """Return whether two tables of effects are equal up to rounding errors of the model.

    Args:
        keys: the columns that identify a row; their rows may be in another order.
    """
    mine, its = (np.lexsort([getattr(each, key) for key in keys]) for each in (one, two))

    def pair(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        return getattr(one, name)[mine], getattr(two, name)[its]

    return all(np.array_equal(*pair(name)) for name in (*keys, "significant")) and all(
        np.allclose(*pair(name), _ROUNDING, _ROUNDING * abs(getattr(one, name)).max(initial=0.0))
        for name in EFFECT_COLUMNS[1:-1]
    )
