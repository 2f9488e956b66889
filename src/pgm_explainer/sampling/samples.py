"""The result of step 1: a table of samples, and the predictions in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
        table: one column per recorded part; if predictions do not belong to these, one more for
            each prediction.
        before: probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        classes: the explained class of each prediction.
        changed_share: for each recorded part, how often perturbing it changes anything.
        values: the probability of the explained class (or the value) of each target in every
            sample.
        first_prediction: the column of the first prediction.
    """

    table: SampleTable
    before: FloatArray
    classes: IntArray
    changed_share: NDArray[np.float64]
    values: TargetValues
    first_prediction: int = 0

    def prediction(self, variable: VariableId) -> tuple[FloatArray, int]:
        """Return a prediction's unperturbed probabilities (or values), and the explained class."""
        at = self.table.column(variable) - self.first_prediction
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
        """Return the predicted class of some nodes; -1 for a node without a recorded prediction.

        The variable of a node with a prediction has several levels of change.
        """
        found = self._predicted_classes
        return np.array([found.get(node, -1) for node in nodes.tolist()], dtype=np.int64)

    @cached_property
    def _predicted_classes(self) -> dict[VariableId, int]:
        own = np.flatnonzero(self.table.levels > 1)
        classes = self.before[own - self.first_prediction].argmax(axis=-1)
        ids = [self.table.variables[at].id for at in own.tolist()]
        return dict(zip(ids, classes.tolist(), strict=True))
