"""Templates for the sentences of a reason: built in for two audiences, or the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

from ..arrays import resolve
from ..errors import InputError
from ..limits import brief
from .template_texts import AUDIENCES

__all__ = ["check_templates", "templates_for"]

_FACTS = (
    "target outcome predicted probability mean stayed held samples measured found clear counted "
    "noun nouns changed warnings num_warnings warned level perturbed values action unit"
)
_CLAUSE = "action measured outcome size number mean low high p"
_NOUNS = ("node", "edge", "group", "part", "feature", "step")
_HOW = ("remove", "rewire", "attributes")
_CHANGE = "action often example noun nouns measured outcome"
_FIELDS = {
    # sentences, in the order of a reason
    "predicted": _FACTS,
    "not_predicted": _FACTS,
    "value": _FACTS,
    "own_none": "action measured outcome",
    "supports": "effects cause measured outcome",
    "opposes": "effects cause measured outcome",
    "cause_data": "",
    "cause_part": "noun nouns",
    "cause_parts": "noun nouns",
    "effects": "effects measured outcome",
    "feature_supports": "effects measured outcome",
    "feature_opposes": "effects measured outcome",
    "feature_effects": "effects measured outcome",
    "none": _FACTS,
    "hardly": _FACTS,
    "checked": _FACTS,
    "checked_value": _FACTS,
    "checked_values": _FACTS,
    "sure": _FACTS,
    "sure_none": _FACTS,
    "clear": "number",
    "warned": "warnings num_warnings",
    # the sentence about a smallest change of the prediction
    "change": _CHANGE,
    "change_none": _CHANGE.replace("action ", "").replace("example ", ""),
    "more_parts": "number",
    "change_always": "",
    "change_often": "share range",
    "change_never": "share range",
    "change_rarely": "share range",
    "change_range": "low high",
    "change_example": "example",
    # clauses about one effect
    "lowers": _CLAUSE,
    "raises": _CLAUSE,
    "closer": _CLAUSE,
    "further": _CLAUSE,
    "varies": _CLAUSE,
    "more": _CLAUSE,
    "together": "first second measured joint sum low high",
    # names and phrases
    "replacing": "part",
    "replacing_own": "part",
    "replacing_feature": "feature part",
    "replacing_column": "part nodes",
    "replacing_value": "part",
    "removing": "verb part",
    "altering": "part",
    "replaced": "",
    "altered": "",
    "any": "noun",
    "part": "noun name",
    "of_node": "name noun node",
    "in_node": "name node",
    "feature": "name",
    "named_feature": "name",
    "feature_value": "feature value mean nodes",
    "feature_category": "feature value share nodes",
    "feature_of_node": "feature node",
    "all_nodes": "",
    "all_nodes_of_type": "name",
    "pair": "name",
    "graph": "",
    "graph_of_many": "name",
    "graph_named": "number name",
    "class": "name",
    "label": "name",
    "no_label": "name",
    "measured": "outcome",
    "measured_value": "name",
    "measured_values": "",
    "points": "number",
    "in_points": "",
    "one_value": "values",
    "values": "values",
    "values_of_output": "values output",
    "and": "",
    "or": "",
    # nouns, verbs and numbers
    **{f"{number}_{noun}": "" for noun in _NOUNS for number in ("noun", "nouns")},
    "noun_value": "",
    "counted": "number noun",
    **{f"{form}_{how}": "" for how in _HOW for form in ("verb", "done")},
    "share_all": "",
    "share_none": "",
    "share_all_but": "number",
    "less_than": "share",
    "more_than": "share",
    "decimal_point": "",
    "thousands_separator": "",
    # the rest of a report
    "language": "",
    "title": f"{_FACTS} headline",
    "title_not_predicted": f"{_FACTS} headline",
    "title_value": f"{_FACTS} headline",
    "heading_effects": _FACTS,
    "heading_tried": "",
    "heading_warnings": "",
    "caption": _FACTS,
    "or_feature": "noun",
    "column_effect": "",
    "column_range": "",
    "column_evidence": "outcome",
    "column_evidence_part": "outcome noun",
    "column_direction": "",
    "column_p": "",
    "cell_range": "low high",
    "cell_for": "outcome",
    "cell_against": "outcome",
    "cell_lowers": "",
    "cell_raises": "",
    "cell_closer": "",
    "cell_further": "",
    "cell_varies": "",
    "cell_none": "",
    "own": "",
    "row_samples": _FACTS,
    "row_parts": _FACTS,
    "row_stayed": _FACTS,
    "row_mean": _FACTS,
    "row_mean_value": _FACTS,
    "row_perturbation": "",
    "row_network": "",
    "row_seed": "",
    "row_versions": "",
    # pictures in a report
    "picture_title": _FACTS,
    "picture_target": "",
    "picture_network": "",
    "picture_falls": _FACTS,
    "picture_rises": _FACTS,
    "picture_weak": "",
    "picture_range": "",
}
"""The fields that each template may use."""


def templates_for(audience: str, own: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the templates for an audience, some of which may be replaced.

    Args:
        audience: ``"manager"`` or ``"engineer"``.
        own: templates that replace the built-in ones, by name.

    Raises:
        InputError: the audience, a template or one of its fields is unknown.
    """
    chosen = resolve(audience, "audience", AUDIENCES)
    if chosen is None:
        raise InputError(f"audience must be one of {', '.join(AUDIENCES)}, not {brief(audience)}")
    return {**chosen, **({} if own is None else check_templates(own))}


def check_templates(own: Any) -> dict[str, str]:
    """Return custom templates after checking their names and fields.

    Raises:
        InputError: it is not a mapping from names to strings, a name is unknown, or a template has
            an unknown field; the error lists the known ones.

    Examples:
        >>> check_templates({"graph": "der Graph", "pair": "das Paar {named}"})
        Traceback (most recent call last):
        pgm_explainer.errors.InputError: the template 'pair' has no field {named}; it has {name}
    """
    if not isinstance(own, Mapping):
        raise InputError(f"templates must be a mapping from names to strings, not {brief(own)}")
    for name, template in own.items():
        if name not in _FIELDS:
            raise InputError(
                f"there is no template {brief(name)}; the templates are {', '.join(_FIELDS)}"
            )
        if not isinstance(template, str):
            raise InputError(f"the template {brief(name)} must be a string, not {brief(template)}")
        if not template.isascii() and any("\ud800" <= each <= "\udfff" for each in template):
            raise InputError(f"the template {brief(name)} is not valid Unicode: {brief(template)}")
        _check_fields(name, template)
    return dict(own)


def _check_fields(name: str, template: str) -> None:
    known = _FIELDS[name].split()
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as error:
        raise InputError(
            f"the template {brief(name)} cannot be read: {error}; write {{{{ for a brace"
        ) from None
    for _, wanted, form, conversion in parsed:
        if wanted is None:
            continue
        if wanted not in known:
            there = ", ".join(f"{{{each}}}" for each in known) or "none"
            raise InputError(
                f"the template {brief(name)} has no field {{{wanted}}}; it has {there}"
            )
        if form or conversion:
            raise InputError(
                f"the field {{{wanted}}} of the template {brief(name)} takes no format or "
                f"conversion"
            )
