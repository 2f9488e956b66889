"""Step 2 of the paper: from all variables near a target to the few that can matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..sampling import SampleTable, VariableId
from ..significance import significant
from .counting import pair_counts
from .independence import IndependenceTest, PairwiseTests, pairwise_tests
from .ranking import Ranking, rank

__all__ = ["Dependents", "Neighbourhood", "SelectionPlan", "results_of_pairs", "select_variables"]

_CELLS_AT_ONCE = 1 << 22
_SHARED = 32.0


@dataclass(frozen=True)
class SelectionPlan:
    """How variables are selected.

    Attributes:
        no_child: U(t) of Theorem 2, the variables dependent on the target; without it, U(t) of
            Theorem 1, the variables dependent on any of those.
        cells: of contingency tables and of samples that are held at once; some 50 bytes each.
    """

    test: IndependenceTest
    significance: float
    correction: str
    no_child: bool
    cells: int = _CELLS_AT_ONCE

    def passed(self, tests: PairwiseTests) -> NDArray[np.bool_]:
        return significant(tests.log_p, self.significance, self.correction)


@dataclass(frozen=True)
class Neighbourhood:
    """A target and the nodes that can influence it (the target itself is not among them)."""

    target: VariableId
    candidates: IntArray


@dataclass(frozen=True)
class Dependents:
    """What depends on a target.

    Attributes:
        ranking: every candidate.
        related: the paper's U(t), in the order of the ranking.
    """

    ranking: Ranking
    related: IntArray


def select_variables(
    table: SampleTable, neighbourhoods: Iterable[Neighbourhood], plan: SelectionPlan
) -> Iterator[Dependents]:
    """Rank the candidates of each target, in the given order.

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
        tests = results_of_pairs(table, targets, columns, plan, wanted)
        for row, (each, mine) in enumerate(zip(block, own, strict=True)):
            yield _select_one(table, each, columns[mine], tests.at((row, mine)), plan)


def _select_one(
    table: SampleTable,
    neighbourhood: Neighbourhood,
    columns: IntArray,
    tests: PairwiseTests,
    plan: SelectionPlan,
) -> Dependents:
    passed = plan.passed(tests)
    related = passed if plan.no_child else passed | _dependents_of(table, columns, passed, plan)
    ranking = rank(neighbourhood.candidates, tests, passed)
    chosen = neighbourhood.candidates[related]
    return Dependents(ranking, ranking.nodes[np.isin(ranking.nodes, chosen)])


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
) -> PairwiseTests:
    """Test variables of ``left`` against those of ``right``: all pairs, or the wanted ones.

    All pairs are counted in any case, which is the cheap part.

    Returns:
        Results ``[left, right]``, zero where not wanted.
    """
    states = int(table.cardinalities.max())
    if wanted is None:
        wanted = np.ones((len(left), len(right)), dtype=bool)
    results = PairwiseTests.zeros(wanted.shape)
    left_codes = table.codes(left)
    width = max(table.num_samples, len(left) * states) * states
    at_once = max(1, plan.cells // width)
    for start in range(0, len(right), at_once):
        columns = slice(start, start + at_once)
        rows, here = np.nonzero(wanted[:, columns])
        right_codes = table.codes(right[columns])
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
