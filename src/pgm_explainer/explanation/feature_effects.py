"""The effects of single features of the explaining nodes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray, check_whole_number
from ..effects.table import agree
from ..feature_names import FeatureNames, feature_name
from ..node_names import NodeNames
from ..node_table import NodeTable, TestedRow
from ..variables import VariableId

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["FEATURE_COLUMNS", "FEATURE_LEVELS", "FeatureEffect", "FeatureEffects"]

_NUMBERS = ("effect", "low", "high", "strength", "log_p", "significant")
FEATURE_LEVELS = ("value", "mean", "share")
"""The columns about the value of a feature."""
FEATURE_COLUMNS = ("nodes", "features", *_NUMBERS, *FEATURE_LEVELS)


@dataclass(frozen=True)
class FeatureEffect(TestedRow):
    """The effect of perturbing one feature of one node; see :class:`FeatureEffects`."""

    node: VariableId
    feature: int | str
    effect: float
    low: float
    high: float
    strength: float
    log_p: float
    significant: bool
    value: float
    mean: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEffects(NodeTable[FeatureEffect]):
    """The effects of perturbing single features of some nodes, as a table, strongest first.

    The nodes are the target and those of the network. Each of their features is perturbed
    independently of all others, with the perturbation of the explanation; all other nodes are left
    as they are. The columns mean the same as those of :class:`~pgm_explainer.effects.Effects`.

    Attributes:
        nodes: the index of the node.
        features: the index of the feature.
        effect: the average change of the explained class's probability (or the value of a
            regression) when this feature of this node is perturbed.
        low, high: the 95% confidence interval of ``effect``.
        strength: the size of the change in either direction, relative to the strongest feature.
        log_p: natural logarithm of the p-value of the null hypothesis that there is no effect.
        significant: whether the effect is significant, after any correction for multiple testing.
        value: the value of this feature of this node; NaN if it is not known, or if there are
            several time steps.
        mean: its mean over all nodes (of the same type); NaN for categories, which are integers, or
            zeros and ones.
        share: the share of nodes that have the same value; NaN for other features.
        ends: the nodes of the target, whose features are its *own*.
        untested: the number of features of these nodes that the perturbation never or rarely
            changes, such as constant ones. They are neither perturbed nor tested.
        left_out: the number of tested features that are not stored.
        names: the names of nodes.
        feature_names: the names of features, as in :class:`~pgm_explainer.Explanation`.

    Examples:
        >>> one = np.ones(1)
        >>> FeatureEffects(np.array([7]), np.array([2]), -0.2 * one, -0.3 * one, -0.1 * one, one,
        ...                -9 * one, one > 0)[0].feature
        2
    """

    nodes: IntArray
    features: IntArray
    effect: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    strength: NDArray[np.float64]
    log_p: NDArray[np.float64]
    significant: NDArray[np.bool_]
    value: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    mean: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    share: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    ends: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    untested: int = 0
    left_out: int = 0
    names: NodeNames = field(default_factory=NodeNames)
    feature_names: FeatureNames = ()

    column_names: ClassVar = FEATURE_COLUMNS
    row_type: ClassVar = FeatureEffect

    def __post_init__(self) -> None:
        for name in FEATURE_LEVELS:
            if not len(getattr(self, name)):  # not known
                object.__setattr__(self, name, np.full(len(self.nodes), np.nan))

    @classmethod
    def empty(cls, **options: Any) -> FeatureEffects:
        """Return a table without rows."""
        index: IntArray = np.empty(0, dtype=np.int64)
        number: NDArray[np.float64] = np.empty(0)
        return cls(index, index, number, number, number, number, number, number > 0, **options)

    @property
    def own(self) -> NDArray[np.bool_]:
        """Whether each row is a feature of the target itself."""
        return np.isin(self.nodes, self.ends)

    def feature_name(self, at: int) -> int | str:
        """Return the name of the feature in a row, or its index if it has none."""
        node, feature = self.names[int(self.nodes[at])], int(self.features[at])
        kind = str(node[0]) if self.names.typed and isinstance(node, tuple) else None
        return feature_name(self.feature_names, feature, kind)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The table as columns by name: ``node``, ``feature``, ``own``, ``effect`` and so on."""
        by_name = super().columns
        feature = by_name.pop("features")
        if self.feature_names:
            feature = np.array([self.feature_name(at) for at in range(len(self))], dtype=object)
        return {"node": by_name.pop("node"), "feature": feature, "own": self.own, **by_name}

    def keeping(self, most: int) -> FeatureEffects:
        """Return the significant rows, and the first ``most`` of the others."""
        most = check_whole_number(most, "most", at_least=0)
        kept = self.significant | (np.cumsum(~self.significant) <= most)
        dropped = int((~kept).sum())
        return replace(self, **self._rows(kept), left_out=self.left_out + dropped)

    def _row(self, at: int) -> FeatureEffect:
        row = super()._row(at)
        return replace(row, feature=self.feature_name(at))

    def agrees(self, other: object) -> bool:
        """Return whether both are equal up to rounding errors of the model."""
        return isinstance(other, FeatureEffects) and agree(self, other, "features", "nodes")

    def to_pandas(self) -> DataFrame:
        """Return a ``pandas.DataFrame`` with a row for each feature of each node."""
        from .formats.frames import features_to_pandas

        return features_to_pandas(self)

    def plot(self, **options: Any) -> Figure:
        """Draw the strongest effects as bars, the target's own features first.

        Args:
            options: those of :meth:`pgm_explainer.Explanation.plot` for features.
        """
        from ..report.plots import plot_features

        return plot_features(self, **options)

    def __repr__(self) -> str:
        found = int(self.significant.sum())
        nodes = len(np.unique(self.nodes))
        title = f"FeatureEffects of {len(self)} features of {nodes} nodes, {found} significant"
        return self._preview(title)

    def __str__(self) -> str:
        from ..report.features import describe_features

        return describe_features(self)
