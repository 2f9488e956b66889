"""The explainer: what a user calls, and the one list of all options."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from .arrays import IntArray, check_name
from .diagnosis import commonest
from .effects import STAGES
from .errors import InputError, PGMExplainerWarning
from .execution import ExecutionConfig
from .explanation import Explanation, check_explanation
from .model_config import ModelConfig
from .network import network_config
from .pipeline import Pipeline
from .predictors import Predictor
from .querying import TASKS, GraphModel, listed, read_inputs
from .sampling import (
    Change,
    Perturbation,
    Population,
    Samples,
    SamplingConfig,
    VariableId,
    as_change,
    as_perturbation,
    check_changes,
    check_columns,
    check_samples,
    probe_features,
)
from .selection import FeatureEffects, IndependenceTest, SelectionConfig, as_test
from .settings import Settings
from .significance import SignificanceConfig
from .structure import Score

__all__ = ["PGMExplainer"]


class PGMExplainer:
    """Explains the predictions of any graph neural network by Bayesian networks.

    The model is only ever asked; it and the arrays passed here are never changed.

    Args:
        model: a PyTorch module, called as ``model(x, edge_index)`` or ``model(data)``; or a
            function of features ``x [B, N, F]`` that gives scores ``[B, N, C]`` (node task),
            ``[B, C]`` (graph task) or ``[B, P, C]`` (edge task, with an argument
            ``pairs [2, P]``). A function with an argument called ``edge_index`` is asked about the
            part of the graph around the target only; any other about the whole graph.
        x: node features ``[N, F]``, an array or tensor; or a ``Data`` or ``HeteroData`` object of
            PyTorch Geometric, and then no ``edge_index``.
        edge_index: edges ``[2, E]``, the source row first; messages flow from source to target,
            unless the layers of a PyTorch Geometric module have another ``flow``.
        inputs: what else a PyTorch module takes, by name, such as ``edge_weight``.
        target_type: in a ``HeteroData`` graph, the kind of node that is predicted.
        task: ``"node"``, ``"edge"`` (a pair of nodes) or ``"graph"``.
        num_layers: L, the number of message-passing layers: how far a target can see. None counts
            those of a PyTorch Geometric module, and is 3 for any other model. A graph task needs
            none: there every node is a candidate.
        hops: how far from the target a node may be to explain it; None for ``num_layers``. The
            model still sees all it needs.
        num_samples: n, how many perturbed graphs the model is called on. ``auto`` draws 500, and
            twice as many again until the five strongest effects are known to within a fifth of
            the strongest one (or one percentage point), up to 8,000.
        perturbation: ``mean``, ``zero``, ``max``, ``random`` (0 or 1), ``uniform`` (noise),
            ``permute`` (another node's features) or a function ``(x, rng) -> x``. ``auto`` is
            ``permute`` for nodes and pairs and ``mean`` for graphs, or ``random`` where all nodes
            have the same features.
        perturb_probability: p, how likely each node is perturbed in each sample.
        features: the feature columns to perturb; None for all.
        change: what counts as a changed prediction: ``large_fall``, ``large_move``, ``fall``,
            ``flip``, ``absolute``, ``top_fraction``, ``levels``, an indicator such as
            ``pgm_explainer.Fall(0.1)``, a number (the threshold of a fall), a list of them (of
            levels), or a function. ``auto`` is ``large_fall``, a fall that is large among the
            prediction's own falls, and for values ``pgm_explainer.TopDeviation(0.5)``.
        scores: what the model answers with: ``logits``, ``probabilities``, ``log_probabilities``,
            ``values`` (a regression), or ``auto`` to find out which of the first three.
        output: the one score to explain where a model gives several independent ones: a label of
            many, or a value of many.
        explained_class: the class to explain, or one for each node; None for the predicted one.
        class_names: what to call the classes, in their order (the labels, or the values, of a model
            that gives those); their numbers by default.
        test: of dependence: ``g`` (likelihood ratio) or ``chi_square`` (Pearson), which rejects far
            too often where tables are sparse, as they are with rare perturbations.
        significance: the p-value below which variables are dependent.
        correction: ``benjamini_hochberg`` holds the share of false discoveries among the
            significant nodes to the significance level, however many candidates there are; ``none``
            is the paper's plain test.
        max_nodes: M, the most nodes of the network, not counting the target; None for no limit.
            Those that change the prediction come first, by strength; then those that depend on it.
        only_significant: if False, nodes that are not significant fill up what room is left.
        no_child: make the target a leaf of the network (the paper's Algorithm 2); if False, learn
            the network without that constraint (Algorithm 1).
        target_table: how the network says what the prediction depends on. ``noisy_or``: each cause
            may change it by itself, with a chance of its own, so that many causes fit few samples.
            ``full``: a probability for every combination of its parents, as in the paper. ``auto``
            is a noisy-or where there can be one: a leaf (``no_child``) that is kept or changed.
        structure: ``hill_climb``, ``exact`` or a function ``(data, cardinalities) -> DAG``;
            ``auto`` is exact for a few variables, where that is as fast, and hill climbing for
            more. None learns no network: only which nodes matter; the options of the network
            (score, max_parents, smoothing, target_table) do not apply then.
        score: ``bic`` (also None), ``aic``, ``bdeu`` or ``log_likelihood``.
        max_parents: the most parents of any variable, the target included; None for no limit.
        smoothing: added to every count of the tables (Laplace); None for 0.
        seed: the same seed gives the same explanation.
        max_memory: bytes, or a text such as ``"2GB"``, that samples in flight may take; None for a
            quarter of what is free. It does not change the answer.
        samples_per_call: how many samples the model sees at once; overrides ``max_memory``.
        progress: whether to show a bar on standard error; None for only in a terminal or a
            notebook.

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
        edge_index: Any = None,
        *,
        inputs: Mapping[str, Any] | None = None,
        target_type: str | None = None,
        task: str = "node",
        num_layers: int | None = None,
        hops: int | None = None,
        num_samples: int | str = 1000,
        perturbation: str | Perturbation | Callable[..., Any] = "auto",
        perturb_probability: float = 0.1,
        features: Sequence[int] | None = None,
        change: str | float | Sequence[float] | Change | Callable[..., Any] = "auto",
        scores: str = "auto",
        output: int | None = None,
        explained_class: int | Sequence[int] | None = None,
        class_names: Sequence[str] | None = None,
        test: str | IndependenceTest = "g",
        significance: float = 0.05,
        correction: str = "benjamini_hochberg",
        max_nodes: int | None = 5,
        only_significant: bool = True,
        no_child: bool = True,
        target_table: str = "auto",
        structure: str | Callable[..., Any] | None = "auto",
        score: str | Score | None = None,
        max_parents: int | None = None,
        smoothing: float | None = None,
        seed: int = 0,
        max_memory: int | str | None = None,
        samples_per_call: int | None = None,
        progress: bool | None = None,
    ) -> None:
        what = ModelConfig(
            task=task,
            num_layers=num_layers,
            hops=hops,
            scores=scores,
            output=output,
            explained_class=explained_class,
            class_names=class_names,
        )
        significant = SignificanceConfig(significance=significance, correction=correction)
        selection = SelectionConfig(
            test=as_test(test),
            no_child=no_child,
            max_nodes=max_nodes,
            only_significant=only_significant,
        )
        network = network_config(
            structure, target_table, score=score, max_parents=max_parents, smoothing=smoothing
        )
        self.execution = ExecutionConfig(
            max_memory=max_memory, samples_per_call=samples_per_call, progress=progress
        )
        source = read_inputs(model, x, edge_index, task, inputs, target_type)
        self.predictor, self.graph, self.names = source.predictor, source.graph, source.names
        self.population = Population(source.x, source.kinds)
        columns = check_columns(features, source.x.shape[1])
        # With "auto" the model is sampled by stages until there are samples enough.
        if isinstance(num_samples, str):
            check_name(num_samples, "num_samples", ("auto",))
            self.stages: tuple[int, ...] = STAGES
        else:
            self.stages = (check_samples(num_samples),)
        sampling = SamplingConfig(
            num_samples=self.stages[0],
            perturbation=as_perturbation(perturbation, self.population, columns, task),
            perturb_probability=perturb_probability,
            features=features,
            change=as_change(change, scores),
            seed=seed,
        )
        self.settings = Settings(
            model=what.with_layers(source.num_layers),
            sampling=sampling,
            significance=significant,
            selection=selection,
            network=network,
        )
        self.settings.check_usable()
        self._perturbation_checked = False

    def explain(self, target: Any = None) -> Explanation:
        """Explain one prediction: of a node, of a pair ``(u, v)``, or of the graph (no target)."""
        explanation = self._explain_all([target])[0]
        for text in explanation.warnings:
            warnings.warn(text, PGMExplainerWarning, stacklevel=2)
        return explanation

    def explain_many(self, targets: Iterable[Any]) -> list[Explanation]:
        """Explain many predictions from one set of samples, in the given order.

        Each explanation is the one that :meth:`explain` would give for that target alone.
        """
        if self.settings.model.task == "graph":
            raise InputError("a graph task has one target, the graph; call explain() instead")
        explanations = self._explain_all(listed(targets, self.graph.num_nodes))
        weak = sum(bool(each.warnings) for each in explanations)
        if weak:
            example, count = commonest([text for each in explanations for text in each.warnings])
            warnings.warn(
                f"{weak} of {len(explanations)} explanations are weakened, most often ({count}) "
                f"like this: {example}; see the 'warnings' of each",
                PGMExplainerWarning,
                stacklevel=2,
            )
        return explanations

    def within(self, execution: ExecutionConfig) -> PGMExplainer:
        """Return the same explainer, with the same answers, that works in another way."""
        other = copy.copy(self)
        other.execution = execution
        return other

    def candidates(self, target: Any = None) -> IntArray:
        """Return the numbers of the nodes that may explain a target, ascending."""
        return self._pipeline().neighbourhood(self._checked(target)).candidates

    def predict(self, target: Any = None) -> tuple[float, ...]:
        """Return the probabilities, or values, that the model gives a target as it is."""
        checked = self._checked(target)
        query = self._graph_model.query([checked], self._graph_model.task.ends(checked))
        return tuple(query.model.before[0].tolist())

    def explain_features(self, explanation: Explanation) -> FeatureEffects:
        """Say which features of the explaining nodes, and of the target itself, matter.

        The features of those nodes are perturbed one by one, in as many new samples, and each is
        tested against the change of the prediction.
        """
        task = self.settings.model.task
        check_explanation(explanation, self.graph, task)
        ends = explanation.ends.tolist()
        number = tuple(ends) if task == "edge" else ends[0] if ends else None
        target = self._graph_model.task.check(number, self.graph)
        count = explanation.settings.sampling.num_samples
        return self._pipeline(count).features_of(target, explanation)

    def samples(self, targets: Iterable[Any]) -> Samples:
        """Return the samples that explanations of these targets (``[None]``: the graph) rest on."""
        chosen = listed(targets, self.graph.num_nodes)
        if not chosen:
            raise InputError("there are no targets to sample around")
        if len(self.stages) > 1:
            raise InputError("num_samples='auto' draws samples for each target: give it a number")
        self._check_perturbation()
        pipeline = self._pipeline()
        return pipeline.draw(pipeline.neighbourhoods([self._checked(each) for each in chosen]))[1]

    @property
    def num_layers(self) -> int:
        """How many steps away a node can influence a prediction."""
        return self.settings.model.num_layers or 0

    @property
    def predicted(self) -> range:
        """The numbers of the nodes that are predicted: all, unless nodes have kinds."""
        return range(self.graph.num_nodes) if self.names is None else self.names.predicted

    def _explain_all(self, chosen: Sequence[Any]) -> list[Explanation]:
        targets = [self._checked(target) for target in chosen]
        waiting, done = list(dict.fromkeys(targets)), dict[VariableId, Explanation]()
        if waiting:
            self._check_perturbation()
        for count in self.stages:
            done.update(self._pipeline(count).explain(waiting, count == self.stages[-1]))
            waiting = [target for target in waiting if target not in done]
        return [done[target] for target in targets]

    def _pipeline(self, num_samples: int | None = None) -> Pipeline:
        settings = self.settings
        if num_samples not in (None, settings.sampling.num_samples):
            sampling = replace(settings.sampling, num_samples=num_samples)
            settings = replace(settings, sampling=sampling)
        return Pipeline(self._graph_model, self.population, self.names, settings, self.execution)

    @cached_property
    def _graph_model(self) -> GraphModel:
        model = self.settings.model
        return GraphModel(
            self.predictor,
            self.graph,
            self.population.x,
            TASKS[model.task],
            self.predicted,
            self.num_layers,
            partial(probe_features, self.population, self.settings.sampling),
            model.scores,
            model.output,
            model.explained_class,
        )

    def _check_perturbation(self) -> None:
        """Refuse a perturbation that changes nothing anywhere; once, for it may take a while."""
        if not self._perturbation_checked:
            config, population = self.settings.sampling, self.population
            columns = config.columns(population.x.shape[1])
            check_changes(config.perturbation, population, columns, config.seed)
            self._perturbation_checked = True

    def _checked(self, target: Any) -> VariableId:
        """A target as a variable's name; nodes by number, where they are called by kind too."""
        number = target if self.names is None else self.names.number(target)
        return self._graph_model.task.check(number, self.graph)
