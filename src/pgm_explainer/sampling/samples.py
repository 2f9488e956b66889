"""The result of step 1: a table of samples, and the predictions in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..variables import VariableId
from .table import SampleTable
from .values import Outcome, TargetValues

__all__ = ["Samples"]

_ROUNDING = 1e-6
"""Relative changes of a prediction up to this are rounding errors of the model."""


@dataclass(frozen=True)
class Samples:
    """The samples, and the model's predictions without perturbation.

    Attributes:
        table: one column per recorded node; if predictions do not belong to nodes (graph and edge
            tasks), one more for each prediction.
        before: probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        classes: the explained class of each prediction.
        changed_share: for each recorded node, how often a perturbation changes its features.
        values: the probability of the explained class (or the value) of each target in every
            sample.
    """

    table: SampleTable
    before: FloatArray
    classes: IntArray
    changed_share: NDArray[np.float64]
    values: TargetValues

    def prediction(self, variable: VariableId) -> tuple[FloatArray, int]:
        """Return a prediction's unperturbed probabilities (or values), and the explained class."""
        # Predictions are the last columns: all columns, or those after the columns of nodes.
        at = self.table.column(variable) - (len(self.table.variables) - len(self.before))
        return self.before[at], int(self.classes[at])

    def levels(self, target: VariableId) -> NDArray[np.uint8]:
        """Return the level of change of a target in every sample; 0 where it was kept."""
        column = self.table.column(target)
        return self.table.codes([column])[:, 0] % self.table.variables[column].levels

    def outcome(self, target: VariableId) -> Outcome:
        """Return the prediction of a target in every sample."""
        values, original = self.values.of(target)
        size = 1.0 if self.values.are_probabilities else abs(values).max(initial=abs(original))
        return Outcome(values, original, _ROUNDING * float(size))

    def predicted_classes(self, nodes: IntArray) -> IntArray:
        """Return the predicted class of some recorded nodes; -1 for a node without a prediction.

        The variable of a node with a prediction has several levels of change.
        """
        columns = self.table.columns(nodes)
        own = self.table.levels[columns] > 1
        classes = np.full(len(nodes), -1, dtype=np.int64)
        classes[own] = self.before[columns[own]].argmax(axis=-1)
        return classes
