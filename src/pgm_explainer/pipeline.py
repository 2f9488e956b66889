"""The three steps of the paper, in order, for targets that share one set of samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import IntArray
from .batching import Neighbourhoods, SampleCache, memory_blocks, offload, offload_table
from .diagnosis import diagnose
from .errors import InputError
from .execution import ExecutionConfig, in_blocks
from .explanation import (
    FEATURE_COLUMNS,
    EdgeConfidence,
    Explanation,
    FeatureEffects,
    MinimalSet,
    of_node,
    of_one_graph,
    renamed,
    shifted,
)
from .feature_effects import explain_features
from .graph import Graph
from .learning import Problem, learn_networks, resampled_edges
from .minimal_sets import SearchOptions, find_minimal_set, search_order
from .network import GraphicalModel
from .progress import Progress
from .querying import GraphModel, GraphSetTask, LoneNodeTask, Query
from .sampling import Parts, Population, Samples, VariableId
from .sampling.generate import draw_samples, still_valid
from .scratch import ArrayStore
from .selection import Neighbourhood, causes
from .selection.select import SelectionResult, select_nodes
from .settings import Settings

__all__ = ["Pipeline"]

_GRAPHS_AT_ONCE = 128
_GROUP_SHARE = 32
"""The features of a group of graphs in all samples take at most this share of the memory."""


@dataclass(frozen=True)
class Pipeline:
    """The algorithm for a model, its graph and the settings of the explainer.

    Attributes:
        model: the model and its graph.
        parts: what is perturbed.
        population: the features of all nodes.
        settings: the options that an explanation depends on.
        recorded: the same options as an explanation stores them.
        execution: memory, batch and progress options, which do not change an explanation.
        cache: the samples drawn last.
    """

    model: GraphModel
    parts: Parts
    population: Population
    settings: Settings
    recorded: Settings
    execution: ExecutionConfig
    cache: SampleCache = field(default_factory=SampleCache)

    def explain(
        self, targets: Sequence[VariableId], all_of_them: bool
    ) -> dict[VariableId, Explanation]:
        """Explain targets from one set of samples.

        Args:
            targets: the targets.
            all_of_them: if False, leave out the targets for which there are too few samples.
        """
        if not targets:
            return {}
        neighbourhoods = self.neighbourhoods(targets)
        query, samples = self.draw(neighbourhoods)  # step 1
        results = select_nodes(  # step 2
            samples,
            neighbourhoods,
            self.settings.selection,
            self.settings.significance,
            self.settings.sampling.perturb_probability,
            self.execution.cells,
        )
        precise = (each for each in results if all_of_them or each.is_precise)
        memory, done = self.execution.memory, {}
        total = len(neighbourhoods.targets)
        with Progress("learning networks", total, self.execution.progress) as progress:
            for block in memory_blocks(precise, samples.table.num_samples, memory):
                networks = self._learn(samples, block)  # step 3
                for each, network in zip(block, networks, strict=True):
                    explanation = self._explanation(each, query, samples, network)
                    done[each.neighbourhood.target] = offload(explanation, self._store)
                    progress.advance()
        return done

    def explain_in_groups(
        self, targets: Sequence[VariableId], all_of_them: bool
    ) -> dict[VariableId, Explanation]:
        """Explain targets as :meth:`explain` does, from one set of samples for each group."""
        groups = self._groups(targets)
        if len(groups) == 1:
            return self.explain(groups[0], all_of_them)
        quiet = replace(self, execution=replace(self.execution, progress=False))
        done = {}
        with Progress("explaining graphs", len(targets), self.execution.progress) as progress:
            for group in groups:
                done.update(quiet.explain(group, all_of_them))
                progress.advance(len(group))
        return done

    def _groups(self, targets: Sequence[VariableId]) -> Sequence[Sequence[VariableId]]:
        """Return groups of targets, each of which is explained from one set of samples.

        Graphs of similar size are in one group, because they have similarly many distinct samples.
        """
        task = self.model.task
        if not targets or not isinstance(task, GraphSetTask):
            return [targets]
        if self.model.one_graph_at_a_time:
            return [[target] for target in targets]
        sizes = {target: task.nodes(target)[1] - task.nodes(target)[0] for target in targets}
        x = self.population.x
        floats = self.settings.sampling.num_samples * x.shape[1] * x.itemsize
        sized = ((each, sizes[each] * floats) for each in sorted(targets, key=sizes.__getitem__))
        return [*in_blocks(sized, _GRAPHS_AT_ONCE, self.execution.memory // _GROUP_SHARE)]

    def neighbourhood(self, target: VariableId) -> Neighbourhood:
        """Return a target with its candidates."""
        task, graph = self.model.task, self.model.graph
        ends = task.ends(target)
        nodes = task.candidates(target, graph, self.settings.model.reach)
        parts = self.parts
        return Neighbourhood(target, parts.candidates(nodes, ends), ends, parts.own(ends))

    def receptive_field(self, target: VariableId) -> IntArray:
        """Return the nodes that the recorded predictions of a target depend on, ascending."""
        task, graph, neighbourhood = self.model.task, self.model.graph, self.neighbourhood(target)
        recorded = np.union1d(self.parts.nodes_in(neighbourhood.candidates), neighbourhood.ends)
        centre = task.centre([target], recorded.astype(np.int64))
        if centre is None:
            return np.arange(graph.num_nodes)
        return graph.within_hops(centre, self.model.num_layers)

    def neighbourhoods(self, targets: Sequence[VariableId]) -> Neighbourhoods:
        """Return the neighbourhoods of some targets, without duplicates."""
        return Neighbourhoods(
            list(dict.fromkeys(targets)),
            self.neighbourhood,
            self.parts.stop,
            self.execution.memory,
        )

    def draw(self, neighbourhoods: Neighbourhoods) -> tuple[Query, Samples]:
        """Draw samples for some targets."""
        nodes = self.parts.nodes_in(neighbourhoods.union)
        query = self.model.query(neighbourhoods.targets, nodes)
        self.settings.model.check_classes(query.model.before.shape[1])
        recorded = np.union1d(neighbourhoods.union, self.parts.own(query.recorded))
        config = self.settings.sampling
        key = (config.num_samples, tuple(neighbourhoods.targets))
        how = (query, self.population, config, self.execution, self.parts)
        samples = self.cache.find(key, query)
        if samples is None or not still_valid(samples, *how):
            samples = self.cache.keep(key, query, draw_samples(*how, recorded))
        return query, samples

    def features_of(
        self, explanations: Mapping[VariableId, Explanation]
    ) -> Iterator[tuple[VariableId, FeatureEffects]]:
        """Yield the effects of the features of each target and of the nodes of its network.

        Args:
            explanations: the explanation of each target; its parts need not be nodes.
        """
        store = ArrayStore(self.execution.memory // 4, "features")
        chosen = {}
        for target, explanation in explanations.items():
            first, stop = self._range(target)
            selected = explanation.ranking.selected_nodes
            nodes = selected[selected < stop - first]  # the other parts are numbered after nodes
            chosen[target] = first + np.union1d(nodes, explanation.ends).astype(np.int64)
        how = (self.population, self.settings, self.execution)
        for target, found in explain_features(self.model, *how, chosen):
            explanation, (first, _) = explanations[target], self._range(target)
            named = replace(
                found,
                nodes=found.nodes - first,
                names=explanation.names,
                feature_names=self.population.feature_names,
            )
            yield target, offload_table(named, FEATURE_COLUMNS, store)

    def minimal_set(
        self, target: VariableId, explanation: Explanation, options: SearchOptions
    ) -> MinimalSet:
        """Search for a minimal set of the parts of an explanation."""
        neighbourhood, settings = self.neighbourhood(target), self.settings
        numbers = self.numbers(target, explanation)
        first = np.array([numbers[part] for part in search_order(explanation).tolist()], np.int64)
        order = np.concatenate((first, np.setdiff1d(neighbourhood.around, first)))
        centre = self.model.task.centre([target], neighbourhood.ends)
        outermost = np.empty(0, dtype=np.int64)
        if centre is not None and self.model.num_layers > 0:
            inner = self.model.graph.within_hops(centre, self.model.num_layers - 1)
            outermost = self.parts.outermost(np.sort(order), inner)
        found, result = find_minimal_set(
            self.model.query([target], neighbourhood.ends),
            self.parts,
            self.population,
            self.execution,
            options,
            order,
            outermost,
            settings.sampling.change,
            settings.model.is_regression,
        )
        theirs = {number: part for part, number in numbers.items()}
        named = explanation.names.of(theirs[number] for number in found.tolist())
        return replace(result, parts=tuple(named))

    def edge_confidence(
        self, target: VariableId, explanation: Explanation, resamples: int, seed: int
    ) -> EdgeConfidence:
        """Learn the network of an explanation again from resampled samples."""
        network, settings = explanation.network, self.settings
        if network is None or settings.network is None:
            raise InputError("the explanation has no network, so its edges have no confidence")
        numbers = self.numbers(target, explanation)
        nodes = [numbers[explanation.names.index(each)] for each in network.nodes[:-1]]
        strong = frozenset(numbers[each] for each in causes(explanation.effects).tolist())
        _, samples = self.draw(self.neighbourhoods([target]))
        how = (settings.network, settings.selection, settings.significance, resamples, seed)
        matrix = resampled_edges(samples.table, Problem(target, nodes, strong), *how)
        family = settings.network.family
        leaf = family == "bayesian" and settings.selection.no_child is not False
        about = {"resamples": resamples, "seed": seed, "learnt": family != "markov", "leaf": leaf}
        return EdgeConfidence.of(matrix, **about)

    def _range(self, target: VariableId) -> tuple[int, int]:
        """Return the first node of a target's graph, and the first node of the next graph."""
        task = self.model.task
        return (
            task.nodes(target)
            if isinstance(task, GraphSetTask)
            else (0, self.model.graph.num_nodes)
        )

    def numbers(self, target: VariableId, explanation: Explanation) -> dict[int, int]:
        """Return the numbers that the parts of an explanation have here.

        Raises:
            InputError: the explanation is of another target, graph or kind of parts.
        """
        task, num_nodes = self.model.task, self.model.graph.num_nodes
        candidates, (first, stop) = self.neighbourhood(target).around, self._range(target)
        nodes, others = (candidates[candidates < num_nodes], candidates[candidates >= num_nodes])
        numbers = {node - first: node for node in nodes.tolist()}
        labels = zip(self.parts.labels(others), others.tolist(), strict=True) if len(others) else ()
        by_label = {shifted(label, first): part for label, part in labels}
        for part, label in explanation.part_labels.items():
            if label in by_label:
                numbers[part] = by_label[label]
        its = explanation.graph
        size = its.num_nodes if isinstance(its, Graph) else its and its.whole_nodes
        known = all(part in numbers for part in explanation.effects.nodes.tolist())
        if not known or size not in (None, stop - first) or explanation.task != task.name:
            raise InputError(
                "the explanation belongs to another graph, target or kind of parts; use the "
                "explainer that made it"
            )
        return numbers

    def _learn(
        self, samples: Samples, results: Sequence[SelectionResult]
    ) -> Iterator[GraphicalModel | None]:
        """Learn a network for each target whose prediction changed; None for the others."""
        settings = self.settings
        if settings.network is None:
            yield from [None] * len(results)
            return
        problems = [
            Problem(each.neighbourhood.target, each.chosen.tolist(), each.causes)
            for each in results
            if each.changed
        ]
        networks = learn_networks(
            samples.table, problems, settings.network, settings.selection, settings.significance
        )
        for each in results:
            yield next(networks) if each.changed else None

    def _node_classes(self, about: Neighbourhood, around: IntArray, samples: Samples) -> IntArray:
        """Return the predicted classes of the nodes around a target; -1 where unknown.

        Other targets of the same call may be among these nodes. Their predictions must not change
        an explanation, so they count as unknown unless they are candidates.
        """
        if self.settings.model.is_regression:
            return np.full_like(around, -1)
        classes = samples.predicted_classes(around)
        if (about.candidates >= self.model.graph.num_nodes).any():  # parts that are not nodes
            recorded = np.union1d(self.parts.nodes_in(about.candidates), about.ends)
            classes[~np.isin(around, recorded)] = -1
        return classes

    def _explanation(
        self,
        result: SelectionResult,
        query: Query,
        samples: Samples,
        network: GraphicalModel | None,
    ) -> Explanation:
        neighbourhood, regression = result.neighbourhood, self.settings.model.is_regression
        target = neighbourhood.target
        before, explained = samples.prediction(target)
        about = self._about_parts(neighbourhood)
        nodes = about.get("area", neighbourhood.candidates)
        around = np.union1d(nodes, neighbourhood.ends).astype(np.int64)
        explanation = Explanation(
            target=target,
            explained_class=None if regression else explained,
            probability=None if regression else float(before[explained]),
            values=tuple(before.tolist()),
            held=float((result.levels == 0).mean()),
            ranking=result.ranking,
            effects=result.effects,
            network=network,
            settings=self.recorded,
            warnings=(
                *diagnose(result, query, samples, network, self.settings),
                *self.parts.notes(neighbourhood.candidates),
            ),
            graph=self.model.graph,
            ends=neighbourhood.ends,
            feature_names=self.population.feature_names,
            class_stayed=result.outcome.class_stayed,
            sample_mean=float(result.outcome.values.mean()),
            thresholds=result.outcome.thresholds,
            node_classes=self._node_classes(neighbourhood, around, samples),
            **about,
        )
        task, names = self.model.task, self.population.names
        labels: Any = {} if names.labels is None else names.labels
        if isinstance(task, GraphSetTask):
            first, stop = task.nodes(target)
            position = target[1] if isinstance(target, tuple) else None
            explanation = of_one_graph(explanation, first, stop, position, task.title(target))
            labels = labels[first:stop] if names.labels is not None else {}
        if isinstance(task, LoneNodeTask):
            explanation = of_node(explanation)
        if names.labels is None and not explanation.part_labels:
            return explanation
        return renamed(explanation, labels, names.typed)

    def _about_parts(self, neighbourhood: Neighbourhood) -> dict[str, Any]:
        """Return the labels and members of parts that are not nodes, and the neighbourhood."""
        model, target, candidates = self.model, neighbourhood.target, neighbourhood.candidates
        others = candidates[candidates >= model.graph.num_nodes]
        if not len(others):
            return {}
        labels = dict(zip(others.tolist(), self.parts.labels(others), strict=True))
        area = model.task.candidates(target, model.graph, self.settings.model.reach)
        known = self.parts.members
        inside = set(np.union1d(area, model.task.ends(target)).tolist()) if known else set()
        members = {
            part: tuple(each for each in known[part] if inside.issuperset(np.ravel(each).tolist()))
            for part in labels
            if part in known
        }
        return {"part_labels": labels, "area": area, "part_members": members}

    @cached_property
    def _store(self) -> ArrayStore:
        """The store for the arrays of all explanations."""
        return ArrayStore(self.execution.memory // 4, "rankings")
