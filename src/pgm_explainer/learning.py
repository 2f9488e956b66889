"""Step 3 of the paper: learn networks of the selected variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .limits import brief
from .network import (
    BayesianNetwork,
    DependencyNetwork,
    GraphicalModel,
    MarkovNetwork,
    NetworkConfig,
    NoisyOr,
)
from .network.bayesian_network import NetworkData
from .network.noisy_or import NoisyOrData
from .sampling import SampleTable, Variable, VariableId
from .selection import SelectionConfig
from .selection.shrink import shrink_many
from .significance import SignificanceConfig
from .structure import DAG, Neighbourhood, UndirectedGraph, add_leaf
from .structure.bootstrap import edge_weights, resampled_rows
from .structure.search import CustomSearch, search_many

__all__ = ["Problem", "learn_networks"]

_AT_ONCE = 512
_CODES_AT_ONCE = 1 << 24

Codes = NDArray[np.uint8]
Data = tuple[list[Variable], Codes]
"""The variables of a network, the target last, and their states ``[n, variables]``."""


@dataclass(frozen=True)
class Problem:
    """A target and the nodes of its network, most important first.

    Attributes:
        causes: the nodes whose perturbation changes the prediction. In a noisy-or they are active
            when perturbed; the other nodes are active when their own prediction changed.

    Examples:
        >>> from pgm_explainer.learning import Problem
        >>> Problem(target=8, nodes=[30, 32], causes=frozenset({30})).nodes
        [30, 32]
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
) -> Iterator[GraphicalModel]:
    """Learn the network of each target, in the given order.

    The target is the last variable: if the data do not determine the direction of an edge, it then
    points to the target.

    Args:
        table: the samples.
        problems: the target of each network, and its nodes.
        config: the options of step 3.
        selection: the options of step 2; step 3 uses its test and ``no_child``.
        significance: significance level and correction.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import SampleTable, Variable
        >>> rng = np.random.default_rng(0)
        >>> perturbed = rng.random((500, 3)) < 0.2
        >>> table = SampleTable([Variable(node, True, 2) for node in range(3)], 500)
        >>> changed = perturbed[:, :1]  # perturbing node 0 changes all predictions
        >>> table.write(0, (2 * perturbed + changed).astype(np.uint8))
        >>> from pgm_explainer.learning import Problem, learn_networks
        >>> from pgm_explainer.network import NetworkConfig
        >>> from pgm_explainer.selection import SelectionConfig
        >>> from pgm_explainer.significance import SignificanceConfig
        >>> configs = NetworkConfig(), SelectionConfig(), SignificanceConfig()
        >>> (network,) = learn_networks(table, [Problem(2, [0, 1], frozenset({0}))], *configs)
        >>> (0, 2) in network.edges
        True
    """
    step = _Learning(table, config, selection, significance)
    widest = max((len(problem.nodes) + 1 for problem in problems), default=1)
    at_once = min(_AT_ONCE, max(1, _CODES_AT_ONCE // (table.num_samples * widest)))
    for start in range(0, len(problems), at_once):
        yield from step.learn(problems[start : start + at_once])


def resampled_edges(
    table: SampleTable,
    problem: Problem,
    config: NetworkConfig,
    selection: SelectionConfig,
    significance: SignificanceConfig,
    resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return how often each edge is learned from resampled rows, as ``[parent, child]``.

    All of step 3 is repeated with the same nodes: the parents of the target, and the structure. An
    edge whose direction the data do not determine counts half for each direction.

    Args:
        problem: the target and the nodes, in the order of the variables of the network.
        resamples: how often the rows are drawn, with replacement.
        seed: seed of the resampling.
    """
    return _Learning(table, config, selection, significance).resampled(problem, resamples, seed)


@dataclass(frozen=True)
class _Learning:
    """Samples and options, which are the same for all targets."""

    table: SampleTable
    config: NetworkConfig
    selection: SelectionConfig
    significance: SignificanceConfig

    def learn(self, problems: Sequence[Problem]) -> Sequence[GraphicalModel]:
        """Learn the networks of some targets."""
        data = [self._data(problem) for problem in problems]
        if self.config.family == "markov":
            return [self._markov(*each) for each in data]
        if self.config.family == "dependency":
            return [self._dependency(*each) for each in data]
        return self._bayesian(problems, data)

    def resampled(self, problem: Problem, resamples: int, seed: int) -> NDArray[np.float64]:
        """See :func:`resampled_edges`."""
        variables, codes = self._data(problem)
        rows = resampled_rows(len(codes), resamples, seed)
        data = [(variables, codes[each]) for each in rows]
        if self.config.family == "bayesian":
            targets = self._targets([problem] * resamples, data)
            return edge_weights(self._structures(data, targets), targets[0].parents is not None)
        learn = self._markov if self.config.family == "markov" else self._dependency
        index = {variable.id: at for at, variable in enumerate(variables)}
        weights = np.zeros((len(variables), len(variables)))
        for each in data:
            found = np.zeros_like(weights)
            for parent, child in learn(*each).edges:
                found[index[parent], index[child]] = 1.0
            if self.config.family == "markov":
                found = found + found.T
            weights += found / np.maximum(found + found.T, 1)
        return weights / resamples

    def _markov(self, variables: list[Variable], codes: Codes) -> MarkovNetwork:
        how, config = self.config.structure, self.config
        sizes = np.array([variable.cardinality for variable in variables])
        if isinstance(how, CustomSearch):
            graph = how(codes, sizes, config.score, None)
            if not isinstance(graph, UndirectedGraph) or graph.num_variables != len(variables):
                raise InputError(
                    f"the structure search must return an UndirectedGraph of {len(variables)} "
                    f"variables, not {brief(graph)}"
                )
        else:
            graph = how(codes, sizes, config.score)
        pairwise = isinstance(how, Neighbourhood) and how.pairwise
        return MarkovNetwork.fit(
            variables, graph, codes, config.smoothing or 0.0, config.score, pairwise
        )

    def _dependency(self, variables: list[Variable], codes: Codes) -> DependencyNetwork:
        return DependencyNetwork.learn(
            variables,
            codes,
            form=self.config.structure.name,
            score=self.config.score,
            max_parents=self.config.max_parents,
            smoothing=self.config.smoothing or 0.0,
        )

    def _bayesian(self, problems: Sequence[Problem], data: Sequence[Data]) -> list[BayesianNetwork]:
        targets = self._targets(problems, data)
        dags = self._structures(data, targets)
        fits = []
        for (variables, codes), dag, target in zip(data, dags, targets, strict=True):
            known = {} if target.table is None else {len(variables) - 1: target.table}
            fits.append(NetworkData(variables, dag, codes, known))
        return BayesianNetwork.fit_many(fits, self.config.smoothing or 0.0, self.config.score)

    def _data(self, problem: Problem) -> Data:
        """Return the variables of a network, the target last, and their states."""
        columns = [self.table.column(each) for each in (*problem.nodes, problem.target)]
        return [self.table.variables[at] for at in columns], self.table.codes(columns)

    def _targets(self, problems: Sequence[Problem], data: Sequence[Data]) -> list[_Target]:
        """Determine the parents of each target, and its distribution if that is a noisy-or."""
        noisy = [self._takes_noisy_or(variables[-1]) for variables, _ in data]
        leaves = [
            _Leaf(problem, *own_data)
            for problem, own_data, yes in zip(problems, data, noisy, strict=True)
            if yes
        ]
        fitted = iter(self._fit_leaves(leaves))
        tested = iter(
            self._tested_parents(
                [codes for (_, codes), yes in zip(data, noisy, strict=True) if not yes]
            )
        )
        return [next(fitted) if yes else _Target(next(tested)) for yes in noisy]

    def _takes_noisy_or(self, target: Variable) -> bool:
        wanted = self.config.target_table != "full"
        return wanted and self.selection.no_child is not False and target.levels == 2

    def _fit_leaves(self, leaves: Sequence[_Leaf]) -> list[_Target]:
        """Fit the distributions of targets and find their parents.

        Parents are the causes, the most important first, followed by other nodes that improve the
        score; at most ``max_parents`` in total. Each round tries one more node for every target, so
        that the distributions of all targets are fitted at once.
        """
        score, most = self.config.score, self.config.max_parents
        parents = [leaf.causes[:most] for leaf in leaves]
        best = self._fit_noisy_ors(leaves, parents)
        causes = [set(_effective(*each)) for each in zip(best, parents, strict=True)]
        for turn in range(max((len(leaf.others) for leaf in leaves), default=0)):
            trying = [
                at
                for at, leaf in enumerate(leaves)
                if turn < len(leaf.others) and (most is None or len(parents[at]) < most)
            ]
            larger = [sorted([*parents[at], leaves[at].others[turn]]) for at in trying]
            trials = self._fit_noisy_ors([leaves[at] for at in trying], larger)
            for at, trial, tried in zip(trying, trials, larger, strict=True):
                # A node that changes along with the target would often replace its cause.
                keeps_causes = causes[at].issubset(_effective(trial, tried))
                if keeps_causes and trial.score(score) > best[at].score(score):
                    best[at], parents[at] = trial, tried
        effective = [_effective(*each) for each in zip(best, parents, strict=True)]
        fewer = [at for at, kept in enumerate(effective) if kept != parents[at]]
        again = self._fit_noisy_ors([leaves[at] for at in fewer], [effective[at] for at in fewer])
        for at, table in zip(fewer, again, strict=True):
            best[at] = table
        return [_Target(*each) for each in zip(effective, best, strict=True)]

    def _fit_noisy_ors(
        self, leaves: Sequence[_Leaf], parents: Sequence[list[int]]
    ) -> list[NoisyOr]:
        data = [leaf.data(chosen) for leaf, chosen in zip(leaves, parents, strict=True)]
        return NoisyOr.fit_many(data, self.config.smoothing or 0.0)

    def _tested_parents(self, codes: Sequence[Codes]) -> Sequence[list[int] | None]:
        """Return the parents of each target from independence tests; None without ``no_child``."""
        if not codes or self.selection.no_child is False:
            return [None] * len(codes)
        problems = [(each[:, :-1], each[:, -1]) for each in codes]
        return shrink_many(
            problems,
            int(self.table.cardinalities.max()),
            self.significance.significance,
            self.selection.test,
            self.config.max_parents,
        )

    def _structures(self, data: Sequence[Data], targets: Sequence[_Target]) -> list[DAG]:
        """Search the structures, without the targets whose parents are known; add these."""
        problems = []
        for (variables, codes), target in zip(data, targets, strict=True):
            searched = len(variables) - (target.parents is not None)
            sizes = tuple(each.cardinality for each in variables[:searched])
            problems.append((codes[:, :searched], sizes))
        config = self.config
        found = iter(
            search_many(
                config.structure,
                [each for each in problems if len(each[1]) > 1],
                config.score,
                config.max_parents,
            )
        )
        dags = []
        for (_, sizes), target in zip(problems, targets, strict=True):
            dag = _checked(next(found), len(sizes)) if len(sizes) > 1 else DAG(len(sizes))
            parents = target.parents
            dags.append(dag if parents is None else _with_leaf(dag, tuple(parents)))
        return dags


def _checked(dag: Any, size: int) -> DAG:
    """Return the result of a search, which may be a custom function, if it is valid."""
    if not isinstance(dag, DAG) or dag.num_variables != size:
        raise InputError(
            f"the structure search must return a DAG of {size} variables, not {brief(dag)}"
        )
    return dag


@lru_cache(maxsize=1024)
def _with_leaf(dag: DAG, parents: tuple[int, ...]) -> DAG:
    """Add the target; cached, because many targets have the same small structure."""
    return add_leaf(dag, parents)


@dataclass(frozen=True)
class _Target:
    """What is known about a target before the search.

    Attributes:
        parents: the positions of its parents; None if the search determines them.
        table: its distribution; None for a full table.
    """

    parents: list[int] | None
    table: NoisyOr | None = None


class _Leaf:
    """A target with a noisy-or distribution, and its possible parents."""

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
        """Return the data to fit the distribution given these parents."""
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


def _effective(table: NoisyOr, parents: Sequence[int]) -> list[int]:
    """The parents that can change the prediction."""
    return [at for at, chance in zip(parents, table.chances, strict=True) if chance.any()]


def _active_states(
    variable: Variable, codes: Codes, changed: NDArray[np.bool_], is_cause: bool
) -> NDArray[np.bool_]:
    """Return which states are active, that is, in which the prediction changes more often.

    For a cause these are the perturbed states, for other nodes those with a changed prediction; or
    the opposite, if the target's prediction changes less often in these.
    """
    perturbed, level = np.divmod(np.arange(variable.cardinality), variable.levels)
    states = perturbed > 0 if is_cause or variable.levels == 1 else level > 0
    inside = states[codes]
    num_inside, num_changed = np.count_nonzero(inside), np.count_nonzero(changed)
    num_outside = len(inside) - num_inside
    if not num_inside or not num_outside:
        return np.asarray(states)
    changed_inside = np.count_nonzero(changed & inside)
    inverted = changed_inside / num_inside < (num_changed - changed_inside) / num_outside
    return np.asarray(~states if inverted else states)
