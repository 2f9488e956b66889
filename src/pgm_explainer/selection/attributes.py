"""Tests of single features of the explaining nodes, and their text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..node_names import NodeNames
from ..printing import aligned, label_of
from ..sampling import SampleTable
from ..significance import SignificanceConfig
from .independence import IndependenceTest
from .select import results_of_pairs

__all__ = ["FeatureEffects", "feature_effects"]

_MOST = 20


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEffects:
    """Test results for each feature of some nodes; prints as a table of significant features.

    Attributes:
        nodes: the indices of the nodes.
        features: the feature columns.
        effect_size: Cramér's V ``[nodes, features]`` of each feature and the prediction's change.
        log_p: natural logarithm of the p-value ``[nodes, features]``.
        significant: whether the feature is significant, after any correction.
        widths: the number of features of each node, if node types differ. For columns that a node
            does not have, ``effect_size`` and ``log_p`` are 0.
        names: the names in the explanation, for printing.
    """

    nodes: IntArray
    features: IntArray
    effect_size: NDArray[np.float64]
    log_p: NDArray[np.float64]
    significant: NDArray[np.bool_]
    widths: IntArray | None = None
    names: NodeNames = field(default_factory=NodeNames)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Whether a node has a feature, ``[nodes, features]``."""
        return _there(self.nodes, self.features, self.widths)

    def __repr__(self) -> str:
        nodes, features = self.significant.shape
        found = int(self.significant.sum())
        return f"FeatureEffects({nodes} nodes, {features} features, {found} significant)"

    def __str__(self) -> str:
        return _describe(self)


def feature_effects(
    table: SampleTable,
    nodes: IntArray,
    features: IntArray,
    test: IndependenceTest,
    significance: SignificanceConfig,
    widths: IntArray | None = None,
) -> FeatureEffects:
    """Test each existing feature against the prediction, the last variable of the table."""
    there = _there(nodes, features, widths)
    last = len(table.variables) - 1
    tests = results_of_pairs(table, [last], np.flatnonzero(there), test).at(0)
    effect_size, log_p = np.zeros(there.shape), np.zeros(there.shape)
    significant = np.zeros(there.shape, dtype=bool)
    effect_size[there], log_p[there] = tests.effect_size, tests.log_p
    significant[there] = significance.passed(tests.log_p)
    return FeatureEffects(nodes, features, effect_size, log_p, significant, widths)


def _there(nodes: IntArray, features: IntArray, widths: IntArray | None) -> NDArray[np.bool_]:
    if widths is None:
        return np.ones((len(nodes), len(features)), dtype=bool)
    return np.asarray(features < widths[:, None])


def _describe(effects: FeatureEffects) -> str:
    """Return a table of the features that matter, strongest evidence first, at most 20."""
    tested, found = int(effects.there.sum()), int(effects.significant.sum())
    head = f"{found} of {tested} features of the nodes matter ({_tested(effects)})"
    if not found:
        return f"{head}."
    order = np.lexsort((-effects.effect_size.ravel(), effects.log_p.ravel()))
    strongest = order[effects.significant.ravel()[order]][:_MOST].tolist()
    rows = [_row(effects, at) for at in strongest]
    more = [f"… and {found - len(rows)} more"] if found > len(rows) else []
    lines = aligned([["node", "feature", "log p", "effect"], *rows])
    return "\n".join([f"{head}, strongest evidence first:", *lines, *more])


def _tested(effects: FeatureEffects) -> str:
    """Return the numbers of nodes and of features that were tested."""
    counts = effects.there.sum(axis=1)
    if len(counts) and counts.min() < counts.max():
        return f"{len(counts)} nodes with {counts.min()} to {counts.max()} features"
    return f"{len(counts)} nodes × {counts.max(initial=0)} features"


def _row(effects: FeatureEffects, at: int) -> list[str]:
    """Return the row of one feature of one node, by its flat index."""
    node, feature = divmod(at, len(effects.features))
    return [
        label_of(effects.names[int(effects.nodes[node])]),
        str(effects.features[feature]),
        f"{effects.log_p[node, feature]:.1f}",
        f"{effects.effect_size[node, feature]:.2f}",
    ]
