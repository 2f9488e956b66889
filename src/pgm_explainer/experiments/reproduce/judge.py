"""How right explanations are, by the paper's protocol as it was run and by a strict one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import IntArray
from ...explainer import PGMExplainer
from ..gnn import NodeGNN
from ..node_data import NodeDataset
from ..rivals import Case, Rival, top_nodes

__all__ = ["Found", "judge", "pgm_findings", "rival_findings"]

_TOP = (3, 4, 5)  # of Bitcoin's table


@dataclass(frozen=True)
class Found:
    """What an explainer says of one target: nodes in order, and how many are worth returning."""

    nodes: Sequence[int]
    significant: int


def pgm_findings(
    model: NodeGNN, data: NodeDataset, targets: IntArray, hops: int, seed: int, **options: Any
) -> list[Found]:
    """Explain by the package's defaults; only the networks, which no table needs, are left out."""
    options = {"hops": hops, "seed": seed, "structure": None, "progress": False, **options}
    explainer = PGMExplainer(model, data.x, data.edge_index, **options)
    return [
        Found(each.ranking.nodes.tolist(), int(each.ranking.significant.sum()))
        for each in explainer.explain_many(targets)
    ]


def rival_findings(rival: Rival, case: Case, targets: IntArray) -> list[Found]:
    """Explain by another explainer, which has no opinion on how many nodes are worth returning."""
    ranked = (top_nodes(each, len(case.x)) for each in rival.importances(case, targets.tolist()))
    return [Found(nodes, len(nodes)) for nodes in ranked]


def judge(data: NodeDataset, found: Mapping[int, Found]) -> dict[str, Any]:
    """Return the measures of a data set: of the whole motif, or of the top few where there is none.

    ``paper`` counts the target as found, as the published figures do; ``strict`` leaves it out.
    ``precision`` is the paper's, of the nodes that are significantly dependent among the top k.
    """
    motifs = {target: data.truth[target] - {target} for target in found}
    if data.name in ("alpha", "otc"):
        return {f"top {k}": _at_most(motifs, found, k) for k in _TOP}
    return {"motif": _whole(motifs, found)}


def _whole(motifs: Mapping[int, frozenset[int]], found: Mapping[int, Found]) -> dict[str, float]:
    rows = []
    for target, others in motifs.items():
        first = found[target].nodes[: len(others)]
        right = len(others.intersection(first))
        kept = first[: found[target].significant]
        right_kept = len(others.intersection(kept))
        rows.append(
            (
                (right + 1) / (len(others) + 1),
                (right_kept + 1) / (len(kept) + 1),
                right / len(others),
            )
        )
    paper, precision, strict = np.mean(rows, axis=0)
    return {"paper": float(paper), "precision": float(precision), "strict": float(strict)}


def _at_most(
    motifs: Mapping[int, frozenset[int]], found: Mapping[int, Found], k: int
) -> dict[str, float]:
    """Return the precision of the top k: with the target among them, and of k without it."""
    rows = []
    for target, others in motifs.items():
        first, strict = found[target].nodes[: k - 1], found[target].nodes[:k]
        right = len(others.intersection(first))
        share = len(others.intersection(strict)) / len(strict) if strict else 0.0
        rows.append(((right + 1) / (len(first) + 1), share))
    paper, strict_share = np.mean(rows, axis=0)
    return {"paper": float(paper), "strict": float(strict_share)}
