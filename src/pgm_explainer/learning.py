"""Step 3 of the paper: from selected variables to Bayesian networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .network import BayesianNetwork
from .sampling import SampleTable, VariableId
from .selection import IndependenceTest, shrink_many
from .structure import DAG, Score, add_leaf

__all__ = ["LearningPlan", "Problem", "learn_networks"]

_AT_ONCE = 128
_CODES_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class LearningPlan:
    """How a network is learnt.

    Attributes:
        search: takes data and cardinalities and gives a :class:`~pgm_explainer.structure.DAG`.
        no_child: Algorithm 2, the target as a leaf; without it, Algorithm 1.
    """

    search: Callable[..., Any]
    score: Score
    no_child: bool
    test: IndependenceTest
    significance: float
    smoothing: float


@dataclass(frozen=True)
class Problem:
    """A target, and the nodes (best first) to explain it by."""

    target: VariableId
    nodes: list[int]


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
        parents = _parents(codes, int(table.cardinalities.max()), plan)
        for its_columns, its_codes, its_parents in zip(columns, codes, parents, strict=True):
            sizes = table.cardinalities[its_columns]
            if its_parents is None:
                dag = _search(plan, its_codes, sizes)
            else:
                dag = add_leaf(_search(plan, its_codes[:, :-1], sizes[:-1]), its_parents)
            variables = [table.variables[column] for column in its_columns]
            yield BayesianNetwork.fit(variables, dag, its_codes, plan.smoothing, plan.score)


def _parents(
    codes: Sequence[NDArray[np.uint8]], states: int, plan: LearningPlan
) -> Sequence[list[int] | None]:
    """The parents of each target, which come from tests; None where they come from the search."""
    if not plan.no_child:
        return [None] * len(codes)
    problems = [(each[:, :-1], each[:, -1]) for each in codes]
    return shrink_many(problems, states, plan.significance, plan.test)


def _search(plan: LearningPlan, codes: NDArray[np.uint8], cardinalities: NDArray[np.int64]) -> DAG:
    if len(cardinalities) < 2:
        return DAG(len(cardinalities))
    dag = plan.search(codes, cardinalities)
    if not isinstance(dag, DAG) or dag.num_variables != len(cardinalities):
        raise InputError(
            f"the structure search must answer with a DAG of {len(cardinalities)} variables, "
            f"not {dag!r}"
        )
    return dag
