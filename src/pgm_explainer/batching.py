"""Memory-bounded batches of targets, and the samples that they are explained from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .arrays import IntArray
from .effects.table import EFFECT_COLUMNS
from .execution import in_blocks, readable
from .explanation import Explanation
from .network import CliqueTable, ConditionalTable
from .querying import Query
from .sampling import Samples, VariableId
from .scratch import ArrayStore
from .selection import Neighbourhood
from .selection.ranking import RANKING_COLUMNS

__all__ = ["Neighbourhoods", "SampleCache", "memory_blocks", "offload", "offload_table"]

_logger = logging.getLogger(__name__)

_INDEX_BYTES = 8
"""Bytes for a candidate's index."""
_RANKING_BYTES = 150
"""Bytes for a candidate in a ranking and its intermediate results."""
_OUTCOME_BYTES = 9
"""Bytes for a target's prediction and its level of change in a sample."""
_LARGE = 1 << 30
"""Explanations that are larger than this, in bytes, are logged as a warning."""
_BLOCK_TARGETS = 512
Result = TypeVar("Result", bound=Sized)
Table = TypeVar("Table")


class Neighbourhoods(Iterable[Neighbourhood]):
    """The neighbourhoods of some targets, in order; can be iterated over several times.

    They are cached up to a memory limit; the others are computed again in each iteration.

    Args:
        targets: the explained targets, without duplicates.
        find: computes the neighbourhood of a target.
        num_nodes: the number of nodes in the graph.
        max_memory: in bytes; an eighth is used for the cache.

    Attributes:
        union: all candidates, ascending.
    """

    def __init__(
        self,
        targets: Sequence[VariableId],
        find: Callable[[VariableId], Neighbourhood],
        num_nodes: int,
        max_memory: int,
    ) -> None:
        self.targets = targets
        self._find = find
        self._cached: list[Neighbourhood] = []
        seen, size = np.zeros(num_nodes, dtype=bool), 0
        for target in targets:
            neighbourhood = find(target)
            seen[neighbourhood.candidates] = True
            size += len(neighbourhood.candidates)
            if size * _INDEX_BYTES <= max_memory // 8:
                self._cached.append(neighbourhood)
        self.union: IntArray = np.flatnonzero(seen)
        if len(targets) > 1 and size * _RANKING_BYTES > max_memory:
            _logger.log(
                logging.WARNING if size * _RANKING_BYTES >= _LARGE else logging.INFO,
                "%d explanations with %d candidates in total will take about %s; what exceeds "
                "max_memory is written to temporary files; explain_dataset() stores only the "
                "first candidates of each",
                *(len(targets), size, readable(size * _RANKING_BYTES)),
            )

    def __iter__(self) -> Iterator[Neighbourhood]:
        yield from self._cached
        yield from map(self._find, self.targets[len(self._cached) :])


def memory_blocks(
    results: Iterable[Result], num_samples: int, max_memory: int
) -> Iterator[list[Result]]:
    """Group the results of targets into blocks that fit into an eighth of the memory.

    Args:
        results: one for each target; its length is the number of candidates. Consumed lazily.
        num_samples: the number of samples of each target.
        max_memory: in bytes.
    """
    outcome = num_samples * _OUTCOME_BYTES
    sized = ((each, len(each) * _RANKING_BYTES + outcome) for each in results)
    return in_blocks(sized, _BLOCK_TARGETS, max_memory // 8)


def offload_table(table: Table, names: Sequence[str], arrays: ArrayStore) -> Table:
    """Return the same table, with its columns in a file once the memory limit is reached."""
    if arrays.fits(sum(getattr(table, name).nbytes for name in names)):
        return table
    return _stored(table, names, arrays)


def _stored(table: Table, names: Sequence[str], arrays: ArrayStore) -> Table:
    stored: Any = {name: arrays.store(getattr(table, name)) for name in names}
    return replace(table, **stored)  # type: ignore[type-var]


def offload(explanation: Explanation, arrays: ArrayStore) -> Explanation:
    """Return the same explanation, with its arrays in a file once the memory limit is reached."""
    network = explanation.network
    full = () if network is None else network.tables
    counted = [table for table in full if isinstance(table, (ConditionalTable, CliqueTable))]
    columns = [
        *(getattr(explanation.ranking, name) for name in RANKING_COLUMNS),
        *(getattr(explanation.effects, name) for name in EFFECT_COLUMNS),
        *(array for table in counted for array in (table.values, table.counts)),
        explanation.node_classes,
    ]
    if arrays.fits(sum(array.nbytes for array in columns)):
        return explanation
    if network is not None:
        tables = [
            _stored(table, ("values", "counts"), arrays)
            if isinstance(table, (ConditionalTable, CliqueTable))
            else table
            for table in full
        ]
        network = network.with_tables(tables)
    return replace(
        explanation,
        ranking=_stored(explanation.ranking, RANKING_COLUMNS, arrays),
        effects=_stored(explanation.effects, EFFECT_COLUMNS, arrays),
        network=network,
        node_classes=arrays.store(explanation.node_classes),
    )


class SampleCache:
    """Keeps the samples that one explainer drew last.

    The model may have changed since then, for example because it was trained further. So samples
    are reused only if its scores on the unperturbed features, and on a few perturbed ones, are
    unchanged. The caller also compares some of the samples (``still_valid``), because edges may be
    perturbed too.
    """

    def __init__(self) -> None:
        self._last: tuple[Hashable, Query, Samples] | None = None

    def find(self, key: Hashable, query: Query) -> Samples | None:
        """Return the samples kept for a key if they are still valid; otherwise drop them.

        Args:
            key: what the samples depend on, apart from the model.
            query: the model, called again on the unperturbed features.
        """
        if self._last is not None:
            its_key, its_query, samples = self._last
            if its_key == key and _same_scores(its_query, query):
                return samples
        self._last = None  # frees the memory before new samples are drawn
        return None

    def keep(self, key: Hashable, query: Query, samples: Samples) -> Samples:
        """Keep samples instead of earlier ones, and return them."""
        self._last = (key, query, samples)
        return samples

    def __getstate__(self) -> dict[str, Any]:
        """Samples may be in temporary files, so a pickled cache is empty."""
        return {"_last": None}


def _same_scores(one: Query, other: Query) -> bool:
    return np.array_equal(one.model.scores, other.model.scores) and np.array_equal(
        one.model.probed, other.model.probed
    )
