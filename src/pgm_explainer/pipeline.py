"""The three steps of the paper, in order, for targets that share one set of samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import tee

import numpy as np

from .batching import Neighbourhoods, effect_blocks, memory_blocks, offload
from .diagnosis import diagnose
from .effects import EffectProblem, Effects, are_precise, estimate_effects
from .execution import ExecutionConfig
from .explanation import Explanation
from .learning import Problem, learn_networks
from .network import BayesianNetwork
from .progress import Progress
from .querying import GraphModel, NodeNames, Query
from .sampling import (
    Outcome,
    Population,
    Samples,
    VariableId,
    draw_attribute_samples,
    draw_samples,
)
from .scratch import ArrayStore
from .selection import (
    Dependents,
    FeatureEffects,
    Neighbourhood,
    causes,
    choose_nodes,
    feature_effects,
    select_variables,
)
from .selection_result import SelectionResult
from .settings import Settings

__all__ = ["Pipeline"]


@dataclass(frozen=True)
class Pipeline:
    """The algorithm for a model, its graph and the settings of the explainer.

    Attributes:
        model: the model and its graph.
        population: the features of all nodes.
        names: the names of the nodes, if they have names other than their indices.
        settings: the options that an explanation depends on.
        execution: memory, batch and progress options, which do not change an explanation.
    """

    model: GraphModel
    population: Population
    names: NodeNames | None
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
        for_selection, for_effects = tee(neighbourhoods)
        selection, significance = self.settings.selection, self.settings.significance
        dependents = select_variables(  # step 2
            samples.table, for_selection, selection, significance, self.execution.cells
        )
        results = self._select_all(for_effects, samples, dependents)
        precise = (each for each in results if all_of_them or each.is_precise)
        memory = self.execution.memory
        done, store = {}, ArrayStore(memory // 4, "rankings")
        total = len(neighbourhoods.targets)
        with Progress("learning networks", total, self.execution.progress) as progress:
            for block in memory_blocks(precise, samples.table.num_samples, memory):
                networks = self._learn(samples, block)  # step 3
                for each, network in zip(block, networks, strict=True):
                    explanation = self._explanation(each, query, samples, network)
                    done[each.neighbourhood.target] = offload(explanation, store)
                    progress.advance()
        return done

    def neighbourhood(self, target: VariableId) -> Neighbourhood:
        """Return a target with its candidates."""
        model, reach = self.model, self.settings.model.reach
        return Neighbourhood(target, model.task.candidates(target, model.graph, reach))

    def neighbourhoods(self, targets: Sequence[VariableId]) -> Neighbourhoods:
        """Return the neighbourhoods of some targets, without duplicates."""
        return Neighbourhoods(
            list(dict.fromkeys(targets)),
            self.neighbourhood,
            self.model.graph.num_nodes,
            self.execution.memory,
        )

    def draw(self, neighbourhoods: Neighbourhoods) -> tuple[Query, Samples]:
        """Draw samples for some targets."""
        query = self.model.query(neighbourhoods.targets, neighbourhoods.union)
        self.settings.model.check_classes(query.model.before.shape[1])
        sampling = self.settings.sampling
        return query, draw_samples(query, self.population, sampling, self.execution)

    def features_of(self, target: VariableId, explanation: Explanation) -> FeatureEffects:
        """Test each feature of the nodes of an explanation, from new samples."""
        settings = self.settings
        nodes = np.union1d(explanation.ranking.selected_nodes, explanation.ends)
        query = self.model.query([target], explanation.ranking.nodes)
        table = draw_attribute_samples(
            query, self.population, nodes, settings.sampling, self.execution
        )
        return feature_effects(
            table,
            nodes,
            settings.sampling.columns(self.population.x.shape[1]),
            settings.selection.test,
            settings.significance,
            names=[explanation.ranking.called(node) for node in nodes.tolist()],
            widths=None if self.names is None else self.names.widths_of(nodes),
        )

    def _select_all(
        self,
        neighbourhoods: Iterable[Neighbourhood],
        samples: Samples,
        dependents: Iterable[Dependents],
    ) -> Iterator[SelectionResult]:
        """Estimate effects and choose the nodes of each target's network."""
        probability = self.settings.sampling.perturb_probability
        selected = zip(neighbourhoods, dependents, strict=True)
        for block in effect_blocks(selected, samples.table.num_samples):
            problems = [
                EffectProblem(
                    np.union1d(each.candidates, self.model.task.ends(each.target)),
                    samples.outcome(each.target),
                )
                for each, _ in block
            ]
            effects = estimate_effects(
                samples.table, problems, probability, self.settings.significance
            )
            for (each, its), problem, found in zip(block, problems, effects, strict=True):
                yield self._select(each, samples, its, found, problem.outcome)

    def _select(
        self,
        neighbourhood: Neighbourhood,
        samples: Samples,
        dependents: Dependents,
        effects: Effects,
        outcome: Outcome,
    ) -> SelectionResult:
        column = samples.table.column(neighbourhood.target)
        levels = samples.table.codes([column])[:, 0] % samples.table.variables[column].levels
        ranking, chosen = dependents.ranking, np.empty(0, dtype=np.int64)
        if levels.any():
            chosen = choose_nodes(effects, dependents, self.settings.selection)
        else:  # the prediction never changed, so nothing can depend on it
            ranking = ranking.with_none_significant()
        precise = are_precise(effects, samples.values.are_probabilities)
        selected = ranking.with_selected(chosen)
        return SelectionResult(neighbourhood, selected, effects, chosen, levels, outcome, precise)

    def _learn(
        self, samples: Samples, results: Sequence[SelectionResult]
    ) -> Iterator[BayesianNetwork | None]:
        """Learn a network for each target whose prediction changed; None for the others."""
        settings = self.settings
        if settings.network is None:
            yield from [None] * len(results)
            return
        problems = [
            Problem(
                each.neighbourhood.target,
                each.chosen.tolist(),
                frozenset(causes(each.effects).tolist()),
            )
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
        model, target = self.model, result.neighbourhood.target
        candidates = result.neighbourhood.candidates
        before, explained = samples.prediction(target)
        regression = self.settings.model.is_regression
        ends = model.task.ends(target)
        around = np.union1d(candidates, ends)
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
                *model.receptive_field_warning(query, [target, *candidates.tolist()]),
                *diagnose(result, samples, network, self.settings.sampling),
            ),
            graph=model.graph,
            ends=ends,
            node_classes=np.full_like(around, -1)
            if regression
            else samples.predicted_classes(around),
        )
        return explanation if self.names is None else explanation.named(self.names)

    @cached_property
    def _recorded(self) -> Settings:
        return self.settings.recorded()
