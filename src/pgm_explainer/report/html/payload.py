"""What the page is told: explanations as plain values, ready for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import IntArray
from ...errors import InputError
from ...explanation import Explanation
from ...network import BayesianNetwork, ConditionalTable
from ...sampling import Variable, VariableId
from ..text import describe
from .layout import layer_dag, place_nodes, visible_nodes

__all__ = ["ClassNames", "page_payload"]

ClassNames = Sequence[str] | Mapping[int, str]
"""What the classes are called, by their numbers."""

_MOST_DRAWN = 60
_MOST_RANKED = 200
_DIGITS = 12
"""Of a probability: far more than anyone compares, and shorter than all that a double has."""


def page_payload(
    explanations: Sequence[Explanation], class_names: ClassNames | None = None
) -> dict[str, Any]:
    """Return all that the page shows, as numbers, texts, lists and dictionaries.

    What explanations have in common, which are kinds of variables and settings, is told once: they
    refer to it by its position.
    """
    shared = _Shared()
    told = [_explanation(each, class_names, shared) for each in explanations]
    return {
        "explanations": told,
        "kinds": [_kind(each) for each in shared.kinds],
        "makings": shared.makings,
    }


@dataclass
class _Shared:
    """What explanations have in common."""

    kinds: list[Variable] = field(default_factory=list)
    makings: list[dict[str, Any]] = field(default_factory=list)

    def kind(self, variable: Variable) -> int:
        return _position(Variable("", variable.perturbable, variable.levels), self.kinds)


def _position(item: Any, items: list[Any]) -> int:
    """Where an item is in a list; it is added if it is not."""
    if item not in items:
        items.append(item)
    return items.index(item)


def _explanation(
    explanation: Explanation, class_names: ClassNames | None, shared: _Shared
) -> dict[str, Any]:
    network, ranking = explanation.network, explanation.ranking
    return {
        "target": _target_name(explanation),
        "headline": _headline(explanation, class_names),
        "class": _class_name(explanation.explained_class, class_names),
        "probability": explanation.probability,
        "answer": _answer(explanation, class_names),
        "held": explanation.held,
        "explaining": [
            [_node_key(int(ranking.nodes[at])), _name(ranking.name(int(at)))]
            for at in np.flatnonzero(ranking.selected)
        ],
        "words": describe(explanation),
        "warnings": list(explanation.warnings),
        "making": _position(_making(explanation), shared.makings),
        "ranking": _ranking(explanation),
        "picture": _picture(explanation),
        "network": None if network is None else _network(explanation, network, shared),
    }


def _headline(explanation: Explanation, class_names: ClassNames | None) -> str:
    name = _target_name(explanation)
    subject = {"graph": "The graph", "edge": f"The pair {name}", "node": f"Node {name}"}
    who = subject[explanation.task]
    if explanation.explained_class is None:
        return f"{who} has the value {', '.join(f'{each:.4g}' for each in explanation.values)}"
    explained = _class_name(explanation.explained_class, class_names)
    if explanation.explained_class == explanation.predicted_class:
        return f"{who} is predicted to be {explained}"
    predicted = _class_name(explanation.predicted_class, class_names)
    return f"{who} could be {explained}, but is predicted to be {predicted}"


def _class_name(number: int | None, class_names: ClassNames | None) -> str | None:
    if number is None:
        return None
    if class_names is None:
        return f"class {number}"
    try:
        return str(class_names[number])
    except (IndexError, KeyError):
        raise InputError(
            f"class_names has {len(class_names)} names, but none for class {number}"
        ) from None


def _answer(explanation: Explanation, class_names: ClassNames | None) -> list[list[Any]]:
    """The model's answer on the unperturbed features: what each score is of, and the score."""
    regression = explanation.explained_class is None
    names = [
        f"value {at}" if regression else _class_name(at, class_names)
        for at in range(len(explanation.values))
    ]
    return [[name, _number(score)] for name, score in zip(names, explanation.values, strict=True)]


def _making(explanation: Explanation) -> dict[str, Any]:
    """How it was made: the settings that say something, as texts, and the versions."""
    told = explanation.settings.items()
    return {
        "settings": {name: _setting(value) for name, value in told if value is not None},
        "versions": dict(explanation.versions),
    }


def _setting(value: Any) -> str:
    return "yes" if value is True else "no" if value is False else str(value)


def _ranking(explanation: Explanation) -> dict[str, Any]:
    """The first candidates, a list for each; ``of`` says how many there are."""
    ranking = explanation.ranking
    columns = (ranking.statistic, ranking.log_p, ranking.effect_size)
    numbers = np.column_stack(columns)[:_MOST_RANKED].tolist()
    return {
        "of": len(ranking),
        "rows": [
            [
                _node_key(int(ranking.nodes[at])),
                _name(ranking.name(at)),
                *map(_number, row),
                int(ranking.dof[at]),
                bool(ranking.significant[at]),
                bool(ranking.selected[at]),
            ]
            for at, row in enumerate(numbers)
        ],
    }


def _picture(explanation: Explanation) -> dict[str, Any]:
    """The neighbourhood: nodes with their places between 0 and 1, and the edges among them."""
    ranking, ends = explanation.ranking, explanation.ends.tolist()
    nodes = visible_nodes(explanation, _MOST_DRAWN)
    edges = _edges_among(nodes, explanation)
    selected = set(ranking.nodes[ranking.selected].tolist())
    special = [at for at, node in enumerate(nodes.tolist()) if node in selected or node in ends]
    at = place_nodes(len(nodes), edges, special)
    spread = max(np.ptp(at, axis=0).max(), 1.0) if len(nodes) else 1.0
    at = np.round((at - at.min(axis=0)) / spread, 3) if len(nodes) else at
    # A prediction about two nodes is neither of them, but lights up with both.
    about = [_TARGET_KEY] if explanation.task == "edge" else []
    return {
        "nodes": [
            {
                "keys": [_node_key(node), *(about if node in ends else [])],
                "name": _name(_node_name(explanation, node)),
                "role": "end" if node in ends else "explaining" if node in selected else "other",
                "at": place,
            }
            for node, place in zip(nodes.tolist(), at.tolist(), strict=True)
        ],
        "edges": edges.T.tolist(),
        "hidden": len(np.union1d(ranking.nodes, explanation.ends)) - len(nodes),
    }


def _edges_among(nodes: IntArray, explanation: Explanation) -> IntArray:
    """The pairs of nodes that an edge joins, by their positions, each once."""
    part = explanation.neighbourhood
    if part is None:
        return np.empty((2, 0), dtype=np.int64)
    ends = part.nodes[part.edge_index]
    inside = ends[:, np.isin(ends, nodes).all(axis=0)]
    return np.unique(np.sort(np.searchsorted(nodes, inside), axis=0), axis=1)


def _network(explanation: Explanation, network: BayesianNetwork, shared: _Shared) -> dict[str, Any]:
    """The variables with their tables, and the arrows with the way they go."""
    layers = layer_dag(network.dag)
    numbers = _numbers(explanation)
    target = network.nodes.index(explanation.target)
    variables = []
    for at, variable in enumerate(network.variables):
        own = explanation.task == "node" or at != target
        variables.append(
            {
                "key": _node_key(numbers[variable.id]) if own else _TARGET_KEY,
                "name": _name(variable.id) if own else _target_name(explanation),
                "kind": shared.kind(variable),
                "parents": list(network.dag.parents(at)),
                "rows": _rows(network.cpt(variable.id)),
                "layer": layers.layer[at],
                "x": round(layers.x[at], 3),
            }
        )
    return {
        "target": target,
        "variables": variables,
        "arrows": [
            [parent, child, [round(each, 3) for each in layers.bends[parent, child]]]
            for parent, child in network.dag.edges
        ],
        "factorisation": network.factorisation,
    }


def _rows(table: ConditionalTable) -> list[list[float]]:
    """The rows of a table that tell something: where each is, the samples seen, its probabilities.

    In all others, which can be many more, every state is as likely.
    """
    values = table.values.reshape(-1, table.variable.cardinality)
    seen = table.counts.sum(axis=-1).ravel()
    telling = (seen > 0) | (values != 1 / table.variable.cardinality).any(axis=1)
    return [
        [int(at), int(seen[at]), *(float(f"{each:.{_DIGITS}g}") for each in values[at].tolist())]
        for at in np.flatnonzero(telling)
    ]


_TARGET_KEY = "target"
"""The prediction of a pair or of a graph, which is no node."""


def _node_key(number: int) -> str:
    """What joins a node's parts on the page, whatever the node is called."""
    return f"n{number}"


def _numbers(explanation: Explanation) -> dict[VariableId, int]:
    """The number of each node that may be a variable, by its name."""
    numbers = [*explanation.ranking.nodes.tolist(), *explanation.ends.tolist()]
    return {_node_name(explanation, number): number for number in numbers}


def _node_name(explanation: Explanation, number: int) -> VariableId:
    names = explanation.ranking.names
    return number if names is None else names[number]


def _target_name(explanation: Explanation) -> str:
    if explanation.task == "edge":
        return " – ".join(_name(_node_name(explanation, int(end))) for end in explanation.ends)
    return _name(explanation.target)


def _name(node: VariableId) -> str:
    """A node as people write it: ``("author", 5)`` is ``author 5``."""
    return " ".join(map(str, node)) if isinstance(node, tuple) else str(node)


def _kind(variable: Variable) -> dict[str, Any]:
    """The states of a kind of variable, and the states each fact about it allows."""
    own = ("original", "perturbed")
    return {
        "states": list(variable.states),
        "facts": [
            {
                "word": word,
                "about": "features" if word in own else "prediction",
                "states": np.flatnonzero(variable.matching(word)).tolist(),
                # With several levels of change, "changed" is their sum and no further part.
                "part": not (word == "changed" and variable.levels > 2),
            }
            for word in variable.words
        ],
    }


def _number(value: float) -> float | None:
    """A number as JSON can tell it."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
