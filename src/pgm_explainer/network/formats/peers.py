"""Networks as objects of pgmpy and pyAgrum, with variables and states named by words.

Neither package has dependency networks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError, InputError, PGMExplainerError
from ...limits import brief
from ...variables import Variable
from ..bayesian_network import BayesianNetwork
from ..clique_table import CliqueTable
from ..markov_network import MarkovNetwork
from .naming import NETWORK_NAME, state_words, words_for
from .tables import WordTable, network_from_words, network_in_words, variable_in_words

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork, DiscreteMarkovNetwork
    from pyagrum import BayesNet, MarkovRandomField

__all__ = [
    "markov_from_pgmpy",
    "markov_from_pyagrum",
    "markov_to_pgmpy",
    "markov_to_pyagrum",
    "network_from_pgmpy",
    "network_from_pyagrum",
    "network_to_pgmpy",
    "network_to_pyagrum",
]


def _pgmpy() -> Any:
    try:
        import pgmpy.factors.discrete
        import pgmpy.models
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise PGMExplainerError(f"this needs pgmpy: pip install pgmpy ({error})") from error
    return pgmpy


def _pyagrum() -> Any:
    try:
        import pyagrum
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise PGMExplainerError(f"this needs pyAgrum: pip install pyagrum ({error})") from error
    return pyagrum


def network_to_pgmpy(network: BayesianNetwork) -> DiscreteBayesianNetwork:
    """Return a pgmpy network with the same edges and tables."""
    pgmpy = _pgmpy()
    tables = {table.name: table for table in network_in_words(network)}
    model = pgmpy.models.DiscreteBayesianNetwork()
    model.name = NETWORK_NAME
    model.add_nodes_from(tables)
    for table in tables.values():
        model.add_edges_from((parent, table.name) for parent in table.parents)
        model.add_cpds(
            pgmpy.factors.discrete.TabularCPD(
                table.name,
                len(table.states),
                np.reshape(table.numbers, (-1, len(table.states))).T,
                evidence=list(table.parents),
                evidence_card=[len(tables[parent].states) for parent in table.parents],
                state_names={
                    name: list(tables[name].states) for name in (table.name, *table.parents)
                },
            )
        )
    return model


def network_from_pgmpy(model: Any) -> BayesianNetwork:
    """Return the network of a pgmpy ``DiscreteBayesianNetwork``."""
    _check(model, _pgmpy().models.DiscreteBayesianNetwork)
    tables = []
    for table in model.get_cpds():
        name, *parents = table.variables
        values = np.moveaxis(np.asarray(table.values, dtype=np.float64), 0, -1)
        states = [str(state) for state in table.state_names[name]]
        given = [str(each) for each in parents]
        tables.append(WordTable(str(name), states, given, values.ravel().tolist()))
    return _of_words(tables, str(model.name or ""))


def network_to_pyagrum(network: BayesianNetwork) -> BayesNet:
    """Return a pyAgrum network with the same edges and tables."""
    gum = _pyagrum()
    tables = list(network_in_words(network))
    model = gum.BayesNet(NETWORK_NAME)
    for table in tables:
        model.add(gum.LabelizedVariable(table.name, table.name, list(table.states)))
    for table in tables:
        # The last parent first: in pyAgrum the states of the first parent change fastest.
        for parent in reversed(table.parents):
            model.addArc(parent, table.name)
        model.cpt(table.name).fillWith(list(table.numbers))
    return model


def network_from_pyagrum(model: Any) -> BayesianNetwork:
    """Return the network of a pyAgrum ``BayesNet``."""
    _check(model, _pyagrum().BayesNet)
    tables = []
    for number in sorted(model.nodes()):
        table, variable = model.cpt(number), model.variable(number)
        # The axes of the array are the table's variables in reverse: parents, the variable last.
        *parents, _ = reversed([each.name() for each in table.variablesSequence()])
        tables.append(
            WordTable(
                variable.name(), list(variable.labels()), parents, table.toarray().ravel().tolist()
            )
        )
    return _of_words(
        tables, model.property("name") if model.propertyWithDefault("name", "") else ""
    )


def _of_words(tables: Sequence[WordTable], name: str) -> BayesianNetwork:
    try:
        return network_from_words(tables, name)
    except FileError as error:
        raise InputError(str(error)) from None


def _check(model: Any, kind: type) -> None:
    if not isinstance(model, kind):
        raise InputError(f"this needs a {kind.__name__}, not {brief(model)}")


def _in_words(network: MarkovNetwork) -> Iterator[tuple[list[str], NDArray[np.float64]]]:
    """Yield the names and the values of each potential."""
    words = words_for(network.nodes)
    for table in network.tables:
        yield [words[variable.id] for variable in table.variables], table.values


def markov_to_pgmpy(network: MarkovNetwork) -> DiscreteMarkovNetwork:
    """Return a pgmpy network with the same edges and potentials."""
    pgmpy = _pgmpy()
    words = words_for(network.nodes)
    states = {words[each.id]: state_words(each) for each in network.variables}
    model = pgmpy.models.DiscreteMarkovNetwork()
    model.name = NETWORK_NAME
    model.add_nodes_from(states)
    model.add_edges_from((words[u], words[v]) for u, v in network.edges)
    for names, values in _in_words(network):
        model.add_factors(
            pgmpy.factors.discrete.DiscreteFactor(
                names,
                list(values.shape),
                values.copy(),
                state_names={name: states[name] for name in names},
            )
        )
    return model


def markov_from_pgmpy(model: Any) -> MarkovNetwork:
    """Return the network of a pgmpy ``DiscreteMarkovNetwork``."""
    _check(model, _pgmpy().models.DiscreteMarkovNetwork)
    states: dict[str, list[str]] = {str(name): [] for name in model.nodes()}
    factors = []
    for factor in model.get_factors():
        names = [str(name) for name in factor.variables]
        for name in factor.variables:
            states[str(name)] = [str(state) for state in factor.state_names[name]]
        factors.append((names, np.asarray(factor.values, dtype=np.float64)))
    return _markov_of_words(states, factors, str(model.name or ""))


def markov_to_pyagrum(network: MarkovNetwork) -> MarkovRandomField:
    """Return a pyAgrum network with the same edges and potentials.

    pyAgrum allows one potential for each set of variables, so those of the same set are multiplied.
    """
    gum = _pyagrum()
    words = words_for(network.nodes)
    model = gum.MarkovRandomField(NETWORK_NAME)
    for each in network.variables:
        model.add(gum.LabelizedVariable(words[each.id], words[each.id], state_words(each)))
    joined: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for names, values in _in_words(network):
        order = np.argsort(names)
        key = tuple(names[at] for at in order)
        joined[key] = joined.get(key, 1.0) * values.transpose(order)
    for scope, values in joined.items():
        factor = gum.Tensor()
        for name in reversed(scope):  # the first variable of a tensor changes fastest
            factor.add(model.variable(name))
        factor.fillWith(values.ravel().tolist())
        model.addFactor(factor)
    return model


def markov_from_pyagrum(model: Any) -> MarkovNetwork:
    """Return the network of a pyAgrum ``MarkovRandomField``."""
    _check(model, _pyagrum().MarkovRandomField)
    ordered = [model.variable(number) for number in sorted(model.nodes())]
    states = {variable.name(): list(variable.labels()) for variable in ordered}
    factors = []
    for scope in model.factors():
        factor = model.factor(scope)
        names = [each.name() for each in reversed(factor.variablesSequence())]
        factors.append((names, factor.toarray()))
    return _markov_of_words(states, factors, model.propertyWithDefault("name", ""))


def _markov_of_words(
    states: dict[str, list[str]],
    factors: Sequence[tuple[list[str], NDArray[np.float64]]],
    name: str,
) -> MarkovNetwork:
    """Return the network of potentials by words."""
    ours = name == NETWORK_NAME
    try:
        variables: dict[str, Variable] = {
            each: variable_in_words(each, its, ours) for each, its in states.items()
        }
    except FileError as error:
        raise InputError(str(error)) from None
    tables = [
        CliqueTable.of([variables[each] for each in names], np.ascontiguousarray(values))
        for names, values in factors
    ]
    network = MarkovNetwork(list(variables.values()), tables)
    _ = network.partition  # raises if the potentials do not define a distribution
    return network
