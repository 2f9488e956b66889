"""All explainers behind one function that returns their findings for a subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm_explainer import PGMExplainer
from pgm_explainer.effects import Effects

from ..arrays import FloatArray
from ..defaults import DEFAULT_SAMPLES
from ..rivals import (
    Case,
    Chance,
    Gradient,
    IntegratedGradients,
    LearntMask,
    LossGradient,
    Occlusion,
    Proximity,
    Rival,
    Shapley,
    SignedRival,
    TrainedMask,
    top_nodes,
)

__all__ = [
    "DEPENDENCE",
    "EFFECTS",
    "NETWORK",
    "OURS",
    "Finding",
    "make_explainer",
    "our_findings",
    "rival_findings",
    "rivals_by_name",
]

EFFECTS = "PGM-Explainer, effects"
DEPENDENCE = "PGM-Explainer, dependence"
NETWORK = "PGM-Explainer, network"
"""The nodes of the network: strong causes first, then nodes that depend on the target."""
OURS = (EFFECTS, DEPENDENCE, NETWORK)


@dataclass(frozen=True)
class Finding:
    """The result of an explainer for one prediction.

    Attributes:
        nodes: the candidates, most important first; the target of a node task is not one.
        support: how much each node ``[N]`` of the graph supports the prediction, or its importance
            if ``signed`` is False; 0 for nodes without a value.
        signed: whether ``support`` has a sign.
        passes: the number of model calls; a backward pass counts as one more.
        effects: the effects with their intervals, if the explainer has them.
    """

    nodes: Sequence[int]
    support: FloatArray
    signed: bool
    passes: float
    effects: Effects | None = None


def make_explainer(case: Case, **options: Any) -> PGMExplainer:
    """Return PGM-Explainer for a case, without networks, since they are not measured."""
    return PGMExplainer(
        case.frozen_model,
        case.x,
        case.edge_index,
        task=case.task,
        hops=case.hops,
        features=case.features,
        structure=None,
        progress=False,
        **options,
    )


def our_findings(
    case: Case, targets: Sequence[int | None], **options: Any
) -> dict[str, list[Finding]]:
    """Explain with PGM-Explainer; return its effects, its dependence and its network's nodes."""
    explainer = make_explainer(case, **options)
    if case.task == "graph":
        explanations = [explainer.explain() for _ in targets]
    else:
        explanations = explainer.explain_many(targets)
    found: dict[str, list[Finding]] = {name: [] for name in OURS}
    for target, explanation in zip(targets, explanations, strict=True):
        table = explanation.effects
        passes = explanation.settings.sampling.num_samples
        support = np.zeros(len(case.x))
        support[table.nodes] = -table.effect
        nodes = [node for node in table.nodes.tolist() if node != target]
        found[EFFECTS].append(Finding(nodes, support, True, passes, table))
        ranked = explanation.ranking.nodes
        weight = np.zeros(len(case.x))
        weight[ranked] = np.arange(len(ranked), 0, -1)
        found[DEPENDENCE].append(Finding(ranked.tolist(), weight, False, passes))
        held = [node for node in explanation.nodes if isinstance(node, int)]
        weight = np.zeros(len(case.x))
        chain = held if target is None else [target, *held]  # the network contains the target too
        weight[chain] = np.arange(len(chain), 0, -1)
        found[NETWORK].append(Finding(held, weight, False, passes))
    return found


def rivals_by_name(seed: int) -> dict[str, Rival]:
    """Return the other explainers by name, in the order of the tables."""
    rivals: list[Rival] = [
        Shapley(DEFAULT_SAMPLES, seed),
        Occlusion("auto", DEFAULT_SAMPLES, seed),
        Occlusion("zero"),
        IntegratedGradients(),
        IntegratedGradients(log_probability=True),
        Gradient(name="saliency"),
        LossGradient(),
        LearntMask(seed=seed),
        TrainedMask(seed=seed),
        Proximity(),
        Chance(seed),
    ]
    return {rival.name: rival for rival in rivals}


def rival_findings(rival: Rival, case: Case, targets: Sequence[int | None]) -> Iterator[Finding]:
    """Explain with another explainer."""
    if isinstance(rival, SignedRival):
        signed, answers = True, rival.attributions(case, targets)
    else:
        signed, answers = False, rival.importances(case, targets)
    for target, answer in zip(targets, answers, strict=True):
        importance = case.among_candidates(target, abs(answer)) if signed else answer
        support = np.where(np.isfinite(answer), answer, 0)
        nodes = top_nodes(importance, len(case.x))
        yield Finding(nodes, support, signed, _passes(rival, case, target))


def _passes(rival: Rival, case: Case, target: int | None) -> int:
    if isinstance(rival, Occlusion):
        return rival.forwards(case, target)
    return rival.queries.forwards + rival.queries.backwards
