"""What is held in memory while many targets are explained together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .arrays import IntArray
from .effects import EFFECT_COLUMNS
from .explanation import Explanation
from .memory import readable
from .network import BayesianNetwork, ConditionalTable
from .sampling import VariableId
from .scratch import Shelf
from .selection import RANKING_COLUMNS, Dependents, Neighbourhood

__all__ = ["Neighbourhoods", "in_blocks", "kept", "together"]

_logger = logging.getLogger(__name__)

_BYTES_KEPT = 8
_BYTES_RANKED = 150
"""Of each candidate: as a number, and with the columns of its ranking and what they are made of."""
_LARGE = 1 << 30
"""Bytes of explanations that a user may want to know of beforehand."""
_AT_ONCE = 128
_ESTIMATED_AT_ONCE = 1 << 14
_TARGETS_AT_ONCE = 32
Finding = TypeVar("Finding", bound=Sized)


class Neighbourhoods(Iterable[Neighbourhood]):
    """The neighbourhoods of some targets, in order, as often as they are wanted.

    They are kept while they fit into memory; those of further targets are found again each time.

    Args:
        targets: what is explained, each once.
        find: returns the neighbourhood of a target.
        num_nodes: how many nodes the graph has.
        max_memory: bytes; an eighth of them may be kept.

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
        self._kept: list[Neighbourhood] = []
        seen, size = np.zeros(num_nodes, dtype=bool), 0
        for target in targets:
            near = find(target)
            seen[near.candidates] = True
            size += len(near.candidates)
            if size * _BYTES_KEPT <= max_memory // 8:
                self._kept.append(near)
        self.union: IntArray = np.flatnonzero(seen)
        if len(targets) > 1 and size * _BYTES_RANKED > max_memory:
            _logger.log(
                logging.WARNING if size * _BYTES_RANKED >= _LARGE else logging.INFO,
                "%d explanations with %d candidates in all will take about %s; what max_memory "
                "leaves no room for goes to temporary files; explain_dataset() keeps only the "
                "first candidates of each",
                *(len(targets), size, readable(size * _BYTES_RANKED)),
            )

    def __iter__(self) -> Iterator[Neighbourhood]:
        yield from self._kept
        yield from map(self._find, self.targets[len(self._kept) :])


def together(
    found: Iterable[tuple[Neighbourhood, Dependents]],
) -> Iterator[list[tuple[Neighbourhood, Dependents]]]:
    """Group targets whose effects are estimated together: few enough candidates in all."""
    block: list[tuple[Neighbourhood, Dependents]] = []
    size = 0
    for each in found:
        block.append(each)
        size += len(each[0].candidates)
        if size >= _ESTIMATED_AT_ONCE or len(block) == _TARGETS_AT_ONCE:
            yield block
            block, size = [], 0
    if block:
        yield block


def in_blocks(findings: Iterable[Finding], max_memory: int) -> Iterator[list[Finding]]:
    """Group what is found of targets into blocks that fit into an eighth of the memory.

    Args:
        findings: each as long as it has candidates; asked for when its block is made.
        max_memory: bytes.
    """
    most = max_memory // 8 // _BYTES_RANKED
    block: list[Finding] = []
    size = 0
    for each in findings:
        block.append(each)
        size += len(each)
        if size >= most or len(block) == _AT_ONCE:
            yield block
            block, size = [], 0
    if block:
        yield block


def kept(explanation: Explanation, shelf: Shelf) -> Explanation:
    """Return the same explanation; its arrays in a file, if there is no more room in memory."""
    network, store = explanation.network, shelf.store
    full = [] if network is None else [network.cpt(node) for node in network.nodes]
    counted = [table for table in full if isinstance(table, ConditionalTable)]
    long = [
        *(getattr(explanation.ranking, name) for name in RANKING_COLUMNS),
        *(getattr(explanation.effects, name) for name in EFFECT_COLUMNS),
        *(array for table in counted for array in (table.values, table.counts)),
        explanation.node_classes,
    ]
    if shelf.leaves(sum(array.nbytes for array in long)):
        return explanation

    def stored(table: Any, names: Sequence[str]) -> Any:
        return replace(table, **{name: store(getattr(table, name)) for name in names})

    if network is not None:
        tables = [
            stored(table, ("values", "counts")) if isinstance(table, ConditionalTable) else table
            for table in full
        ]
        network = BayesianNetwork(network.variables, network.dag, tables, network.score)
    return replace(
        explanation,
        ranking=stored(explanation.ranking, RANKING_COLUMNS),
        effects=stored(explanation.effects, EFFECT_COLUMNS),
        network=network,
        node_classes=store(explanation.node_classes),
    )
