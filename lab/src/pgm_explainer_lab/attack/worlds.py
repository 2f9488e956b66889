"""Small random problems with valid options, and models whose arithmetic is exact.

Features and weights are small whole numbers and scores are 64ths, so that no result may depend on
the batch, the processor or the other targets.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgm_explainer import PGMExplainer

Model = Callable[..., NDArray[Any]]


def exact_model(chance: random.Random, features: int, layers: int, classes: int) -> Model:
    """Return a model of some layers with small whole weights and clipped sums."""
    rng = np.random.default_rng(chance.getrandbits(32))
    widths = [features, *[3] * (layers - 1), 1]
    weights = [rng.integers(-2, 3, size=shape).astype(float) for shape in pairwise(widths)]

    def model(x: NDArray[Any], edge_index: NDArray[Any]) -> NDArray[Any]:
        adjacency = np.eye(x.shape[1])
        np.add.at(adjacency, (edge_index[1], edge_index[0]), 1.0)
        for weight in weights:
            x = np.clip(adjacency @ x @ weight, -8, 8)
        share = 0.75 if classes == 3 else 1.0
        both = np.concatenate(((8 - x) / 16, (8 + x) / 16), axis=-1) * share
        rest = np.full((*both.shape[:-1], classes - 2), 0.25)
        return np.concatenate((both, rest), axis=-1)

    return model


@dataclass
class World:
    """A graph, a model and valid options, as a function of a random generator."""

    chance: random.Random
    x: NDArray[Any] = field(init=False)
    edges: NDArray[np.int64] = field(init=False)
    task: str = field(init=False)
    model: Model = field(init=False)
    options: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        chance = self.chance
        rng = np.random.default_rng(chance.getrandbits(32))
        nodes, features = chance.randint(2, 12), chance.randint(1, 4)
        layers, classes = chance.randint(1, 3), chance.choice((2, 2, 3))
        self.x = rng.integers(-3, 4, size=(nodes, features)).astype(float)
        if chance.random() < 0.2:
            self.x[...] = 1.0
        self.edges = rng.integers(0, nodes, size=(2, chance.randint(0, 3 * nodes)))
        self.task = chance.choice(("node", "node", "node", "graph", "edge"))
        of_nodes = exact_model(chance, features, layers, classes)
        models: dict[str, Model] = {
            "node": of_nodes,
            "graph": lambda x, edge_index: of_nodes(x, edge_index)[:, 0],
            "edge": lambda x, edge_index, pairs: (
                of_nodes(x, edge_index)[:, pairs[0]] / 2 + of_nodes(x, edge_index)[:, pairs[1]] / 2
            ),
        }
        self.model = models[self.task]
        self.options = _options(chance, self.task, layers, nodes, features)

    def explainer(self, **changed: Any) -> PGMExplainer:
        """Return an explainer of this problem."""
        return PGMExplainer(self.model, self.x, self.edges, **{**self.options, **changed})

    def target(self) -> Any:
        """Return a valid target at random."""
        nodes = len(self.x)
        if self.task == "graph":
            return None
        one, other = self.chance.randrange(nodes), self.chance.randrange(nodes)
        return one if self.task == "node" else (one, other)


def _options(
    chance: random.Random, task: str, layers: int, nodes: int, features: int
) -> dict[str, Any]:
    """Return valid options; each of the unusual ones in some worlds."""
    options: dict[str, Any] = {
        "task": task,
        "num_layers": layers,
        "num_samples": chance.choice((30, 60, 200)),
        "perturb_probability": chance.choice((0.1, 0.3, 0.5, 0.9)),
        "seed": chance.randrange(100),
    }
    groups = {f"group {at}": list(range(at, nodes, 2)) for at in range(min(2, nodes))}
    unusual: dict[str, tuple[Any, ...]] = {
        "parts": ("edges", "features", ["nodes", "edges"], groups, "nodes"),
        "perturbation": ("mean", "zero", "max", "min", "random", "uniform", "permute"),
        "change": ("flip", "absolute", 0.1, [0.05, 0.3], "fall"),
        "test": ("g", "chi_square"),
        "correction": ("none", "benjamini_hochberg"),
        "max_nodes": (None, 1, 3, 8),
        "only_significant": (False,),
        "no_child": (False,),
        "target_table": ("full", "noisy_or"),
        "family": ("bayesian", "markov", "dependency"),
        "structure": ("hill_climb", "exact", "ges", "pc", "mmhc", "order", None),
        "score": ("aic", "bdeu", "bds", "qnml", "fnml", "held_out", "bic"),
        "max_parents": (1, 2),
        "smoothing": (0.5, 1.0),
        "hops": (layers, max(0, layers - 1)),
        "features": ([0], list(range(features))),
        "names": ([f"node {at}" for at in range(nodes)],),
        "feature_names": ([f"column {at}" for at in range(features)],),
        "own_predictions": (False,),
        "significance": (0.01, 0.2),
    }
    chosen = {name: values for name, values in unusual.items() if chance.random() < 0.2}
    if task != "node":
        chosen.pop("own_predictions", None)
    if task == "graph":
        chosen.pop("hops", None)
    return options | {name: chance.choice(values) for name, values in chosen.items()}
