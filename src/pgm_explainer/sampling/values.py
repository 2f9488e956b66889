"""The explained predictions in every sample, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..querying import Query
from ..scratch import Scratch
from ..variables import VariableId
from .record import Record

__all__ = ["ROUNDING", "Outcome", "TargetValues"]

ROUNDING = 1e-6
"""Relative changes of a prediction up to this are rounding errors of the model."""


@dataclass(frozen=True)
class Outcome:
    """A prediction in every sample.

    Attributes:
        values: the explained class's probability, or the predicted value, ``[n]``.
        original: the same without perturbation.
        resolution: changes up to this are rounding errors of the model.
        class_stayed: the fraction of samples in which the model predicted the same class as without
            perturbation; None for values.
        thresholds: changes above these count as changed, one for each level of change.
    """

    values: NDArray[np.float64]
    original: float
    resolution: float
    class_stayed: float | None = None
    thresholds: tuple[float, ...] = ()

    @property
    def change(self) -> NDArray[np.float64]:
        """The change in every sample, rounded to multiples of the resolution.

        So values that differ only by rounding errors are equal and have the same rank.
        """
        change = self.values - self.original
        step = self.resolution
        return np.asarray(np.round(change / step) * step) if step > 0 else change


class TargetValues:
    """The explained class's probability (or the predicted value) of each target in every sample.

    If several values of a regression are explained together, it is their Euclidean distance from
    the unperturbed values.
    """

    def __init__(self, query: Query, num_samples: int, scratch: Scratch) -> None:
        model = query.model
        positions = {name: at for at, name in enumerate(query.predictions)}
        at = np.array([positions[target] for target in query.targets], dtype=np.int64)
        self._column = {target: number for number, target in enumerate(query.targets)}
        self._at, self._classes = at, query.classes[at]
        self._before = model.before[at]
        self.are_probabilities = model.reader.kind != "values"
        self._record = Record(num_samples, len(at), np.float64, scratch)
        self._original = self._of(model.before[None])[0]
        self._predicted = self._before.argmax(axis=-1)
        self._stayed = np.zeros(len(at), dtype=np.int64)
        self._num_samples = num_samples

    @property
    def positions(self) -> IntArray:
        """The positions of the targets among all predictions."""
        return self._at

    def record(self, start: int, after: FloatArray) -> None:
        """Record the predictions ``[B, predictions, C]`` of a batch, each sample once."""
        self._record.write(start, self._of(after))
        if self.are_probabilities:
            chosen = after[:, self._at]
            predicted = chosen[:, np.arange(len(self._at)), self._predicted]
            # A tie is no other prediction; nor is one that rounding errors decide.
            self._stayed += (predicted >= chosen.max(axis=-1) - ROUNDING).sum(axis=0)

    def at(self, target: VariableId) -> int:
        """Return the number of a target."""
        return self._column[target]

    def class_stayed(self, target: VariableId) -> float | None:
        """Return how often a target's predicted class stayed the same; None for values."""
        stayed = int(self._stayed[self._column[target]])
        return stayed / self._num_samples if self.are_probabilities else None

    def of(self, target: VariableId) -> tuple[NDArray[np.float64], float]:
        """Return the values ``[n]`` of a target, and the original one."""
        at = self._column[target]
        return self._record.column(at), float(self._original[at])

    def _of(self, predictions: FloatArray) -> NDArray[np.float64]:
        chosen = predictions[:, self._at]
        if not self.are_probabilities and chosen.shape[-1] > 1:
            distance = np.linalg.norm(chosen.astype(np.float64) - self._before, axis=-1)
            return np.asarray(distance, dtype=np.float64)
        explained = self._classes if self.are_probabilities else np.zeros_like(self._classes)
        return chosen[:, np.arange(len(self._at)), explained].astype(np.float64)
