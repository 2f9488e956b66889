"""The explainer class and the full list of its options."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .arrays import IntArray, check_flag, check_whole_number
from .batching import SampleCache
from .diagnosis import commonest
from .effects.estimate import sample_stages
from .errors import InputError, PGMExplainerWarning
from .execution import ExecutionConfig
from .explanation import EdgeConfidence, Explanation, FeatureEffects, MinimalSet
from .feature_names import FeatureNames
from .limits import REPETITIONS, brief
from .minimal_sets import search_options
from .model_config import model_config
from .network.config import network_config
from .node_names import NodeNames
from .pipeline import Pipeline
from .predictors import Predictor
from .querying import (
    GraphModel,
    GraphSetTask,
    is_graph_set,
    listed,
    numbered,
    read_inputs,
)
from .sampling import Change, Perturbation, Population, Samples, VariableId
from .sampling.config import bind_parts, sampling_config
from .sampling.generate import probe_features
from .selection import IndependenceTest, SelectionConfig, as_test
from .settings import Settings
from .significance import SignificanceConfig
from .structure import Score

__all__ = ["PGMExplainer", "explain_graphs"]


class PGMExplainer:
    """Explain the predictions of any graph neural network with Bayesian networks.

    The model is treated as a black box. The model and the arrays passed here are never modified.
    Large arrays are not copied, so do not change them while the explainer is in use; to explain a
    changed graph, create a new explainer.

    To *perturb* a node is to replace its features. A *sample* is a copy of the graph in which a
    random choice of nodes is perturbed. The *target* is the prediction to explain, and its
    *candidates* are the nodes that may explain it. Shapes are written with B samples, N nodes,
    E edges, F features, C classes and P pairs of nodes.

    Args:
        model: a PyTorch module, called as ``model(x, edge_index)`` or ``model(data)``; or a
            function of features ``x [B, N, F]`` that returns scores ``[B, N, C]`` (node task),
            ``[B, C]`` (graph task) or ``[B, P, C]`` (edge task, with an argument
            ``pairs [2, P]``). A function with an argument ``edge_index`` is called on the subgraph
            around the target; any other function is called on the whole graph.
        x: node features ``[N, F]``, or ``[N, T, F]`` with T time steps, as an array or tensor. Or
            a ``Data`` or ``HeteroData`` object of PyTorch Geometric; then omit ``edge_index``. Or,
            for ``task="graph"``, a list or data set of many graphs; then ``explain(i)`` explains
            graph ``i``. Features with time steps are passed to the model as ``[B, N, T, F]``.
        edge_index: edges ``[2, E]``, from the nodes in the first row to those in the second.
            Messages flow in this direction, unless the layers of a PyTorch Geometric module have
            another ``flow``.
        inputs: further inputs of a PyTorch module by name, such as ``edge_weight``.
        names: a name for each node: a list, or a mapping from node indices to names; for a
            ``HeteroData`` graph, a mapping from node types to these; for many graphs, a list with
            the names of each graph. Nodes of a single graph can then be given by
            name, as in ``explain("acct_4744")``, and explanations use the names. An integer is
            still an index, unless names are integers too.
        feature_names: a name for each of the F features; for a ``HeteroData`` graph, a mapping from
            node types to lists of names.
        target_type: for a ``HeteroData`` graph, the node type that is predicted; in an edge task,
            the node types of the two nodes.
        task: ``"node"``, ``"edge"`` (a pair of nodes) or ``"graph"``.
        num_layers: L, the number of message-passing layers. A prediction depends only on nodes
            within L hops, its *receptive field*. None counts the layers of a PyTorch Geometric
            module, and means 3 for any other model. Not used by a graph task, where every node is
            a candidate.
        hops: the largest distance of a candidate from the target, in hops; None for
            ``num_layers``. The model is still called on its full receptive field.
        num_samples: n, the number of perturbed graphs the model is called on. ``auto`` starts with
            500 and doubles, up to 8,000, until the five strongest effects are precise: no margin
            of error is larger than a fifth of the strongest effect (or one percentage point).
        parts: what is perturbed as a unit: ``nodes``, ``edges`` (removed), ``features`` (columns),
            ``time`` (steps, for features ``[N, T, F]``), a mapping from names of groups to nodes,
            an object such as ``pgm_explainer.Edges("rewire")`` or
            ``pgm_explainer.Groups(groups, of="edges")``, or a list of these.
        perturbation: ``mean``, ``zero``, ``max``, ``min``, ``random`` (0 or 1), ``uniform``
            (noise), ``permute`` (another node's features), ``substitute`` (the same, but common
            features are drawn less often than they occur) or a function ``(x, rng) -> x``. ``auto``
            is ``permute`` for node and edge tasks. For graph tasks it is ``mean``, or
            ``substitute`` if the features are categories, such as one-hot encoded atoms; edges are
            kept, so an atom may get a type that its bonds do not permit. Where all nodes have the
            same features, ``auto`` is ``random``.
        perturb_probability: p, the probability that a node is perturbed in a sample.
        features: the feature columns to perturb, by number or name (at all time steps); None for
            all.
        change: what counts as a changed prediction: ``large_fall``, ``large_move``, ``fall``,
            ``flip``, ``absolute``, ``top_fraction``, ``levels``, an indicator such as
            ``pgm_explainer.Fall(0.1)``, a number (the threshold of a fall), a list of numbers
            (thresholds of levels), or a function. ``auto`` is ``large_fall``, a fall that is large
            relative to the other falls of the same prediction; for a regression it is
            ``pgm_explainer.TopDeviation(0.5)``.
        scores: what the model returns: ``logits``, ``probabilities``, ``log_probabilities``,
            ``values`` (a regression), or ``auto`` to detect which of the first three.
        output: the output to explain, by its index or its name in ``class_names``, for a model with
            several independent outputs (multi-label classification or multi-output regression).
        explained_class: the class to explain, by its number or its name in ``class_names``, or one
            for each node; None for the predicted one.
        class_names: the names of the classes in order (of the labels or values, for a multi-label
            model or a regression); by default their numbers.
        own_predictions: in a node task, whether the candidates' own predictions are recorded too,
            as in the paper. Each candidate's prediction has its own receptive field, so this takes
            most of the time. If False, the model is called only on the nodes within ``num_layers``
            hops of the target. The effects are the same, but the ranking and the network only
            use which nodes were perturbed.
        test: the independence test: ``g`` (likelihood ratio) or ``chi_square`` (Pearson). If
            perturbations are rare, tables are sparse, and ``chi_square`` has far too many false
            positives.
        significance: the significance level, a threshold on p-values.
        correction: the correction for multiple testing. ``benjamini_hochberg`` bounds the false
            discovery rate by the significance level; ``none`` is the uncorrected test of the paper.
        max_nodes: M, the maximum number of nodes in the network, not counting the target; None for
            no limit. Nodes whose perturbation changes the prediction come first, by strength,
            followed by other nodes that are statistically dependent on it.
        only_significant: if False, the network is filled up to ``max_nodes`` with nodes that are
            not significant.
        no_child: make the target a leaf of the Bayesian network, without children (the paper's
            Algorithm 2; also None); if False, learn the network without that constraint (Algorithm
            1). Does not apply to other families.
        target_table: the conditional distribution of the prediction. ``noisy_or``: each cause can
            change the prediction independently of the others, which needs few samples for many
            causes. ``full``: a probability for every combination of the parents, as in the paper.
            ``auto`` is ``noisy_or`` where possible: if the target is a leaf (``no_child``) and has
            two states, kept and changed.
        family: the kind of network. ``bayesian``: a directed acyclic graph, as in the paper.
            ``markov``: an undirected graph with a potential for each clique. ``dependency``: a
            conditional distribution for each variable, learned separately. See
            ``docs/families.md``.
        structure: how the edges of a Bayesian network are learned: ``hill_climb``, ``exact``,
            ``ges`` (over equivalence classes), ``pc`` (by tests), ``mmhc`` (hill climbing over
            edges that tests keep), ``order`` (over orders of the variables, for 30 or more),
            ``bootstrap`` (edges found in most resamples), an object such as
            ``pgm_explainer.PCSearch(significance=0.01)``, or a function
            ``(data, cardinalities) -> DAG``. ``auto`` is ``exact`` for a few variables,
            where it is just as fast, and ``hill_climb`` for more. For a Markov network,
            ``decomposable`` (also ``auto``) or ``neighbourhood``; for a dependency network,
            ``table``, ``tree`` or ``auto``. None learns no network: the
            explanation has only effects and a ranking, and ``score``, ``max_parents``,
            ``smoothing``, ``target_table`` and ``family`` do not apply.
        score: the score of a structure: ``bic`` (also None), ``aic``, ``bdeu``, ``bds``, ``qnml``,
            ``fnml``, ``held_out`` (by cross-validation), ``log_likelihood``, or an object such as
            ``pgm_explainer.BDeuScore(equivalent_samples=5)``.
        max_parents: the maximum number of parents of any variable, including the target; None for
            no limit. For a Markov network, use ``pgm_explainer.Decomposable(max_clique=3)``.
        smoothing: the pseudocount added to every count of the conditional probability tables
            (Laplace smoothing); None for 0, or 0.1 in a dependency network.
        seed: seed of all random numbers; the same seed gives the same explanation.
        max_memory: memory for samples, in bytes or as a string such as ``"2GB"``; None for a
            quarter of the free memory. It does not change the explanation.
        samples_per_call: how many samples the model is called on at once; overrides
            ``max_memory``.
        progress: whether to show a progress bar on standard error; None shows it only in a
            terminal or notebook; elsewhere, the remaining time of a long run is logged instead.

    Raises:
        PGMExplainerError: an argument cannot be used; a subclass says why.

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
        names: Sequence[VariableId] | Mapping[Any, Any] | None = None,
        feature_names: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        target_type: str | Sequence[str] | None = None,
        task: str = "node",
        num_layers: int | None = None,
        hops: int | None = None,
        num_samples: int | str = 1000,
        parts: Any = "nodes",
        perturbation: str | Perturbation | Callable[..., Any] = "auto",
        perturb_probability: float = 0.1,
        features: Sequence[int | str] | None = None,
        change: str | float | Sequence[float] | Change | Callable[..., Any] = "auto",
        scores: str = "auto",
        output: int | str | None = None,
        explained_class: int | str | Sequence[int | str] | None = None,
        class_names: Sequence[str] | None = None,
        own_predictions: bool = True,
        test: str | IndependenceTest = "g",
        significance: float = 0.05,
        correction: str = "benjamini_hochberg",
        max_nodes: int | None = 5,
        only_significant: bool = True,
        no_child: bool | None = None,
        target_table: str = "auto",
        family: str = "bayesian",
        structure: str | Callable[..., Any] | None = "auto",
        score: str | Score | None = None,
        max_parents: int | None = None,
        smoothing: float | None = None,
        seed: int = 0,
        max_memory: int | str | None = None,
        samples_per_call: int | None = None,
        progress: bool | None = None,
    ) -> None:
        what = model_config(
            task=task,
            num_layers=num_layers,
            hops=hops,
            scores=scores,
            output=output,
            explained_class=explained_class,
            class_names=class_names,
            own_predictions=own_predictions,
        )
        significant = SignificanceConfig(significance=significance, correction=correction)
        selection = SelectionConfig(
            test=as_test(test),
            no_child=no_child,
            max_nodes=max_nodes,
            only_significant=only_significant,
        )
        network = network_config(
            family,
            structure,
            target_table,
            score=score,
            max_parents=max_parents,
            smoothing=smoothing,
        )
        self.execution = ExecutionConfig(
            max_memory=max_memory, samples_per_call=samples_per_call, progress=progress
        )
        source = read_inputs(model, x, edge_index, task, inputs, target_type, names, feature_names)
        self.predictor, self.graph = source.predictor, source.graph
        self.names, self.types = source.names, source.types
        self._task = source.task(task, own_predictions)
        self.population = Population.of(source)
        self.stages = sample_stages(num_samples)
        sampling = sampling_config(
            self.population,
            task,
            scores,
            num_samples=self.stages[0],
            parts=parts,
            perturbation=perturbation,
            perturb_probability=perturb_probability,
            features=features,
            change=change,
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
        self._recorded = self.settings.recorded()
        self.parts = bind_parts(sampling, self.graph, self.population, self.predictor, perturbation)
        self._perturbation_checked = False
        self._cache = SampleCache()

    def __repr__(self) -> str:
        model = getattr(self.predictor, "predictor", self.predictor)  # the model inside a wrapper
        model = getattr(model, "module", None) or getattr(model, "function", model)
        model_name = getattr(model, "__name__", type(model).__name__)
        edges, steps = self.graph.edge_index.shape[1], self.population.steps
        size = [f"{self.graph.num_nodes} nodes", f"{edges} edges"]
        size += [] if steps is None else [f"{steps} time steps"]
        sampling = self.settings.sampling
        return (
            f"PGMExplainer({model_name}, {', '.join(size)}, {self.population.width} features, "
            f"task={self._task.name!r}, num_layers={self.num_layers}, "
            f"num_samples={sampling.num_samples if len(self.stages) == 1 else 'auto'!r}, "
            f"parts={sampling.parts.name!r}, perturbation={sampling.perturbation.name!r})"
        )

    def explain(self, target: Any = None, *, with_features: bool = False) -> Explanation:
        """Explain one prediction: of a node, of a pair ``(u, v)``, or of the graph (no target).

        Args:
            target: the node, the pair, or the position of one of many graphs.
            with_features: whether to add :meth:`explain_features` as ``explanation.features``.
        """
        explanation = self._explain_all([target], with_features)[0]
        for text in explanation.warnings:
            warnings.warn(text, PGMExplainerWarning, stacklevel=2)
        return explanation

    def explain_many(
        self, targets: Iterable[Any], *, with_features: bool = False
    ) -> list[Explanation]:
        """Explain many predictions from one set of samples, in the given order.

        Each explanation is the one that :meth:`explain` would give for that target alone. In an
        edge task, targets are a list of pairs, or an array ``[2, P]`` with a pair in each column,
        such as the ``edge_label_index`` of PyTorch Geometric.

        Args:
            targets: the nodes, pairs, or positions of graphs.
            with_features: as in :meth:`explain`. Targets that do not depend on each other's nodes
                share samples for their features too.
        """
        if self.settings.model.task == "graph" and not self._task.separate:
            raise InputError("a graph task has one target, the graph; call explain() instead")
        chosen = listed(targets, self.graph.num_nodes, self._task.name)
        explanations = self._explain_all(chosen, with_features)
        texts = [text for each in explanations for text in each.warnings]
        weak = sum(bool(each.warnings) for each in explanations)
        if len(explanations) == 1:
            what = f"{self._task.name} {brief(chosen[0])}, by {self.settings.sampling.parts.name}"
            for text in texts:
                warnings.warn(f"{what}: {text}", PGMExplainerWarning, stacklevel=2)
        elif weak:
            example, count = commonest(texts)
            warnings.warn(
                f"{weak} of {len(explanations)} explanations have warnings; the most frequent "
                f"({count} times): {example}; see the 'warnings' of each explanation",
                PGMExplainerWarning,
                stacklevel=2,
            )
        return explanations

    def within(self, execution: ExecutionConfig) -> PGMExplainer:
        """Return a copy of this explainer with other memory, batch and progress options."""
        if not isinstance(execution, ExecutionConfig):
            raise InputError(f"execution must be an ExecutionConfig, not {brief(execution)}")
        other = copy.copy(self)
        other.execution = execution
        return other

    def unnamed(self) -> PGMExplainer:
        """Return a copy of this explainer that identifies nodes by index only, not by name."""
        other = copy.copy(self)
        if self.types is None:
            other.names = NodeNames()
        else:
            other.types = replace(self.types, labels=())
            other.names = replace(self.names, labels=other.types)
        other.population = replace(self.population, names=other.names)
        return other

    def candidates(self, target: Any = None) -> IntArray:
        """Return the indices of the nodes that may explain a target, ascending."""
        return self._pipeline().neighbourhood(self._checked(target)).candidates

    def receptive_field(self, target: Any = None) -> IntArray:
        """Return the nodes of the subgraph that the model is called on to explain a target."""
        return self._pipeline().receptive_field(self._checked(target))

    def predict(self, target: Any = None) -> tuple[float, ...]:
        """Return the model's probabilities, or values, for a target on unperturbed features."""
        checked = self._checked(target)
        query = self._graph_model.query([checked], self._graph_model.task.ends(checked))
        return tuple(query.model.before[0].tolist())

    def explain_features(self, explanation: Explanation, *, target: Any = None) -> FeatureEffects:
        """Estimate the effect of each feature of the target and of the nodes of the network.

        New samples are drawn, as many as for the explanation. In these, each feature of each of
        these nodes is perturbed independently of the others (at all time steps, if there are
        several), and all other nodes are left as they are. Features that the perturbation never or
        rarely changes are not tested.

        Args:
            explanation: an explanation made by this explainer.
            target: the position of the graph, if there are many graphs and the explanation was
                loaded from a file.
        """
        self.check_features()
        checked = self._target_of(explanation, target)
        pipeline = self._pipeline(explanation.settings.sampling.num_samples)
        pipeline.numbers(checked, explanation)  # raises if it is the explanation of another target
        ((_, features),) = pipeline.features_of({checked: explanation})
        return features

    def counterfactual(
        self,
        explanation: Explanation,
        *,
        target: Any = None,
        probability: float = 0.5,
        **options: Any,
    ) -> MinimalSet:
        """Find a small set of parts whose perturbation changes the prediction.

        The result is the smallest set that the search finds. See the method of
        :class:`~pgm_explainer.Explanation` for the options.
        """
        return self._minimal_set("counterfactual", explanation, target, probability, options)

    def sufficient(
        self,
        explanation: Explanation,
        *,
        target: Any = None,
        probability: float = 0.9,
        **options: Any,
    ) -> MinimalSet:
        """Find a small set of parts that keeps the prediction if all other parts are perturbed.

        The result is the smallest set that the search finds. See the method of
        :class:`~pgm_explainer.Explanation` for the options.
        """
        return self._minimal_set("sufficient", explanation, target, probability, options)

    def edge_confidence(
        self, explanation: Explanation, *, target: Any = None, resamples: int = 200, seed: int = 0
    ) -> EdgeConfidence:
        """Return the confidence of each edge of an explanation's network.

        Args:
            explanation: an explanation made by this explainer.
            target: as in :meth:`explain_features`.
            resamples, seed: as in :meth:`~pgm_explainer.Explanation.with_edge_confidence`.
        """
        resamples = check_whole_number(resamples, "resamples", at_least=1, at_most=REPETITIONS)
        seed = check_whole_number(seed, "seed", at_least=0)
        checked = self._target_of(explanation, target)
        self._check_perturbation()
        pipeline = self._pipeline(explanation.settings.sampling.num_samples)
        return pipeline.edge_confidence(checked, explanation, resamples, seed)

    def samples(self, targets: Iterable[Any]) -> Samples:
        """Return the samples used to explain these targets; pass ``[None]`` for one graph."""
        chosen = listed(targets, self.graph.num_nodes, self._task.name)
        if not chosen:
            raise InputError("targets is empty; pass at least one target")
        if len(self.stages) > 1:
            raise InputError(
                "samples() does not work with num_samples='auto'; set num_samples to a number"
            )
        self._check_perturbation()
        pipeline = self._pipeline()
        return pipeline.draw(pipeline.neighbourhoods([self._checked(each) for each in chosen]))[1]

    @property
    def num_layers(self) -> int:
        """The number of hops over which a node can influence a prediction."""
        return self.settings.model.num_layers or 0

    @property
    def predicted(self) -> range:
        """The indices of the predicted nodes: all nodes, or those of the target type."""
        return range(self.graph.num_nodes) if self.types is None else self.types.predicted

    @property
    def feature_names(self) -> FeatureNames:
        """The names of the feature columns, or a mapping from node types to these; may be empty."""
        return self.population.feature_names

    @property
    def offsets(self) -> IntArray | None:
        """For many graphs, the first node of each, then the total number of nodes; else None."""
        return self._task.offsets if isinstance(self._task, GraphSetTask) else None

    def _explain_all(self, chosen: Sequence[Any], with_features: bool) -> list[Explanation]:
        if check_flag(with_features, "with_features"):
            self.check_features()
        targets = [self._checked(target) for target in chosen]
        waiting, done = list(dict.fromkeys(targets)), dict[VariableId, Explanation]()
        if waiting:
            self._check_perturbation()
        for count in self.stages:
            pipeline, last = self._pipeline(count), count == self.stages[-1]
            done.update(pipeline.explain_in_groups(waiting, last))
            waiting = [target for target in waiting if target not in done]
        if with_features:
            self._add_features(done)
        return [replace(done[target], source=(self, target)) for target in targets]

    def _add_features(self, done: dict[VariableId, Explanation]) -> None:
        """Add the effects of features to explanations, each with its own number of samples."""
        by_count: dict[int, dict[VariableId, Explanation]] = {}
        for target, each in done.items():
            by_count.setdefault(each.settings.sampling.num_samples, {})[target] = each
        for count, some in by_count.items():
            for target, features in self._pipeline(count).features_of(some):
                done[target] = replace(done[target], features=features)

    def check_features(self) -> None:
        """Raise an InputError if features of nodes cannot be explained with these parts."""
        if self._task.name == "graph" and not len(self.parts.nodes_in(np.arange(1))):
            raise InputError(
                f"features of nodes cannot be explained for a graph with parts="
                f"{brief(self.settings.sampling.parts.name)}, as no nodes are selected; use "
                f"parts='nodes', or parts='features' for the effects of feature columns"
            )

    def _target_of(self, explanation: Any, target: Any = None) -> VariableId:
        """Return the target of an explanation; ``target`` is the position of one of many graphs."""
        if not isinstance(explanation, Explanation):
            raise InputError(f"an explanation is required, not {brief(explanation)}")
        ends = explanation.ends.tolist()
        if self._task.separate and target is None:
            target = explanation.position if explanation.source is None else explanation.source[1]
        elif not self._task.separate:
            target = tuple(ends) if explanation.task == "edge" else ends[0] if ends else None
        return self._graph_model.task.check(target, self.graph)

    def _minimal_set(
        self, kind: str, explanation: Explanation, target: Any, probability: float, options: Any
    ) -> MinimalSet:
        wanted = search_options(kind, probability, options)
        checked = self._target_of(explanation, target)
        self._check_perturbation()
        return self._pipeline().minimal_set(checked, explanation, wanted)

    def _pipeline(self, num_samples: int | None = None) -> Pipeline:
        settings, recorded = self.settings, self._recorded
        if num_samples is not None and num_samples != settings.sampling.num_samples:
            settings = settings.with_samples(num_samples)
            recorded = recorded.with_samples(num_samples)
        return Pipeline(
            self._graph_model,
            self.parts,
            self.population,
            settings,
            recorded,
            self.execution,
            self._cache,
        )

    @cached_property
    def _graph_model(self) -> GraphModel:
        model = self.settings.model
        return GraphModel(
            self.predictor,
            self.graph,
            self.population.x,
            self._task,
            self.predicted,
            self.num_layers,
            partial(probe_features, self.population, self.settings.sampling),
            model.scores,
            model.output,
            model.explained_class,
            self.parts.needs_whole_graph,
        )

    def _check_perturbation(self) -> None:
        """Raise an error if the perturbation changes no node; checked once, as it may be slow."""
        if not self._perturbation_checked:
            self.parts.check()
            self._perturbation_checked = True

    def _checked(self, target: Any) -> VariableId:
        """Return the validated target, with nodes by their index."""
        number = numbered(target, self._task.name, self.names, self.types)
        return self._graph_model.task.check(number, self.graph)


def explain_graphs(
    model: Any, graphs: Any, *, with_features: bool = False, **options: Any
) -> list[Explanation]:
    """Explain the prediction of each of many graphs, batched across graphs.

    Args:
        model: as in :class:`~pgm_explainer.PGMExplainer`, with one prediction for each graph.
        graphs: a list or data set of PyTorch Geometric ``Data`` objects, or of pairs
            ``(x, edge_index)``.
        with_features: whether to explain features too, as ``explanation.features``.
        options: those of :class:`~pgm_explainer.PGMExplainer`, except for ``task``.

    Returns:
        One explanation for each graph, in order. Nodes are numbered from 0 in each graph, unless
        they have names: ``names`` is then a list with the names of each graph.

    Examples:
        >>> import numpy as np
        >>> def count(x, edge_index):  # one score for each graph: the sum of all features
        ...     return x.sum(axis=(1, 2))[:, None]
        >>> graphs = [(np.eye(3)[:n], np.array([[0], [1]])) for n in (2, 3)]
        >>> found = explain_graphs(count, graphs, perturbation="zero", num_samples=50,
        ...                        scores="values", progress=False)
        >>> [sorted(each.effects.parts) for each in found]
        [[0, 1], [0, 1, 2]]
    """
    task = options.pop("task", "graph")
    if not isinstance(task, str) or task != "graph":
        raise InputError("explain_graphs is for task='graph'; leave out task")
    if not is_graph_set(graphs):
        raise InputError(
            f"graphs must be a list of Data objects or pairs (x, edge_index), not {brief(graphs)}"
        )
    explainer = PGMExplainer(model, graphs, task="graph", **options)
    return explainer.explain_many(range(len(graphs)), with_features=with_features)
