"""The work of a worker: explain a piece of the targets and return a Parquet file."""

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
from .types import node_types

__all__ = ["ExplainPieces", "Piece", "PieceDone"]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Piece:
    """Targets of one shard for one worker: all of them, or a part after workers have crashed.

    The last bits of a model's output may depend on the rest of its batch. So the groups of targets
    that are explained together are derived from the whole shard, and a piece that is run again has
    the same groups.

    Attributes:
        shard: the number of the shard.
        targets: all targets of the shard: numbers ``[T]``, or pairs of them ``[T, 2]``.
        groups: the groups to explain, as positions in ``targets``; None for all groups.
        crashes: the number of workers that have crashed on this piece.
    """

    shard: int
    targets: IntArray
    groups: list[list[int]] | None = None
    crashes: int = 0

    def planned(self, explainer: PGMExplainer) -> list[list[int]]:
        """Return the groups to explain."""
        return groups(explainer, self.names) if self.groups is None else self.groups

    @property
    def names(self) -> list[Any]:
        """Return all targets of the shard in the form that an explainer takes."""
        return [tuple(each) if isinstance(each, list) else each for each in self.targets.tolist()]

    @property
    def size(self) -> int:
        """The number of targets to explain."""
        return len(self.targets) if self.groups is None else sum(map(len, self.groups))

    def halves(self, explainer: PGMExplainer, max_crashes: int) -> tuple[Piece, Piece]:
        """Return two pieces of half as many groups or, of a single group, of half its targets.

        Splitting between groups changes no result, so pieces of several groups are split again as
        soon as one more worker crashes. Splitting a single group may change the last bits, so it
        is split only after it has crashed ``max_crashes`` workers.
        """
        planned = self.planned(explainer)
        if len(planned) == 1:
            middle = len(planned[0]) // 2
            first, second = [planned[0][:middle]], [planned[0][middle:]]
            return replace(self, groups=first, crashes=1), replace(self, groups=second, crashes=1)
        middle = len(planned) // 2
        first, second = planned[:middle], planned[middle:]
        crashes = [0 if len(part) == 1 else max_crashes - 1 for part in (first, second)]
        return (
            replace(self, groups=first, crashes=crashes[0]),
            replace(self, groups=second, crashes=crashes[1]),
        )


@dataclass(frozen=True)
class PieceDone:
    """The result of a piece.

    Attributes:
        places: the positions of its targets in the shard, ascending.
        data: their rows in this order, as a Parquet file.
        failed: the number of rows with an error.
        seconds: the time that the worker took.
    """

    piece: Piece
    places: list[int]
    data: bytes
    failed: int
    seconds: float


@dataclass(frozen=True)
class ExplainPieces:
    """The work that is sent to workers.

    Attributes:
        recipe: how each worker gets its explainer.
        keep: the number of candidates to store of each ranking.
        with_features: whether to explain features too.
        with_counterfactual: whether to search for smallest changes of the predictions too.
        max_memory: memory limit for samples in bytes, the same for each worker, because it
            determines the batches of the model.
        progress: as in :class:`~pgm_explainer.execution.ExecutionConfig`, for each worker.
    """

    recipe: Recipe
    keep: int
    with_features: bool
    with_counterfactual: bool
    max_memory: int
    progress: bool | None = False

    def __call__(self) -> Callable[[Piece], PieceDone]:
        """Set up a worker."""
        made = self.recipe.explainer
        execution = replace(made.execution, max_memory=self.max_memory, progress=self.progress)
        explainer = made.within(execution)
        names = self.recipe.named.names.labels if made.offsets is not None else None
        also = self.with_features, self.with_counterfactual
        return _Explaining(explainer, self.keep, *also, names)


@dataclass(frozen=True)
class _Explaining:
    explainer: PGMExplainer
    keep: int
    with_features: bool
    with_counterfactual: bool
    names: Any = None
    """The names of the nodes of many graphs, if they have any."""

    def __call__(self, piece: Piece) -> PieceDone:
        started = time.perf_counter()
        targets, found = piece.names, dict[int, Row]()
        with one_thread(), warnings.catch_warnings():
            # The warnings of an explanation are stored in its row.
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
        """Explain targets together; if that fails, one by one, so that errors stay separate."""
        try:
            explanations = self.explainer.explain_many(group, with_features=self.with_features)
            return [
                self._row(target, explanation)
                for target, explanation in zip(group, explanations, strict=True)
            ]
        except Exception as error:  # a model may raise anything, which must not end the job
            if len(group) > 1:
                _logger.info(
                    "explaining %d targets together failed, retrying one by one: %s",
                    len(group),
                    error,
                )
                return [row for target in group for row in self._explain([target])]
            return [failed_row(group[0], f"{type(error).__name__}: {error}")]

    def _row(self, target: Any, explanation: Any) -> Row:
        if self.with_counterfactual:
            explanation = explanation.with_counterfactual()
        offsets, names = self.explainer.offsets, self.names
        if offsets is not None and names is not None:
            names = names[offsets[target] : offsets[target + 1]]
        return row_of(target, explanation, self.keep, node_types(self.explainer, target), names)
