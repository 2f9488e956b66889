"""What a worker does: explain a piece of the targets and hand back a Parquet file."""

from __future__ import annotations

import copy
import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..arrays import IntArray
from ..errors import PGMExplainerWarning
from ..explainer import PGMExplainer
from .grouping import groups
from .recipe import Recipe, one_thread
from .rows import Row, failed_row, parquet_bytes, row_of, table_of

__all__ = ["ExplainPieces", "Piece", "PieceDone"]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Piece:
    """Targets to be explained by one worker: a whole shard, or part of one that killed its worker.

    Attributes:
        shard: the number of the shard.
        start: where in the shard the targets begin.
        targets: numbers ``[T]``, or pairs of them ``[T, 2]``.
        deaths: how many workers have died over these targets.
    """

    shard: int
    start: int
    targets: IntArray
    deaths: int = 0

    def again(self) -> Piece:
        """Return the piece with one death more."""
        return replace(self, deaths=self.deaths + 1)

    def halves(self) -> tuple[Piece, Piece]:
        """Return two pieces of half as many targets."""
        middle = len(self.targets) // 2
        first = replace(self, targets=self.targets[:middle], deaths=1)
        second = replace(self, start=self.start + middle, targets=self.targets[middle:], deaths=1)
        return first, second


@dataclass(frozen=True)
class PieceDone:
    """What became of a piece.

    Attributes:
        data: its rows as a Parquet file.
        failed: how many of them hold an error.
        seconds: how long the worker took.
    """

    piece: Piece
    data: bytes
    failed: int
    seconds: float


@dataclass(frozen=True)
class ExplainPieces:
    """The work, as it is sent to workers.

    Attributes:
        recipe: how each of them comes to its explainer.
        keep: how many candidates of each ranking go into the data set.
        features: whether to explain features too.
    """

    recipe: Recipe
    keep: int
    features: bool

    def __call__(self) -> Callable[[Piece], PieceDone]:
        """Make a worker ready."""
        explainer = copy.copy(self.recipe.explainer)
        explainer.show_progress = False  # the job has a bar of its own
        return _Explaining(explainer, self.keep, self.features)


@dataclass(frozen=True)
class _Explaining:
    explainer: PGMExplainer
    keep: int
    features: bool

    def __call__(self, piece: Piece) -> PieceDone:
        started = time.perf_counter()
        targets = [_plain(target) for target in piece.targets.tolist()]
        with one_thread(), warnings.catch_warnings():
            # Every weakness of an explanation is in its row.
            warnings.simplefilter("ignore", PGMExplainerWarning)
            found = {
                place: row
                for places in groups(self.explainer, targets)
                for place, row in zip(
                    places, self._explain([targets[at] for at in places]), strict=True
                )
            }
        rows = [found[place] for place in range(len(targets))]
        data = parquet_bytes(table_of(rows, self.explainer.settings.task))
        failed = sum("error" in row for row in rows)
        return PieceDone(piece, data, failed, time.perf_counter() - started)

    def _explain(self, group: list[Any]) -> list[Row]:
        """Explain targets together; if that fails, one by one, so that each fails for itself."""
        try:
            explanations = self.explainer.explain_many(group)
            return [
                self._row(target, explanation)
                for target, explanation in zip(group, explanations, strict=True)
            ]
        except Exception as error:  # of a model anything may come; it must not end the job
            if len(group) > 1:
                _logger.info("%d targets together failed, now one by one: %s", len(group), error)
                return [row for target in group for row in self._explain([target])]
            return [failed_row(group[0], f"{type(error).__name__}: {error}")]

    def _row(self, target: Any, explanation: Any) -> Row:
        effects = self.explainer.explain_features(explanation) if self.features else None
        return row_of(target, explanation, self.keep, effects)


def _plain(target: Any) -> Any:
    return tuple(target) if isinstance(target, list) else target
