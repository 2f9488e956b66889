"""Step 3 of the paper: learn Bayesian networks of the selected variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .network import BayesianNetwork, NetworkConfig, NoisyOr, NoisyOrData
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
    """A target and the nodes of its network, most important first.

    Attributes:
        causes: the nodes whose perturbation changes the prediction. In a noisy-or they are active
            when perturbed; the other nodes are active when their own prediction changed.
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

    The target is the last variable: if the data do not determine the direction of an edge, it then
    points to the target.
    """
    step = _Learning(table, config, selection, significance)
    widest = max((len(problem.nodes) + 1 for problem in problems), default=1)
    at_once = min(_AT_ONCE, max(1, _CODES_AT_ONCE // (table.num_samples * widest)))
    for start in range(0, len(problems), at_once):
        yield from step.learn(problems[start : start + at_once])


@dataclass(frozen=True)
class _Learning:
    """Samples and options, which are the same for all targets."""

    table: SampleTable
    config: NetworkConfig
    selection: SelectionConfig
    significance: SignificanceConfig

    def learn(self, problems: Sequence[Problem]) -> Iterator[BayesianNetwork]:
        """Learn the networks of some targets."""
        table = self.table
        columns = [
            [table.column(each) for each in (*problem.nodes, problem.target)]
            for problem in problems
        ]
        codes = [table.codes(each) for each in columns]
        leaves = [
            _Leaf(problem, [table.variables[at] for at in its_columns], its_codes)
            if self._takes_noisy_or(table.variables[its_columns[-1]])
            else None
            for problem, its_columns, its_codes in zip(problems, columns, codes, strict=True)
        ]
        fitted = self._fit_leaves([each for each in leaves if each is not None])
        tables = [its for leaf, its in zip(leaves, codes, strict=True) if leaf is None]
        tested = iter(self._tested_parents(tables))
        for leaf, its_columns, its_codes in zip(leaves, columns, codes, strict=True):
            variables = [table.variables[column] for column in its_columns]
            if leaf is None:
                yield self._with_full_tables(variables, its_codes, next(tested))
            else:
                yield self._with_noisy_or(variables, its_codes, *next(fitted))

    def _takes_noisy_or(self, target: Variable) -> bool:
        wanted = self.config.target_table != "full"
        return wanted and self.selection.no_child and target.levels == 2

    def _with_noisy_or(
        self, variables: list[Variable], codes: Codes, leaf: NoisyOr, parents: list[int]
    ) -> BayesianNetwork:
        others = variables[:-1]
        dag = add_leaf(self._search(codes[:, :-1], others), parents)
        known = {len(others): leaf}
        smoothing, score = self.config.smoothing, self.config.score
        return BayesianNetwork.fit(variables, dag, codes, smoothing, score, known)

    def _fit_leaves(self, leaves: Sequence[_Leaf]) -> Iterator[tuple[NoisyOr, list[int]]]:
        """Fit the distributions of targets and find their parents.

        Parents are the causes, the most important first, followed by other nodes that improve the
        score; at most ``max_parents`` in total.
        """
        smoothing, score, most = self.config.smoothing, self.config.score, self.config.max_parents

        def fit(leaf: _Leaf, parents: list[int]) -> NoisyOr:
            return NoisyOr.fit_many([leaf.data(parents)], smoothing)[0]

        by_causes = NoisyOr.fit_many([each.data(each.causes[:most]) for each in leaves], smoothing)
        for leaf, best in zip(leaves, by_causes, strict=True):
            parents = leaf.causes[:most]
            for at in leaf.others:
                if most is not None and len(parents) >= most:
                    break
                larger = sorted([*parents, at])
                trial = fit(leaf, larger)
                if trial.score(score) > best.score(score):
                    best, parents = trial, larger
            effective = [
                at for at, chance in zip(parents, best.chances, strict=True) if chance.any()
            ]
            yield (best, parents) if effective == parents else (fit(leaf, effective), effective)

    def _with_full_tables(
        self, variables: list[Variable], codes: Codes, parents: list[int] | None
    ) -> BayesianNetwork:
        if parents is None:
            dag = self._search(codes, variables)
        else:
            dag = add_leaf(self._search(codes[:, :-1], variables[:-1]), parents)
        return BayesianNetwork.fit(variables, dag, codes, self.config.smoothing, self.config.score)

    def _tested_parents(self, codes: Sequence[Codes]) -> Sequence[list[int] | None]:
        """Return the parents of each target from independence tests; None without ``no_child``."""
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
                f"the structure search must return a DAG of {len(cardinalities)} variables, "
                f"not {dag!r}"
            )
        return dag


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
    changed_inside = np.count_nonzero(changed[inside])
    inverted = changed_inside / num_inside < (num_changed - changed_inside) / num_outside
    return np.asarray(~states if inverted else states)
