"""A Bayesian network over the variables of an explanation.

A Bayesian network is a directed acyclic graph with a table for each variable: its probabilities
given the states of its parents. It can be queried and sampled from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import check_not_negative
from ..errors import InputError
from ..limits import brief
from ..sampling import Variable, VariableId
from ..structure import DAG, Score, as_score
from ..structure.equivalence import CPDAG, cpdag
from ..structure.families import family_scores
from ..structure.scores import check_data, num_folds
from .conditional_table import Codes, ConditionalTable, TableData, conditional_name
from .factors import Factor, eliminate
from .graphical_model import GraphicalModel, check_all, check_draws
from .noisy_or import NoisyOr

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork
    from pyagrum import BayesNet
    from typing_extensions import Self

__all__ = ["BayesianNetwork", "NetworkData"]

_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class NetworkData:
    """Validated data from which the tables of a network are estimated.

    Attributes:
        codes: states ``[n, variables]``.
        known: distributions that are already estimated, by the position of the variable.
    """

    variables: Sequence[Variable]
    dag: DAG
    codes: Codes
    known: Mapping[int, NoisyOr]

    @property
    def tables(self) -> Iterator[TableData]:
        """The data for each table that is not known yet."""
        for at, variable in enumerate(self.variables):
            if at not in self.known:
                parents = self.dag.parents(at)
                family = self.codes[:, [*parents, at]]
                yield variable, tuple(self.variables[parent] for parent in parents), family

    def score(self, tables: Sequence[Any], score: Any) -> float:
        """Return the score of the network with the given tables."""
        if num_folds(score) == 1:
            return sum(table.score(score) for table in tables)
        # A held-out score depends on the rows, and not only on the counts of the tables.
        families = family_scores(self.codes, [each.cardinality for each in self.variables], score)
        return sum(
            table.score(score) if at in self.known else families.family(at, self.dag.parents(at))
            for at, table in enumerate(tables)
        )


class BayesianNetwork(GraphicalModel):
    """A directed acyclic graph with a conditional table for every variable.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> network = explanation.network
        >>> network.edges
        [(0, 2), (0, 1)]
        >>> network.nodes
        [0, 2, 1]
    """

    family = "bayesian"
    title = "Bayesian network"
    neighbour_noun = "parents"
    tables: tuple[ConditionalTable | NoisyOr, ...]

    def __init__(
        self,
        variables: Sequence[Variable],
        dag: DAG,
        tables: Sequence[ConditionalTable | NoisyOr],
        score: float | None = None,
    ) -> None:
        super().__init__(variables, score)
        check_all(tables, (ConditionalTable, NoisyOr), "tables")
        _check_dag(dag, variables)
        if len(tables) != len(variables):
            raise InputError(
                f"a network needs a table for each variable; it has {len(variables)} variables and "
                f"{len(tables)} tables"
            )
        for at, (node, table) in enumerate(zip(self.nodes, tables, strict=True)):
            parents = self._ids(dag.parents(at))
            if (table.variable.id, [parent.id for parent in table.parents]) != (node, parents):
                raise InputError(
                    f"{brief(table)} does not fit the parents {parents} of {brief(node)}"
                )
        self.dag = dag
        self.tables = tuple(tables)

    @classmethod
    def fit(
        cls,
        variables: Sequence[Variable],
        dag: DAG,
        codes: Codes,
        smoothing: float = 0.0,
        score: str | Score = "bic",
        known: Mapping[int, NoisyOr] | None = None,
    ) -> BayesianNetwork:
        """Estimate the tables of a known structure from ``codes [n, variables]``.

        Args:
            known: distributions that are already estimated, by the position of the variable.
        """
        check_all(variables, Variable, "variables")
        _check_dag(dag, variables)
        check_not_negative(smoothing, "smoothing")
        codes, _ = check_data(codes, [variable.cardinality for variable in variables])
        known = known or {}
        return cls.fit_many([NetworkData(variables, dag, codes, known)], smoothing, score)[0]

    @classmethod
    def fit_many(
        cls, data: Sequence[NetworkData], smoothing: float = 0.0, score: str | Score = "bic"
    ) -> list[BayesianNetwork]:
        """Estimate several networks at once, which is faster and gives the same results."""
        chosen = as_score(score)
        fitted = iter(
            ConditionalTable.fit_many([table for each in data for table in each.tables], smoothing)
        )
        networks = []
        for each in data:
            tables = [each.known.get(at) or next(fitted) for at in range(len(each.variables))]
            networks.append(cls(each.variables, each.dag, tables, each.score(tables, chosen)))
        return networks

    @property
    def edges(self) -> list[tuple[VariableId, VariableId]]:
        """The edges as pairs (parent, child)."""
        ids = self.nodes
        return [(ids[parent], ids[child]) for parent, child in self.dag.edges]

    def parents(self, node: VariableId) -> list[VariableId]:
        """Return the parents of a variable."""
        return self._ids(self.dag.parents(self._at(node)))

    def children(self, node: VariableId) -> list[VariableId]:
        """Return the children of a variable."""
        return self._ids(self.dag.children(self._at(node)))

    def markov_blanket(self, node: VariableId) -> list[VariableId]:
        """Return the Markov blanket of a variable: its parents, children and children's parents.

        Given these, the variable is independent of all others.
        """
        return self._ids(self.dag.markov_blanket(self._at(node)))

    def cpt(self, node: VariableId) -> ConditionalTable | NoisyOr:
        """Return the conditional distribution of a variable: a full table, or a noisy-or."""
        return self.tables[self._at(node)]

    @property
    def equivalence_class(self) -> CPDAG:
        """The class of all structures that imply the same independences as this one (a CPDAG)."""
        return cpdag(self.dag)

    @property
    def factorisation(self) -> str:
        """The joint distribution as a product, as written in the paper.

        Examples:
            >>> a, b = Variable("a", False, 2), Variable("b", False, 2)
            >>> codes = np.array([[0, 0], [1, 1]])
            >>> BayesianNetwork.fit([a, b], DAG(2, [(0, 1)]), codes).factorisation
            'P(a) P(b | a)'
        """
        nodes = self.nodes
        return " ".join(
            conditional_name(nodes[at], self._ids(self.dag.parents(at))) for at in self.dag.order
        )

    def sample(self, num_samples: int, seed: int = 0) -> NDArray[np.uint8]:
        """Draw states ``[num_samples, variables]`` from the joint distribution."""
        count, rng = check_draws(num_samples, seed)
        codes = np.zeros((count, len(self.variables)), dtype=np.uint8)
        for at in self.dag.order:
            rows = self.tables[at].rows(codes[:, self.dag.parents(at)])
            thresholds = np.cumsum(rows, axis=1)
            drawn = (rng.random((count, 1)) >= thresholds).sum(axis=1)
            codes[:, at] = np.minimum(drawn, rows.shape[-1] - 1)
        return codes

    def _log_probability(self, codes: NDArray[np.int64]) -> float:
        total = 0.0
        for at, table in enumerate(self.tables):
            rows = table.rows(codes[:, self.dag.parents(at)])
            total += float(np.log(rows[np.arange(len(codes)), codes[:, at]]).sum())
        return total

    def _eliminate(
        self, keep: Sequence[int], evidence: Mapping[int, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return the unnormalised joint distribution of some variables."""
        parts = np.stack([eliminate(factors, keep, evidence) for factors in self._products])
        # A noisy-or is a difference of two products; results as small as its rounding are set to 0.
        total, size = parts.sum(axis=0), abs(parts).sum(axis=0)
        return np.where(total > _ROUNDING * size, total, 0.0)

    @cached_property
    def _products(self) -> list[list[Factor]]:
        """The joint distribution as a sum of products of factors; two products for a noisy-or."""
        terms = [table.terms(at, self.dag.parents(at)) for at, table in enumerate(self.tables)]
        return [[factor for term in chosen for factor in term] for chosen in product(*terms)]

    def with_tables(self, tables: Sequence[ConditionalTable | NoisyOr]) -> Self:
        """Return the same network with other tables of the same variables."""
        return type(self)(self.variables, self.dag, tables, self.score)

    def samples_around(self, node: VariableId) -> NDArray[np.int64] | None:
        """Return how many samples each combination of a variable's parents has.

        It is None for a noisy-or, which does not need every combination.
        """
        table = self.cpt(node)
        if not isinstance(table, ConditionalTable):
            return None
        return np.asarray(table.counts.sum(axis=-1))

    def _with_variables(self, variables: Sequence[Variable]) -> Self:
        tables = [
            table.renamed(variables[at], [variables[parent] for parent in self.dag.parents(at)])
            for at, table in enumerate(self.tables)
        ]
        return type(self)(variables, self.dag, tables, self.score)

    def to_pgmpy(self) -> DiscreteBayesianNetwork:
        """Return a pgmpy network, in which node 304 has the name ``"node_304"``."""
        from .formats.peers import network_to_pgmpy

        return network_to_pgmpy(self)

    def to_pyagrum(self) -> BayesNet:
        """Return a pyAgrum network, in which node 304 has the name ``"node_304"``."""
        from .formats.peers import network_to_pyagrum

        return network_to_pyagrum(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> BayesianNetwork:
        """Return the network of a pgmpy ``DiscreteBayesianNetwork``, without counts.

        Raises:
            InputError: it is another object, or not a network of an explanation.
        """
        from .formats.peers import network_from_pgmpy

        return network_from_pgmpy(model)

    @classmethod
    def from_pyagrum(cls, model: Any) -> BayesianNetwork:
        """Return the network of a pyAgrum ``BayesNet``, without counts.

        Raises:
            InputError: it is another object, or not a network of an explanation.
        """
        from .formats.peers import network_from_pyagrum

        return network_from_pyagrum(model)


def _check_dag(dag: Any, variables: Sequence[Variable]) -> None:
    if not isinstance(dag, DAG) or dag.num_variables != len(variables):
        raise InputError(f"dag must be a DAG of {len(variables)} variables, not {brief(dag)}")
