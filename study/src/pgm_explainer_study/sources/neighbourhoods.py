"""A study of node predictions: the paper's Syn 6, shown as neighbourhoods of nodes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from pgm_explainer import PGMExplainerError

from ..scenes import GraphScene
from ..study_file import Forecast, Study
from .assembly import Case, assemble, free_parts
from .compared import compared_explainers

__all__ = ["draw_graph", "nodes_study"]

SAMPLES = 1000
_SHOWN = 30
_ROLES = (
    "the rest of the graph",
    "the top of a motif",
    "the middle of a motif",
    "the bottom of a motif",
)


def nodes_study(options: argparse.Namespace, report: Callable[[str], None]) -> Study:
    """Return a study of correctly classified nodes of the motifs of Syn 6.

    The authors' graph and model are used if they are in the data folder; else a graph is generated
    and a model trained on it.

    Args:
        options: as for :func:`~.assembly.assemble`, and ``items``, the number of nodes.
        report: called with a line of progress.
    """
    try:
        from pgm_explainer_lab import gnn
        from pgm_explainer_lab.checkpoints import load_author_syn6
        from pgm_explainer_lab.data import DataError
        from pgm_explainer_lab.rivals import Case as Subject
        from pgm_explainer_lab.rivals import top_nodes
        from pgm_explainer_lab.synthetic import make_synthetic
    except ImportError as error:
        raise PGMExplainerError(
            f"this study needs the lab: in a clone, run pip install -e . -e lab -e study ({error})"
        ) from error
    try:
        model, data = load_author_syn6()
    except DataError:
        report("training a model on Syn 6 (about a minute)")
        data = make_synthetic("syn6", options.seed)
        model = gnn.train(data, options.seed)
    function = gnn.as_function(model)
    classes = function(data.x, data.edge_index).argmax(axis=1)
    right = [int(node) for node in data.targets if classes[node] == data.y[node]]
    rng = default_rng(SeedSequence(options.seed, spawn_key=(2000,)))
    targets = rng.permutation(right)[: options.items].tolist()
    rivals = compared_explainers(SAMPLES, options)
    subject = Subject(model, data.x, data.edge_index)
    found: dict[str, list[list[int]]] = {}
    for name, rival in rivals.items():
        found[name] = [
            top_nodes(each, options.parts) for each in rival.importances(subject, targets)
        ]
        report(f"explained {len(targets)} nodes by {rival.name}")
    cases: list[Case] = []
    for at, target in enumerate(targets):
        highlights = {name: nodes[at] for name, nodes in found.items()}
        cut = _cut(data.edge_index, target, {n for some in highlights.values() for n in some})
        scene = draw_graph(cut, [target], options.seed)
        place = {node: number for number, node in enumerate(sorted(cut.nodes))}
        wanted = sum(case.forecast is not None for case in cases) % 2 == 0
        rng = default_rng(SeedSequence(options.seed, spawn_key=(3000, at)))
        forecast = _forecast(wanted, target, place, function, data, rng)
        cases.append(
            Case(
                f"node-{target}",
                f"The model says that the black node belongs to {_ROLES[classes[target]]}.",
                scene,
                {name: [place[node] for node in nodes] for name, nodes in highlights.items()},
                free_parts(scene),
                forecast,
            )
        )
    return assemble(
        "Which nodes of a network matter to a model?",
        cases,
        {"pgm": "PGM-Explainer", "shap": "SHAP", "grad": "GRAD"},
        options,
        things="nodes",
        intro="A computer model looks at a network of nodes that are joined by lines. Small "
        "groups of five nodes, called motifs, hang on a large network. For the black node in each "
        "picture, the model says which place in a motif it has. The pictures show the "
        "neighbourhood of that node.",
        change="this node and all its lines are removed",
        notes=f"Syn 6, nodes of motifs that the model classifies correctly, drawn with seed "
        f"{options.seed}. PGM-Explainer calls the model {SAMPLES} times for all nodes together, "
        f"SHAP for each node.",
    )


def _cut(edge_index: Any, target: int, needed: set[int]) -> nx.Graph:
    """Return the nearest nodes of the target and those that any arm highlights."""
    graph = nx.Graph()
    graph.add_edges_from((int(u), int(v)) for u, v in edge_index.T if u != v)
    apart = nx.single_source_shortest_path_length(graph, target, cutoff=3)
    nearest = sorted(apart, key=lambda node: (apart[node], node))[:_SHOWN]
    paths = [nx.shortest_path(graph, target, node) for node in sorted(needed - set(nearest))]
    return nx.Graph(graph.subgraph({*nearest, *needed, *(n for path in paths for n in path)}))


def draw_graph(graph: nx.Graph, targets: list[int], seed: int) -> GraphScene:
    """Return a graph with a layout that does not depend on any explanation."""
    nodes = sorted(graph.nodes)
    ordered = nx.Graph()
    ordered.add_nodes_from(nodes)
    ordered.add_edges_from(sorted(tuple(sorted(edge)) for edge in graph.edges))
    layout = nx.spring_layout(ordered, seed=seed % 2**32, iterations=200)
    at = np.array([layout[node] for node in nodes])
    span = np.ptp(at, axis=0)
    at = (at - at.min(axis=0)) / np.where(span > 0, span, 1)
    place = {node: number for number, node in enumerate(nodes)}
    # Numbered at random, because the numbers of the data set would reveal the motifs.
    numbers = default_rng(SeedSequence(seed, spawn_key=(4000, *targets))).permutation(len(nodes))
    return GraphScene(
        tuple((round(float(x), 4), round(float(y), 4)) for x, y in at),
        tuple((place[u], place[v]) for u, v in ordered.edges),
        tuple(map(str, numbers)),
        tuple(place[node] for node in targets),
    )


def _forecast(
    wanted: bool, target: int, place: dict[int, int], function: Any, data: Any, rng: Generator
) -> Forecast | None:
    """Return a forecast about removing a node, which is chosen as in ``digits.py``."""
    before = function(data.x, data.edge_index)[target].argmax()
    others = [node for node in place if node != target]
    changed = []
    for node in others:
        kept = data.edge_index[:, (data.edge_index != node).all(axis=0)]
        changed.append(function(data.x, kept)[target].argmax() != before)
    matching = [node for node, flips in zip(others, changed, strict=True) if flips == wanted]
    if all(changed) or not any(changed):
        return None
    return Forecast(
        place[int(rng.choice(matching))],
        "If the node with the dashed blue mark and its lines are removed, what will the model say "
        "about the black node?",
        ("the same as before", "something else"),
        int(wanted),
    )
