"""Step 2 of the paper: from all variables near a target to the few that can matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable, VariableId
from .counting import pair_counts
from .independence import IndependenceTest, PairwiseTests, pairwise_tests
from .ranking import Ranking, rank, significant

__all__ = ["RANKED_BY", "Neighbourhood", "SelectionPlan", "results_of_pairs", "select_variables"]

_CELLS_AT_ONCE = 1 << 22
_SHARED = 32.0
RANKED_BY = ("reach", "dependence", "influence")


@dataclass(frozen=True)
class SelectionPlan:
    """How variables are selected.

    Attributes:
        no_child: U(t) of Theorem 2, the variables dependent on the target; without it, U(t) of
            Theorem 1, the variables dependent on any of those.
        by: ``dependence`` tests a candidate's whole variable against the target's, as in the paper;
            ``reach`` tests the same, and weighs the evidence by each candidate's reach;
            ``influence`` tests only whether it was perturbed, against the change of the target.
        only_significant: if False, the top ``max_nodes`` are taken whatever their p-value.
        cells: of contingency tables and of samples that are held at once; some 50 bytes each.
    """

    test: IndependenceTest
    significance: float
    correction: str
    max_nodes: int
    no_child: bool
    only_significant: bool
    by: str = "dependence"
    cells: int = _CELLS_AT_ONCE

    def passed(
        self, tests: PairwiseTests, reach: NDArray[np.float64] | None = None
    ) -> NDArray[np.bool_]:
        return significant(tests.log_p, self.significance, self.correction, reach)


@dataclass(frozen=True)
class Neighbourhood:
    """A target and the nodes that can influence it (the target itself is not among them).

    Attributes:
        reach: how much the evidence for each counts; None for all the same.
    """

    target: VariableId
    candidates: IntArray
    reach: NDArray[np.float64] | None = None


def select_variables(
    table: SampleTable, neighbourhoods: Iterable[Neighbourhood], plan: SelectionPlan
) -> Iterator[Ranking]:
    """Rank and select the candidates of each target, in the given order.

    Targets with much the same candidates are tested together, all their pairs at once.
    """
    for block in _blocks(neighbourhoods, table):
        union = np.unique(np.concatenate([each.candidates for each in block]))
        columns = table.columns(union)
        targets = [table.column(each.target) for each in block]
        own = [np.searchsorted(union, each.candidates) for each in block]
        wanted = np.zeros((len(block), len(union)), dtype=bool)
        for row, mine in enumerate(own):
            wanted[row, mine] = True
        tests = results_of_pairs(table, targets, columns, plan, wanted, plan.by)
        for row, (each, mine) in enumerate(zip(block, own, strict=True)):
            yield _select_one(table, each, columns[mine], tests.at((row, mine)), plan)


def _select_one(
    table: SampleTable,
    neighbourhood: Neighbourhood,
    columns: IntArray,
    tests: PairwiseTests,
    plan: SelectionPlan,
) -> Ranking:
    every = np.ones(len(neighbourhood.candidates))
    reach = every if neighbourhood.reach is None else neighbourhood.reach
    passed = plan.passed(tests, reach)
    if not plan.only_significant:
        eligible = np.ones_like(passed)
    elif plan.no_child:
        eligible = passed
    else:
        eligible = passed | _dependents_of(table, columns, passed, plan)
    return rank(neighbourhood.candidates, tests, reach, passed, eligible, plan.max_nodes)


def _dependents_of(
    table: SampleTable, columns: IntArray, dependent: NDArray[np.bool_], plan: SelectionPlan
) -> NDArray[np.bool_]:
    """The union of S(v) over the variables in S(t), within the candidates."""
    reached = np.zeros(len(columns), dtype=bool)
    if not dependent.any():
        return reached
    sources = columns[dependent]
    states = int(table.cardinalities.max())
    width = max(table.num_samples, len(columns) * states) * states
    at_once = max(1, plan.cells // width)
    for start in range(0, len(sources), at_once):
        tests = results_of_pairs(table, sources[start : start + at_once], columns, plan)
        for row in range(len(tests.dof)):
            reached |= plan.passed(tests.at(row))
    return reached


def results_of_pairs(
    table: SampleTable,
    left: Sequence[int] | IntArray,
    right: IntArray,
    plan: SelectionPlan,
    wanted: NDArray[np.bool_] | None = None,
    by: str = "dependence",
) -> PairwiseTests:
    """Test variables of ``left`` against those of ``right``: all pairs, or the wanted ones.

    By ``influence`` only the change of a left one's prediction is tested, against whether a right
    one was perturbed. All pairs are counted in any case, which is the cheap part.

    Returns:
        Results ``[left, right]``, zero where not wanted.
    """
    states = int(table.cardinalities.max())
    if wanted is None:
        wanted = np.ones((len(left), len(right)), dtype=bool)
    results = PairwiseTests.zeros(wanted.shape)
    left_codes = table.codes(left)
    if by == "influence":
        left_codes %= table.levels[left].astype(np.uint8)
    width = max(table.num_samples, len(left) * states) * states
    at_once = max(1, plan.cells // width)
    for start in range(0, len(right), at_once):
        columns = slice(start, start + at_once)
        rows, here = np.nonzero(wanted[:, columns])
        right_codes = table.codes(right[columns])
        if by == "influence":
            right_codes //= table.levels[right[columns]].astype(np.uint8)
        counts = pair_counts(left_codes, right_codes, states, wanted[:, columns])
        results.put((rows, start + here), pairwise_tests(counts, plan.test))
    return results


def _blocks(
    neighbourhoods: Iterable[Neighbourhood], table: SampleTable
) -> Iterator[list[Neighbourhood]]:
    """Group neighbouring targets while testing them together wastes little on foreign pairs."""
    states = int(table.cardinalities.max())
    cells = _CELLS_AT_ONCE // states**2
    targets = _CELLS_AT_ONCE // (table.num_samples * states)
    block: list[Neighbourhood] = []
    union: set[int] = set()
    needed = 0
    for each in neighbourhoods:
        mine = each.candidates.tolist()
        union.update(mine)
        needed += len(mine)
        too_many = (len(block) + 1) * len(union) > min(_SHARED * needed, cells)
        if block and (too_many or len(block) >= targets):
            yield block
            block, union, needed = [], set(mine), len(mine)
        block.append(each)
    if block:
        yield block
