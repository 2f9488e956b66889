"""Which features of the explaining nodes a prediction depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable, VariableId
from ..significance import SignificanceConfig
from .independence import IndependenceTest
from .select import results_of_pairs

__all__ = ["FeatureEffects", "feature_effects"]


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEffects:
    """The evidence for each feature of some nodes; printed, a table of those that matter.

    Attributes:
        nodes: the numbers of the nodes.
        features: the feature columns.
        effect_size: Cramér's V ``[nodes, features]`` of each with the prediction's change.
        log_p: natural logarithm of the p-value, likewise.
        significant: whether it passed the significance level, after any correction.
        names: what the nodes are called, if not by their numbers.
        widths: how many features each node has, where nodes of several kinds differ in that. Of
            columns beyond there is no evidence: their effect and ``log_p`` are 0.
    """

    nodes: IntArray
    features: IntArray
    effect_size: NDArray[np.float64]
    log_p: NDArray[np.float64]
    significant: NDArray[np.bool_]
    names: Sequence[VariableId] | None = None
    widths: IntArray | None = None

    @property
    def there(self) -> NDArray[np.bool_]:
        """Whether a node has a feature, ``[nodes, features]``."""
        return _there(self.nodes, self.features, self.widths)

    def called(self, at: int) -> VariableId:
        """Return what one of the nodes is called."""
        return int(self.nodes[at]) if self.names is None else self.names[at]

    def __repr__(self) -> str:
        nodes, features = self.significant.shape
        found = int(self.significant.sum())
        return f"FeatureEffects({nodes} nodes, {features} features, {found} significant)"

    def __str__(self) -> str:
        from .attribute_text import describe_effects

        return describe_effects(self)


def feature_effects(
    table: SampleTable,
    nodes: IntArray,
    features: IntArray,
    test: IndependenceTest,
    significance: SignificanceConfig,
    names: Sequence[VariableId] | None = None,
    widths: IntArray | None = None,
) -> FeatureEffects:
    """Test each feature that is there against the prediction, the table's last variable."""
    there = _there(nodes, features, widths)
    last = len(table.variables) - 1
    tests = results_of_pairs(table, [last], np.flatnonzero(there), test).at(0)
    effect_size, log_p = np.zeros(there.shape), np.zeros(there.shape)
    significant = np.zeros(there.shape, dtype=bool)
    effect_size[there], log_p[there] = tests.effect_size, tests.log_p
    significant[there] = significance.passed(tests.log_p)
    return FeatureEffects(nodes, features, effect_size, log_p, significant, names, widths)


def _there(nodes: IntArray, features: IntArray, widths: IntArray | None) -> NDArray[np.bool_]:
    if widths is None:
        return np.ones((len(nodes), len(features)), dtype=bool)
    return np.asarray(features < widths[:, None])
