"""PGM-Explainer: the paper's three steps, in order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from .arrays import IntArray, as_array, check_edge_index, check_features, check_node, resolve
from .diagnosis import weaknesses
from .errors import InputError, PGMExplainerWarning
from .explanation import Explanation
from .graph import Graph
from .learning import LearningPlan, learn_network
from .memory import check_memory
from .predictors import LocalModel, Predictor, as_predictor
from .sampling import (
    GRAPH,
    Change,
    Perturbation,
    Population,
    Samples,
    SamplingPlan,
    as_change,
    as_perturbation,
    check_columns,
    draw_samples,
)
from .selection import (
    IndependenceTest,
    Neighbourhood,
    Ranking,
    SelectionPlan,
    as_test,
    select_variables,
)
from .settings import Settings
from .structure import SEARCHES, Score, as_score

__all__ = ["PGMExplainer"]


class PGMExplainer:
    """Explains the predictions of any graph neural network by Bayesian networks.

    The model is only ever asked; it and the arrays passed here are never changed.

    Args:
        model: a function of features ``x [B, N, F]`` that gives scores ``[B, N, C]`` (node task)
            or ``[B, C]`` (graph task). With a second argument called ``edge_index`` it is asked
            about the part of the graph around the target only; else about the whole graph.
        x: node features ``[N, F]``, an array or tensor.
        edge_index: edges ``[2, E]``, the source row first; messages flow from source to target.
        task: ``"node"`` or ``"graph"``.
        num_layers: L, the number of message-passing layers: how far a target can see.
        num_samples: n, how many perturbed graphs the model is asked about.
        perturbation: ``mean``, ``zero``, ``max``, ``random`` (0 or 1), ``uniform`` (noise),
            ``permute`` (another node's features) or a function ``(x, rng) -> x``. ``auto`` is the
            mean, or ``random`` where all nodes have the same features.
        perturb_probability: p, how likely each node is perturbed in each sample.
        features: the feature columns to perturb; None for all.
        change: what counts as a changed prediction: ``fall``, ``flip``, ``absolute``,
            ``top_fraction``, ``levels``, an indicator such as ``Fall(0.1)`` or a function. ``auto``
            is ``Fall(0.05)`` for nodes and ``TopFraction(0.5)`` for graphs.
        scores: what the model answers with: ``logits``, ``probabilities``, ``log_probabilities``,
            or ``auto`` to find out.
        test: ``chi_square`` or ``g``.
        significance: the p-value below which variables are dependent.
        correction: ``benjamini_hochberg`` holds the share of false discoveries among the selected
            nodes to the significance level, however many candidates there are; ``none`` is the
            paper's plain test.
        max_nodes: M, the most explaining nodes, not counting the target.
        only_significant: if False, the top ``max_nodes`` are returned whatever their p-value.
        no_child: make the target a leaf of the network (the paper's Algorithm 2); if False, learn
            the network without that constraint (Algorithm 1).
        structure: ``hill_climb``, ``exact`` or a function ``(data, cardinalities) -> DAG``.
        score: ``bic``, ``aic``, ``bdeu`` or ``log_likelihood``.
        max_parents: the most parents a variable may have in the search; None for no limit.
        smoothing: added to every count of the tables (Laplace).
        seed: the same seed gives the same explanation.
        max_memory: bytes, or a text such as ``"2GB"``, that samples in flight may take; None for a
            quarter of what is free. It does not change the answer.
        samples_per_call: how many samples the model sees at once; overrides ``max_memory``.

    Raises:
        PGMExplainerError: in one of its forms, for anything that cannot be used.

    Examples:
        A model with one layer: a node's score for class 1 is the sum of its neighbours' features.

        >>> import numpy as np
        >>> edges = np.array([[0, 1, 2, 3], [1, 0, 3, 2]])
        >>> adjacency = np.zeros((4, 4)); adjacency[edges[1], edges[0]] = 1
        >>> def model(x):
        ...     score = adjacency @ x.sum(axis=-1, keepdims=True)
        ...     return np.concatenate([-score, score], axis=-1)
        >>> explainer = PGMExplainer(model, np.ones((4, 1)), edges, num_layers=1)
        >>> explainer.explain(0).nodes
        [1]
    """

    def __init__(
        self,
        model: Callable[..., Any] | Predictor,
        x: Any,
        edge_index: Any,
        *,
        task: str = "node",
        num_layers: int = 3,
        num_samples: int = 800,
        perturbation: str | Perturbation | Callable[..., Any] = "auto",
        perturb_probability: float = 0.25,
        features: Sequence[int] | None = None,
        change: str | Change | Callable[..., Any] = "auto",
        scores: str = "auto",
        test: str | IndependenceTest = "chi_square",
        significance: float = 0.05,
        correction: str = "benjamini_hochberg",
        max_nodes: int = 5,
        only_significant: bool = True,
        no_child: bool = True,
        structure: str | Callable[..., Any] = "hill_climb",
        score: str | Score = "bic",
        max_parents: int | None = None,
        smoothing: float = 0.0,
        seed: int = 0,
        max_memory: int | str | None = None,
        samples_per_call: int | None = None,
    ) -> None:
        options = {name: value for name, value in locals().items() if name in _OPTIONS}
        self.settings = Settings(**options)
        self._population = Population(check_features(x))
        self.graph = Graph(check_edge_index(edge_index, len(self._population.x)), len(x))
        self.predictor = as_predictor(model)
        columns = check_columns(features, self._population.x.shape[1])
        self._sampling = SamplingPlan(
            num_samples=num_samples,
            probability=perturb_probability,
            perturbation=as_perturbation(perturbation, self._population, columns),
            columns=columns,
            change=as_change(change, task),
            seed=seed,
            max_memory=check_memory(max_memory),
            samples_per_call=samples_per_call,
        )
        chosen_test = as_test(test)
        self._selection = SelectionPlan(
            chosen_test, significance, correction, max_nodes, no_child, only_significant
        )
        search = resolve(structure, "structure", SEARCHES)
        if search is not None:
            structure = partial(search, score=score, max_parents=max_parents)
        assert callable(structure)  # settings have checked it
        self._learning = LearningPlan(
            structure, as_score(score), no_child, chosen_test, significance, smoothing
        )

    def explain(self, target: int | None = None) -> Explanation:
        """Explain the prediction of one node, or of the graph (then without a target)."""
        explanation = self._explain_all(self._check_targets([target]))[0]
        for text in explanation.warnings:
            warnings.warn(text, PGMExplainerWarning, stacklevel=2)
        return explanation

    def explain_many(self, targets: Iterable[int]) -> list[Explanation]:
        """Explain many nodes from one set of samples, in the given order.

        Each explanation is the one that :meth:`explain` would give for that node alone.
        """
        if self.settings.task == "graph":
            raise InputError("a graph task has one target, the graph; call explain() instead")
        explanations = self._explain_all(self._check_targets(_listed(targets)))
        weak = sum(bool(each.warnings) for each in explanations)
        if weak:
            warnings.warn(
                f"{weak} of {len(explanations)} explanations are weakened by something; "
                f"see the 'warnings' of each",
                PGMExplainerWarning,
                stacklevel=2,
            )
        return explanations

    def _explain_all(self, targets: Sequence[int | str]) -> list[Explanation]:
        neighbourhoods = [self._neighbourhood(target) for target in dict.fromkeys(targets)]
        if not neighbourhoods:
            return []
        samples = self._draw(neighbourhoods)  # step 1
        rankings = select_variables(samples.table, neighbourhoods, self._selection)  # step 2
        done = {
            near.target: self._conclude(near, samples, ranking)  # step 3
            for near, ranking in zip(neighbourhoods, rankings, strict=True)
        }
        return [done[target] for target in targets]

    def _neighbourhood(self, target: int | str) -> Neighbourhood:
        if target == GRAPH:
            return Neighbourhood(target, np.arange(self.graph.num_nodes))
        reached = self.graph.within_hops(np.array([target]), self.settings.num_layers)
        return Neighbourhood(target, reached[reached != target])

    def _draw(self, neighbourhoods: Sequence[Neighbourhood]) -> Samples:
        recorded = np.unique(np.concatenate(list(_members(neighbourhoods))))
        if self.settings.task == "node" and self.predictor.accepts_subgraph:
            part = self.graph.cut(recorded, self.settings.num_layers)
        else:
            part = self.graph.whole()
        rows = part.positions(recorded) if self.settings.task == "node" else None
        x = self._population.x[part.nodes]
        model = LocalModel.observe(self.predictor, part, x, rows, self.settings.scores)
        return draw_samples(model, self._population, recorded, self._sampling)

    def _conclude(self, near: Neighbourhood, samples: Samples, ranking: Ranking) -> Explanation:
        target, table = near.target, samples.table
        column = table.column(target)
        outcome = table.codes([column])[:, 0] % table.variables[column].levels
        before = samples.before[column if self.settings.task == "node" else 0]
        network = None
        if outcome.any():
            nodes = [int(node) for node in ranking.nodes[ranking.selected]]
            network = learn_network(table, nodes, target, self._learning)
        else:
            ranking = ranking.with_none_selected()
        return Explanation(
            target=target,
            predicted_class=int(before.argmax()),
            probability=float(before.max()),
            held=float((outcome == 0).mean()),
            ranking=ranking,
            network=network,
            settings=self._plain_settings,
            warnings=weaknesses(near, samples, network, outcome, self._sampling),
            graph=self.graph,
        )

    @cached_property
    def _plain_settings(self) -> dict[str, Any]:
        """The settings, with what ``auto`` stood for."""
        return {
            **self.settings.as_plain(),
            "perturbation": self._sampling.perturbation.name,
            "change": repr(self._sampling.change),
        }

    def _check_targets(self, targets: Sequence[Any]) -> list[int | str]:
        if self.settings.task == "graph":
            if targets != [None]:
                raise InputError(
                    f"a graph task explains the whole graph: call explain() without a target, "
                    f"not with {targets[0]!r}"
                )
            return [GRAPH]
        if None in targets:
            raise InputError("a node task needs a target: call explain(node)")
        return [check_node(target, self.graph.num_nodes) for target in targets]


_OPTIONS = frozenset(Settings.__dataclass_fields__)


def _listed(targets: Iterable[int]) -> list[Any]:
    """The targets as a list; tensors and arrays are read as arrays first."""
    if hasattr(targets, "shape"):
        return as_array(targets, "targets").reshape(-1).tolist()
    try:
        return list(targets)
    except TypeError:
        raise InputError(f"targets must be a list of nodes, not {targets!r}") from None


def _members(neighbourhoods: Sequence[Neighbourhood]) -> Iterator[IntArray]:
    for near in neighbourhoods:
        yield near.candidates
        if near.target != GRAPH:
            yield np.array([near.target], dtype=np.int64)
