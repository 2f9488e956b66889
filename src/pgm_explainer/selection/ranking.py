"""Candidates in the order of their dependence on the target, near ones before far ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray, resolve
from ..errors import InputError
from ..sampling import VariableId
from .independence import PairwiseTests

__all__ = ["CORRECTIONS", "RankedNode", "Ranking", "critical_log_p", "rank", "significant"]


@dataclass(frozen=True)
class RankedNode:
    """One candidate's evidence of dependence on the target."""

    node: VariableId
    statistic: float
    dof: int
    log_p: float
    effect_size: float
    reach: float
    significant: bool
    selected: bool

    @property
    def p(self) -> float:
        """The p-value; 0 where it underflows, which ``log_p`` does not."""
        return float(np.exp(self.log_p))


@dataclass(frozen=True, eq=False)
class Ranking(Sequence[RankedNode]):
    """All candidates, those the target depends on most first, held as columns.

    Attributes:
        nodes, statistic, dof, log_p, effect_size: columns, in rank order.
        reach: how much of what the target hears can come from each, from 0 to 1; all 1 where the
            ranking is by evidence alone.
        significant: whether each passed the significance level, after any correction.
        selected: whether each is in the explanation.
        names: what the nodes of the graph are called, if not by their numbers.
    """

    nodes: IntArray
    statistic: NDArray[np.float64]
    dof: NDArray[np.int64]
    log_p: NDArray[np.float64]
    effect_size: NDArray[np.float64]
    reach: NDArray[np.float64]
    significant: NDArray[np.bool_]
    selected: NDArray[np.bool_]
    names: Sequence[VariableId] | Mapping[int, VariableId] | None = None

    def name(self, at: int) -> VariableId:
        """Return what the node at a rank is called: its number, or its kind and number."""
        return self.called(int(self.nodes[at]))

    def called(self, number: int) -> VariableId:
        """Return what a node of the graph is called, ranked or not."""
        if isinstance(self.names, Mapping):
            return self.names.get(number, number)
        return number if self.names is None else self.names[number]

    def named(self, names: Sequence[VariableId] | Mapping[int, VariableId]) -> Ranking:
        """Return the same ranking with names for the nodes of the graph."""
        return replace(self, names=names)

    def with_none_selected(self) -> Ranking:
        """Return the same ranking with no node in the explanation."""
        return replace(self, selected=np.zeros_like(self.selected))

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, index: int) -> RankedNode: ...
    @overload
    def __getitem__(self, index: slice) -> list[RankedNode]: ...
    def __getitem__(self, index: int | slice) -> RankedNode | list[RankedNode]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        return RankedNode(
            self.name(index),
            float(self.statistic[index]),
            int(self.dof[index]),
            float(self.log_p[index]),
            float(self.effect_size[index]),
            float(self.reach[index]),
            bool(self.significant[index]),
            bool(self.selected[index]),
        )

    def __iter__(self) -> Iterator[RankedNode]:
        return (self[at] for at in range(len(self)))

    def __repr__(self) -> str:
        return f"Ranking of {len(self)} nodes, {int(self.selected.sum())} selected"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranking) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self.columns.values(), other.columns.values(), strict=True)
        )

    @property
    def _named_nodes(self) -> NDArray[np.generic]:
        if self.names is None:
            return self.nodes
        named = np.empty(len(self), dtype=object)
        named[:] = [self.name(at) for at in range(len(self))]
        return named

    @property
    def columns(self) -> dict[str, NDArray[np.generic]]:
        """The ranking as named columns, ready for ``pandas.DataFrame``."""
        return {
            "node": self._named_nodes,
            "statistic": self.statistic,
            "dof": self.dof,
            "log_p": self.log_p,
            "effect_size": self.effect_size,
            "reach": self.reach,
            "significant": self.significant,
            "selected": self.selected,
        }


def _uncorrected(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    return log_p


def _benjamini_hochberg(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjusted log p-values that bound the share of false discoveries."""
    order = np.argsort(log_p, kind="stable")[::-1]
    steps = np.log(len(log_p) / np.arange(len(log_p), 0, -1))
    adjusted = np.empty_like(log_p)
    adjusted[order] = np.minimum.accumulate(log_p[order] + steps)
    return np.minimum(adjusted, 0.0)


CORRECTIONS = {"none": _uncorrected, "benjamini_hochberg": _benjamini_hochberg}


def significant(
    log_p: NDArray[np.float64], level: float, correction: str = "none"
) -> NDArray[np.bool_]:
    """Say which p-values pass the level, corrected for their number if asked to.

    Examples:
        >>> p = np.array([0.01, 0.04, 0.5])
        >>> significant(np.log(p), 0.05).tolist()
        [True, True, False]
        >>> significant(np.log(p), 0.05, "benjamini_hochberg").tolist()
        [True, False, False]
    """
    correct = resolve(correction, "correction", CORRECTIONS)
    if correct is None:
        raise InputError(f"correction must be a name: {', '.join(CORRECTIONS)}")
    return np.asarray(correct(log_p) < np.log(level))


def critical_log_p(passed: NDArray[np.bool_], level: float, correction: str) -> float:
    """Return the log p-value that separates those that passed from those that did not.

    By Benjamini and Hochberg's procedure it depends on how many passed.

    Examples:
        >>> passed = np.array([True, True, False, False])
        >>> for correction in ("none", "benjamini_hochberg"):
        ...     print(round(np.exp(critical_log_p(passed, 0.04, correction)), 6))
        0.04
        0.02
    """
    if correction == "none":
        return float(np.log(level))
    count = max(1, int(np.count_nonzero(passed)))
    return float(np.log(level * count / max(1, len(passed))))


def rank(
    nodes: IntArray,
    tests: PairwiseTests,
    reach: NDArray[np.float64],
    passed: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
    max_nodes: int,
) -> Ranking:
    """Order candidates by evidence and reach; select the first ``max_nodes`` that are eligible.

    Evidence is the root of the log p-value, which is to it what an effect is to its square. Equals
    are ordered by larger statistic, then by smaller node id.
    """
    order = np.lexsort((nodes, -tests.statistic, tests.log_p * reach**2))
    eligible = eligible[order]
    selected = eligible & (np.cumsum(eligible) <= max_nodes)
    return Ranking(
        nodes[order],
        tests.statistic[order],
        tests.dof[order],
        tests.log_p[order],
        tests.effect_size[order],
        reach[order],
        passed[order],
        selected,
    )
