"""Which features of the explaining nodes a prediction depends on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable
from .select import SelectionPlan, results_of_pairs

__all__ = ["FeatureEffects", "feature_effects"]


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEffects:
    """The evidence for each feature of some nodes; printed, a table of those that matter.

    Attributes:
        nodes: the nodes.
        features: the feature columns.
        effect_size: Cramér's V ``[nodes, features]`` of each with the prediction's change.
        log_p: natural logarithm of the p-value, likewise.
        significant: whether it passed the significance level, after any correction.
    """

    nodes: IntArray
    features: IntArray
    effect_size: NDArray[np.float64]
    log_p: NDArray[np.float64]
    significant: NDArray[np.bool_]

    def __repr__(self) -> str:
        nodes, features = self.significant.shape
        found = int(self.significant.sum())
        return f"FeatureEffects({nodes} nodes, {features} features, {found} significant)"

    def __str__(self) -> str:
        from ..report.features import describe_effects

        return describe_effects(self)


def feature_effects(
    table: SampleTable, nodes: IntArray, features: IntArray, plan: SelectionPlan
) -> FeatureEffects:
    """Test each feature against the prediction, the table's last variable."""
    last = len(table.variables) - 1
    tests = results_of_pairs(table, [last], np.arange(last), plan.test).at(0)
    shape = (len(nodes), len(features))
    return FeatureEffects(
        nodes,
        features,
        tests.effect_size.reshape(shape),
        tests.log_p.reshape(shape),
        plan.passed(tests).reshape(shape),
    )
