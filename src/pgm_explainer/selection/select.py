"""Step 2 of the paper: the variables that depend on a target, and the nodes of its network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray
from ..effects import Effects
from ..effects.estimate import EffectProblem, are_precise, estimate_effects
from ..execution import in_blocks
from ..independence import IndependenceTest, PairwiseTests, pair_counts, pairwise_tests
from ..sampling import SampleTable, VariableId
from ..sampling.samples import Outcome, Samples
from ..significance import SignificanceConfig
from .config import SelectionConfig
from .ranking import Ranking, rank

__all__ = [
    "STRONG",
    "Dependents",
    "Neighbourhood",
    "SelectionResult",
    "causes",
    "choose_nodes",
    "results_of_pairs",
    "select_nodes",
    "select_variables",
]

_CELLS_AT_ONCE = 1 << 22
_SHARED = 32.0
_EFFECT_CANDIDATES = 1 << 14
_EFFECT_TARGETS = 128
_EFFECT_VALUES = 1 << 18
"""The maximum number of predictions (targets times samples) that are processed at once."""

STRONG = 0.01
"""A cause is strong if it has at least this fraction of the strength of the strongest node."""


@dataclass(frozen=True)
class Neighbourhood:
    """A target and its candidates.

    Attributes:
        candidates: the parts that may influence the target, ascending.
        ends: the nodes of the target.
        own: the same nodes if the parts are nodes; else empty.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.selection import Neighbourhood
        >>> Neighbourhood(8, np.array([0, 2, 30])).candidates.tolist()
        [0, 2, 30]
    """

    target: VariableId
    candidates: IntArray
    ends: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    own: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def around(self) -> IntArray:
        """The candidates and the target's own parts, ascending."""
        return np.union1d(self.candidates, self.own)


@dataclass(frozen=True)
class Dependents:
    """The variables that depend on a target.

    Attributes:
        ranking: the ranking of all candidates.
        related: the set U(t) of the paper, in the order of the ranking: the variables that depend
            on the target t and, unless ``no_child``, those that depend on any of these.
    """

    ranking: Ranking
    related: IntArray


def select_variables(
    table: SampleTable,
    neighbourhoods: Iterable[Neighbourhood],
    config: SelectionConfig,
    significance: SignificanceConfig,
    cells: int = _CELLS_AT_ONCE,
) -> Iterator[Dependents]:
    """Rank the candidates of each target, in the given order.

    Targets with similar candidates are tested in one batch.

    Args:
        table: the samples.
        neighbourhoods: the targets and their candidates.
        config: the options of the selection.
        significance: significance level and correction.
        cells: the maximum number of entries of tables and samples in memory, at about 50 bytes
            each.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import SampleTable, Variable
        >>> rng = np.random.default_rng(0)
        >>> perturbed = rng.random((500, 3)) < 0.2
        >>> table = SampleTable([Variable(node, True, 2) for node in range(3)], 500)
        >>> changed = perturbed[:, :1]  # perturbing node 0 changes all predictions
        >>> table.write(0, (2 * perturbed + changed).astype(np.uint8))
        >>> from pgm_explainer.selection import Neighbourhood, SelectionConfig, select_variables
        >>> from pgm_explainer.significance import SignificanceConfig
        >>> near = Neighbourhood(2, np.array([0, 1]))
        >>> (found,) = select_variables(table, [near], SelectionConfig(), SignificanceConfig())
        >>> found.ranking[0].node
        0
    """
    step = _Selection(table, config, significance, cells)
    for block in _blocks(neighbourhoods, table):
        union = np.unique(np.concatenate([each.candidates for each in block]))
        columns = table.columns(union)
        targets = [table.column(each.target) for each in block]
        own = [np.searchsorted(union, each.candidates) for each in block]
        wanted = np.zeros((len(block), len(union)), dtype=bool)
        for row, mine in enumerate(own):
            wanted[row, mine] = True
        tests = results_of_pairs(table, targets, columns, config.test, wanted, cells)
        for row, (each, mine) in enumerate(zip(block, own, strict=True)):
            yield step.select(each, columns[mine], tests.at((row, mine)))


@dataclass(frozen=True)
class _Selection:
    """Samples and options, which are the same for all targets."""

    table: SampleTable
    config: SelectionConfig
    significance: SignificanceConfig
    cells: int

    def select(
        self, neighbourhood: Neighbourhood, columns: IntArray, tests: PairwiseTests
    ) -> Dependents:
        related = passed = self.significance.passed(tests.log_p)
        if self.config.no_child is False:
            related = passed | self._dependents_of(columns, passed)
        candidates = neighbourhood.candidates
        ranking = rank(candidates, tests, passed)
        in_order = related[np.searchsorted(candidates, ranking.nodes)]
        return Dependents(ranking, ranking.nodes[in_order])

    def _dependents_of(self, columns: IntArray, dependent: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the candidates that depend on any variable that depends on the target."""
        reached = np.zeros(len(columns), dtype=bool)
        if not dependent.any():
            return reached
        sources = columns[dependent]
        states = int(self.table.cardinalities.max())
        width = max(self.table.num_samples, len(columns) * states) * states
        at_once = max(1, self.cells // width)
        for start in range(0, len(sources), at_once):
            some = sources[start : start + at_once]
            tests = results_of_pairs(self.table, some, columns, self.config.test, cells=self.cells)
            for row in range(len(tests.dof)):
                reached |= self.significance.passed(tests.log_p[row])
        return reached


def results_of_pairs(
    table: SampleTable,
    left: Sequence[int] | IntArray,
    right: IntArray,
    test: IndependenceTest,
    wanted: NDArray[np.bool_] | None = None,
    cells: int = _CELLS_AT_ONCE,
) -> PairwiseTests:
    """Test variables of ``left`` against those of ``right``: all pairs, or the wanted ones.

    The contingency tables of all pairs are counted in any case, which is cheap compared to testing.

    Args:
        table: the samples.
        left, right: columns of the table.
        test: the independence test.
        wanted: a mask ``[left, right]`` of the pairs to test; None for all.
        cells: see :func:`select_variables`.

    Returns:
        Results ``[left, right]``, zero for pairs that are not wanted.
    """
    states = int(table.cardinalities.max())
    if wanted is None:
        wanted = np.ones((len(left), len(right)), dtype=bool)
    results = PairwiseTests.zeros(wanted.shape)
    left_codes = table.codes(left)
    width = max(table.num_samples, len(left) * states) * states
    at_once = max(1, cells // width)
    for start in range(0, len(right), at_once):
        columns = slice(start, start + at_once)
        rows, here = np.nonzero(wanted[:, columns])
        right_codes = table.codes(right[columns])
        counts = pair_counts(left_codes, right_codes, states, wanted[:, columns])
        results.put((rows, start + here), pairwise_tests(counts, test))
    return results


def _blocks(
    neighbourhoods: Iterable[Neighbourhood], table: SampleTable
) -> Iterator[list[Neighbourhood]]:
    """Group consecutive targets with similar candidates, so that few unneeded pairs are counted."""
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


@dataclass(frozen=True)
class SelectionResult:
    """The results for a target before its network is learned.

    Attributes:
        neighbourhood: the target and its candidates.
        ranking: the candidates by dependence with the target.
        effects: the effects of perturbing each node.
        chosen: the nodes of the network, most important first.
        levels: how much the prediction changed in each sample, as a level ``[n]``; 0 means kept.
        outcome: the explained probability or value in each sample.
        is_precise: whether there are enough samples for the strongest effects.
    """

    neighbourhood: Neighbourhood
    ranking: Ranking
    effects: Effects
    chosen: IntArray
    levels: NDArray[np.uint8]
    outcome: Outcome
    is_precise: bool

    @property
    def changed(self) -> bool:
        """Whether the prediction changed in any sample."""
        return bool(self.levels.any())

    @property
    def causes(self) -> frozenset[int]:
        """The nodes with a significant effect."""
        return frozenset(causes(self.effects).tolist())

    def __len__(self) -> int:
        return len(self.neighbourhood.candidates)


def select_nodes(
    samples: Samples,
    neighbourhoods: Iterable[Neighbourhood],
    config: SelectionConfig,
    significance: SignificanceConfig,
    perturb_probability: float,
    cells: int,
) -> Iterator[SelectionResult]:
    """Rank the candidates of each target, estimate their effects and choose the nodes.

    Args:
        samples: the samples of step 1.
        neighbourhoods: the targets and their candidates.
        config: the options of the selection.
        significance: significance level and correction.
        perturb_probability: the probability that a node is perturbed in a sample.
        cells: see :func:`select_variables`.
    """
    for_tests, for_effects = tee(neighbourhoods)
    dependents = select_variables(samples.table, for_tests, config, significance, cells)
    found = zip(for_effects, dependents, strict=True)
    sized = ((each, len(each[0].candidates)) for each in found)
    at_once = max(1, min(_EFFECT_TARGETS, _EFFECT_VALUES // samples.table.num_samples))
    for block in in_blocks(sized, at_once, _EFFECT_CANDIDATES):
        problems = [EffectProblem(each.around, samples.outcome(each.target)) for each, _ in block]
        effects = estimate_effects(samples.table, problems, perturb_probability, significance)
        for (each, its), problem, own in zip(block, problems, effects, strict=True):
            yield _select(each, samples, its, own, problem.outcome, config)


def _select(
    neighbourhood: Neighbourhood,
    samples: Samples,
    dependents: Dependents,
    effects: Effects,
    outcome: Outcome,
    config: SelectionConfig,
) -> SelectionResult:
    levels = samples.levels(neighbourhood.target)
    ranking, chosen = dependents.ranking, np.empty(0, dtype=np.int64)
    if levels.any():
        chosen = choose_nodes(effects, dependents, config)
    else:  # the prediction never changed, so nothing can depend on it
        ranking = ranking.with_none_significant()
    precise = are_precise(effects, samples.values.are_probabilities)
    selected = ranking.with_selected(chosen)
    return SelectionResult(neighbourhood, selected, effects, chosen, levels, outcome, precise)


def choose_nodes(effects: Effects, dependents: Dependents, config: SelectionConfig) -> IntArray:
    """Return the nodes of the network, most important first.

    A cause is a node with a significant effect. It is strong if it has at least a hundredth of the
    strength of the strongest node. Strong causes come first, then nodes that depend on the target
    (in the order of the ranking), then weak causes.
    """
    ranked = dependents.ranking.nodes
    candidates = frozenset(ranked.tolist())
    found = [node for node in causes(effects).tolist() if node in candidates]
    strong = frozenset(causes(effects, STRONG).tolist())
    ordered = [node for node in found if node in strong]
    ordered += [*dependents.related.tolist(), *found]
    if not config.only_significant:
        ordered += ranked.tolist()
    return np.array(list(dict.fromkeys(ordered))[: config.max_nodes], dtype=np.int64)


def causes(effects: Effects, at_least: float = 0.0) -> IntArray:
    """Return the nodes with a significant effect of at least this strength, strongest first.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> from pgm_explainer.selection import causes
        >>> causes(explanation.effects, at_least=0.01).tolist()
        [0, 2]
    """
    chosen: NDArray[np.bool_] = effects.significant & (effects.strength >= at_least)
    return effects.nodes[chosen]
