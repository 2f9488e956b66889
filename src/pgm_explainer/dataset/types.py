"""Types of nodes and other parts that are comparable between graphs, from one-hot features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..explainer import PGMExplainer
from ..storage.checked import plain_name
from ..variables import is_edge

__all__ = ["label_from_text", "label_to_text", "node_types", "type_of"]


def node_types(explainer: PGMExplainer, target: Any) -> list[str | None] | None:
    """Return the type of each node of one of many graphs; None for nodes of a single graph.

    A node with one-hot features has the type of its only column that is not 0: the name of this
    feature or, without names, ``"type 3"``. Other nodes have none.
    """
    offsets = explainer.offsets
    if offsets is None:
        return None
    population = explainer.population
    return population.types(population.x[offsets[target] : offsets[target + 1]])


def type_of(label: Any, types: Sequence[str | None]) -> str | None:
    """Return the type of a part, which is comparable between graphs; None if it has none.

    A group or feature has its name, a node its type, and an edge the types of its nodes.

    Examples:
        >>> type_of("ring", []), type_of(1, ["type 0", "type 3"]), type_of((1, 0), ["C", "N"])
        ('ring', 'type 3', 'C - N')
    """
    if isinstance(label, int):
        return types[label] if label < len(types) else None
    if not isinstance(label, tuple):
        return str(label)
    each = [type_of(part, types) for part in label]
    if None in each:
        return None
    known = [part for part in each if part is not None]
    # Both directions of an edge count as the same.
    return " - ".join(sorted(known) if is_edge(label) else known)


def label_to_text(label: Any) -> str:
    """Return the label of a part as JSON."""
    return json.dumps(plain_name(label), ensure_ascii=False)


def label_from_text(text: str) -> Any:
    """Return the label that :func:`label_to_text` wrote."""
    return _as_tuples(json.loads(text))


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
