"""Step 3 of the paper: from selected variables to Bayesian networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .network import BayesianNetwork, NetworkConfig, NoisyOr
from .sampling import SampleTable, Variable, VariableId
from .selection import SelectionConfig, shrink_many
from .significance import SignificanceConfig
from .structure import DAG, add_leaf

__all__ = ["Problem", "learn_networks"]

_AT_ONCE = 128
_CODES_AT_ONCE = 1 << 24

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Problem:
    """A target, and the nodes (most important first) to explain it by.

    Attributes:
        causes: those of them whose perturbing changes the prediction. They enter a noisy-or by
            their perturbation; the others, which only move along, by their own prediction.
    """

    target: VariableId
    nodes: list[int]
    causes: frozenset[int] = frozenset()


def learn_networks(
    table: SampleTable,
    problems: Sequence[Problem],
    config: NetworkConfig,
    selection: SelectionConfig,
    significance: SignificanceConfig,
) -> Iterator[BayesianNetwork]:
    """Learn the network of each target, in the given order.

    The target is the last variable, so that where the data leave an arrow's direction open it
    points to the target rather than away from it.
    """
    step = _Learning(table, config, selection, significance)
    widest = max((len(problem.nodes) + 1 for problem in problems), default=1)
    at_once = min(_AT_ONCE, max(1, _CODES_AT_ONCE // (table.num_samples * widest)))
    for start in range(0, len(problems), at_once):
        yield from step.learn(problems[start : start + at_once])


@dataclass(frozen=True)
class _Learning:
    """What is the same for all targets."""

    table: SampleTable
    config: NetworkConfig
    selection: SelectionConfig
    significance: SignificanceConfig

    def learn(self, problems: Sequence[Problem]) -> Iterator[BayesianNetwork]:
        """Learn some networks; those whose parents are tested, all at once."""
        table = self.table
        columns = [
            [table.column(each) for each in (*problem.nodes, problem.target)]
            for problem in problems
        ]
        codes = [table.codes(each) for each in columns]
        noisy = [self._takes_noisy_or(table.variables[each[-1]]) for each in columns]
        tested = iter(self._tested_parents([c for c, n in zip(codes, noisy, strict=True) if not n]))
        for problem, its_columns, its_codes, is_noisy in zip(
            problems, columns, codes, noisy, strict=True
        ):
            variables = [table.variables[column] for column in its_columns]
            if is_noisy:
                yield self._with_noisy_or(problem, variables, its_codes)
            else:
                yield self._with_full_tables(variables, its_codes, next(tested))

    def _takes_noisy_or(self, target: Variable) -> bool:
        wanted = self.config.target_table != "full"
        return wanted and self.selection.no_child and target.levels == 2

    def _with_noisy_or(
        self, problem: Problem, variables: list[Variable], codes: Codes
    ) -> BayesianNetwork:
        *others, target = variables
        leaf, parents = self._fit_noisy_or(problem, others, target, codes)
        dag = add_leaf(self._search(codes[:, :-1], others), parents)
        known = {len(others): leaf}
        smoothing, score = self.config.smoothing, self.config.score
        return BayesianNetwork.fit(variables, dag, codes, smoothing, score, known)

    def _fit_noisy_or(
        self, problem: Problem, others: list[Variable], target: Variable, codes: Codes
    ) -> tuple[NoisyOr, list[int]]:
        """Fit the target's distribution and find its parents.

        They are the causes, the most important first, and then nodes that only change along with
        the target where the score gains; at most ``max_parents`` in all.
        """
        score, most = self.config.score, self.config.max_parents
        changed = codes[:, -1] % 2 > 0
        active = [
            _active_states(variable, codes[:, at], changed, node in problem.causes)
            for at, (variable, node) in enumerate(zip(others, problem.nodes, strict=True))
        ]

        def fit(parents: list[int]) -> NoisyOr:
            return NoisyOr.fit(
                target,
                [others[at] for at in parents],
                codes[:, [*parents, -1]],
                [active[at] for at in parents],
                self.config.smoothing,
            )

        causes = [at for at, node in enumerate(problem.nodes) if node in problem.causes]
        parents = causes[:most]
        best = fit(parents)
        for at in range(len(others)):
            if at not in causes and (most is None or len(parents) < most):
                larger = sorted([*parents, at])
                trial = fit(larger)
                if trial.score(score) > best.score(score):
                    best, parents = trial, larger
        counting = [at for at, chance in zip(parents, best.chances, strict=True) if chance.any()]
        return (best, parents) if counting == parents else (fit(counting), counting)

    def _with_full_tables(
        self, variables: list[Variable], codes: Codes, parents: list[int] | None
    ) -> BayesianNetwork:
        if parents is None:
            dag = self._search(codes, variables)
        else:
            dag = add_leaf(self._search(codes[:, :-1], variables[:-1]), parents)
        return BayesianNetwork.fit(variables, dag, codes, self.config.smoothing, self.config.score)

    def _tested_parents(self, codes: Sequence[Codes]) -> Sequence[list[int] | None]:
        """The parents of each target, which come from tests; None where the search finds them."""
        if not self.selection.no_child:
            return [None] * len(codes)
        problems = [(each[:, :-1], each[:, -1]) for each in codes]
        return shrink_many(
            problems,
            int(self.table.cardinalities.max()),
            self.significance.significance,
            self.selection.test,
            self.config.max_parents,
        )

    def _search(self, codes: Codes, variables: Sequence[Variable]) -> DAG:
        cardinalities = np.array([each.cardinality for each in variables], dtype=np.int64)
        if len(cardinalities) < 2:
            return DAG(len(cardinalities))
        config = self.config
        dag = config.structure(codes, cardinalities, config.score, config.max_parents)
        if not isinstance(dag, DAG) or dag.num_variables != len(cardinalities):
            raise InputError(
                f"the structure search must answer with a DAG of {len(cardinalities)} variables, "
                f"not {dag!r}"
            )
        return dag


def _active_states(
    variable: Variable, codes: Codes, changed: NDArray[np.bool_], is_cause: bool
) -> NDArray[np.bool_]:
    """The states that may change the prediction: those in which it changes more often.

    They are the perturbed ones of a cause, and those with a changed prediction of what only moves
    along; or the others, where these make the prediction steadier.
    """
    perturbed, level = np.divmod(np.arange(variable.cardinality), variable.levels)
    states = perturbed > 0 if is_cause or variable.levels == 1 else level > 0
    there = states[codes]
    if not there.any() or there.all():
        return np.asarray(states)
    steadier = changed[there].mean() < changed[~there].mean()
    return np.asarray(~states if steadier else states)
