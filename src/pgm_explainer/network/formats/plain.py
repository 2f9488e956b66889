"""Networks of every family as plain JSON values, and back; see ``docs/files.md``."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError, InputError
from ...limits import brief
from ...storage.checked import Checked, plain_name
from ...structure import DAG
from ...variables import MOST_LEVELS, Variable
from ..bayesian_network import BayesianNetwork
from ..clique_table import CliqueTable
from ..conditional_table import ConditionalTable
from ..conditional_tree import ConditionalTree, Split
from ..dependency_network import DependencyNetwork
from ..graphical_model import GraphicalModel
from ..markov_network import MarkovNetwork
from ..noisy_or import NoisyOr

__all__ = ["network_from_dict", "network_to_dict"]

_NOISY_OR_FIELDS = (
    "perturbed",
    "leak",
    "own",
    "log_likelihood",
    "num_parameters",
    "num_samples",
)
_SUMS_TO_ONE = 1e-9


def network_to_dict(network: GraphicalModel) -> dict[str, Any]:
    """Return a network as dicts, lists, numbers and strings.

    Raises:
        InputError: the name of a variable is not a plain value.
    """
    score = network.score
    plain = score if score is None or isfinite(score) else str(float(score))
    variables = [_plain_variable(variable) for variable in network.variables]
    if isinstance(network, MarkovNetwork):
        cliques = [_plain_clique(table) for table in network.tables]
        return {
            "family": network.family,
            "variables": variables,
            "cliques": cliques,
            "score": plain,
        }
    assert isinstance(network, (BayesianNetwork, DependencyNetwork))
    tables = [_plain_table(network.cpt(node)) for node in network.nodes]
    variables = [{**one, **other} for one, other in zip(variables, tables, strict=True)]
    return {"family": network.family, "variables": variables, "score": plain}


def _plain_variable(variable: Variable) -> dict[str, Any]:
    return {
        "name": plain_name(variable.id),
        "perturbable": variable.perturbable,
        "levels": variable.levels,
    }


def _plain_clique(table: CliqueTable) -> dict[str, Any]:
    return {
        "variables": [plain_name(variable.id) for variable in table.variables],
        "potential": table.values.tolist(),
        "counts": table.counts.tolist(),
    }


def _plain_table(table: ConditionalTable | NoisyOr | ConditionalTree) -> dict[str, Any]:
    parents = {"parents": [plain_name(parent.id) for parent in table.parents]}
    if isinstance(table, ConditionalTable):
        return {**parents, "probabilities": table.values.tolist(), "counts": table.counts.tolist()}
    if isinstance(table, ConditionalTree):
        splits = [[each.parent, list(each.states), each.yes, each.no] for each in table.splits]
        leaves, counts = table.leaves.tolist(), table.counts.tolist()
        return {**parents, "tree": {"splits": splits, "leaves": leaves, "counts": counts}}
    learnt = {name: getattr(table, name) for name in _NOISY_OR_FIELDS}
    chances = [chance.tolist() for chance in table.chances]
    return {**parents, "noisy_or": {**learnt, "chances": chances}}


def network_from_dict(network: Checked) -> GraphicalModel:
    """Return the network that :func:`network_to_dict` wrote.

    Raises:
        FileError: a field is missing or invalid, or the tables do not fit together.
    """
    readers: dict[str, Callable[[Checked], GraphicalModel]] = {
        "bayesian": _read_bayesian,
        "markov": _read_markov,
        "dependency": _read_dependency,
    }
    fields = dict(network.entries())
    if "family" not in fields:
        raise FileError(f"{network.place} has no field 'family': the file is incomplete")
    family = fields["family"].one_of(readers)
    try:
        return readers[family](network)
    except InputError as error:
        raise FileError(
            f"{network.place} is not a {family.capitalize()} network: {error}"
        ) from None


def _read_markov(network: Checked) -> MarkovNetwork:
    fields = network.fields("family", "variables", "cliques", "score")
    variables = [
        _read_variable(entry.fields("name", "perturbable", "levels"))
        for entry in fields["variables"].items()
    ]
    by_name = {variable.id: variable for variable in variables}
    tables = []
    for entry in fields["cliques"].items():
        clique = entry.fields("variables", "potential", "counts")
        scope = tuple(_known(name, by_name) for name in clique["variables"].items())
        shape = tuple(each.cardinality for each in scope)
        values: NDArray[np.float64] = clique["potential"].array(shape, Checked.finite, np.float64)
        counts: NDArray[np.int64] = clique["counts"].array(shape, Checked.whole_number, np.int64)
        tables.append(CliqueTable(scope, values, counts))
    found = MarkovNetwork(variables, tables, fields["score"].or_none(Checked.number))
    _ = found.partition  # raises if the potentials do not define a distribution
    return found


def _read_bayesian(network: Checked) -> BayesianNetwork:
    variables, tables, score = _read_conditionals(network)
    at = {variable.id: number for number, variable in enumerate(variables)}
    edges = [(at[each.id], v) for v, table in enumerate(tables) for each in table.parents]
    return BayesianNetwork(variables, DAG(len(variables), edges), tables, score)


def _read_dependency(network: Checked) -> DependencyNetwork:
    return DependencyNetwork(*_read_conditionals(network))


def _read_conditionals(network: Checked) -> tuple[list[Variable], list[Any], float | None]:
    fields = network.fields("family", "variables", "score")
    entries = [
        entry.fields("name", "perturbable", "levels", "parents", *_table_fields(entry))
        for entry in fields["variables"].items()
    ]
    variables = [_read_variable(entry) for entry in entries]
    by_name = {variable.id: variable for variable in variables}
    tables = [
        _read_table(
            entry, variable, tuple(_known(parent, by_name) for parent in entry["parents"].items())
        )
        for entry, variable in zip(entries, variables, strict=True)
    ]
    return variables, tables, fields["score"].or_none(Checked.number)


def _known(name: Checked, variables: dict[Any, Variable]) -> Variable:
    found = variables.get(name.name())
    if found is None:
        raise FileError(f"{name.place} names {brief(name.value)}, which is not a variable")
    return found


def _read_variable(entry: dict[str, Checked]) -> Variable:
    levels = entry["levels"].whole_number(at_least=1)
    if levels > MOST_LEVELS:
        entry["levels"].refuse(f"at most {MOST_LEVELS}")
    variable = Variable(entry["name"].name(), entry["perturbable"].flag(), levels)
    if variable.cardinality < 2:
        entry["levels"].refuse("at least 2 for a variable that is not perturbable")
    return variable


def _table_fields(entry: Checked) -> tuple[str, ...]:
    found = dict(entry.entries())
    for form in ("noisy_or", "tree"):
        if form in found:
            return (form,)
    return ("probabilities", "counts")


def _read_table(
    entry: dict[str, Checked], variable: Variable, parents: tuple[Variable, ...]
) -> ConditionalTable | NoisyOr | ConditionalTree:
    if "noisy_or" in entry:
        return _read_noisy_or(entry["noisy_or"], variable, parents)
    if "tree" in entry:
        return _read_tree(entry["tree"], variable, parents)
    shape = tuple(each.cardinality for each in (*parents, variable))
    values: NDArray[np.float64] = entry["probabilities"].array(shape, Checked.fraction, np.float64)
    counts: NDArray[np.int64] = entry["counts"].array(shape, Checked.whole_number, np.int64)
    _check_sums(values, entry["probabilities"])
    return ConditionalTable(variable, parents, values, counts)


def _check_sums(values: NDArray[np.float64], read: Checked) -> None:
    if np.abs(values.sum(axis=-1) - 1).max() > _SUMS_TO_ONE:
        raise FileError(f"{read.place} do not add up to 1 in every row")


def _read_tree(tree: Checked, variable: Variable, parents: tuple[Variable, ...]) -> ConditionalTree:
    fields = tree.fields("splits", "leaves", "counts")
    splits = []
    for entry in fields["splits"].items():
        parent, states, yes, no = entry.items(4)
        if parent.whole_number() >= len(parents):
            parent.refuse(f"one of the {len(parents)} parents, numbered from 0")
        chosen = tuple(state.whole_number() for state in states.items())
        splits.append(Split(parent.whole_number(), chosen, _end(yes), _end(no)))
    shape = (len(splits) + 1, variable.cardinality)
    leaves: NDArray[np.float64] = fields["leaves"].array(shape, Checked.fraction, np.float64)
    counts: NDArray[np.int64] = fields["counts"].array(shape, Checked.whole_number, np.int64)
    _check_sums(leaves, fields["leaves"])
    return ConditionalTree(variable, parents, tuple(splits), leaves, counts)


def _end(end: Checked) -> int:
    """The number of the next split, or a negative one for a leaf; the tree checks both."""
    return end.large_number(at_least=-(2**31))


def _read_noisy_or(table: Checked, variable: Variable, parents: tuple[Variable, ...]) -> NoisyOr:
    fields = table.fields(*_NOISY_OR_FIELDS, "chances")
    perturbed = fields["perturbed"].or_none(Checked.fraction)
    if variable.levels != 2 or (perturbed is None) == variable.perturbable:
        raise FileError(f"{table.place} does not fit its variable, which is kept or changed")
    chances = zip(fields["chances"].items(len(parents)), parents, strict=True)
    return NoisyOr(
        variable,
        parents,
        perturbed,
        fields["leak"].fraction(),
        fields["own"].fraction(),
        tuple(
            each.array((parent.cardinality,), Checked.fraction, np.float64)
            for each, parent in chances
        ),
        fields["log_likelihood"].number(),
        fields["num_parameters"].whole_number(),
        fields["num_samples"].whole_number(),
    )
