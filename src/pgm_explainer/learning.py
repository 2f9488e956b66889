"""Step 3 of the paper for one target: from selected variables to a Bayesian network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .network import BayesianNetwork
from .sampling import SampleTable, VariableId
from .selection import IndependenceTest, shrink
from .structure import DAG, Score, add_leaf

__all__ = ["LearningPlan", "learn_network"]


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


def learn_network(
    table: SampleTable, nodes: list[int], target: VariableId, plan: LearningPlan
) -> BayesianNetwork:
    """Learn the network of ``nodes`` (most dependent first) and the target.

    The target is the last variable, so that where the data leave an arrow's direction open it
    points to the target rather than away from it.
    """
    columns = [table.column(each) for each in (*nodes, target)]
    codes = table.codes(columns)
    cardinalities = table.cardinalities[columns]
    if plan.no_child:
        others = _search(plan, codes[:, :-1], cardinalities[:-1])
        states = int(cardinalities.max())
        parents = shrink(codes[:, :-1], codes[:, -1], states, plan.significance, plan.test)
        dag = add_leaf(others, parents)
    else:
        dag = _search(plan, codes, cardinalities)
    variables = [table.variables[column] for column in columns]
    return BayesianNetwork.fit(variables, dag, codes, plan.smoothing, plan.score)


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
