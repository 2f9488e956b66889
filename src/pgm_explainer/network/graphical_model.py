"""What Bayesian, Markov and dependency networks have in common.

Each is a joint distribution of the variables of an explanation, with a graph that says which of
them depend on each other directly. Each family is a subclass in a separate file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import as_array, as_list, check_whole_number, items_of
from ..errors import InputError, QueryError
from ..limits import brief
from ..sampling import Variable, VariableId
from ..structure.scores import check_data
from .conditional_table import Codes

if TYPE_CHECKING:
    from os import PathLike

    from networkx import DiGraph, Graph
    from typing_extensions import Self

__all__ = ["GraphicalModel", "check_all", "check_draws"]

_MOST_SAMPLES = 10**9


class GraphicalModel(ABC):
    """A joint distribution of variables, with a graph of direct dependences.

    A variable has an id: the index or name of a node, or ``"graph"`` in a graph task.

    Attributes:
        family: ``bayesian``, ``markov`` or ``dependency``.
        title: the family in words.
        neighbour_noun: the word for the variables that a variable directly depends on, ``parents``
            or ``neighbours``.
        tables: the tables that the distribution is made of.
        score: the score of the network on the data it was learned from; None if unknown.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.network import CliqueTable, GraphicalModel, MarkovNetwork
        >>> from pgm_explainer.sampling import Variable
        >>> a, b = Variable("a", False, 2), Variable("b", False, 2)
        >>> network = MarkovNetwork([a, b], [CliqueTable.of([a, b], np.array([[3.0, 1], [1, 3]]))])
        >>> isinstance(network, GraphicalModel), network.family, network.nodes
        (True, 'markov', ['a', 'b'])
        >>> network.query("b", {"a": "changed"}).tolist()
        [0.25, 0.75]
    """

    family: ClassVar[str]
    title: ClassVar[str]
    neighbour_noun: ClassVar[str]
    tables: tuple[Any, ...]
    score: float | None

    def __init__(self, variables: Sequence[Variable], score: float | None = None) -> None:
        check_all(variables, Variable, "variables")
        self.variables = tuple(variables)
        self.score = score
        self._index = {variable.id: at for at, variable in enumerate(variables)}
        if len(self._index) < len(variables):
            raise InputError(
                f"a network needs distinct variables; it has {len(variables)} variables and "
                f"{len(self._index)} distinct ids"
            )

    @property
    def nodes(self) -> list[VariableId]:
        """The ids of the variables."""
        return [variable.id for variable in self.variables]

    @property
    @abstractmethod
    def edges(self) -> list[tuple[VariableId, VariableId]]:
        """The edges as pairs of ids; of a directed edge, the parent is first."""

    @abstractmethod
    def markov_blanket(self, node: VariableId) -> list[VariableId]:
        """Return the variables that make a variable independent of all others."""

    @abstractmethod
    def with_tables(self, tables: Sequence[Any]) -> Self:
        """Return the same network with other tables of the same variables."""

    @abstractmethod
    def samples_around(self, node: VariableId) -> NDArray[np.int64] | None:
        """Return how many samples each combination of a variable's parents or neighbours has.

        It is None if they were not counted.
        """

    @property
    @abstractmethod
    def factorisation(self) -> str:
        """The distribution as a formula."""

    def variable(self, node: VariableId) -> Variable:
        """Return the variable with this id."""
        return self.variables[self._at(node)]

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

    @abstractmethod
    def _eliminate(
        self, keep: Sequence[int], evidence: Mapping[int, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return the joint probability of some variables and the evidence.

        Args:
            keep: the positions of the variables; the result has an axis for each.
            evidence: a weight for each state of a variable, by its position.
        """

    @abstractmethod
    def sample(self, num_samples: int, seed: int = 0) -> NDArray[np.uint8]:
        """Draw states ``[num_samples, variables]`` from the joint distribution."""

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
        with np.errstate(divide="ignore"):
            return self._log_probability(codes)

    @abstractmethod
    def _log_probability(self, codes: NDArray[np.int64]) -> float:
        """Return the log-probability of valid data; -inf if it is impossible."""

    def renamed(self, names: Mapping[VariableId, VariableId]) -> Self:
        """Return the same network with new names for some of its variables."""
        if not isinstance(names, Mapping):
            raise InputError(f"names must be a mapping from old to new names, not {brief(names)}")
        new = dict(items_of(names, "names"))
        variables = [replace(each, id=new.get(each.id, each.id)) for each in self.variables]
        return self._with_variables(variables)

    @abstractmethod
    def _with_variables(self, variables: Sequence[Variable]) -> Self:
        """Return the same network of other variables with the same states."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write this network to a file, in the format of its extension.

        ``.json`` holds any network exactly. ``.bif`` and ``.xmlbif`` hold Bayesian networks and
        ``.uai`` Markov networks, without counts.
        """
        from .formats.network_file import save_network

        save_network(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a network of this family from a file; see :meth:`save`.

        Raises:
            FileError: the file cannot be read, or is not such a network of an explanation.
        """
        from .formats.network_file import load_network

        return load_network(path, cls)

    def to_dot(self) -> str:
        """Return the network in the DOT language of Graphviz."""
        from .formats.graphs import network_to_dot

        return network_to_dot(self)

    def to_networkx(self) -> DiGraph | Graph:
        """Return a ``networkx`` graph; see :mod:`pgm_explainer.network` for its attributes."""
        from .formats.graphs import network_to_networkx

        return network_to_networkx(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.factorisation})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GraphicalModel)
            and self.family == other.family
            and (self.variables, self.tables, self.score)
            == (other.variables, other.tables, other.score)
        )

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


def check_all(items: Any, kind: type | tuple[type, ...], what: str) -> None:
    """Raise an InputError unless this is a sequence of objects of the given type."""
    usable = isinstance(items, Sequence) and not isinstance(items, (str, bytes))
    if not usable or not all(isinstance(each, kind) for each in items):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(each.__name__ for each in kinds)
        raise InputError(f"{what} must be a list of {names} objects, not {brief(items)}")


def check_draws(num_samples: int, seed: int) -> tuple[int, np.random.Generator]:
    """Return a valid number of samples to draw, and the random numbers of a seed."""
    count = check_whole_number(num_samples, "num_samples", at_least=1)
    if count > _MOST_SAMPLES:
        raise InputError(f"num_samples must be at most {_MOST_SAMPLES}, not {count}")
    return count, np.random.default_rng(check_whole_number(seed, "seed", at_least=0))
