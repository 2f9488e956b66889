"""Step 3 of the paper: from selected variables to Bayesian networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .network import BayesianNetwork, NoisyOr, NoisyOrData
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
        leaves = [
            _Leaf(problem, [table.variables[at] for at in its_columns], its_codes)
            if plan.takes_noisy_or(table.variables[its_columns[-1]])
            else None
            for problem, its_columns, its_codes in zip(block, columns, codes, strict=True)
        ]
        fitted = iter(_fit_leaves([each for each in leaves if each is not None], plan))
        tables = [its for leaf, its in zip(leaves, codes, strict=True) if leaf is None]
        tested = iter(_tested_parents(tables, table, plan))
        for leaf, its_columns, its_codes in zip(leaves, columns, codes, strict=True):
            variables = [table.variables[column] for column in its_columns]
            if leaf is None:
                yield _with_full_tables(variables, its_codes, next(tested), plan)
            else:
                yield _with_noisy_or(variables, its_codes, *next(fitted), plan)


def _with_noisy_or(
    variables: list[Variable], codes: Codes, leaf: NoisyOr, parents: list[int], plan: LearningPlan
) -> BayesianNetwork:
    others = variables[:-1]
    dag = add_leaf(_search(plan, codes[:, :-1], others), parents)
    known = {len(others): leaf}
    return BayesianNetwork.fit(variables, dag, codes, plan.smoothing, plan.score, known)


class _Leaf:
    """A target whose distribution is to be a noisy-or, and the variables that may be parents."""

    def __init__(self, problem: Problem, variables: list[Variable], codes: Codes) -> None:
        *self._others, self._target = variables
        self._codes = codes
        self._changed = codes[:, -1] % 2 > 0
        self._is_cause = [node in problem.causes for node in problem.nodes]
        self._active: dict[int, NDArray[np.bool_]] = {}

    @property
    def causes(self) -> list[int]:
        return [at for at, is_cause in enumerate(self._is_cause) if is_cause]

    @property
    def others(self) -> list[int]:
        return [at for at, is_cause in enumerate(self._is_cause) if not is_cause]

    def data(self, parents: list[int]) -> NoisyOrData:
        """Return what the distribution given these parents is learnt from."""
        for at in parents:
            if at not in self._active:
                self._active[at] = _active_states(
                    self._others[at], self._codes[:, at], self._changed, self._is_cause[at]
                )
        return NoisyOrData(
            self._target,
            [self._others[at] for at in parents],
            self._codes[:, [*parents, -1]],
            [self._active[at] for at in parents],
        )


def _fit_leaves(leaves: Sequence[_Leaf], plan: LearningPlan) -> Iterator[tuple[NoisyOr, list[int]]]:
    """The distributions of targets: by all causes, and by what moves along if the score gains."""
    by_causes = NoisyOr.fit_many([each.data(each.causes) for each in leaves], plan.smoothing)

    def fit(leaf: _Leaf, parents: list[int]) -> NoisyOr:
        return NoisyOr.fit_many([leaf.data(parents)], plan.smoothing)[0]

    for leaf, best in zip(leaves, by_causes, strict=True):
        parents = leaf.causes
        for at in leaf.others:
            larger = sorted([*parents, at])
            trial = fit(leaf, larger)
            if trial.score(plan.score) > best.score(plan.score):
                best, parents = trial, larger
        counting = [at for at, chance in zip(parents, best.chances, strict=True) if chance.any()]
        yield (best, parents) if counting == parents else (fit(leaf, counting), counting)


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
    in_them, all_changes = np.count_nonzero(there), np.count_nonzero(changed)
    elsewhere = len(there) - in_them
    if not in_them or not elsewhere:
        return np.asarray(states)
    changes = np.count_nonzero(changed[there])
    steadier = changes / in_them < (all_changes - changes) / elsewhere
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
