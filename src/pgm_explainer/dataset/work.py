"""What a worker does: explain a piece of the targets and hand back a Parquet file."""

from __future__ import annotations

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
from .recipe import Recipe
from .rows import Row, failed_row, parquet_bytes, row_of, table_of
from .threads import one_thread

__all__ = ["ExplainPieces", "Piece", "PieceDone"]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Piece:
    """Targets of one shard for one worker: all of them, or part of those that killed workers.

    The last bits of a model's answer may depend on what else is in its batch. So the groups that
    are explained together belong to the plan: they follow from the whole shard, and a piece that
    is done again, by any worker, has the same ones.

    Attributes:
        shard: the number of the shard.
        targets: all targets of the shard: numbers ``[T]``, or pairs of them ``[T, 2]``.
        groups: the groups to do, as places in ``targets``; None for all groups of the shard.
        deaths: how many workers have died over this piece.
    """

    shard: int
    targets: IntArray
    groups: list[list[int]] | None = None
    deaths: int = 0

    def planned(self, explainer: PGMExplainer) -> list[list[int]]:
        """Return the groups to do."""
        return groups(explainer, self.names) if self.groups is None else self.groups

    @property
    def names(self) -> list[Any]:
        """All targets of the shard as an explainer takes them."""
        return [tuple(each) if isinstance(each, list) else each for each in self.targets.tolist()]

    @property
    def size(self) -> int:
        """How many targets there are to do."""
        return len(self.targets) if self.groups is None else sum(map(len, self.groups))

    def halves(self, explainer: PGMExplainer, deadly: int) -> tuple[Piece, Piece]:
        """Return two pieces of half as many groups or, of a single group, of half its targets.

        Splitting between groups changes no answer, so pieces of several groups are split again as
        soon as one more worker dies. A single group begins anew: it is split, which may change
        last bits, only after it has killed ``deadly`` workers by itself.
        """
        planned = self.planned(explainer)
        if len(planned) == 1:
            middle = len(planned[0]) // 2
            first, second = [planned[0][:middle]], [planned[0][middle:]]
            return replace(self, groups=first, deaths=1), replace(self, groups=second, deaths=1)
        middle = len(planned) // 2
        first, second = planned[:middle], planned[middle:]
        died = [0 if len(part) == 1 else deadly - 1 for part in (first, second)]
        return (
            replace(self, groups=first, deaths=died[0]),
            replace(self, groups=second, deaths=died[1]),
        )


@dataclass(frozen=True)
class PieceDone:
    """What became of a piece.

    Attributes:
        places: of its targets in the shard, ascending.
        data: their rows in this order, as a Parquet file.
        failed: how many of them hold an error.
        seconds: how long the worker took.
    """

    piece: Piece
    places: list[int]
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
        max_memory: bytes for samples in flight, the same for each worker: how many samples the
            model sees at once follows from it.
    """

    recipe: Recipe
    keep: int
    features: bool
    max_memory: int

    def __call__(self) -> Callable[[Piece], PieceDone]:
        """Make a worker ready."""
        made = self.recipe.explainer
        # The job has a progress bar of its own.
        execution = replace(made.execution, max_memory=self.max_memory, progress=False)
        explainer = made.within(execution)
        return _Explaining(explainer, self.keep, self.features)


@dataclass(frozen=True)
class _Explaining:
    explainer: PGMExplainer
    keep: int
    features: bool

    def __call__(self, piece: Piece) -> PieceDone:
        started = time.perf_counter()
        targets, found = piece.names, dict[int, Row]()
        with one_thread(), warnings.catch_warnings():
            # Every weakness of an explanation is in its row.
            warnings.simplefilter("ignore", PGMExplainerWarning)
            for group in piece.planned(self.explainer):
                rows = self._explain([targets[place] for place in group])
                found.update(zip(group, rows, strict=True))
        places = sorted(found)
        rows = [found[place] for place in places]
        data = parquet_bytes(table_of(rows, self.explainer.settings.model.task))
        failed = sum("error" in row for row in rows)
        return PieceDone(piece, places, data, failed, time.perf_counter() - started)

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
