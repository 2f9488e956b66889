"""The masks of PyTorch Geometric, made from explanations.

Every mask has values from 0 to 1: the strengths of significant effects, and 0 elsewhere. For
several targets, it has the largest value over all targets. The signs are in separate arrays, since
thresholds and metrics of PyTorch Geometric expect masks without signs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..explainer import PGMExplainer
from ..explanation import Explanation
from ..sampling.parts.edges import Edges, number_edges

__all__ = [
    "attribute_mask",
    "column_mask",
    "edge_effects",
    "edge_mask",
    "node_effects",
    "node_mask",
    "p_values",
]

Found = Sequence[tuple[PGMExplainer, Explanation]]
Mask = NDArray[np.float64]


def node_mask(found: Found) -> Mask:
    """Return a value for each node ``[N, 1]``; 1 for the nodes of targets."""
    return np.max([_of_nodes(*each) for each in found], axis=0)[:, None]


def attribute_mask(found: Found) -> Mask:
    """Return a value for each node and feature ``[N, F]``.

    The strongest feature of a node has the value of the node; the other features have less, in
    proportion to their effects. The effects are measured by perturbing each feature independently.
    Nodes that are neither in the network nor in the target have 0.
    """
    explainer = found[0][0]
    mask = np.zeros_like(explainer.population.x, dtype=np.float64)
    for explainer, explanation in found:
        features = explainer.explain_features(explanation)
        shares = np.zeros_like(mask)
        by_step = shares.reshape(len(mask), -1, explainer.population.width)
        by_step[features.nodes, :, features.features] = features.strength[:, None]
        shares /= np.maximum(shares.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        mask = np.maximum(mask, _of_nodes(explainer, explanation)[:, None] * shares)
    return mask


def column_mask(found: Found) -> Mask:
    """Return a value for each node type and feature column ``[types, F]``."""
    explainer = found[0][0]
    population = explainer.population
    columns = np.unique(explainer.settings.sampling.columns(population))
    mask = np.zeros((max(1, len(population.widths)), population.x.shape[1]))
    parts = np.max([_of_parts(*each) for each in found], axis=0)
    mask[:, columns] = parts.reshape(len(mask), len(columns))
    return mask


def edge_mask(found: Found, edges: Edges) -> Mask:
    """Return a value for each edge ``[E]``; both directions of an undirected edge have the same."""
    part_of, _ = number_edges(found[0][0].graph, edges.undirected)
    mask: Mask = np.max([_of_parts(*each) for each in found], axis=0)[part_of]
    return mask


def node_effects(found: Found) -> Mask:
    """Return the effect of perturbing each node ``[N]``; 0 for nodes that were not perturbed."""
    return _largest([_effects(each, 0, explainer.graph.num_nodes) for explainer, each in found])


def edge_effects(found: Found, edges: Edges) -> Mask:
    """Return the effect of removing each edge ``[E]``, as in :func:`edge_mask`."""
    part_of, _ = number_edges(found[0][0].graph, edges.undirected)
    of_parts = [
        _effects(each, explainer.parts.first, explainer.parts.count) for explainer, each in found
    ]
    return _largest(of_parts)[part_of]


def _largest(effects: Sequence[Mask]) -> Mask:
    """Return the effect of each part on the target that it changes most."""
    every = np.stack(effects)
    return np.take_along_axis(every, abs(every).argmax(axis=0)[None], axis=0)[0]


def p_values(found: Found) -> Mask:
    """Return the smallest p-value of dependence ``[N]`` of each node; 1 if it was not tested."""
    stats = np.ones(found[0][0].graph.num_nodes)
    for _, explanation in found:
        ranking = explanation.ranking
        stats[ranking.nodes] = np.minimum(stats[ranking.nodes], np.exp(ranking.log_p))
    return stats


def _of_nodes(explainer: PGMExplainer, explanation: Explanation) -> Mask:
    values = _strengths(explanation, 0, explainer.graph.num_nodes)
    values[explanation.ends] = 1
    return values


def _of_parts(explainer: PGMExplainer, explanation: Explanation) -> Mask:
    return _strengths(explanation, explainer.parts.first, explainer.parts.count)


def _strengths(explanation: Explanation, first: int, count: int) -> Mask:
    effects = explanation.effects
    values = np.zeros(count)
    values[effects.nodes - first] = np.where(effects.significant, effects.strength, 0)
    return values


def _effects(explanation: Explanation, first: int, count: int) -> Mask:
    values = np.zeros(count)
    values[explanation.effects.nodes - first] = explanation.effects.effect
    return values
