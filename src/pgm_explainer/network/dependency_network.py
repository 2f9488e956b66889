"""A dependency network over the variables of an explanation.

A dependency network has a conditional distribution for each variable. These are learned separately,
so arrows may form cycles. Its joint distribution is the stationary one of an ordered Gibbs sampler
(Heckerman et al., 2000), which redraws each variable in turn given its parents. Conditionals that
were estimated from data do not fit together exactly, so the distribution depends a little on that
order. The last variable of an explanation is the target: it is redrawn last, so that its
distribution given all others is exactly its own conditional.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import check_not_negative, check_whole_number
from ..errors import InputError, QueryError
from ..limits import brief
from ..sampling import Variable, VariableId
from ..structure import Score, UndirectedGraph, local_search
from ..structure.scores import as_plain_score, check_data
from ..variables import joint_states
from .conditional_table import Codes, ConditionalTable, conditional_name
from .conditional_tree import ConditionalTree
from .factors import MOST_CELLS, Factor, eliminate
from .graphical_model import GraphicalModel, check_all, check_draws
from .stationary import stationary_distribution

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DependencyNetwork"]

Conditional = ConditionalTable | ConditionalTree

_FORMS = ("auto", "table", "tree")
_FEW_CELLS = 1 << 16
"""A tree whose full table has at most this many entries is replaced by the table."""
FEW_STATES = 1 << 16
"""The maximum number of joint states of connected variables for an exact solution."""
DRAWS, SWEEPS = 10_000, 100
"""The number and the length of Gibbs chains, if there is no exact solution."""
_SEED, _TIE = 0, 1e-6


class DependencyNetwork(GraphicalModel):
    """A conditional distribution for each variable, given any others.

    Examples:
        >>> a, b = Variable("a", False, 2), Variable("b", False, 2)
        >>> codes = np.array([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
        >>> network = DependencyNetwork.learn([a, b], codes, score="log_likelihood", smoothing=1)
        >>> network.edges, network.error
        ([('b', 'a'), ('a', 'b')], 0.0)
    """

    family = "dependency"
    title = "Dependency network"
    neighbour_noun = "parents"
    tables: tuple[Conditional, ...]

    def __init__(
        self,
        variables: Sequence[Variable],
        tables: Sequence[Conditional],
        score: float | None = None,
    ) -> None:
        super().__init__(variables, score)
        check_all(tables, (ConditionalTable, ConditionalTree), "tables")
        if [table.variable for table in tables] != list(self.variables):
            raise InputError("a dependency network needs a table for each variable, in order")
        for table in tables:
            known = [self._index.get(parent.id) for parent in table.parents]
            fits = None not in known and all(
                self.variables[at or 0] == parent
                for at, parent in zip(known, table.parents, strict=True)
            )
            own = table.variable.id in [parent.id for parent in table.parents]
            if not fits or own or len(set(known)) < len(known):
                raise InputError(f"{brief(table)} has parents that the network does not have")
        self.tables = tuple(tables)
        self._parents = [tuple(self._index[each.id] for each in table.parents) for table in tables]

    @classmethod
    def learn(
        cls,
        variables: Sequence[Variable],
        codes: Codes,
        *,
        form: str = "auto",
        score: str | Score = "bic",
        max_parents: int | None = None,
        smoothing: float = 0.1,
    ) -> DependencyNetwork:
        """Learn the conditional distribution of each variable from ``codes [n, variables]``.

        Args:
            variables: the variables.
            codes: their states.
            form: ``table``, ``tree``, or ``auto`` for the one with the better score.
            score: the score, which chooses parents and splits.
            max_parents: the maximum number of parents of a variable; None for no limit.
            smoothing: pseudocount added to every count. If it is positive, the stationary
                distribution is unique.
        """
        check_all(variables, Variable, "variables")
        check_not_negative(smoothing, "smoothing")
        smoothing = float(smoothing)  # a Fraction is a number, but not for NumPy
        if not isinstance(form, str) or form not in _FORMS:
            raise InputError(f"unknown form {brief(form)}; choose one of: {', '.join(_FORMS)}")
        if max_parents is not None:
            max_parents = check_whole_number(max_parents, "max_parents", at_least=1)
        codes, sizes = check_data(codes, [variable.cardinality for variable in variables])
        chosen = as_plain_score(score)
        tables: list[Conditional] = []
        if form != "tree":
            parents = local_search(codes, sizes, score=chosen, max_parents=max_parents)
            data = [
                (
                    variables[at],
                    tuple(variables[each] for each in positions),
                    codes[:, [*positions, at]],
                )
                for at, positions in enumerate(parents)
            ]
            tables = list(ConditionalTable.fit_many(data, smoothing))
        if form != "table":
            trees = ConditionalTree.learn_many(variables, codes, chosen, smoothing, max_parents)
            tables = [
                tree if table is None or tree.score(chosen) > table.score(chosen) + _TIE else table
                for tree, table in zip_longest(trees, tables)
            ]
        return cls(variables, tables, sum(table.score(chosen) for table in tables))

    @property
    def edges(self) -> list[tuple[VariableId, VariableId]]:
        """The edges as pairs (parent, child); two variables may have edges in both directions."""
        ids = self.nodes
        return [
            (ids[parent], ids[at])
            for at, positions in enumerate(self._parents)
            for parent in positions
        ]

    def parents(self, node: VariableId) -> list[VariableId]:
        """Return the variables that the conditional of a variable depends on."""
        return self._ids(self._parents[self._at(node)])

    def children(self, node: VariableId) -> list[VariableId]:
        """Return the variables whose conditionals depend on a variable."""
        at = self._at(node)
        return [
            variable.id
            for variable, positions in zip(self.variables, self._parents, strict=True)
            if at in positions
        ]

    def markov_blanket(self, node: VariableId) -> list[VariableId]:
        """Return the parents of a variable: given these, its conditional ignores all others."""
        return self.parents(node)

    def cpt(self, node: VariableId) -> Conditional:
        """Return the conditional distribution of a variable: a full table, or a tree."""
        return self.tables[self._at(node)]

    @property
    def factorisation(self) -> str:
        """The conditional distributions, which define the joint one.

        Examples:
            >>> a = Variable("a", False, 2)
            >>> DependencyNetwork.learn([a], np.array([[0], [1]])).factorisation
            'P(a)'
        """
        conditionals = zip(self.nodes, self._parents, strict=True)
        return ", ".join(
            conditional_name(node, self._ids(parents)) for node, parents in conditionals
        )

    @cached_property
    def _components(self) -> tuple[tuple[int, ...], ...]:
        pairs = [(parent, at) for at, positions in enumerate(self._parents) for parent in positions]
        return UndirectedGraph(len(self.variables), tuple(pairs)).components

    @cached_property
    def is_exact(self) -> bool:
        """Whether queries are exact; if not, they are frequencies in Gibbs samples."""
        return all(
            prod(self.variables[at].cardinality for at in each) <= FEW_STATES
            for each in self._components
        )

    @property
    def error(self) -> float:
        """The largest standard error of a probability without evidence; 0 if queries are exact.

        With evidence of probability e, it is larger by the factor 1 / sqrt(e).
        """
        return 0.0 if self.is_exact else 0.5 / DRAWS**0.5

    @cached_property
    def factors(self) -> list[Factor]:
        """Factors whose product is the joint distribution: one for each connected part.

        Raises:
            QueryError: there are too many joint states.
        """
        if not self.is_exact:
            raise QueryError(
                f"a connected part of the network has more than {FEW_STATES:,} joint states, so "
                f"there is no exact joint distribution; lower max_nodes, or use network.draws"
            )
        return [self._stationary(component) for component in self._components]

    def _stationary(self, component: tuple[int, ...]) -> Factor:
        """Return the joint distribution of variables that are connected."""
        axis = {at: place for place, at in enumerate(component)}
        conditionals = []
        for at in component:
            scope = (*self._parents[at], at)
            values = np.transpose(
                self.tables[at].values, np.argsort([axis[each] for each in scope], kind="stable")
            )
            shape = [self.variables[each].cardinality if each in scope else 1 for each in component]
            conditionals.append(np.ascontiguousarray(values).reshape(shape))
        starts = [self._marginal(at) for at in component]
        start = reduce(np.multiply.outer, starts)
        return Factor(component, stationary_distribution(start, conditionals)[0])

    def _marginal(self, at: int) -> NDArray[np.float64]:
        """Return the frequencies of the states of a variable; uniform if they are unknown."""
        counts = self.tables[at].counts.reshape(-1, self.variables[at].cardinality).sum(axis=0)
        smoothed = counts + 1.0
        return np.asarray(smoothed / smoothed.sum())

    @cached_property
    def draws(self) -> NDArray[np.uint8]:
        """The states ``[10000, variables]`` of independent Gibbs chains after 100 sweeps."""
        return self._gibbs(DRAWS, np.random.default_rng(_SEED))

    def _gibbs(self, count: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        codes = np.stack(
            [
                rng.choice(variable.cardinality, count, p=self._marginal(at))
                for at, variable in enumerate(self.variables)
            ],
            axis=1,
        ).astype(np.uint8)
        tables = [_Cumulative(table) for table in self.tables]
        for _ in range(SWEEPS):
            for at, (table, positions) in enumerate(zip(tables, self._parents, strict=True)):
                drawn = (rng.random((count, 1)) >= table.rows(codes[:, list(positions)])).sum(
                    axis=1
                )
                codes[:, at] = drawn
        return codes

    def _eliminate(
        self, keep: Sequence[int], evidence: Mapping[int, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        if self.is_exact:
            return eliminate(self.factors, keep, evidence)
        weights = np.ones(len(self.draws))
        for at, allowed in evidence.items():
            weights = weights * allowed[self.draws[:, at]]
        shape = [self.variables[at].cardinality for at in keep]
        if prod(shape) > MOST_CELLS:
            raise QueryError(
                f"the joint distribution of these {len(keep)} variables would be a table of "
                f"{prod(shape):,} numbers; query fewer variables at once"
            )
        columns = [np.zeros(len(weights), dtype=np.int64), *self.draws[:, list(keep)].T]
        cells, total = joint_states(columns, [1, *shape])
        joint = np.bincount(cells, weights, minlength=total).reshape(shape)
        return np.asarray(joint / len(self.draws))

    def sample(self, num_samples: int, seed: int = 0) -> NDArray[np.uint8]:
        """Draw states ``[num_samples, variables]`` from the joint distribution."""
        count, rng = check_draws(num_samples, seed)
        if not self.is_exact:
            return self._gibbs(count, rng)
        codes = np.zeros((count, len(self.variables)), dtype=np.uint8)
        for factor in self.factors:
            cells = rng.choice(factor.values.size, count, p=factor.values.ravel())
            states = np.unravel_index(cells, factor.values.shape)
            codes[:, list(factor.variables)] = np.stack(states, axis=1)
        return codes

    def _log_probability(self, codes: NDArray[np.int64]) -> float:
        """Return the log-probability under the joint distribution, which must be exact.

        For a network with too many joint states, see :meth:`pseudo_log_likelihood`.
        """
        return float(
            sum(
                np.log(each.values[tuple(codes[:, list(each.variables)].T)]).sum()
                for each in self.factors
            )
        )

    def pseudo_log_likelihood(self, codes: Codes) -> float:
        """Return the sum of the log-probabilities of each variable given all others."""
        codes, _ = check_data(codes, [variable.cardinality for variable in self.variables])
        total = 0.0
        with np.errstate(divide="ignore"):
            for at, positions in enumerate(self._parents):
                rows = self.tables[at].rows(codes[:, list(positions)])
                total += float(np.log(rows[np.arange(len(codes)), codes[:, at]]).sum())
        return total

    def with_tables(self, tables: Sequence[Conditional]) -> Self:
        """Return the same network with other tables of the same variables."""
        return type(self)(self.variables, tables, self.score)

    def samples_around(self, node: VariableId) -> NDArray[np.int64] | None:
        """Return how many samples each combination of the parents, or leaf of a tree, has."""
        seen = self.cpt(node).counts.sum(axis=-1)
        return np.asarray(seen) if seen.any() else None

    def _with_variables(self, variables: Sequence[Variable]) -> Self:
        tables: list[Any] = [
            table.renamed(variables[at], [variables[each] for each in self._parents[at]])
            for at, table in enumerate(self.tables)
        ]
        return type(self)(variables, tables, self.score)


class _Cumulative:
    """The cumulative probabilities of a conditional, without the last, which is 1."""

    def __init__(self, table: Conditional) -> None:
        self._tree: ConditionalTree | None = None
        if isinstance(table, ConditionalTree) and prod(table.shape) > _FEW_CELLS:
            self._tree = replace(table, leaves=np.cumsum(table.leaves, axis=1))
            return
        *sizes, states = table.values.shape
        self._values = np.cumsum(table.values.reshape(-1, states), axis=1)[:, :-1]
        self._steps = np.array([prod(sizes[at + 1 :]) for at in range(len(sizes))], dtype=np.int64)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        """Return the thresholds ``[n, states - 1]`` for parents in these states."""
        if self._tree is not None:
            return self._tree.rows(codes)[:, :-1]
        return np.asarray(self._values[codes @ self._steps])
