"""A Markov network over the variables of an explanation.

A Markov network is an undirected graph with a potential for each clique. Two variables without an
edge are independent given all others. If the graph is chordal, the network is *decomposable*: the
maximum-likelihood estimate has a closed form, and a Bayesian network has the same distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import check_flag, check_not_negative
from ..errors import InputError
from ..limits import brief
from ..sampling import Variable, VariableId
from ..structure import DAG, Score, UndirectedGraph
from ..structure.scores import as_plain_score, check_data
from ..variables import joint_states
from .bayesian_network import BayesianNetwork
from .clique_table import CliqueTable, check_cells
from .conditional_table import Codes, ConditionalTable
from .factors import Factor, eliminate
from .graphical_model import GraphicalModel, check_all
from .proportional_fitting import fit_proportionally

if TYPE_CHECKING:
    from pgmpy.models import DiscreteMarkovNetwork
    from pyagrum import MarkovRandomField
    from typing_extensions import Self

__all__ = ["MarkovNetwork"]


class MarkovNetwork(GraphicalModel):
    """An undirected graph with a potential for each clique.

    Attributes:
        graph: its edges, between the positions of variables.
        tables: the potentials. Those of a network that was learned as a decomposable one are
            products of conditional probabilities.

    Examples:
        >>> a, b = Variable("a", False, 2), Variable("b", False, 2)
        >>> network = MarkovNetwork([a, b], [CliqueTable.of([a, b], np.array([[3.0, 1], [1, 3]]))])
        >>> network.query("b", {"a": "changed"}).tolist(), network.markov_blanket("a")
        ([0.25, 0.75], ['b'])
    """

    family = "markov"
    title = "Markov network"
    neighbour_noun = "neighbours"
    tables: tuple[CliqueTable, ...]

    def __init__(
        self,
        variables: Sequence[Variable],
        tables: Sequence[CliqueTable],
        score: float | None = None,
    ) -> None:
        super().__init__(variables, score)
        check_all(tables, CliqueTable, "tables")
        self.tables = tuple(tables)
        self._scopes = [self._scope(table) for table in tables]
        if {at for scope in self._scopes for at in scope} != set(range(len(variables))):
            raise InputError("a Markov network needs a potential for each of its variables")
        pairs = [(u, v) for scope in self._scopes for u in scope for v in scope if u < v]
        self.graph = UndirectedGraph(len(variables), tuple(pairs))

    def _scope(self, table: CliqueTable) -> tuple[int, ...]:
        """Return the positions of a table's variables."""
        scope = tuple(self._index.get(variable.id, -1) for variable in table.variables)
        if -1 in scope or [self.variables[at] for at in scope] != list(table.variables):
            raise InputError(f"{brief(table)} has a variable that the network does not have")
        if len(set(scope)) < len(scope):
            raise InputError(f"{brief(table)} has a variable twice")
        return scope

    @classmethod
    def fit(
        cls,
        variables: Sequence[Variable],
        graph: UndirectedGraph,
        codes: Codes,
        smoothing: float = 0.0,
        score: str | Score = "bic",
        pairwise: bool = False,
    ) -> MarkovNetwork:
        """Estimate the potentials of a known graph from ``codes [n, variables]``.

        Args:
            variables: the variables.
            graph: a chordal graph gives the maximum-likelihood estimate in closed form. Another
                graph is fitted iteratively to the frequencies of its cliques.
            codes: their states.
            smoothing: pseudocount added to every count.
            score: the score of the network.
            pairwise: whether potentials are of pairs only.
        """
        check_all(variables, Variable, "variables")
        if not isinstance(graph, UndirectedGraph) or graph.num_variables != len(variables):
            raise InputError(
                f"graph must be an UndirectedGraph of {len(variables)} variables, not "
                f"{brief(graph)}"
            )
        check_flag(pairwise, "pairwise")
        check_not_negative(smoothing, "smoothing")
        smoothing = float(smoothing)  # a Fraction is a number, but not for NumPy
        codes, sizes = check_data(codes, [variable.cardinality for variable in variables])
        chosen = as_plain_score(score)
        if graph.is_chordal and not (pairwise and max(map(len, graph.cliques)) > 2):
            return cls._fit_chordal(variables, graph, codes, smoothing, chosen)
        return cls._fit_cyclic(variables, graph, codes, sizes, smoothing, chosen, pairwise)

    @classmethod
    def _fit_chordal(
        cls,
        variables: Sequence[Variable],
        graph: UndirectedGraph,
        codes: Codes,
        smoothing: float,
        score: Score,
    ) -> MarkovNetwork:
        """Multiply the conditional tables of a perfect orientation within each clique."""
        dag = graph.oriented()
        families = [(*dag.parents(at), at) for at in range(len(variables))]
        fitted = ConditionalTable.fit_many(
            [
                (variables[at], tuple(variables[parent] for parent in parents), codes[:, family])
                for family in map(list, families)
                for *parents, at in [family]
            ],
            smoothing,
        )
        total = sum(table.score(score) for table in fitted)
        remaining = dict(enumerate(families))
        tables = []
        for clique in graph.cliques:
            inside = [at for at, family in remaining.items() if set(family) <= set(clique)]
            factors = [Factor(remaining.pop(at), fitted[at].values) for at in inside]
            values = eliminate(factors, clique, {}) if factors else np.ones(())
            counts = _count(codes, clique, variables)
            values = np.ascontiguousarray(np.broadcast_to(values, counts.shape))
            tables.append(CliqueTable(tuple(variables[at] for at in clique), values, counts))
        return cls(variables, tables, total)

    @classmethod
    def _fit_cyclic(
        cls,
        variables: Sequence[Variable],
        graph: UndirectedGraph,
        codes: Codes,
        sizes: Sequence[int],
        smoothing: float,
        score: Score,
        pairwise: bool,
    ) -> MarkovNetwork:
        """Fit the frequencies of all cliques, or of all pairs, iteratively."""
        joined = {at for edge in graph.edges for at in edge}
        alone = tuple((at,) for at in range(len(variables)) if at not in joined)
        scopes = (*graph.edges, *alone) if pairwise else graph.cliques
        counts = [_count(codes, scope, variables) for scope in scopes]
        fitted = fit_proportionally(graph, scopes, counts, sizes, smoothing)
        tables = [
            CliqueTable(tuple(variables[at] for at in scope), values, seen)
            for scope, values, seen in zip(scopes, fitted, counts, strict=True)
        ]
        found = cls(variables, tables)
        found.score = found._penalised(codes, score)
        return found

    def _penalised(self, codes: Codes, score: Score) -> float:
        """Return the log-likelihood minus the penalty of a graph that is not chordal.

        The number of parameters is that of a log-linear model: one for each joint state, other than
        the first, of every set of variables within a potential.
        """
        subsets: set[frozenset[int]] = set()
        for scope in self._scopes:
            for mask in range(1, 1 << len(scope)):
                subsets.add(frozenset(at for bit, at in enumerate(scope) if mask >> bit & 1))
        free = sum(
            int(np.prod([self.variables[at].cardinality - 1 for at in each])) for each in subsets
        )
        return self.log_likelihood(codes) - float(score.penalty(free, 2, len(codes)))

    @property
    def edges(self) -> list[tuple[VariableId, VariableId]]:
        """The edges as pairs of ids, in the order of the variables."""
        ids = self.nodes
        return [(ids[u], ids[v]) for u, v in self.graph.edges]

    @property
    def cliques(self) -> list[tuple[VariableId, ...]]:
        """The maximal cliques of the graph."""
        return [tuple(self._ids(clique)) for clique in self.graph.cliques]

    @property
    def is_decomposable(self) -> bool:
        """Whether the graph is chordal, so that a Bayesian network has the same independences."""
        return self.graph.is_chordal

    def neighbours(self, node: VariableId) -> list[VariableId]:
        """Return the variables joined to a variable."""
        return self._ids(self.graph.neighbours(self._at(node)))

    def markov_blanket(self, node: VariableId) -> list[VariableId]:
        """Return the Markov blanket of a variable: its neighbours.

        Given these, the variable is independent of all others.
        """
        return self.neighbours(node)

    @property
    def factorisation(self) -> str:
        """The joint distribution as a product of potentials.

        Examples:
            >>> a, b = Variable("a", False, 2), Variable("b", False, 2)
            >>> codes = np.array([[0, 0], [1, 1]])
            >>> MarkovNetwork.fit([a, b], UndirectedGraph(2, [(0, 1)]), codes).factorisation
            'φ(a, b)'
        """
        scopes = (", ".join(str(each.id) for each in table.variables) for table in self.tables)
        return " ".join(f"φ({scope})" for scope in scopes)

    @cached_property
    def partition(self) -> float:
        """The sum of the product of all potentials over all joint states.

        Raises:
            InputError: it is 0 or not finite, so the potentials do not define a distribution.
        """
        total = float(eliminate(self._factors, [], {}))
        if not 0 < total < np.inf:
            raise InputError(f"the potentials sum to {total:g}, which cannot be normalised")
        return total

    @cached_property
    def _factors(self) -> list[Factor]:
        return [
            Factor(scope, table.values)
            for scope, table in zip(self._scopes, self.tables, strict=True)
        ]

    @property
    def factors(self) -> list[Factor]:
        """Factors whose product is the joint distribution."""
        first, *others = self._factors
        return [Factor(first.variables, first.values / self.partition), *others]

    def _eliminate(
        self, keep: Sequence[int], evidence: Mapping[int, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        return np.asarray(eliminate(self._factors, keep, evidence) / self.partition)

    def to_bayesian(self) -> BayesianNetwork:
        """Return a Bayesian network with the same distribution.

        Its graph is a perfect orientation of this one, which is triangulated first if it is not
        chordal. The tables have no counts.
        """
        dag = self.graph.triangulated().oriented()
        tables = [self._conditional(at, dag) for at in range(len(self.variables))]
        return BayesianNetwork(self.variables, dag, tables, self.score)

    def _conditional(self, at: int, dag: DAG) -> ConditionalTable:
        joint = self._eliminate([*dag.parents(at), at], {})
        totals = joint.sum(axis=-1, keepdims=True)
        values = np.where(totals > 0, joint, 1.0)
        values = values / values.sum(axis=-1, keepdims=True)
        parents = tuple(self.variables[parent] for parent in dag.parents(at))
        return ConditionalTable(
            self.variables[at], parents, values, np.zeros(values.shape, np.int64)
        )

    def sample(self, num_samples: int, seed: int = 0) -> NDArray[np.uint8]:
        """Draw states ``[num_samples, variables]`` from the joint distribution."""
        return self.to_bayesian().sample(num_samples, seed)

    def _log_probability(self, codes: NDArray[np.int64]) -> float:
        total = -len(codes) * np.log(self.partition)
        for scope, table in zip(self._scopes, self.tables, strict=True):
            total += np.log(table.values[tuple(codes[:, list(scope)].T)]).sum()
        return float(total)

    def with_tables(self, tables: Sequence[CliqueTable]) -> Self:
        """Return the same network with other potentials of the same variables."""
        return type(self)(self.variables, tables, self.score)

    def samples_around(self, node: VariableId) -> NDArray[np.int64] | None:
        """Return how many samples each combination of the other variables of a clique has.

        If a variable is in several cliques, the one with the most joint states is used.
        """
        at = self._at(node)
        own = [pair for pair in zip(self._scopes, self.tables, strict=True) if at in pair[0]]
        scope, table = max(own, key=lambda pair: pair[1].counts.size)
        return np.asarray(table.counts.sum(axis=scope.index(at))) if table.counts.any() else None

    def _with_variables(self, variables: Sequence[Variable]) -> Self:
        tables = [
            table.with_variables([variables[at] for at in scope])
            for scope, table in zip(self._scopes, self.tables, strict=True)
        ]
        return type(self)(variables, tables, self.score)

    def to_pgmpy(self) -> DiscreteMarkovNetwork:
        """Return a pgmpy network, in which node 304 has the name ``"node_304"``."""
        from .formats.peers import markov_to_pgmpy

        return markov_to_pgmpy(self)

    def to_pyagrum(self) -> MarkovRandomField:
        """Return a pyAgrum network, in which node 304 has the name ``"node_304"``."""
        from .formats.peers import markov_to_pyagrum

        return markov_to_pyagrum(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> MarkovNetwork:
        """Return the network of a pgmpy ``DiscreteMarkovNetwork``."""
        from .formats.peers import markov_from_pgmpy

        return markov_from_pgmpy(model)

    @classmethod
    def from_pyagrum(cls, model: Any) -> MarkovNetwork:
        """Return the network of a pyAgrum ``MarkovRandomField``."""
        from .formats.peers import markov_from_pyagrum

        return markov_from_pyagrum(model)


def _count(codes: Codes, scope: Sequence[int], variables: Sequence[Variable]) -> NDArray[np.int64]:
    """Return how often each joint state of some variables occurs."""
    sizes = [variables[at].cardinality for at in scope]
    check_cells(sizes, f"a clique of {len(scope)} variables")
    cells, total = joint_states([codes[:, at] for at in scope], sizes)
    return np.bincount(cells, minlength=total).reshape(sizes)
