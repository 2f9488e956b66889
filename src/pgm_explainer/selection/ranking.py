"""Candidates in the order of the evidence for them, weighed by their reach."""

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

__all__ = [
    "CORRECTIONS",
    "RANKING_COLUMNS",
    "RankedNode",
    "Ranking",
    "critical_log_p",
    "rank",
    "significant",
]


RANKING_COLUMNS = (
    "nodes",
    "statistic",
    "dof",
    "log_p",
    "effect_size",
    "reach",
    "significant",
    "selected",
)


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
    """All candidates, the best first, held as columns.

    Significant ones go before the others; among equals in that, by evidence and reach.

    Attributes:
        nodes, statistic, dof, log_p, effect_size: columns, in rank order.
        reach: how much the evidence for each counts, above 0 and up to 1, by how much of what the
            target hears it can send; all 1 where that is not asked.
        significant: whether each passed the significance level, after any correction.
        selected: whether each is in the explanation.
        names: what the nodes of the graph are called, if not by their numbers.
        left_out: how many more candidates were ranked, after these, and are not kept.
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
    left_out: int = 0

    @property
    def num_candidates(self) -> int:
        """How many were ranked, kept or not."""
        return len(self) + self.left_out

    @property
    def weighed(self) -> bool:
        """Whether evidence counts by reach: for some less than for others."""
        return bool((self.reach < 1).any())

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

    def with_none_significant(self) -> Ranking:
        """Return the same ranking with no node significant, and so none in the explanation."""
        nobody = np.zeros(len(self), dtype=bool)
        return replace(self, significant=nobody, selected=nobody)

    def first(self, keep: int) -> Ranking:
        """Return the first candidates, and all that are in the explanation."""
        kept = self.selected | (np.arange(len(self)) < keep)
        columns = {name: getattr(self, name)[kept] for name in RANKING_COLUMNS}
        return replace(self, **columns, left_out=self.num_candidates - int(kept.sum()))

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
    log_p: NDArray[np.float64],
    level: float,
    correction: str = "none",
    reach: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """Say which p-values pass the level, corrected for their number if asked to.

    A correction shares out the false discoveries that the level allows for: evenly or, where a
    reach is given, in proportion to it. The share of false ones is held to the level either way,
    since the reach does not depend on the p-values (Genovese, Roeder and Wasserman, 2006). No
    p-value above the level passes, whatever the reach.

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
    weighed = log_p if reach is None else log_p - _log_weight(reach, correction)
    in_question = log_p < np.log(level)
    return np.asarray(correct(np.where(in_question, weighed, np.inf)) < np.log(level))


def _log_weight(reach: NDArray[np.float64], correction: str) -> NDArray[np.float64]:
    """By how much p-values are divided before they are corrected: one on average."""
    if correction == "none" or not len(reach):
        return np.zeros(len(reach))
    weights: NDArray[np.float64] = np.log(reach / reach.mean())
    return weights


def critical_log_p(ranking: Ranking, level: float, correction: str) -> NDArray[np.float64]:
    """Return, for each candidate, the log p-value that it must be below to be significant.

    By Benjamini and Hochberg's procedure it depends on how many are, so none must be left out.

    Examples:
        >>> one, some = np.ones(4), np.array([True, True, False, False])
        >>> ranking = Ranking(np.arange(4), one, one.astype(int), -one, one, one, some, some)
        >>> for correction in ("none", "benjamini_hochberg"):
        ...     print(np.exp(critical_log_p(ranking, 0.04, correction)).round(6).tolist())
        [0.04, 0.04, 0.04, 0.04]
        [0.02, 0.02, 0.02, 0.02]
    """
    count = max(1, int(np.count_nonzero(ranking.significant)))
    shared = 1.0 if correction == "none" else count / max(1, len(ranking))
    corrected = np.log(level * shared) + _log_weight(ranking.reach, correction)
    return np.minimum(corrected, np.log(level))


def rank(
    nodes: IntArray,
    tests: PairwiseTests,
    reach: NDArray[np.float64],
    passed: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
    max_nodes: int,
) -> Ranking:
    """Order candidates by evidence times reach; select the first ``max_nodes`` that are eligible.

    Those that passed go before the others; evidence is the log p-value. Equals are ordered by
    larger statistic, then by smaller node id.
    """
    order = np.lexsort((nodes, -tests.statistic, tests.log_p * reach, ~passed))
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
