"""Explainers of many graphs, which other processes can import."""

from __future__ import annotations

import numpy as np

from pgm_explainer import PGMExplainer

GRAPHS = 10


def graphs(shift=0):
    """Rings of 4 and more nodes of types 0 and 1; every second one has a node of type 2."""
    rng = np.random.default_rng(0)
    found = []
    for at in range(GRAPHS):
        size = 4 + at % 3 + (shift if at < 1 else 0) - (shift if at == 1 else 0)
        types = rng.integers(0, 2, size=size)
        if at % 2:
            types[rng.integers(size)] = 2
        nodes = np.arange(size)
        forth = np.stack((nodes, np.roll(nodes, 1)))
        found.append((np.eye(3)[types], np.concatenate((forth, forth[::-1]), axis=1)))
    return found


def has_type_2(x, edge_index):
    """One prediction for each graph: whether a node that has an edge is of type 2."""
    linked = np.isin(np.arange(x.shape[1]), edge_index[0])
    score = 4 * (x[..., 2] * linked).sum(axis=1) - 2
    return np.stack((-score, score), axis=-1)


def nodes_of_graphs(shift=0, **options):
    chosen = {"perturbation": "zero", "num_samples": 200, "progress": False, **options}
    names = ["has it not", "has it"]
    return PGMExplainer(has_type_2, graphs(shift), task="graph", class_names=names, **chosen)


def edges_of_graphs():
    names = ["has it not", "has it"]
    options = {"num_samples": 100, "progress": False, "class_names": names}
    return PGMExplainer(has_type_2, graphs(), task="graph", parts="edges", **options)


def groups_of_graphs():
    """Nodes of type 2 are a group, and all others another."""
    from pgm_explainer import Groups

    labels = [np.where(x[:, 2] > 0, "special", "plain").tolist() for x, _ in graphs()]
    return nodes_of_graphs(parts=Groups(labels))
