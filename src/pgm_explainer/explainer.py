"""PGM-Explainer: the paper's three steps, in order."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import tee
from typing import Any

import numpy as np

from .arrays import IntArray
from .diagnosis import commonest, weaknesses
from .effects import STAGES, EffectProblem, Effects, estimate_effects, told_apart
from .errors import InputError, PGMExplainerWarning
from .explanation import Explanation, check_explanation
from .finding import Finding
from .holding import Neighbourhoods, in_blocks, kept, together
from .learning import Problem, learn_networks
from .network import BayesianNetwork
from .plans import choice_plan, effect_plan, learning_plan, sampling_plan, selection_plan
from .predictors import Predictor
from .progress import Progress
from .querying import TASKS, GraphModel, Query, listed, read_inputs
from .sampling import (
    Change,
    CustomChange,
    Outcome,
    Perturbation,
    Population,
    Samples,
    VariableId,
    check_changes,
    describe_change,
    draw_attribute_samples,
    draw_samples,
    probe_features,
)
from .scratch import Shelf
from .selection import (
    Dependents,
    FeatureEffects,
    IndependenceTest,
    Neighbourhood,
    causes,
    choose_nodes,
    feature_effects,
    select_variables,
)
from .settings import AUTO, Settings
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
            ``Fall(0.1)``, a number (the threshold of a fall), a list of them (of levels), or a
            function. ``auto`` is ``LargeFall()``, a fall that is large among the prediction's own
            falls, and for values
            ``TopDeviation(0.5)``.
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
            more. None learns no network: only which nodes matter.
        score: ``bic``, ``aic``, ``bdeu`` or ``log_likelihood``.
        max_parents: the most parents a variable may have in the search; None for no limit.
        smoothing: added to every count of the tables (Laplace).
        seed: the same seed gives the same explanation.
        max_memory: bytes, or a text such as ``"2GB"``, that samples in flight may take; None for a
            quarter of what is free. It does not change the answer.
        samples_per_call: how many samples the model sees at once; overrides ``max_memory``.
        progress: whether to show a bar on standard error; None for where someone is looking, which
            is a terminal or a notebook.

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
        score: str | Score = "bic",
        max_parents: int | None = None,
        smoothing: float = 0.0,
        seed: int = 0,
        max_memory: int | str | None = None,
        samples_per_call: int | None = None,
        progress: bool | None = None,
    ) -> None:
        options = {name: value for name, value in locals().items() if name in _OPTIONS}
        if progress is not None and not isinstance(progress, bool):
            raise InputError(f"progress must be True, False or None, not {progress!r}")
        self.settings = Settings(**options)
        source = read_inputs(model, x, edge_index, task, inputs, target_type)
        self.predictor, self.graph, self.names = source.predictor, source.graph, source.names
        self.population = Population(source.x, source.kinds)
        self._task = TASKS[task]
        self.show_progress = progress
        self.num_layers = source.num_layers if num_layers is None else num_layers
        self.hops = self.num_layers if hops is None else hops
        self._sampling = sampling_plan(self.settings, self.population)
        self._selection = selection_plan(self.settings)
        self._effects = effect_plan(self.settings)
        self._choice = choice_plan(self.settings)
        self._learning = learning_plan(self.settings)
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
        if self.settings.task == "graph":
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

    def within(self, max_memory: int) -> PGMExplainer:
        """Return the same explainer with another bound, in bytes, on samples in flight."""
        bounded = copy.copy(self)
        bounded._sampling = replace(self._sampling, max_memory=max_memory)
        return bounded

    def candidates(self, target: Any = None) -> IntArray:
        """Return the numbers of the nodes that may explain a target, ascending."""
        return self._neighbourhood(self._checked(target)).candidates

    def predict(self, target: Any = None) -> tuple[float, ...]:
        """Return the probabilities, or values, that the model gives a target as it is."""
        checked = self._checked(target)
        query = self._graph_model.query([checked], self._task.ends(checked))
        return tuple(query.model.before[0].tolist())

    def explain_features(self, explanation: Explanation) -> FeatureEffects:
        """Say which features of the explaining nodes, and of the target itself, matter.

        The features of those nodes are perturbed one by one, in as many new samples, and each is
        tested against the change of the prediction.
        """
        check_explanation(explanation, self.graph, self.settings.task)
        target = self._task.check(self._number_of(explanation), self.graph)
        selected = explanation.ranking.selected_nodes
        nodes = np.union1d(selected, explanation.ends)
        query = self._graph_model.query([target], explanation.ranking.nodes)
        plan = replace(self._sampling, num_samples=int(explanation.settings["num_samples"]))
        table = draw_attribute_samples(query, self.population, nodes, plan)
        return feature_effects(
            table,
            nodes,
            self._sampling.columns,
            self._selection,
            names=[explanation.ranking.called(node) for node in nodes.tolist()],
            widths=None if self.names is None else self.names.widths_of(nodes),
        )

    def samples(self, targets: Iterable[Any]) -> Samples:
        """Return the samples that explanations of these targets (``[None]``: the graph) rest on."""
        asked = listed(targets, self.graph.num_nodes)
        if not asked:
            raise InputError("there are no targets to sample around")
        if self.settings.num_samples == AUTO:
            raise InputError("num_samples='auto' draws samples for each target: give it a number")
        return self._draw(self._neighbourhoods([self._checked(each) for each in asked]))[1]

    def _explain_all(self, asked: Sequence[Any]) -> list[Explanation]:
        targets = [self._checked(target) for target in asked]
        waiting, done = list(dict.fromkeys(targets)), {}
        for stage, last in self._stages():
            done.update(stage._explain_together(waiting, all_of_them=last))
            waiting = [target for target in waiting if target not in done]
        return [done[target] for target in targets]

    def _stages(self) -> Iterator[tuple[PGMExplainer, bool]]:
        """This explainer; or, if it finds out how many samples it needs, one for each try."""
        if self.settings.num_samples != AUTO:
            yield self, True
            return
        for count in STAGES:
            stage = copy.copy(self)
            stage._sampling = replace(self._sampling, num_samples=count)
            yield stage, count == STAGES[-1]

    def _explain_together(
        self, targets: Sequence[VariableId], all_of_them: bool
    ) -> dict[VariableId, Explanation]:
        """Explain targets from one set of samples: all, or those that it is large enough for."""
        if not targets:
            return {}
        near = self._neighbourhoods(targets)
        query, samples = self._draw(near)  # step 1
        related, plain = tee(near)
        dependents = select_variables(samples.table, related, self._selection)  # step 2
        findings = self._find_all(plain, samples, dependents)
        settled = (each for each in findings if all_of_them or each.is_settled)
        done, shelf = {}, Shelf(self._sampling.max_memory // 4, "rankings")
        with Progress("learning networks", len(near.targets), self.show_progress) as progress:
            for block in in_blocks(settled, self._sampling.max_memory):
                networks = self._learn(samples, block)  # step 3
                for each, network in zip(block, networks, strict=True):
                    explanation = self._conclude(each, query, samples, network)
                    done[each.near.target] = kept(explanation, shelf)
                    progress.advance()
        return done

    def _neighbourhood(self, target: VariableId) -> Neighbourhood:
        return Neighbourhood(target, self._task.candidates(target, self.graph, self.hops))

    def _neighbourhoods(self, targets: Sequence[VariableId]) -> Neighbourhoods:
        return Neighbourhoods(
            list(dict.fromkeys(targets)),
            self._neighbourhood,
            self.graph.num_nodes,
            self._sampling.max_memory,
        )

    def _draw(self, near: Neighbourhoods) -> tuple[Query, Samples]:
        """Sample around some targets."""
        self._check_perturbation()
        query = self._graph_model.query(near.targets, near.union)
        self.settings.check_classes(query.model.before.shape[1])
        return query, draw_samples(query, self.population, self._sampling, self.show_progress)

    @property
    def predicted(self) -> range:
        """The numbers of the nodes that are predicted: all, unless nodes have kinds."""
        return range(self.graph.num_nodes) if self.names is None else self.names.predicted

    @cached_property
    def _graph_model(self) -> GraphModel:
        return GraphModel(
            self.predictor,
            self.graph,
            self.population.x,
            self._task,
            self.predicted,
            self.num_layers,
            partial(probe_features, self.population, self._sampling),
            self.settings.scores,
            self.settings.output,
            self.settings.explained_class,
        )

    def _check_perturbation(self) -> None:
        """Refuse a perturbation that changes nothing anywhere; once, for it may take a while."""
        if not self._perturbation_checked:
            plan = self._sampling
            check_changes(plan.perturbation, self.population, plan.columns, plan.seed)
            self._perturbation_checked = True

    def _find_all(
        self,
        near: Iterable[Neighbourhood],
        samples: Samples,
        dependents: Iterable[Dependents],
    ) -> Iterator[Finding]:
        """Bring together what changes each target's prediction and what depends on it."""
        for block in together(zip(near, dependents, strict=True)):
            problems = [
                EffectProblem(
                    np.union1d(each.candidates, self._task.ends(each.target)),
                    samples.outcome(each.target),
                )
                for each, _ in block
            ]
            effects = estimate_effects(samples.table, problems, self._effects)
            for (each, its), problem, found in zip(block, problems, effects, strict=True):
                yield self._find(each, samples, its, found, problem.outcome)

    def _find(
        self,
        near: Neighbourhood,
        samples: Samples,
        dependents: Dependents,
        effects: Effects,
        outcome: Outcome,
    ) -> Finding:
        column = samples.table.column(near.target)
        levels = samples.table.codes([column])[:, 0] % samples.table.variables[column].levels
        ranking, chosen = dependents.ranking, np.empty(0, dtype=np.int64)
        if levels.any():
            chosen = choose_nodes(effects, dependents, self._choice)
        else:  # then there is no change that anything could depend on
            ranking = ranking.with_none_significant()
        settled = told_apart(effects, samples.values.are_probabilities)
        selected = ranking.with_selected(chosen)
        return Finding(near, selected, effects, chosen, levels, outcome, settled)

    def _learn(
        self, samples: Samples, findings: Sequence[Finding]
    ) -> Iterator[BayesianNetwork | None]:
        """Learn a network for each target whose prediction ever changed, if networks are wanted."""
        plan = self._learning
        problems = [
            Problem(
                each.near.target, each.chosen.tolist(), frozenset(causes(each.effects).tolist())
            )
            for each in findings
            if plan is not None and each.changed
        ]
        networks = iter(()) if plan is None else learn_networks(samples.table, problems, plan)
        for each in findings:
            yield next(networks) if plan is not None and each.changed else None

    def _conclude(
        self,
        finding: Finding,
        query: Query,
        samples: Samples,
        network: BayesianNetwork | None,
    ) -> Explanation:
        near = finding.near
        before, explained = samples.prediction(near.target)
        regression = self.settings.scores == "values"
        ends = self._task.ends(near.target)
        around = np.union1d(near.candidates, ends)
        explanation = Explanation(
            target=near.target,
            explained_class=None if regression else explained,
            probability=None if regression else float(before[explained]),
            values=tuple(before.tolist()),
            held=float((finding.levels == 0).mean()),
            ranking=finding.ranking,
            effects=finding.effects,
            network=network,
            settings={**self.plain_settings, "num_samples": self._sampling.num_samples},
            warnings=(
                *self._graph_model.beyond_warning(query, [near.target, *near.candidates.tolist()]),
                *weaknesses(finding, samples, network, self._sampling),
            ),
            graph=self.graph,
            ends=ends,
            node_classes=np.full_like(around, -1)
            if regression
            else samples.predicted_classes(around),
        )
        return explanation if self.names is None else explanation.named(self.names)

    def _number_of(self, explanation: Explanation) -> Any:
        """The target of an explanation by number, whatever it is called."""
        ends = explanation.ends.tolist()
        return tuple(ends) if self.settings.task == "edge" else ends[0] if ends else None

    def _checked(self, target: Any) -> VariableId:
        """A target as a variable's name; nodes by number, where they are called by kind too."""
        number = target if self.names is None else self.names.number(target)
        return self._task.check(number, self.graph)

    @property
    def max_memory(self) -> int:
        """The bound on samples in flight, in bytes."""
        return self._sampling.max_memory

    @cached_property
    def plain_settings(self) -> dict[str, Any]:
        """The settings, with what ``auto`` stood for."""
        change = self._sampling.change
        return {
            **self.settings.as_plain(),
            "num_layers": self.num_layers,
            "hops": None if self.settings.task == "graph" else self.hops,
            "perturbation": self._sampling.perturbation.name,
            "change": change.name if isinstance(change, CustomChange) else describe_change(change),
        }


_OPTIONS = frozenset(Settings.__dataclass_fields__)
