"""Templates for the sentences of a reason: built in for two audiences, or the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

from ..arrays import resolve
from ..errors import InputError
from ..limits import brief

__all__ = ["AUDIENCES", "check_templates", "templates_for"]

_FACTS = (
    "target outcome predicted probability mean stayed held samples measured found counted noun "
    "nouns changed warnings num_warnings warned level perturbed values action unit"
)
_CLAUSE = "action measured outcome size number mean low high p"
_FIELDS = {
    # sentences, in the order of a reason
    "predicted": _FACTS,
    "not_predicted": _FACTS,
    "value": _FACTS,
    "own_none": "action measured outcome",
    "supports": "effects measured outcome",
    "opposes": "effects measured outcome",
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
    "warned": "warnings num_warnings",
    # clauses about one effect
    "lowers": _CLAUSE,
    "raises": _CLAUSE,
    "closer": _CLAUSE,
    "further": _CLAUSE,
    "varies": _CLAUSE,
    "more": _CLAUSE,
    "together": "first second measured joint sum",
    # names and phrases
    "replacing": "part",
    "replacing_own": "part",
    "replacing_feature": "feature part",
    "removing": "verb part",
    "altering": "part",
    "replaced": "",
    "altered": "",
    "any": "noun",
    "part": "noun name",
    "feature": "name",
    "feature_value": "feature value mean nodes",
    "feature_category": "feature value share nodes",
    "all_nodes": "",
    "all_nodes_of_type": "name",
    "pair": "name",
    "graph": "",
    "graph_of_many": "name",
    "class": "name",
    "label": "name",
    "no_label": "name",
    "measured": "outcome",
    "measured_value": "name",
    "measured_values": "",
    "points": "number",
    "in_points": "",
    "and": "",
    "or": "",
    # the rest of a report
    "heading_effects": _FACTS,
    "heading_tried": "",
    "heading_warnings": "",
    "caption": _FACTS,
    "or_feature": "noun",
    "column_effect": "",
    "column_range": "",
    "column_evidence": "outcome",
    "column_direction": "",
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
}
"""The fields that each template may use."""

_MANAGER = {
    "predicted": "The model predicts {outcome} for {target}, with a probability of {probability}.",
    "not_predicted": (
        "The model predicts {predicted} for {target}, not {outcome}, to which it gives a "
        "probability of {probability}."
    ),
    "value": "The model predicts {values} for {target}.",
    "own_none": "{action} makes no clear difference.",
    "supports": "{effects}: the original data makes {outcome} more likely.",
    "opposes": "{effects}: the original data makes {outcome} less likely.",
    "effects": "{effects}.",
    "feature_supports": "{effects}, so the original data makes {outcome} more likely",
    "feature_opposes": "{effects}, so the original data makes {outcome} less likely",
    "feature_effects": "{effects}",
    "none": "{action} makes no clear difference to {measured}.",
    "hardly": (
        "{action} changes {measured} by less than 0.1 percentage points on average: it hardly "
        "depends on any single {noun}."
    ),
    "checked": (
        "This was tried on {samples} copies of the graph in which randomly chosen {nouns} were "
        "{changed}: the model still predicted {predicted} in {stayed} of them, and {measured} "
        "averaged {mean} ({probability} with the original data)."
    ),
    "checked_value": (
        "This was tried on {samples} copies of the graph in which randomly chosen {nouns} were "
        "{changed}: {measured} averaged {mean} ({probability} with the original data)."
    ),
    "checked_values": (
        "This was tried on {samples} copies of the graph in which randomly chosen {nouns} were "
        "{changed}: {measured} differed from the original ones by {mean} on average."
    ),
    "sure": (
        "A difference beyond chance was found for {found} of {counted}, and each range contains "
        "the true average with 95% confidence; the figures describe how this model reacts, not "
        "what causes what in the real world{warned}."
    ),
    "sure_none": (
        "Small differences may have gone unnoticed; the figures describe how this model reacts, "
        "not what causes what in the real world{warned}."
    ),
    "warned": "; before relying on them, read the warnings ({num_warnings})",
    "lowers": "{action} lowers {measured} by {size} (95% range {low} to {high})",
    "raises": "{action} raises {measured} by {size} (95% range {low} to {high})",
    "closer": (
        "{action} keeps {measured} closer to the original ones by {size} (95% range {low} to "
        "{high})"
    ),
    "further": (
        "{action} moves {measured} away from the original ones by {size} (95% range {low} to "
        "{high})"
    ),
    "varies": (
        "{action} changes {measured}, but it is not clear in which direction ({mean} on average)"
    ),
    "more": "{action} by {number} ({low} to {high})",
    "together": (
        "; {first} and {second} together change {measured} by {joint}, not by {sum}, the sum of "
        "their single effects"
    ),
    "replacing": "replacing the data of {part}",
    "replacing_own": "replacing the data of {part} itself",
    "replacing_feature": "replacing {feature} of {part}",
    "removing": "{verb} {part}",
    "altering": "changing {part}",
    "replaced": "given other data",
    "altered": "changed",
    "any": "any single {noun}",
    "part": "{noun} {name}",
    "feature": "feature {name}",
    "feature_value": "{feature} ({value}; mean of {nodes} {mean})",
    "feature_category": "{feature} ({value}, as for {share} of {nodes})",
    "all_nodes": "all nodes",
    "all_nodes_of_type": "all nodes of type {name}",
    "pair": "the pair {name}",
    "graph": "the graph",
    "graph_of_many": "graph {name}",
    "class": "class {name}",
    "label": "label {name}",
    "no_label": "the absence of label {name}",
    "measured": "the probability of {outcome}",
    "measured_value": "the predicted {name}",
    "measured_values": "the predicted values",
    "points": "{number} percentage points",
    "in_points": " (in percentage points)",
    "and": " and ",
    "or": " or ",
    "heading_effects": "What matters",
    "heading_tried": "What was tried",
    "heading_warnings": "Warnings",
    "caption": "Average change of {measured}{unit} when one {noun} is {changed}.",
    "or_feature": "{noun} or feature",
    "column_effect": "change",
    "column_range": "95% range",
    "column_evidence": "original data makes {outcome}",
    "column_direction": "direction",
    "cell_for": "more likely",
    "cell_against": "less likely",
    "cell_lowers": "lowers it",
    "cell_raises": "raises it",
    "cell_closer": "closer to the original",
    "cell_further": "further away",
    "cell_varies": "direction not clear",
    "cell_none": "no clear difference",
    "own": "itself",
    "row_samples": "copies of the graph",
    "row_parts": "{nouns} tried",
    "row_stayed": "copies for which the model still predicted {predicted}",
    "row_mean": "average of {measured} (with the original data)",
    "row_mean_value": "average distance from the original values",
}

_ENGINEER = {
    **_MANAGER,
    "predicted": "The model predicts {outcome} for {target} with probability {probability}.",
    "not_predicted": (
        "The model predicts {predicted} for {target}; the explanation is about {outcome}, "
        "which has probability {probability}."
    ),
    "own_none": "{action} has no significant effect.",
    "supports": "{effects}: evidence for {outcome}.",
    "opposes": "{effects}: evidence against {outcome}.",
    "feature_supports": "{effects}, evidence for {outcome}",
    "feature_opposes": "{effects}, evidence against {outcome}",
    "none": "{action} has no significant effect on {measured}.",
    "hardly": "{action} changes {measured} by less than 0.1 percentage points.",
    "checked": (
        "The model still predicted {predicted} in {stayed} of {samples} perturbed graphs "
        "({perturbed}); {measured} averaged {mean} ({probability} unperturbed)."
    ),
    "checked_value": (
        "In {samples} perturbed graphs ({perturbed}), {measured} averaged {mean} ({probability} "
        "unperturbed)."
    ),
    "checked_values": (
        "In {samples} perturbed graphs ({perturbed}), {measured} had a mean distance of {mean} "
        "from the unperturbed ones."
    ),
    "sure": (
        "A significant effect was found for {found} of {counted} ({level}); effects are mean "
        "changes while the other {nouns} are perturbed at random, and hold for this model and this "
        "perturbation only{warned}."
    ),
    "sure_none": (
        "A significant effect was found for none of {counted} ({level}); this holds for this model "
        "and this perturbation only{warned}."
    ),
    "warned": ". Warnings: {warnings}",
    "lowers": "{action} lowers {measured} by {size} (95% interval {low} to {high}, {p})",
    "raises": "{action} raises {measured} by {size} (95% interval {low} to {high}, {p})",
    "closer": (
        "{action} keeps {measured} closer to the unperturbed ones by {size} (95% interval {low} to "
        "{high}, {p})"
    ),
    "further": (
        "{action} moves {measured} away from the unperturbed ones by {size} (95% interval {low} to "
        "{high}, {p})"
    ),
    "varies": "{action} changes {measured}; the sign of the mean is not clear ({mean}, {p})",
    "more": "{action} by {number} ({low} to {high}, {p})",
    "replacing": "perturbing {part}",
    "replacing_own": "perturbing {part} itself",
    "replacing_feature": "perturbing {feature} of {part}",
    "altering": "perturbing {part}",
    "replaced": "perturbed",
    "altered": "perturbed",
    "heading_effects": "Effects",
    "heading_tried": "Samples and settings",
    "caption": "Mean change of {measured}{unit} when one {noun} is {changed}; {level}.",
    "column_effect": "effect",
    "column_range": "95% interval",
    "column_evidence": "evidence",
    "cell_for": "for {outcome}",
    "cell_against": "against {outcome}",
    "cell_varies": "direction not clear",
    "cell_none": "not significant",
    "own": "target",
    "row_samples": "perturbed graphs",
    "row_parts": "{nouns} perturbed",
    "row_stayed": "perturbed graphs in which {predicted} is still predicted",
    "row_mean": "mean of {measured} (unperturbed)",
    "row_mean_value": "mean distance from the unperturbed values",
}
AUDIENCES: dict[str, dict[str, str]] = {"manager": _MANAGER, "engineer": _ENGINEER}
"""The built-in templates, by audience."""


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
