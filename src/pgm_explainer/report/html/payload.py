"""The data of the page: explanations as plain values, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...choices import Description
from ...network import GraphicalModel
from ...sampling import Variable
from ..colours import ink_on
from ..contents import edge_words
from ..document import report_title
from ..layers import drawn_dag, layer_dag, tips_of
from ..names import class_label, label_of, printable, value_labels, variable_label
from ..reason import Writer
from ..strip import is_strip
from ..surroundings import Surroundings
from ..terms import describe_held, describe_kept, describe_perturbed
from ..text import describe
from ..wording import wording_of
from .answers import (
    dependence_part,
    effects_part,
    features_part,
    figures_part,
    lead_part,
    network_effect,
    node_key,
    number,
)
from .network_tables import joint_part, tables_part
from .part_marks import evidence_words, marked_parts, parts_legend, strip_part

if TYPE_CHECKING:
    from ...explanation import Explanation

__all__ = ["page_payload"]

_MOST_DRAWN, _MOST_NAMED = 60, 40


def page_payload(
    explanations: Sequence[Explanation],
    audience: str = "manager",
    templates: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the data of the page as numbers, strings, lists and dictionaries.

    Kinds of variables and settings that explanations share are stored once and referred to by
    position.

    Args:
        explanations: what the page shows.
        audience: the readers of the title and the reason.
        templates: sentences that replace the built-in ones in these.
    """
    shared = _Shared(audience, templates)
    shown = [_explanation(each, shared) for each in explanations]
    return {
        "explanations": shown,
        "kinds": [_kind(each) for each in shared.kinds],
        "setups": shared.setups,
        "phrases": {"raises": "raises it by {} points", "lowers": "lowers it by {} points"},
    }


@dataclass
class _Shared:
    """Data that several explanations share."""

    audience: str = "manager"
    templates: Mapping[str, str] | None = None
    kinds: list[Variable] = field(default_factory=list)
    setups: list[dict[str, Any]] = field(default_factory=list)

    def kind(self, variable: Variable) -> int:
        return _position(Variable("", variable.perturbable, variable.levels), self.kinds)


def _position(item: Any, items: list[Any]) -> int:
    """Return the position of an item in a list, adding it if it is missing."""
    if item not in items:
        items.append(item)
    return items.index(item)


def _explanation(explanation: Explanation, shared: _Shared) -> dict[str, Any]:
    network = explanation.network
    explained = explanation.explained_class
    target = variable_label(explanation, explanation.target)
    stayed = explanation.class_stayed
    writer = Writer.of(explanation, shared.audience, shared.templates)
    return {
        "target": target,
        "headline": report_title(writer),
        "class": None if explained is None else class_label(explanation, explained),
        "probability": explanation.probability,
        "answer": _answer(explanation),
        "figures": figures_part(explanation),
        "kept": describe_kept(explanation),
        # A regression has no class; there, it is how often the prediction is kept.
        "stability": explanation.held if stayed is None else stayed,
        "stable": "kept" if stayed is None else "stays",
        "found": len(explanation.nodes),
        "noun": wording_of(explanation.settings).noun,
        "lead": lead_part(writer),
        "effects": effects_part(explanation),
        "features": features_part(explanation),
        "words": describe(explanation),
        "warnings": list(explanation.warnings),
        "setup": _position(_setup(explanation), shared.setups),
        "ranking": dependence_part(explanation),
        "picture": _picture(explanation),
        "network": None if network is None else _network(explanation, network, shared),
        "noNetwork": None if network is not None else _no_network(explanation),
    }


def _no_network(explanation: Explanation) -> str:
    why = "the prediction never changed" if explanation.held == 1 else "structure is None"
    return f"There is no network: {why}."


def _answer(explanation: Explanation) -> list[list[Any]]:
    """Return the model's output on the unperturbed features: pairs of a label and a score."""
    if explanation.explained_class is None:
        labels = value_labels(explanation)
    else:
        labels = [class_label(explanation, at) for at in range(len(explanation.values))]
    return [[label, number(score)] for label, score in zip(labels, explanation.values, strict=True)]


def _setup(explanation: Explanation) -> dict[str, Any]:
    """Return the settings that are not None as text, their meaning, and the versions."""
    chosen = explanation.settings.options().items()
    return {
        "settings": {name: _setting(value) for name, value in chosen if value is not None},
        "meaning": describe_perturbed(explanation.settings),
        "rule": describe_held(explanation.settings),
        "versions": dict(explanation.versions),
    }


def _setting(value: Any) -> str:
    if hasattr(value, "describe"):
        return _choice(value.describe())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_setting, value))
    return "yes" if value is True else "no" if value is False else str(value)


def _choice(choice: Description) -> str:
    """Return a choice as it is written in Python, such as ``fall(threshold=0.05)``."""
    parameters = (f"{name}={value}" for name, value in choice.parameters.items())
    return f"{choice.name}({', '.join(parameters)})" if choice.parameters else choice.name


def _picture(explanation: Explanation) -> dict[str, Any]:
    """Return the neighbourhood: nodes with positions between 0 and 1, and their edges.

    Parts without a place in the graph, such as features and time steps, are a strip instead.
    """
    if is_strip(explanation):
        return strip_part(explanation)
    view = Surroundings(explanation, _MOST_DRAWN)
    classes = sorted(view.palette)
    at = view.at
    if len(at):
        at = np.round((at - at.min(axis=0)) / max(np.ptp(at, axis=0).max(), 1.0), 3)
    return {
        "title": "Neighbourhood of the prediction",
        "nodes": [
            _drawn(view, place, classes) | {"at": xy} for place, xy in enumerate(at.tolist())
        ],
        "edges": view.edges.T.tolist(),
        "heads": None if view.heads is None else view.heads.T.astype(int).tolist(),
        "types": [{"name": printable(name), "shape": shape} for name, shape in view.shapes.items()],
        "classes": [
            {
                "name": class_label(explanation, number),
                "colour": view.palette[number],
                "ink": ink_on(view.palette[number]),
            }
            for number in classes
        ],
        "grey": "another class, or none" if view.has_grey else "",
        "legend": _legend(view),
        **marked_parts(view),
    }


def _legend(view: Surroundings) -> str:
    """Return the meaning of the marks that occur in the picture."""
    ends, explaining = int(view.is_target.sum()), bool((view.is_explaining & ~view.is_target).any())
    network, hidden = view.explanation.network, view.hidden
    state = "kept" if view.explanation.settings.model.has_own_predictions else "original"
    has_ring = network is not None and (
        explaining or view.explanation.task == "node" or not view.explanation.part_labels
    )
    ringed = "the target" if view.explanation.part_labels and not explaining else "a node"
    discs = "Large nodes" if view.types else "Discs"
    coloured = any(each.direction and node in view.nodes for node, each in view.effects.items())
    filled = coloured and explaining and not view.classes
    sentences = (
        ("Squares are the ends of the pair.", ends > 1),
        ("The square is the target.", ends == 1),
        (f"{discs} are the nodes of the network.", explaining),
        (f"The ring around {ringed} shows the probability that it is {state}.", has_ring),
        ("The colour of the ring shows the direction of its effect.", has_ring and coloured),
        ("The colour of a large node shows the direction of its effect.", filled),
        ("Arrowheads show the directions of edges.", view.heads is not None),
        *parts_legend(view),
        (f"{hidden} more {'node is' if hidden == 1 else 'nodes are'} not drawn.", hidden > 0),
    )
    return " ".join(sentence for sentence, applies in sentences if applies)


def _drawn(view: Surroundings, at: int, classes: Sequence[int]) -> dict[str, Any]:
    """Return a node: its keys, name and role, and the position of its class in the legend."""
    node = int(view.nodes[at])
    is_end = bool(view.is_target[at])
    number, effect = view.classes.get(node), view.effects.get(node)
    # The prediction of a pair is a separate variable, highlighted together with both of its ends.
    about = [_TARGET_KEY] if is_end and view.explanation.task == "edge" else []
    return {
        "keys": [node_key(node), *about],
        "name": label_of(view.explanation.names[node]),
        "named": bool(view.is_touched[at] or (view.groups and len(view.nodes) <= _MOST_NAMED)),
        "role": "end" if is_end else "explaining" if view.is_explaining[at] else "other",
        "shape": view.shape(at),
        "direction": effect.direction if effect is not None and view.is_marked[at] else "",
        "class": classes.index(number) if number in classes else None,
    }


def _network(explanation: Explanation, network: GraphicalModel, shared: _Shared) -> dict[str, Any]:
    """Return the variables with their tables, and the edges with their routes."""
    dag = drawn_dag(network)
    layers, tips = layer_dag(dag), tips_of(network, dag)
    target = network.nodes.index(explanation.target)
    tables = tables_part(explanation, network)
    variables = []
    for at, variable in enumerate(network.variables):
        own = explanation.task == "node" or at != target
        variables.append(
            {
                "key": node_key(explanation.names.index(variable.id)) if own else _TARGET_KEY,
                "name": variable_label(explanation, variable.id),
                **evidence_words(explanation, variable.id),
                **network_effect(explanation, variable.id),
                "kind": shared.kind(variable),
                **tables[at],
                "layer": layers.layer[at],
                "x": round(layers.x[at], 3),
            }
        )
    return {
        "target": target,
        "title": network.title,
        "variables": variables,
        "arrows": [
            [
                *edge,
                [round(each, 3) for each in layers.bends[edge]],
                *map(int, tips[edge]),
                *_confidence(explanation, *edge),
            ]
            for edge in dag.edges
        ],
        "confidence": list(edge_words(explanation)),
        "factorisation": network.factorisation,
        **joint_part(network),
    }


def _confidence(explanation: Explanation, parent: int, child: int) -> list[Any]:
    """Return the share of resamples that have an edge, as number and text, if that is known."""
    found = explanation.edge_confidence
    if found is None:
        return []
    share = found.share(parent, child)
    return [[round(share, 4), f"{share:.0%}"]]


_TARGET_KEY = "target"
"""The key of the prediction of a pair or graph, which is not a node."""


def _kind(variable: Variable) -> dict[str, Any]:
    """Return the states of a kind of variable, and the states that each fact allows."""
    own = ("original", "perturbed")
    return {
        "states": list(variable.states),
        "facts": [
            {
                "word": word,
                "about": "features" if word in own else "prediction",
                "states": np.flatnonzero(variable.matching(word)).tolist(),
                # With several levels of change, "changed" is their sum, not a separate part.
                "part": not (word == "changed" and variable.levels > 2),
            }
            for word in variable.words
        ],
    }
