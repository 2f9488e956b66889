"""A Bayesian network over the variables of an explanation.

A Bayesian network is a directed acyclic graph with a table for each variable: its probabilities
given the states of its parents. It can be queried and sampled from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import as_array, as_list, check_not_negative, check_whole_number, items_of
from ..errors import InputError, QueryError
from ..limits import brief
from ..sampling import Variable, VariableId
from ..structure import DAG, Score, as_score, check_data
from .conditional_table import ConditionalTable, TableData
from .equivalence import CPDAG, cpdag
from .factors import Factor, eliminate
from .noisy_or import NoisyOr

if TYPE_CHECKING:
    from os import PathLike

    from networkx import DiGraph
    from pgmpy.models import DiscreteBayesianNetwork
    from pyagrum import BayesNet

__all__ = ["BayesianNetwork", "NetworkData"]

Codes = NDArray[np.integer[Any]]
_ROUNDING = 1e-13
_MOST_SAMPLES = 10**9


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


class BayesianNetwork:
    """A directed acyclic graph with a conditional table for every variable.

    A variable has an id: the index or name of a node, or ``"graph"`` in a graph task.
    """

    def __init__(
        self,
        variables: Sequence[Variable],
        dag: DAG,
        tables: Sequence[ConditionalTable | NoisyOr],
        score: float | None = None,
    ) -> None:
        _check_all(variables, Variable, "variables")
        _check_all(tables, (ConditionalTable, NoisyOr), "tables")
        _check_dag(dag, variables)
        ids = [variable.id for variable in variables]
        if not len(ids) == len(set(ids)) == len(tables):
            raise InputError(
                f"a network needs distinct variables and a table for each of them; it has "
                f"{len(ids)} variables, {len(set(ids))} distinct ids and {len(tables)} tables"
            )
        for at, table in enumerate(tables):
            expected = (ids[at], [ids[parent] for parent in dag.parents(at)])
            if (table.variable.id, [parent.id for parent in table.parents]) != expected:
                raise InputError(
                    f"{brief(table)} does not fit the parents {expected[1]} of {brief(ids[at])}"
                )
        self.variables = tuple(variables)
        self.dag = dag
        self.score = score
        self._tables = tuple(tables)
        self._index = {variable.id: at for at, variable in enumerate(variables)}

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
        _check_all(variables, Variable, "variables")
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
            total = sum(table.score(chosen) for table in tables)
            networks.append(cls(each.variables, each.dag, tables, total))
        return networks

    @property
    def nodes(self) -> list[VariableId]:
        """The ids of the variables."""
        return [variable.id for variable in self.variables]

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
        return self._tables[self._at(node)]

    def variable(self, node: VariableId) -> Variable:
        """Return the variable with this id."""
        return self.variables[self._at(node)]

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
        terms = []
        for at in self.dag.order:
            given = ", ".join(str(parent) for parent in self._ids(self.dag.parents(at)))
            terms.append(f"P({self.nodes[at]}{' | ' + given if given else ''})")
        return " ".join(terms)

    def query(
        self,
        nodes: VariableId | Sequence[VariableId],
        evidence: Mapping[VariableId, Any] | None = None,
    ) -> NDArray[np.float64]:
        """Return the joint distribution of some variables, given evidence about others.

        Args:
            nodes: one variable or several; the result has an axis for each.
            evidence: the evidence for each variable, as in
                :meth:`~pgm_explainer.sampling.Variable.matching`. It may be partial: for example,
                that a node is perturbed, but not whether its prediction changed.

        Raises:
            QueryError: unknown variable, invalid evidence, or evidence with probability 0.
        """
        # A tuple may be the id of a single variable, such as a pair of nodes.
        several = None if self._has(nodes) or isinstance(nodes, str) else as_list(nodes)
        queried: list[Any] = [nodes] if several is None else several
        keep = [self._at(node) for node in queried]
        if len(set(keep)) < len(keep):
            raise QueryError(f"the queried variables must be distinct, not {queried}")
        joint = self._eliminate(keep, self._weights(evidence))
        total = joint.sum()
        if not total > 0:
            raise QueryError(f"the evidence {brief(evidence)} has probability 0 in the network")
        return np.asarray(joint / total)

    def probability(self, evidence: Mapping[VariableId, Any]) -> float:
        """Return the probability of ``evidence``."""
        return float(self._eliminate([], self._weights(evidence)))

    def sample(self, num_samples: int, seed: int = 0) -> NDArray[np.uint8]:
        """Draw states ``[num_samples, variables]`` from the joint distribution."""
        count = check_whole_number(num_samples, "num_samples", at_least=1)
        if count > _MOST_SAMPLES:
            raise InputError(f"num_samples must be at most {_MOST_SAMPLES}, not {count}")
        rng = np.random.default_rng(check_whole_number(seed, "seed", at_least=0))
        codes = np.zeros((count, len(self.variables)), dtype=np.uint8)
        for at in self.dag.order:
            rows = self._tables[at].rows(codes[:, self.dag.parents(at)])
            thresholds = np.cumsum(rows, axis=1)
            drawn = (rng.random((count, 1)) >= thresholds).sum(axis=1)
            codes[:, at] = np.minimum(drawn, rows.shape[-1] - 1)
        return codes

    def log_likelihood(self, codes: Codes) -> float:
        """Return the log-probability of data ``[n, variables]`` under this network.

        Raises:
            InputError: the data have a wrong number of columns, or invalid states.
        """
        shape = as_array(codes, "data").shape
        if shape[1:] != (len(self.variables),):
            raise InputError(
                f"data must have a column for each of the {len(self.variables)} variables of the "
                f"network ({', '.join(map(str, self.nodes))}), not shape {shape}"
            )
        codes, _ = check_data(codes, [variable.cardinality for variable in self.variables])
        total = 0.0
        with np.errstate(divide="ignore"):
            for at, table in enumerate(self._tables):
                rows = table.rows(codes[:, self.dag.parents(at)])
                total += float(np.log(rows[np.arange(len(codes)), codes[:, at]]).sum())
        return total

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BayesianNetwork)
            and (self.variables, self.dag, self.score) == (other.variables, other.dag, other.score)
            and self._tables == other._tables
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.factorisation})"

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
        terms = [table.terms(at, self.dag.parents(at)) for at, table in enumerate(self._tables)]
        return [[factor for term in chosen for factor in term] for chosen in product(*terms)]

    def renamed(self, names: Mapping[VariableId, VariableId]) -> BayesianNetwork:
        """Return the same network with new names for some of its variables."""
        if not isinstance(names, Mapping):
            raise InputError(f"names must be a mapping from old to new names, not {brief(names)}")
        new = dict(items_of(names, "names"))

        def rename(variable: Variable) -> Variable:
            return replace(variable, id=new.get(variable.id, variable.id))

        tables = [
            table.renamed(rename(table.variable), [rename(parent) for parent in table.parents])
            for table in self._tables
        ]
        return BayesianNetwork(
            [rename(variable) for variable in self.variables], self.dag, tables, self.score
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write this network to a ``.bif`` or ``.xmlbif`` file, without counts."""
        from .formats.network_file import save_network

        save_network(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> BayesianNetwork:
        """Read a network of an explanation from a ``.bif`` or ``.xmlbif`` file.

        Raises:
            FileError: the file cannot be read, or is not a network of an explanation.
        """
        from .formats.network_file import load_network

        return load_network(path)

    def to_dot(self) -> str:
        """Return the network in the DOT language of Graphviz."""
        from .formats.graphs import network_to_dot

        return network_to_dot(self)

    def to_networkx(self) -> DiGraph:
        """Return a ``networkx.DiGraph`` with the tables as node attributes.

        These are ``states``, ``parents``, ``probabilities`` and ``counts``, as in :meth:`cpt`.
        """
        from .formats.graphs import network_to_networkx

        return network_to_networkx(self)

    def to_pgmpy(self) -> DiscreteBayesianNetwork:
        """Return a pgmpy network, in which node 304 has the name ``"node_304"``."""
        from .formats.peers import network_to_pgmpy

        return network_to_pgmpy(self)

    def to_pyagrum(self) -> BayesNet:
        """Return a pyAgrum network, in which node 304 has the name ``"node_304"``."""
        from .formats.peers import network_to_pyagrum

        return network_to_pyagrum(self)

    def _weights(self, evidence: Mapping[VariableId, Any] | None) -> dict[int, NDArray[np.float64]]:
        """Return which states agree with the evidence, for each variable with evidence."""
        if evidence is not None and not isinstance(evidence, Mapping):
            raise QueryError(
                f"evidence must be a mapping from variables to states, such as {{300: 'kept'}}, "
                f"not {brief(evidence)}"
            )
        return {
            self._at(node): self.variable(node).matching(known).astype(np.float64)
            for node, known in items_of({} if evidence is None else evidence, "evidence")
        }

    def _has(self, node: Any) -> bool:
        try:
            return node in self._index
        except Exception:  # not hashable, such as a list; an object's own hash may raise anything
            return False

    def _at(self, node: VariableId) -> int:
        try:
            return self._index[node]
        except Exception:  # unknown, or not hashable
            known = ", ".join(repr(each) for each in self._index)
            raise QueryError(
                f"{brief(node)} is not in the network; its nodes are {known}"
            ) from None

    def _ids(self, positions: Sequence[int]) -> list[VariableId]:
        return [self.variables[at].id for at in positions]


def _check_all(items: Any, kind: type | tuple[type, ...], what: str) -> None:
    """Raise an InputError unless this is a sequence of objects of the given type."""
    usable = isinstance(items, Sequence) and not isinstance(items, (str, bytes))
    if not usable or not all(isinstance(each, kind) for each in items):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(each.__name__ for each in kinds)
        raise InputError(f"{what} must be a list of {names} objects, not {brief(items)}")


def _check_dag(dag: Any, variables: Sequence[Variable]) -> None:
    if not isinstance(dag, DAG) or dag.num_variables != len(variables):
        raise InputError(f"dag must be a DAG of {len(variables)} variables, not {brief(dag)}")
