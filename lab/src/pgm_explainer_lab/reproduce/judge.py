"""Scores of explanations by the paper's protocol, as in the published code, and a strict one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm_explainer import PGMExplainer

from ..arrays import IntArray
from ..bitcoin import BITCOIN
from ..gnn import NodeGNN
from ..node_data import NodeDataset
from ..rivals import Case, Rival, top_nodes

__all__ = ["TOP", "Found", "judge", "pgm_findings", "rival_findings"]

TOP = (3, 4, 5)
"""The sizes of explanations in Bitcoin's table."""


@dataclass(frozen=True)
class Found:
    """The result of an explainer for one target.

    Attributes:
        nodes: the candidates, most important first.
        significant: how many of them are significant; None if the explainer has no test.
    """

    nodes: Sequence[int]
    significant: int | None = None


def pgm_findings(
    model: NodeGNN, data: NodeDataset, targets: IntArray, **options: Any
) -> list[Found]:
    """Explain targets with PGM-Explainer; networks are not learned, since no table uses them."""
    options = {**options, "structure": None, "progress": False}
    explainer = PGMExplainer(model, data.x, data.edge_index, **options)
    return [
        Found(each.ranking.nodes.tolist(), int(each.ranking.significant.sum()))
        for each in explainer.explain_many(targets)
    ]


def rival_findings(rival: Rival, case: Case, targets: IntArray) -> list[Found]:
    """Explain targets with another explainer."""
    ranked = rival.importances(case, targets.tolist())
    return [Found(top_nodes(each, len(case.x))) for each in ranked]


def judge(data: NodeDataset, found: Mapping[int, Found]) -> dict[str, dict[str, float]]:
    """Return scores, averaged over targets, by the ``paper`` and the ``strict`` protocol.

    Synthetic sets have ``motif``: the share of the motif among the top k nodes, where k is the size
    of the motif. ``paper`` counts the target as the first node found, as the published figures do;
    ``strict`` ignores the target. ``precision``, also from the paper, considers only those of the
    top k nodes that are significantly dependent.

    Bitcoin has ``top 3`` to ``top 5``: the share of accounts that rated the target positively.
    ``paper`` counts the target as the first of them; ``strict`` ignores it.
    """
    truth = {target: data.truth[target] - {target} for target in found}
    if data.name in BITCOIN:
        return {f"top {k}": _mean([_of_top(truth[t], found[t], k) for t in found]) for k in TOP}
    return {"motif": _mean([_of_motif(truth[t], found[t]) for t in found])}


def _of_motif(others: frozenset[int], found: Found) -> dict[str, float]:
    first = found.nodes[: len(others)]
    right = len(others.intersection(first))
    shares = {"paper": (right + 1) / (len(others) + 1), "strict": right / len(others)}
    if found.significant is not None:
        kept = first[: found.significant]
        shares["precision"] = (len(others.intersection(kept)) + 1) / (len(kept) + 1)
    return shares


def _of_top(others: frozenset[int], found: Found, k: int) -> dict[str, float]:
    beside_target, alone = found.nodes[: k - 1], found.nodes[:k]
    right = len(others.intersection(beside_target))
    return {
        "paper": (right + 1) / (len(beside_target) + 1),
        "strict": len(others.intersection(alone)) / len(alone) if alone else 0.0,
    }


def _mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
