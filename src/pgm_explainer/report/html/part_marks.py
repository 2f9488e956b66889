"""Parts that are not nodes, in the picture on the page: edges, groups, and strips of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...variables import VariableId
from ..effects import ShownEffect
from ..measure import measure_of, with_minus_signs
from ..strip import strip_of
from ..surroundings import DrawnEdge, DrawnGroup, Surroundings
from ..wording import part_label, wording_for, wording_of
from .answers import node_key

if TYPE_CHECKING:
    from ...explanation import Explanation

__all__ = ["evidence_words", "marked_parts", "parts_legend", "strip_part"]

_MOST_ROWS, _MOST_COLUMNS = 24, 32


def marked_parts(view: Surroundings) -> dict[str, Any]:
    """Return the edges and groups that are parts, with their effects."""
    return {
        "directed": view.explanation.has_directed_edges,
        "partEdges": [
            {"ends": list(each.ends), **_mark(view.explanation, each)} for each in view.part_edges
        ],
        "groups": [
            {"nodes": list(each.nodes), **_mark(view.explanation, each)} for each in view.groups
        ],
        "strip": None,
    }


def _mark(explanation: Explanation, part: DrawnEdge | DrawnGroup) -> dict[str, Any]:
    effect = part.effect
    return {
        "key": node_key(part.number),
        "name": part_label(explanation, part.number),
        "grouped": part.number in explanation.part_members,
        "direction": "" if effect is None else effect.direction,
        "strength": 0.0 if effect is None else round(effect.effect.strength, 3),
        "explaining": part.is_explaining,
        "about": _about(explanation, effect),
    }


def _about(explanation: Explanation, effect: ShownEffect | None) -> str:
    if effect is None or not effect.effect.significant:
        return "no significant effect"
    measure = measure_of(explanation)
    size = with_minus_signs(measure.signed(effect.effect.effect))
    return f"effect {measure.with_unit(size)}"


def parts_legend(view: Surroundings) -> Iterator[tuple[str, bool]]:
    """Yield sentences about edges and groups, and whether each applies."""
    effects = any(each.effect is not None for each in view.part_marks)
    explaining = any(each.is_explaining for each in view.part_marks)
    what = "an edge" if view.part_edges else "the outline of a group"
    if view.part_edges and view.groups:
        what = "an edge, or of the outline of a group,"
    colour = f"The colour of {what} shows the direction of its effect, and its width the strength."
    yield colour, effects
    yield "A dark outline marks parts of the network.", explaining
    count = view.undrawn if view.explanation.part_labels else 0
    yield f"{count} {'effect is' if count == 1 else 'effects are'} not drawn.", count > 0


def strip_part(explanation: Explanation) -> dict[str, Any]:
    """Return features or time steps as a strip of cells, in place of the neighbourhood."""
    strip, measure = strip_of(explanation, _MOST_ROWS, _MOST_COLUMNS), measure_of(explanation)
    selected = set(explanation.ranking.selected_nodes.tolist())
    found = [abs(each.effect.effect) for each in strip.cells.values() if each.effect.significant]
    largest = max(found, default=0.0) or 1.0
    cells = [
        {
            "at": [row, column],
            "key": node_key(each.number),
            "name": part_label(explanation, each.number),
            "direction": each.direction,
            "strength": round(abs(each.effect.effect) / largest, 3) if each.direction else 0.0,
            "text": with_minus_signs(measure.signed(each.effect.effect)),
            "about": _about(explanation, each),
            "explaining": each.number in selected,
        }
        for (row, column), each in strip.cells.items()
    ]
    hidden = f"{strip.hidden} more are not drawn." if strip.hidden else ""
    legend = (
        f"The colour of a cell shows the direction and size of the effect; cells without a colour "
        f"have no significant effect. A dark outline marks parts of the network. {hidden}"
    )
    return {
        "title": strip.title,
        "nodes": [],
        "edges": [],
        "heads": None,
        "types": [],
        "classes": [],
        "grey": "",
        "legend": legend.rstrip(),
        "directed": False,
        "partEdges": [],
        "groups": [],
        "strip": {
            "noun": wording_of(explanation.settings).noun,
            "columns": list(strip.columns),
            "rows": list(strip.rows),
            "target": strip.target_row,
            "cells": cells,
        },
    }


def evidence_words(explanation: Explanation, name: VariableId) -> dict[str, str]:
    """Return the title of the evidence about a variable, and what perturbed means for it."""
    if not explanation.part_labels or name == explanation.target:
        return {}
    words = wording_for(explanation, explanation.names.index(name))
    if words.noun == "node":
        return {}
    means = {} if words.perturbed == "perturbed" else {"means": words.perturbed}
    return {"title": words.noun.capitalize(), **means}
