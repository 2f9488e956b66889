"""False discoveries, counted where the true effects are known to be zero.

*Twins*: the graph is doubled, and targets in the first copy get the predictions of their twins in
the second. The predictions have the same distribution as before, but no node in the targets' own
neighbourhood affects them, as if they were shuffled over the samples.

*Out of sight*: candidates one hop further away than the model can use. Other candidates matter,
but these cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pgm_explainer import PGMExplainer
from pgm_explainer.effects import Effects
from pgm_explainer.graph import Subgraph
from pgm_explainer.predictors import as_predictor

from ..arrays import FloatArray
from ..rivals.case import Case
from .explainers import make_explainer

__all__ = ["out_of_sight", "twins"]


def twins(case: Case, targets: Sequence[int], alone: int, **options: Any) -> list[dict[str, float]]:
    """Return for each target how many nodes are reported as significant although none matters.

    ``effects`` counts significant effects, ``intervals`` all intervals, and ``covered`` those that
    contain 0, the true effect. ``dependence`` counts significantly dependent nodes for the first
    ``alone`` targets. Each of these is explained separately, and its outgoing edges are removed,
    because the predictions of candidates must not depend on the target either.
    """
    doubled = _doubled(case, targets, case.graph.whole, **options)
    rows: list[dict[str, float]] = [
        {
            "target": target,
            "candidates": len(explanation.ranking),
            "effects": int(explanation.effects.significant.sum()),
            "intervals": len(explanation.effects),
            "covered": _covering_nothing(explanation.effects),
        }
        for target, explanation in zip(targets, doubled.explain_many(targets), strict=True)
    ]
    for row, target in zip(rows, targets[:alone], strict=False):
        silenced = _doubled(case, [target], _silent(case.graph.whole, target), **options)
        (explanation,) = silenced.explain_many([target])
        row["dependence"] = int(explanation.ranking.significant.sum())
    return rows


def _covering_nothing(effects: Effects) -> int:
    return int(((effects.low <= 0) & (effects.high >= 0)).sum())


def _doubled(case: Case, targets: Sequence[int], first: Subgraph, **options: Any) -> PGMExplainer:
    """Return an explainer of the doubled graph, in which targets have their twins' predictions.

    Args:
        first: along which edges messages flow in the first copy.
    """
    nodes, second = len(case.x), case.graph.whole
    ask_first, ask_second = (as_predictor(case.frozen_model) for _ in range(2))

    def model(x: FloatArray) -> Any:
        own = np.array(ask_first(x[:, :nodes].copy(), first))
        twin = np.array(ask_second(x[:, nodes:].copy(), second))
        own[:, targets] = twin[:, targets]
        return np.concatenate((own, twin), axis=1)

    return PGMExplainer(
        model,
        np.concatenate((case.x, case.x)),
        np.concatenate((case.edge_index, case.edge_index + nodes), axis=1),
        num_layers=case.num_layers,
        features=case.features,
        structure=None,
        progress=False,
        **{**options, "scores": "logits"},
    )


def _silent(graph: Subgraph, node: int) -> Subgraph:
    """Return a graph without the outgoing edges of a node."""
    kept = graph.edge_index[0] != node
    return replace(graph, edge_index=graph.edge_index[:, kept], edges=graph.edges[kept])


def out_of_sight(case: Case, targets: Sequence[int], **options: Any) -> list[dict[str, float]]:
    """Return for each target the number of discoveries, and how many of them must be false.

    ``nulls`` counts the candidates that are too far away for the model.
    """
    sees = case.num_layers
    assert sees is not None  # these networks consist of PyTorch Geometric layers
    explainer = make_explainer(replace(case, hops=sees + 1), **options)
    rows: list[dict[str, float]] = []
    for target, explanation in zip(targets, explainer.explain_many(targets), strict=True):
        table = explanation.effects
        seen = case.graph.within_hops(np.array([target]), sees)
        null = ~np.isin(table.nodes, seen)
        rows.append(
            {
                "target": target,
                "nulls": int(null.sum()),
                "discoveries": int(table.significant.sum()),
                "false": int((table.significant & null).sum()),
            }
        )
    return rows
