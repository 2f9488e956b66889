"""The smallest change of a prediction as part of an explanation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError, InputError
from ..limits import brief
from ..node_names import NodeNames
from ..storage.checked import Checked
from .minimal_set import MinimalSet, NoSetError

if TYPE_CHECKING:
    from .explanation import Explanation
    from .minimal_set import Searcher

__all__ = ["change_from", "change_to_dict", "part_numbers", "renamed_change", "with_change"]

_NUMBERS = ("probability", "low", "high")
_COUNTS = ("queries", "num_parts")


def with_change(
    explanation: Explanation, given: MinimalSet | bool, explainer: Searcher | None
) -> Explanation:
    """Return an explanation with a smallest change; see ``Explanation.with_counterfactual``."""
    if given is False:
        return replace(explanation, smallest_change=None)
    if given is True:
        try:
            given = explanation.counterfactual(explainer)
        except NoSetError as error:
            given = error.best
    if not isinstance(given, MinimalSet) or given.kind != "counterfactual":
        raise InputError(
            f"counterfactual must be True, False or a result of explanation.counterfactual(), not "
            f"{brief(given)}"
        )
    part_numbers(explanation, given)
    return replace(explanation, smallest_change=given)


def part_numbers(explanation: Explanation, change: MinimalSet) -> list[int]:
    """Return the numbers of the parts of a set.

    Raises:
        InputError: a part does not belong to the explanation.
    """
    known = _known(explanation)
    try:
        numbers = [explanation.names.index(part) for part in change.parts]
    except InputError:
        numbers = [-1]
    if not known.issuperset(numbers):
        raise InputError(
            f"the counterfactual is of another explanation: {brief(change.parts)} are not all "
            f"among the {len(known)} parts of this one"
        )
    return numbers


def _known(explanation: Explanation) -> set[int]:
    parts = np.union1d(explanation.effects.nodes, explanation.around)
    return {*parts.tolist(), *explanation.part_labels}


def renamed_change(explanation: Explanation, names: NodeNames) -> MinimalSet | None:
    """Return the change of an explanation with other names of its parts."""
    change = explanation.smallest_change
    if change is None:
        return None
    return replace(change, parts=tuple(names.of(part_numbers(explanation, change))))


def change_to_dict(explanation: Explanation) -> dict[str, Any]:
    """Return the field of a JSON file, which is left out if there is no change."""
    change = explanation.smallest_change
    if change is None:
        return {}
    numbers = {name: getattr(change, name) for name in (*_NUMBERS, *_COUNTS)}
    parts = part_numbers(explanation, change)
    return {"smallest_change": {"parts": parts, "values": list(change.values), **numbers}}


def change_from(fields: Checked, explanation: Explanation) -> Explanation:
    """Return an explanation with the change that :func:`change_to_dict` wrote.

    Raises:
        FileError: a value is invalid.
    """
    entry = fields.fields("parts", "values", *_NUMBERS, *_COUNTS)
    numbers = [each.whole_number() for each in entry["parts"].items()]
    values = tuple(entry["values"].texts())
    known = _known(explanation)
    if not known.issuperset(numbers) or len(set(numbers)) < len(numbers):
        raise FileError(f"{entry['parts'].place} must be parts of the explanation, each once")
    if values and len(values) != len(numbers):
        raise FileError(f"{entry['values'].place} must have a text for each part")
    share, low, high = (entry[name].fraction() for name in _NUMBERS)
    if not low <= share <= high:
        raise FileError(f"{entry['probability'].place} must be from low to high")
    queries, num_parts = (entry[name].whole_number() for name in _COUNTS)
    parts = tuple(explanation.names.of(numbers))
    change = MinimalSet("counterfactual", parts, share, low, high, queries, num_parts, values)
    return replace(explanation, smallest_change=change)
