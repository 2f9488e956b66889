"""Jobs for the MNIST digits: the accuracy of the networks, and explanations of predictions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import chi2

from pgm_explainer import PGMExplainer
from pgm_explainer.learning import Problem, learn_networks
from pgm_explainer.sampling import GRAPH, PERTURBATIONS, Draws, Population, TopFraction
from pgm_explainer.selection import Neighbourhood, select_variables

from ..arrays import IntArray
from ..checkpoints import load_author_superpixel_gcn
from ..data import MissingDataError
from ..rivals import Case, Rival, top_nodes
from ..superpixel_gnn import SuperpixelGCN, load_superpixel_gcn
from ..superpixels import SuperpixelGraph, mnist_graphs
from .cells import default_options
from .jobs import Job, Place

__all__ = [
    "BEST",
    "MOST_NODES",
    "OURS",
    "RIVALS_NODES",
    "accuracy_job",
    "available_networks",
    "explaining_jobs",
    "rivals_job",
]

OURS = "the package's"
_NETWORKS: dict[str, Callable[[Path | None], SuperpixelGCN]] = {
    OURS: lambda _: load_superpixel_gcn(),
    "the authors'": load_author_superpixel_gcn,
}
"""Networks for superpixels by their owner, each loaded from a data folder."""

RIVALS_NODES = 3
MOST_NODES = 4
BEST = 4 * MOST_NODES
_INTENSITY = 0
_AT_ONCE = 10
_WRONG_DOF = 3
"""Degrees of freedom that the published test uses for a 2 x 2 table; the correct number is 1."""

_PUBLISHED: dict[str, Any] = {
    "task": "graph",
    "features": [_INTENSITY],
    "perturb_probability": 0.1 * 0.5,  # chosen, then by a coin toss
    "change": TopFraction(1 / 8),
    # A p-value of 0.02 in the published test corresponds to this one in a correct test.
    "significance": float(chi2.sf(chi2.isf(0.02, _WRONG_DOF), 1)),
    "correction": "none",
    "max_nodes": MOST_NODES,
}
"""The settings of the paper's figure, except for the number of samples."""
_DEFAULTS = default_options(task="graph", features=[_INTENSITY])


def available_networks(place: Place) -> dict[str, str]:
    """Return the available networks by owner, each with a hash of its weights.

    The hash keeps results of other weights from being reused. Few data folders have the authors'
    network.
    """
    found = {}
    for whose, load in _NETWORKS.items():
        try:
            state = load(place.data).state_dict()
        except MissingDataError:
            continue
        contents = b"".join(torch.as_tensor(value).numpy().tobytes() for value in state.values())
        found[whose] = hashlib.sha256(contents).hexdigest()[:12]
    return found


def accuracy_job(whose: str, weights: str, digits: int) -> Job:
    """Return a job that computes the accuracy of a network on the first test digits."""
    inputs = {"whose": whose, "digits": digits}
    return Job("digits-accuracy", share_of_digits, inputs, depends_on=weights)


def share_of_digits(place: Place, whose: str, digits: int) -> float:
    """See :func:`accuracy_job`."""
    model = _NETWORKS[whose](place.data)
    graphs = mnist_graphs("test", place.data, range(digits))
    return float(np.mean([_predicted(model, graph) == graph.label for graph in graphs]))


@torch.no_grad()
def _predicted(model: SuperpixelGCN, graph: SuperpixelGraph) -> int:
    return int(model(torch.from_numpy(graph.x), torch.from_numpy(graph.edge_index)).argmax())


def explaining_jobs(
    whose: str, weights: str, digits: int, published_samples: Sequence[int]
) -> list[Job]:
    """Return jobs that explain the first test digits in batches; each returns a list of digits.

    A digit has a ``number``, a ``label``, the ``predicted`` class and several explanations: the
    nodes in the Markov blanket of the prediction with the ``defaults``, and with the published
    settings for each number of samples.
    """
    return [
        Job(
            f"digits-{start}",
            explain_digits,
            {
                "whose": whose,
                "numbers": [start, min(start + _AT_ONCE, digits)],
                "published_samples": list(published_samples),
                "published": _PUBLISHED,
                "defaults": _DEFAULTS,
            },
            depends_on=weights,
        )
        for start in range(0, digits, _AT_ONCE)
    ]


def explain_digits(
    place: Place,
    whose: str,
    numbers: tuple[int, int],
    published_samples: Sequence[int],
    published: dict[str, Any],
    defaults: dict[str, Any],
) -> list[dict[str, Any]]:
    """Explain the test digits ``range(*numbers)``; see :func:`explaining_jobs`."""
    model = _NETWORKS[whose](place.data)
    graphs = mnist_graphs("test", place.data, range(*numbers))
    answers = []
    for number, graph in enumerate(graphs, start=numbers[0]):
        explainer = PGMExplainer(model, graph.x, graph.edge_index, progress=False, **defaults)
        explanation = explainer.explain()
        ways = {
            str(samples): _as_published(model, graph, samples, published)
            for samples in published_samples
        }
        answers.append(
            {
                "number": number,
                "label": graph.label,
                "predicted": explanation.predicted_class,
                "defaults": _in_order(explanation.nodes, explanation.markov_blanket),
                **ways,
            }
        )
    return answers


@dataclass(frozen=True)
class MeanOf:
    """Replace the features of some nodes by the mean; the others keep theirs."""

    nodes: IntArray
    name: str = "mean of some"

    def __call__(self, population: Population, draws: Draws) -> NDArray[Any]:
        mean = PERTURBATIONS["mean"](population, draws)
        chosen = np.isin(draws.nodes, self.nodes)[..., None]
        return np.where(chosen, mean, population.x[draws.nodes])


def _as_published(
    model: SuperpixelGCN, graph: SuperpixelGraph, num_samples: int, options: dict[str, Any]
) -> list[int]:
    """Return the Markov blanket found in two rounds; the second uses the best nodes only."""
    best = np.arange(len(graph.x))
    for seed in range(2):
        explainer = PGMExplainer(
            model,
            graph.x,
            graph.edge_index,
            num_samples=num_samples // 2,
            perturbation=MeanOf(best),
            seed=seed,
            progress=False,
            **options,
        )
        settings = explainer.settings
        samples = explainer.samples([None]).table
        near = Neighbourhood(GRAPH, best)
        (found,) = select_variables(samples, [near], settings.selection, settings.significance)
        best = np.sort(found.ranking.nodes[:BEST])
    nodes = found.related[: options["max_nodes"]].tolist()
    assert settings.network is not None
    (network,) = learn_networks(
        samples,
        [Problem(GRAPH, nodes)],
        settings.network,
        settings.selection,
        settings.significance,
    )
    return _in_order(nodes, network.markov_blanket(GRAPH))


def _in_order(nodes: Sequence[Any], some: Sequence[Any]) -> list[Any]:
    return [node for node in nodes if node in set(some)]


def rivals_job(number: int, weights: str, rivals: Sequence[Rival]) -> Job:
    """Return a job that explains one prediction of the package's network with other explainers."""
    inputs = {"number": number, "rivals": rivals}
    return Job(f"digit-{number}-rivals", rivals_of_digit, inputs, depends_on=weights)


def rivals_of_digit(place: Place, number: int, rivals: Sequence[Rival]) -> dict[str, list[int]]:
    """See :func:`rivals_job`."""
    (graph,) = mnist_graphs("test", place.data, [number])
    model = load_superpixel_gcn()
    case = Case(model, graph.x, graph.edge_index, task="graph", features=[_INTENSITY])
    return {
        rival.name: top_nodes(next(iter(rival.importances(case, [None]))), RIVALS_NODES)
        for rival in rivals
    }
