"""The paper's three steps, in order, for targets that share one set of samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import tee

import numpy as np

from .diagnosis import weaknesses
from .effects import EffectProblem, Effects, estimate_effects, told_apart
from .execution import ExecutionConfig
from .explanation import Explanation
from .finding import Finding
from .holding import Neighbourhoods, in_blocks, kept, together
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
from .scratch import Shelf
from .selection import (
    Dependents,
    FeatureEffects,
    Neighbourhood,
    causes,
    choose_nodes,
    feature_effects,
    select_variables,
)
from .settings import Settings

__all__ = ["Pipeline"]


@dataclass(frozen=True)
class Pipeline:
    """A model, its graph, and how its predictions are explained.

    Attributes:
        model: with its graph.
        population: the features of all nodes.
        names: of the nodes, where they are not called by their numbers.
        settings: what an explanation depends on.
        execution: what it does not depend on.
    """

    model: GraphModel
    population: Population
    names: NodeNames | None
    settings: Settings
    execution: ExecutionConfig

    def explain(
        self, targets: Sequence[VariableId], all_of_them: bool
    ) -> dict[VariableId, Explanation]:
        """Explain targets from one set of samples: all, or those that it is large enough for."""
        if not targets:
            return {}
        near = self.neighbourhoods(targets)
        query, samples = self.draw(near)  # step 1
        related, plain = tee(near)
        selection, significance = self.settings.selection, self.settings.significance
        dependents = select_variables(  # step 2
            samples.table, related, selection, significance, self.execution.cells
        )
        findings = self._find_all(plain, samples, dependents)
        settled = (each for each in findings if all_of_them or each.is_settled)
        memory = self.execution.memory
        done, shelf = {}, Shelf(memory // 4, "rankings")
        with Progress("learning networks", len(near.targets), self.execution.progress) as progress:
            for block in in_blocks(settled, memory):
                networks = self._learn(samples, block)  # step 3
                for each, network in zip(block, networks, strict=True):
                    explanation = self._conclude(each, query, samples, network)
                    done[each.near.target] = kept(explanation, shelf)
                    progress.advance()
        return done

    def neighbourhood(self, target: VariableId) -> Neighbourhood:
        """Return a target with the nodes that may explain it."""
        model, reach = self.model, self.settings.model.reach
        return Neighbourhood(target, model.task.candidates(target, model.graph, reach))

    def neighbourhoods(self, targets: Sequence[VariableId]) -> Neighbourhoods:
        """Return the neighbourhoods of some targets, each once."""
        return Neighbourhoods(
            list(dict.fromkeys(targets)),
            self.neighbourhood,
            self.model.graph.num_nodes,
            self.execution.memory,
        )

    def draw(self, near: Neighbourhoods) -> tuple[Query, Samples]:
        """Sample around some targets."""
        query = self.model.query(near.targets, near.union)
        self.settings.model.check_classes(query.model.before.shape[1])
        sampling = self.settings.sampling
        return query, draw_samples(query, self.population, sampling, self.execution)

    def features_of(self, target: VariableId, explanation: Explanation) -> FeatureEffects:
        """Test each feature of the nodes of an explanation, from as many new samples."""
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

    def _find_all(
        self,
        near: Iterable[Neighbourhood],
        samples: Samples,
        dependents: Iterable[Dependents],
    ) -> Iterator[Finding]:
        """Bring together what changes each target's prediction and what depends on it."""
        probability = self.settings.sampling.perturb_probability
        for block in together(zip(near, dependents, strict=True)):
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
            chosen = choose_nodes(effects, dependents, self.settings.selection)
        else:  # then there is no change that anything could depend on
            ranking = ranking.with_none_significant()
        settled = told_apart(effects, samples.values.are_probabilities)
        selected = ranking.with_selected(chosen)
        return Finding(near, selected, effects, chosen, levels, outcome, settled)

    def _learn(
        self, samples: Samples, findings: Sequence[Finding]
    ) -> Iterator[BayesianNetwork | None]:
        """Learn a network for each target whose prediction ever changed, if networks are wanted."""
        settings = self.settings
        if settings.network is None:
            yield from [None] * len(findings)
            return
        problems = [
            Problem(
                each.near.target, each.chosen.tolist(), frozenset(causes(each.effects).tolist())
            )
            for each in findings
            if each.changed
        ]
        networks = learn_networks(
            samples.table, problems, settings.network, settings.selection, settings.significance
        )
        for each in findings:
            yield next(networks) if each.changed else None

    def _conclude(
        self,
        finding: Finding,
        query: Query,
        samples: Samples,
        network: BayesianNetwork | None,
    ) -> Explanation:
        near, model = finding.near, self.model
        before, explained = samples.prediction(near.target)
        regression = self.settings.model.is_regression
        ends = model.task.ends(near.target)
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
            settings=self._recorded,
            warnings=(
                *model.beyond_warning(query, [near.target, *near.candidates.tolist()]),
                *weaknesses(finding, samples, network, self.settings.sampling),
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
