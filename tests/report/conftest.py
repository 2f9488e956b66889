"""Explanations of every kind, for words and pictures to show."""

from __future__ import annotations

from functools import cache

import matplotlib as mpl
import numpy as np
import pytest

from pgm_explainer import PGMExplainer
from pgm_explainer.sampling import Edges, Features, Groups, Time

mpl.use("agg")
import matplotlib.pyplot as plt

# Many changes in few samples, so that every kind of explanation has something to show.
SETTINGS = {
    "num_layers": 2,
    "num_samples": 800,
    "perturb_probability": 0.25,
    "perturbation": "mean",
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def explain(toy):
    """Explain a prediction of the toy model, by default that of node 14."""

    def explained(target=14, model=toy.whole, **options):
        explainer = PGMExplainer(model, toy.x, toy.edge_index, **{**SETTINGS, **options})
        return explainer.explain(target)

    return explained


@pytest.fixture(scope="session")
def kinds(toy, explain):
    """One explanation of each kind, by name."""

    def link(x, pairs):
        score = (toy.whole(x)[:, pairs[0]] * toy.whole(x)[:, pairs[1]]).sum(-1, keepdims=True)
        return np.concatenate([-score, score], axis=-1)

    return {
        "node": explain(),
        "children": explain(no_child=False),
        "levels": explain(change=[0.05, 0.3]),
        "graph": explain(None, toy.graph_level, task="graph"),
        "edge": explain((14, 2), link, task="edge"),
        "label": explain(output=1, scores="logits"),
        "values": explain(scores="values"),
        "value": explain(scores="values", output=2),
        "other class": explain(explained_class=1),
        "alone": explain(15),
        "constant": explain(model=lambda x: np.ones((*x.shape[:2], 2))),
        "no network": explain(structure=None),
    }


@pytest.fixture(scope="session")
def parts():
    """One explanation for each kind of parts: a ring with branches, of which node 2 is explained.

    The score of a node is the sum of the features of its neighbourhood, so every part that brings
    features to the target has an effect.
    """
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]
    branches = [(2, 6), (6, 7), (4, 8), (8, 9), (1, 10), (10, 11)]
    pairs = [*ring, *branches]
    undirected = np.array(pairs + [(v, u) for u, v in pairs]).T
    directed = np.array([(0, 1), (1, 0), (1, 2), (2, 1), (3, 2), (2, 2)]).T
    x = np.random.default_rng(0).random((12, 4))

    def model(x, edge_index):
        reached = x[..., :1] * 2 + x[..., 1:2]
        for _ in range(2):
            sent = np.zeros_like(reached)
            np.add.at(sent, (..., edge_index[1], slice(None)), reached[..., edge_index[0], :])
            reached = reached + sent
        score = (reached - 15) / 8
        return np.concatenate([-score, score], axis=-1)

    def explained(parts, target=2, edges=undirected, **options):
        chosen = {"num_layers": 2, "num_samples": 600, "perturb_probability": 0.25, **options}
        nodes = x[: edges.max() + 1]
        return PGMExplainer(model, nodes, edges, parts=parts, **chosen).explain(target)

    groups = {"ring": [0, 1, 2, 3, 4, 5], "tail": [6, 7], "branch": [8, 9, 10, 11]}
    return {
        "nodes": explained("nodes"),
        "edges": explained("edges"),
        "rewired": explained(Edges("rewire")),
        "directed": explained("edges", edges=directed),
        "features": explained("features"),
        "node features": explained(Features(nodes=(0, 1, 2, 3))),
        "groups": explained(groups),
        "edge groups": explained(Groups({"ring": ring, "tail": branches[:2]}, of="edges")),
        "feature groups": explained(Groups({"first": [0, 1], "rest": [2, 3]}, of="features")),
        "time": explained(Time(steps=4)),
        "node time": explained(Time(steps=4, per_node=True)),
        "mixed": explained(["nodes", "edges"]),
        "edges and features": explained(["edges", "features"]),
    }


@pytest.fixture(scope="session")
def crowd():
    """A function that explains the middle of a star, of any size and with any number of causes."""

    @cache
    def explained(size: int, causes: int = 5, **options):
        spokes = np.stack((np.arange(1, size), np.zeros(size - 1, dtype=int)))
        rng = np.random.default_rng(0)
        others = rng.integers(1, size, size=(2, size))
        x = rng.random((size, 1))

        def model(x):
            score = 6 * x - 3
            score[:, 0, 0] = 4 * (x[:, 1 : causes + 1, 0].sum(axis=1) - causes / 2)
            return np.concatenate([-score, score], axis=-1)

        edges = np.concatenate((spokes, others), axis=1)
        chosen = {"num_layers": 1, "perturbation": "permute", **options}
        return PGMExplainer(model, x, edges, **chosen).explain(0)

    return explained
