"""Tests of single features of the explaining nodes."""

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
    """Test results for each feature of some nodes; prints as a table of significant features.

    Attributes:
        nodes: the indices of the nodes.
        features: the feature columns.
        effect_size: Cramér's V ``[nodes, features]`` of each feature and the prediction's change.
        log_p: natural logarithm of the p-value ``[nodes, features]``.
        significant: whether the feature is significant, after any correction.
        names: the names of the nodes, if they have names other than their indices.
        widths: the number of features of each node, if node types differ. For columns that a node
            does not have, ``effect_size`` and ``log_p`` are 0.
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
        """Return the name of the node at a position."""
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
    """Test each existing feature against the prediction, the last variable of the table."""
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
