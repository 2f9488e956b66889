"""Step 3 of the paper: from selected variables to Bayesian networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .network import BayesianNetwork, NoisyOr
from .sampling import SampleTable, Variable, VariableId
from .selection import IndependenceTest, shrink_many
from .structure import DAG, Score, add_leaf

__all__ = ["TARGET_TABLES", "LearningPlan", "Problem", "learn_networks"]

TARGET_TABLES = ("auto", "noisy_or", "full")
_AT_ONCE = 128
_CODES_AT_ONCE = 1 << 24

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class LearningPlan:
    """How a network is learnt.

    Attributes:
        search: takes data and cardinalities and gives a :class:`~pgm_explainer.structure.DAG`.
        no_child: Algorithm 2, the target as a leaf; without it, Algorithm 1.
        target_table: ``full``, the paper's; ``noisy_or``; or ``auto``, a noisy-or where there can
            be one: the target is a leaf whose prediction is either kept or changed.
    """

    search: Callable[..., Any]
    score: Score
    no_child: bool
    test: IndependenceTest
    significance: float
    smoothing: float
    target_table: str = "auto"

    def takes_noisy_or(self, target: Variable) -> bool:
        """Say whether the target gets a noisy-or."""
        return self.target_table != "full" and self.no_child and target.levels == 2


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
    table: SampleTable, problems: Sequence[Problem], plan: LearningPlan
) -> Iterator[BayesianNetwork]:
    """Learn the network of each target, in the given order.

    The target is the last variable, so that where the data leave an arrow's direction open it
    points to the target rather than away from it.
    """
    widest = max((len(problem.nodes) + 1 for problem in problems), default=1)
    at_once = min(_AT_ONCE, max(1, _CODES_AT_ONCE // (table.num_samples * widest)))
    for start in range(0, len(problems), at_once):
        block = problems[start : start + at_once]
        columns = [
            [table.column(each) for each in (*problem.nodes, problem.target)] for problem in block
        ]
        codes = [table.codes(each) for each in columns]
        noisy = [plan.takes_noisy_or(table.variables[each[-1]]) for each in columns]
        tested = iter(
            _tested_parents([c for c, n in zip(codes, noisy, strict=True) if not n], table, plan)
        )
        for problem, its_columns, its_codes, is_noisy in zip(
            block, columns, codes, noisy, strict=True
        ):
            variables = [table.variables[column] for column in its_columns]
            if is_noisy:
                yield _with_noisy_or(problem, variables, its_codes, plan)
            else:
                yield _with_full_tables(variables, its_codes, next(tested), plan)


def _with_noisy_or(
    problem: Problem, variables: list[Variable], codes: Codes, plan: LearningPlan
) -> BayesianNetwork:
    *others, target = variables
    leaf, parents = _fit_noisy_or(problem, others, target, codes, plan)
    dag = add_leaf(_search(plan, codes[:, :-1], others), parents)
    known = {len(others): leaf}
    return BayesianNetwork.fit(variables, dag, codes, plan.smoothing, plan.score, known)


def _fit_noisy_or(
    problem: Problem, others: list[Variable], target: Variable, codes: Codes, plan: LearningPlan
) -> tuple[NoisyOr, list[int]]:
    """The target's distribution: by all causes, and by what moves along where the score gains."""
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
            plan.smoothing,
        )

    parents = [at for at, node in enumerate(problem.nodes) if node in problem.causes]
    best = fit(parents)
    for at in range(len(others)):
        if at not in parents:
            larger = sorted([*parents, at])
            trial = fit(larger)
            if trial.score(plan.score) > best.score(plan.score):
                best, parents = trial, larger
    counting = [at for at, chance in zip(parents, best.chances, strict=True) if chance.any()]
    return (best, parents) if counting == parents else (fit(counting), counting)


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


def _with_full_tables(
    variables: list[Variable], codes: Codes, parents: list[int] | None, plan: LearningPlan
) -> BayesianNetwork:
    if parents is None:
        dag = _search(plan, codes, variables)
    else:
        dag = add_leaf(_search(plan, codes[:, :-1], variables[:-1]), parents)
    return BayesianNetwork.fit(variables, dag, codes, plan.smoothing, plan.score)


def _tested_parents(
    codes: Sequence[Codes], table: SampleTable, plan: LearningPlan
) -> Sequence[list[int] | None]:
    """The parents of each target, which come from tests; None where they come from the search."""
    if not plan.no_child:
        return [None] * len(codes)
    problems = [(each[:, :-1], each[:, -1]) for each in codes]
    return shrink_many(problems, int(table.cardinalities.max()), plan.significance, plan.test)


def _search(plan: LearningPlan, codes: Codes, variables: Sequence[Variable]) -> DAG:
    cardinalities = np.array([each.cardinality for each in variables], dtype=np.int64)
    if len(cardinalities) < 2:
        return DAG(len(cardinalities))
    dag = plan.search(codes, cardinalities)
    if not isinstance(dag, DAG) or dag.num_variables != len(cardinalities):
        raise InputError(
            f"the structure search must answer with a DAG of {len(cardinalities)} variables, "
            f"not {dag!r}"
        )
    return dag
