"""The three steps of the paper, in order, for targets that share one set of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import IntArray
from .batching import Neighbourhoods, memory_blocks, offload
from .diagnosis import diagnose
from .errors import InputError
from .execution import ExecutionConfig
from .explanation import Explanation, MinimalSet, shifted
from .graph import Graph
from .learning import Problem, learn_networks
from .memory import in_blocks
from .minimal_sets import SearchOptions, find_minimal_set, search_order
from .network import BayesianNetwork
from .progress import Progress
from .querying import GraphModel, GraphSetTask, Query, TypedNodes
from .sampling import (
    Parts,
    Population,
    Samples,
    VariableId,
    draw_attribute_samples,
    draw_samples,
)
from .scratch import ArrayStore
from .selection import (
    FeatureEffects,
    Neighbourhood,
    SelectionResult,
    feature_effects,
    select_nodes,
)
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
        names: the names of the nodes, if they have names other than their indices.
        settings: the options that an explanation depends on.
        execution: memory, batch and progress options, which do not change an explanation.
    """

    model: GraphModel
    parts: Parts
    population: Population
    names: TypedNodes | None
    settings: Settings
    execution: ExecutionConfig

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
        samples = draw_samples(
            query, self.population, self.settings.sampling, self.execution, self.parts, recorded
        )
        return query, samples

    def features_of(self, target: VariableId, explanation: Explanation) -> FeatureEffects:
        """Test each feature of the nodes of an explanation, from new samples."""
        settings = self.settings
        nodes = np.union1d(explanation.ranking.selected_nodes, explanation.ends)
        query = self.model.query([target], explanation.ranking.nodes)
        table = draw_attribute_samples(
            query, self.population, nodes, settings.sampling, self.execution
        )
        found = feature_effects(
            table,
            nodes,
            settings.sampling.columns(self.population),
            settings.selection.test,
            settings.significance,
            widths=None if self.names is None else self.names.widths_of(nodes),
        )
        return replace(found, names=explanation.names)

    def minimal_set(
        self, target: VariableId, explanation: Explanation, options: SearchOptions
    ) -> MinimalSet:
        """Search for a minimal set of the parts of an explanation."""
        neighbourhood, settings = self.neighbourhood(target), self.settings
        numbers = self._numbers(target, neighbourhood.around, explanation)
        first = np.array([numbers[part] for part in search_order(explanation).tolist()], np.int64)
        order = np.concatenate((first, np.setdiff1d(neighbourhood.around, first)))
        found, result = find_minimal_set(
            self.model.query([target], neighbourhood.ends),
            self.parts,
            self.population,
            self.execution,
            options,
            order,
            settings.sampling.change,
            settings.model.is_regression,
        )
        theirs = {number: part for part, number in numbers.items()}
        named = explanation.names.of(theirs[number] for number in found.tolist())
        return replace(result, parts=tuple(named))

    def _numbers(
        self, target: VariableId, candidates: IntArray, explanation: Explanation
    ) -> dict[int, int]:
        """Return the numbers that the parts of an explanation have here.

        Raises:
            InputError: the explanation is of another target, graph or kind of parts.
        """
        task, num_nodes = self.model.task, self.model.graph.num_nodes
        first, stop = task.nodes(target) if isinstance(task, GraphSetTask) else (0, num_nodes)
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
    ) -> Iterator[BayesianNetwork | None]:
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

    def _explanation(
        self,
        result: SelectionResult,
        query: Query,
        samples: Samples,
        network: BayesianNetwork | None,
    ) -> Explanation:
        neighbourhood, regression = result.neighbourhood, self.settings.model.is_regression
        target = neighbourhood.target
        before, explained = samples.prediction(target)
        explanation = Explanation(
            target=target,
            explained_class=None if regression else explained,
            probability=None if regression else float(before[explained]),
            values=tuple(before.tolist()),
            held=float((result.levels == 0).mean()),
            ranking=result.ranking,
            effects=result.effects,
            network=network,
            settings=self._recorded,
            warnings=(
                *diagnose(result, query, samples, network, self.settings),
                *self.parts.notes(neighbourhood.candidates),
            ),
            graph=self.model.graph,
            ends=neighbourhood.ends,
            **self._about_parts(neighbourhood),
        )
        around = explanation.around
        classes = np.full_like(around, -1) if regression else samples.predicted_classes(around)
        explanation = replace(explanation, node_classes=classes)
        if isinstance(self.model.task, GraphSetTask):
            explanation = explanation.within(*self.model.task.nodes(target))
        if self.names is None and not explanation.part_labels:
            return explanation
        return explanation.named({} if self.names is None else self.names)

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
        """Where the arrays of all explanations are."""
        return ArrayStore(self.execution.memory // 4, "rankings")

    @cached_property
    def _recorded(self) -> Settings:
        return self.settings.recorded()
