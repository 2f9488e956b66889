"""The result of step 1: the data D_t of the paper as a table, and predictions in the samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..querying import Query
from ..scratch import Record, Scratch, ScratchMatrix
from ..variables import Variable, VariableId

__all__ = ["Outcome", "SampleTable", "Samples", "TargetValues"]

Codes = NDArray[np.uint8]

_ALL = slice(None)
_ROUNDING = 1e-6
_SAME = 1e-5
"""Relative changes of a prediction up to this are rounding errors of the model."""
_SATURATED = 1e-3
"""Probabilities this close to 0 or 1 hardly change, so their log-odds are recorded as well."""
_LOG_ODDS_ROUNDING = 0.1
_SMALLEST = 1e-38


class SampleTable:
    """Samples of discrete variables, packed into bit planes.

    A cell takes two bits if variables have four states, and one bit if they are binary. Columns are
    written and read as small integers.

    Args:
        variables: the variables of the columns.
        num_samples: the number of rows.
        scratch: allocates the table; None to keep it in memory.

    Examples:
        >>> table = SampleTable([Variable(0, True, 2), Variable(1, True, 2)], num_samples=3)
        >>> table.write(0, np.array([[0, 3], [1, 2], [2, 1]], dtype=np.uint8))
        >>> table.codes([1]).ravel().tolist()
        [3, 2, 1]
    """

    def __init__(
        self, variables: Sequence[Variable], num_samples: int, scratch: Scratch | None = None
    ) -> None:
        self.variables = tuple(variables)
        self.num_samples = num_samples
        self.cardinalities: IntArray = np.array([v.cardinality for v in variables], dtype=np.int64)
        self.levels: IntArray = np.array([v.levels for v in variables], dtype=np.int64)
        states = int(self.cardinalities.max(initial=2))
        self._bits = (states - 1).bit_length()
        # A row for each bit of each variable: first the lowest bits of all variables.
        shape = (self._bits * len(variables), -(-num_samples // 8))
        self._planes = (
            ScratchMatrix(*shape, np.uint8) if scratch is None else scratch.zeros(*shape, np.uint8)
        )
        self._columns = {variable.id: at for at, variable in enumerate(self.variables)}

    @property
    def nbytes(self) -> int:
        """The size of the samples in bytes, in memory or in a file."""
        rows, width = self._planes.shape
        return rows * width

    @property
    def in_file(self) -> bool:
        """Whether the samples are in a temporary file."""
        return self._planes.in_file

    def has(self, variable: VariableId) -> bool:
        """Return whether there is a column for a variable."""
        return variable in self._columns

    def column(self, variable: VariableId) -> int:
        """Return the column of a variable."""
        return self._columns[variable]

    def columns(self, nodes: IntArray) -> IntArray:
        """Return the columns of the variables of some nodes."""
        found = map(self._columns.__getitem__, nodes.tolist())
        return np.fromiter(found, np.int64, len(nodes))

    def write(self, first: int, codes: Codes) -> None:
        """Write the states ``[num_samples, columns]`` of the columns from ``first`` on."""
        for bit in range(self._bits):
            plane = (codes >> np.uint8(bit)) & np.uint8(1)
            self._planes.write(bit * len(self.variables) + first, np.packbits(plane, axis=0).T)

    def codes(self, columns: Sequence[int] | IntArray, samples: slice = _ALL) -> Codes:
        """Return the states ``[samples, columns]``, of all samples or a range of them.

        A range must begin at a multiple of 8.
        """
        chosen = np.asarray(columns, dtype=np.int64)
        first, stop, _ = samples.indices(self.num_samples)
        rows = len(self.variables) * np.arange(self._bits)[:, None] + chosen
        octets = slice(first // 8, -(-stop // 8))
        planes = self._planes.take(rows.ravel(), octets)
        planes = planes.reshape(*rows.shape, octets.stop - octets.start)
        bits = np.unpackbits(planes, axis=2, count=stop - first)
        return self._join(bits).T

    @staticmethod
    def _join(bits: Codes) -> Codes:
        codes = bits[0].copy()
        for bit in range(1, len(bits)):
            codes |= bits[bit] << np.uint8(bit)
        return codes


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
        thresholds: changes of each target above these count as changed, ``[targets, levels - 1]``.
        first_prediction: the column of the first prediction.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> samples = explainer.samples([1])
        >>> samples.table.num_samples, samples.classes.tolist()
        (1000, [1, 0, 1])
    """

    table: SampleTable
    before: FloatArray
    classes: IntArray
    changed_share: NDArray[np.float64]
    values: TargetValues
    thresholds: FloatArray
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
        return Outcome(
            values,
            original,
            _ROUNDING * float(size),
            self.values.class_stayed(target),
            tuple(self.thresholds[self.values.at(target)].tolist()),
            self.values.log_odds_changes(target),
        )

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
        log_odds: the absolute change of the log-odds, ``[n]``, if the original probability is close
            to 0 or 1; else None.
    """

    values: NDArray[np.float64]
    original: float
    resolution: float
    class_stayed: float | None = None
    thresholds: tuple[float, ...] = ()
    log_odds: NDArray[np.float64] | None = None

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
        self._original = self._explained(self._before[None])[0]
        self._saturated = _saturated(self._original, model.reader.kind)
        self._log_odds = Record(num_samples, len(self._saturated), np.float32, scratch)
        self._predicted = self._before.argmax(axis=-1)
        self._stayed = np.zeros(len(at), dtype=np.int64)
        self._num_samples = num_samples

    @property
    def positions(self) -> IntArray:
        """The positions of the targets among all predictions."""
        return self._at

    def record(self, start: int, after: FloatArray) -> None:
        """Record the predictions ``[B, predictions, C]`` of a batch, each sample once."""
        chosen = after[:, self._at]
        self._record.write(start, self._explained(chosen))
        if len(self._saturated):
            self._log_odds.write(start, self._odds(chosen))
        if self.are_probabilities:
            predicted = chosen[:, np.arange(len(self._at)), self._predicted]
            # Neither a tie nor a difference within rounding errors counts as another class.
            self._stayed += (predicted >= chosen.max(axis=-1) - _ROUNDING).sum(axis=0)

    def agrees(self, after: FloatArray) -> bool:
        """Return whether predictions of the first samples are as recorded, up to rounding."""
        found = self._explained(after[:, self._at])
        return all(
            np.allclose(found[:, block], self._record.read(block)[: len(found)], _SAME, _SAME)
            for block in self._record.blocks()
        )

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

    def log_odds_changes(self, target: VariableId) -> NDArray[np.float64] | None:
        """Return the absolute changes ``[n]`` of the log-odds of a target; None if not recorded."""
        at = np.flatnonzero(self._saturated == self._column[target])
        if not len(at):
            return None
        original = self._odds(self._before[None])[0, at[0]]
        changes = abs(self._log_odds.column(int(at[0])).astype(np.float64) - float(original))
        return np.asarray(np.round(changes / _LOG_ODDS_ROUNDING) * _LOG_ODDS_ROUNDING)

    def _odds(self, chosen: FloatArray) -> NDArray[np.float32]:
        """Return the log-odds of the saturated targets from the predictions ``[B, targets, C]``."""
        each = np.arange(len(self._saturated))
        others = chosen[:, self._saturated].astype(np.float64)
        own = others[:, each, self._classes[self._saturated]]
        # The sum of the others is precise also where 1 minus the probability would be rounded to 0.
        others[:, each, self._classes[self._saturated]] = 0.0
        both = np.maximum((own, others.sum(axis=-1)), _SMALLEST)
        return np.asarray(np.log(both[0] / both[1]), dtype=np.float32)

    def _explained(self, chosen: FloatArray) -> NDArray[np.float64]:
        """Return the explained quantity from the predictions ``[B, targets, C]``."""
        if not self.are_probabilities and chosen.shape[-1] > 1:
            distance = np.linalg.norm(chosen.astype(np.float64) - self._before, axis=-1)
            return np.asarray(distance, dtype=np.float64)
        explained = self._classes if self.are_probabilities else np.zeros_like(self._classes)
        return chosen[:, np.arange(len(self._at)), explained].astype(np.float64)


def _saturated(probabilities: NDArray[np.float64], kind: str) -> IntArray:
    """Return the targets whose probability is close to 0 or 1.

    Only for models that return logits or log-probabilities: small probabilities that a model
    returns itself may be rounding errors.
    """
    if kind not in ("logits", "log_probabilities"):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.minimum(probabilities, 1 - probabilities) < _SATURATED)
