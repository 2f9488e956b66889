"""Cells of the comparison of models: one set and seed, all families, objectives and searches.

The samples of a set are drawn once. Every method gets the same samples and nodes, so that
differences are due to step 3 only.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgm_explainer import Explanation, PGMExplainer, PGMExplainerError
from pgm_explainer.learning import Problem, learn_networks
from pgm_explainer.network import NetworkConfig
from pgm_explainer.sampling import SampleTable
from pgm_explainer.selection import causes
from pgm_explainer.structure import DAG, SEARCHES, as_score, structural_distance

from ..metrics import network_quality
from ..superpixel_gnn import load_superpixel_gcn
from ..superpixels import mnist_graphs
from .cells import default_options, spread_out
from .jobs import Place
from .models import load_node_data, trained

__all__ = ["DEFAULT", "WAYS", "Way", "known_network", "recovery_cell", "set_cell"]

_RUNS = 2
"""Seeds of the explanations of one model, for stability."""
_FRESH = 1000
_INTENSITY = 0
_ROWS = 1000


@dataclass(frozen=True)
class Way:
    """A method of learning a network from samples.

    Attributes:
        family: the family of networks.
        score: the objective, or ``tests`` if the search has none.
        search: the structure search.
        leaf: whether the target is a leaf; only for Bayesian networks.
        table: the table of the target; only for a leaf.
    """

    family: str
    score: str
    search: str
    leaf: bool = True
    table: str = "auto"

    @property
    def name(self) -> str:
        kind = "" if self.leaf else ", no leaf"
        kind += "" if self.table == "auto" else f", {self.table} table"
        return f"{self.family}, {self.score}, {self.search}{kind}"

    def config(self) -> NetworkConfig:
        """Return the options of step 3; the likelihood alone is bounded to two parents."""
        unbounded = self.score == "log_likelihood"
        return NetworkConfig(
            family=self.family,
            structure=self.search,
            score=as_score("bic" if self.score == "tests" else self.score),
            max_parents=2 if unbounded else None,
            target_table=self.table,
        )


_SCORES = ("bic", "aic", "bdeu", "bds", "qnml", "fnml", "held_out", "log_likelihood")
_SEARCHES = ("hill_climb", "ges", "pc", "mmhc", "order", "bootstrap")
DEFAULT = Way("bayesian", "bic", "auto")
WAYS: tuple[Way, ...] = (
    *(Way("bayesian", score, "auto", leaf) for leaf in (True, False) for score in _SCORES),
    *(
        Way("bayesian", "tests" if search == "pc" else "bic", search, leaf)
        for leaf in (True, False)
        for search in _SEARCHES
    ),
    Way("bayesian", "bic", "auto", table="full"),
    *(Way("markov", score, "decomposable") for score in ("bic", "aic", "bdeu")),
    Way("markov", "tests", "neighbourhood"),
    *(Way("dependency", "bic", search) for search in ("table", "tree")),
    Way("dependency", "bdeu", "table"),
)
"""All scores with the default search and all searches with the default score, with the target as a
leaf and without that constraint; the paper's full table; and the other families."""


def set_cell(
    place: Place, data: str, seed: int, epochs: int, targets: int, ways: Sequence[Way]
) -> dict[str, Any]:
    """Explain some targets of a set and measure every method of learning a network."""
    found: dict[str, list[dict[str, Any]]] = {way.name: [] for way in ways}
    for explainers, target, truth in _subjects(place, data, seed, epochs, targets):
        for way, measured in _measure(explainers, target, truth, ways).items():
            found[way].append(measured)
    return {"data": data, "seed": seed, "ways": found}


def _subjects(place: Place, data: str, seed: int, epochs: int, targets: int) -> Any:
    """Yield explainers with different seeds, a target and its true explanation, if known."""
    if data == "digits":
        options = default_options(task="graph", features=[_INTENSITY])
        model = load_superpixel_gcn()
        for graph in mnist_graphs("test", place.data, range(targets * seed, targets * (seed + 1))):
            yield _explainers(model, graph, options), None, None
        return
    dataset = load_node_data(place, data, seed)
    hops = 1 if data in ("alpha", "otc") else 3
    explainers = _explainers(
        trained(place, dataset, seed, epochs), dataset, default_options(hops=hops)
    )
    for target in spread_out(dataset.targets, targets).tolist():
        yield explainers, target, dataset.truth[target] - {target}


def _explainers(model: Any, graph: Any, options: dict[str, Any]) -> list[PGMExplainer]:
    """Return explainers with different seeds; the last draws the samples for the test."""
    return [
        PGMExplainer(
            model, graph.x, graph.edge_index, **{**options, "seed": seed, "progress": False}
        )
        for seed in range(_RUNS + 1)
    ]


def _measure(
    explainers: Sequence[PGMExplainer],
    target: Any,
    truth: frozenset[int] | None,
    ways: Sequence[Way],
) -> dict[str, dict[str, Any]]:
    """Return the measures of each method of learning for one target."""
    *explaining, testing = explainers
    explanations = [each.explain(target) for each in explaining]
    if any(each.network is None for each in explanations):
        return {}
    tables = [each.samples([target]).table for each in explaining]
    fresh = testing.samples([target]).table
    return {way.name: _measured(way, explanations, tables, fresh, truth) for way in ways}


def _measured(
    way: Way,
    explanations: Sequence[Explanation],
    tables: Sequence[SampleTable],
    fresh: SampleTable,
    truth: frozenset[int] | None,
) -> dict[str, Any]:
    runs, seconds = [], []
    for explanation, table in zip(explanations, tables, strict=True):
        start = time.process_time()
        try:
            runs.append(_learnt(way, explanation, table))
        except PGMExplainerError as error:
            return {"error": str(error)}
        seconds.append(time.process_time() - start)
    first, blankets = runs[0], [set(each.markov_blanket) for each in runs]
    blanket = blankets[0]
    quality = network_quality(first, tables[0], fresh)
    if quality is None:
        return {}
    by_network, by_base_rate = quality
    either = set.union(*blankets)
    return {
        "log_loss": by_network.log_loss,
        "base_rate": by_base_rate.log_loss,
        "calibration": by_network.calibration,
        "motif": float("nan") if truth is None or not blanket else _share(blanket, truth),
        "effect": _effect_share(first, blanket),
        "stability": len(set.intersection(*blankets)) / len(either) if either else 1.0,
        "blanket": len(blanket),
        "seconds": float(np.mean(seconds)),
    }


def _learnt(way: Way, explanation: Explanation, table: SampleTable) -> Explanation:
    """Return the explanation with another network, learned from the same samples."""
    settings = explanation.settings
    config = way.config()
    selection = replace(settings.selection, no_child=way.leaf if way.family == "bayesian" else None)
    nodes = [int(node) for node in explanation.nodes if isinstance(node, int)]
    problem = Problem(explanation.target, nodes, frozenset(causes(explanation.effects).tolist()))
    (network,) = learn_networks(table, [problem], config, selection, settings.significance)
    return replace(
        explanation,
        network=network,
        settings=replace(settings, network=config, selection=selection),
    )


def _share(found: set[Any], truth: frozenset[int]) -> float:
    return len(found & truth) / len(found)


def _effect_share(explanation: Explanation, blanket: set[Any]) -> float:
    """Return the share of all significant effects, but the target's own, that the blanket has."""
    effects = explanation.effects
    own = set(explanation.ends.tolist())
    sizes = {
        node: abs(effect)
        for node, effect, significant in zip(
            effects.nodes.tolist(), effects.effect.tolist(), effects.significant, strict=True
        )
        if significant and node not in own
    }
    total = sum(sizes.values())
    return sum(sizes.get(node, 0.0) for node in blanket) / total if total else float("nan")


def recovery_cell(
    _: Place, seed: int, states: int, variables: int, searches: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Learn the structure of data from a known network; return distance and time of each search.

    Args:
        searches: pairs of a score and a search.
    """
    truth, data = known_network(seed, variables, states)
    answers = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for score, search in searches:
            most = 2 if score == "log_likelihood" else None
            start = time.process_time()
            dag = SEARCHES[search](data, np.full(variables, states), score, most)
            seconds = time.process_time() - start
            answers[f"{score}, {search}"] = {
                "distance": structural_distance(dag, truth),
                "exact": structural_distance(dag, truth) == 0,
                "seconds": seconds,
            }
    return {"seed": seed, "states": states, "edges": len(truth.edges), "found": answers}


def known_network(seed: int, variables: int, states: int) -> tuple[DAG, NDArray[np.int64]]:
    """Return a random network with up to two parents of a variable, and samples of it."""
    rng = np.random.default_rng([seed, states])
    order = rng.permutation(variables)
    data, edges = np.zeros((_ROWS, variables), dtype=np.int64), []
    for at, child in enumerate(order.tolist()):
        parents = rng.choice(order[:at], size=min(at, int(rng.integers(0, 3))), replace=False)
        configuration = np.zeros(_ROWS, dtype=np.int64)
        for parent in parents.tolist():
            edges.append((parent, child))
            configuration = configuration * states + data[:, parent]
        table = rng.dirichlet(np.full(states, 0.5), size=states ** len(parents))
        limits = table[configuration].cumsum(axis=1)[:, :-1]
        data[:, child] = (rng.random((_ROWS, 1)) >= limits).sum(axis=1)
    return DAG(variables, edges), data
