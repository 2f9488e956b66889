"""A network as in common file formats: plain words, and a table of numbers per variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, prod

import numpy as np

from ...errors import FileError, InputError
from ...limits import NETWORK_VARIABLES, brief
from ...structure import DAG
from ...variables import Variable
from ..bayesian_network import BayesianNetwork
from ..conditional_table import ConditionalTable
from .naming import NETWORK_NAME, name_of, state_words, variable_with, words_for

__all__ = [
    "WordTable",
    "check_count",
    "network_from_words",
    "network_in_words",
    "variable_in_words",
]

_EXACT, _ROUNDED = 1e-9, 1e-4
"""Tolerances for the sum of a row: exact, and after rounding in the file."""


@dataclass(frozen=True)
class WordTable:
    """One variable: its states, its parents, and a row for each configuration of the parents.

    Attributes:
        numbers: all rows one after the other, the last parent's state changing fastest.
    """

    name: str
    states: Sequence[str]
    parents: Sequence[str]
    numbers: Sequence[float]


def network_in_words(network: BayesianNetwork) -> Iterator[WordTable]:
    """Yield the variables of a network in its order."""
    words = words_for(network.nodes)
    for variable in network.variables:
        table = network.cpt(variable.id)
        parents = [words[parent.id] for parent in table.parents]
        numbers = table.values.ravel().tolist()
        yield WordTable(words[variable.id], state_words(variable), parents, numbers)


def network_from_words(tables: Sequence[WordTable], network_name: str) -> BayesianNetwork:
    """Return the network of some tables; words become names only in files of this package.

    Such files contain no counts, so these are 0.

    Raises:
        FileError: the tables are not a network of an explanation.
    """
    ours = network_name == NETWORK_NAME
    variables = [variable_in_words(table.name, table.states, ours) for table in tables]
    at = {table.name: number for number, table in enumerate(tables)}
    for table in tables:
        for parent in table.parents:
            if parent not in at:
                raise FileError(
                    f"a parent of {brief(table.name)} is {brief(parent)}, which is not a variable"
                )
    filled = [
        _filled(table, variable, [at[parent] for parent in table.parents], variables)
        for table, variable in zip(tables, variables, strict=True)
    ]
    edges = [(at[parent], at[table.name]) for table in tables for parent in table.parents]
    try:
        return BayesianNetwork(variables, DAG(len(tables), edges), filled)
    except InputError as error:
        raise FileError(f"this is not a Bayesian network: {error}") from None


def check_count(variables: int) -> None:
    """Check the number of variables.

    Raises:
        FileError: it exceeds the limit, which the message states.
    """
    if variables > NETWORK_VARIABLES:
        raise FileError(
            f"a network may have at most {NETWORK_VARIABLES:,} variables, and this one has more"
        )


def variable_in_words(name: str, states: Sequence[str], ours: bool) -> Variable:
    """Return the variable with this word as its name and these as its states.

    Args:
        ours: whether the word stands for a name, as in networks from this package.
    """
    variable = variable_with(name_of(name) if ours else name, states)
    if variable is None:
        raise FileError(
            f"the states of {brief(name)} are {', '.join(states):.80}: not those of a "
            f"variable of an explanation, such as original_kept, original_changed, perturbed_kept, "
            f"perturbed_changed"
        )
    return variable


def _filled(
    table: WordTable, variable: Variable, parents: list[int], variables: Sequence[Variable]
) -> ConditionalTable:
    """Return the table with its axes in the order of the network's variables."""
    shape = [variables[parent].cardinality for parent in parents] + [variable.cardinality]
    if len(table.numbers) != prod(shape):
        raise FileError(
            f"the table of {brief(table.name)} should have {prod(shape)} numbers, not "
            f"{len(table.numbers)}"
        )
    if not all(isfinite(number) and number >= 0 for number in table.numbers):
        raise FileError(f"the table of {brief(table.name)} should hold probabilities only")
    values = np.array(table.numbers, dtype=np.float64).reshape(shape)
    totals = values.sum(axis=-1, keepdims=True)
    off = float(np.abs(totals - 1).max())
    if off > _ROUNDED:
        raise FileError(f"the probabilities of {brief(table.name)} do not add up to 1 in every row")
    if off > _EXACT:
        values = values / totals
    order = sorted(range(len(parents)), key=parents.__getitem__)
    values = np.ascontiguousarray(values.transpose([*order, len(parents)]))
    sorted_parents = tuple(variables[parents[axis]] for axis in order)
    return ConditionalTable(variable, sorted_parents, values, np.zeros(values.shape, np.int64))
