"""The built-in templates for the sentences of a reason and the words of a report."""

from __future__ import annotations

__all__ = ["AUDIENCES"]

_MANAGER = {
    "predicted": "The model predicts {outcome} for {target}, with a probability of {probability}.",
    "not_predicted": (
        "The model predicts {predicted} for {target}, not {outcome}, to which it gives a "
        "probability of {probability}."
    ),
    "value": "The model predicts {values} for {target}.",
    "own_none": "{action} makes no clear difference.",
    "supports": "{effects}: {cause} {outcome} more likely.",
    "opposes": "{effects}: {cause} {outcome} less likely.",
    "cause_data": "the original data makes",
    "cause_part": "this {noun} makes",
    "cause_parts": "these {nouns} make",
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
        "A difference beyond chance was found for {found} of {counted}{clear}, and each range "
        "contains the true average with 95% confidence; the figures describe how this model "
        "reacts, not what causes what in the real world{warned}."
    ),
    "clear": " ({number} of them with a clear direction)",
    "sure_none": (
        "Small differences may have gone unnoticed; the figures describe how this model reacts, "
        "not what causes what in the real world{warned}."
    ),
    "change": "The smallest change found is {action}: it changes the prediction {often}{example}.",
    "change_none": (
        "No set of {nouns} was found that changes the prediction often enough: the best one "
        "changes it {often}."
    ),
    "more_parts": "{number} more",
    "change_always": "every time",
    "change_often": "in {share} of random trials{range}",
    "change_never": "in none of the random trials{range}",
    "change_rarely": "in only {share} of random trials{range}, which is fewer than half of them",
    "change_range": " (95% range {low} to {high})",
    "change_example": "; for example, {example}",
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
        "their single effects (95% range of the difference {low} to {high})"
    ),
    "replacing": "replacing the data of {part}",
    "replacing_own": "replacing the data of {part} itself",
    "replacing_feature": "replacing {feature} of {part}",
    "replacing_column": "replacing {part} of {nodes}",
    "replacing_value": "replacing {part}",
    "removing": "{verb} {part}",
    "altering": "changing {part}",
    "replaced": "given replacement data",
    "altered": "changed",
    "any": "any single {noun}",
    "part": "{noun} {name}",
    "of_node": "{name} of {noun} {node}",
    "in_node": "{node}, {name}",
    "feature": "feature {name}",
    "named_feature": "“{name}”",
    "feature_value": "{feature} ({value}; mean of {nodes} {mean})",
    "feature_category": "{feature} ({value}, as for {share} of {nodes})",
    "feature_of_node": "{feature} of {node}",
    "all_nodes": "all nodes",
    "all_nodes_of_type": "all nodes of type {name}",
    "pair": "the pair {name}",
    "graph": "the graph",
    "graph_of_many": "graph {name}",
    "graph_named": "graph {number} ({name})",
    "class": "class {name}",
    "label": "label {name}",
    "no_label": "the absence of label {name}",
    "measured": "the probability of {outcome}",
    "measured_value": "the predicted {name}",
    "measured_values": "the predicted values",
    "points": "{number} percentage points",
    "in_points": " (in percentage points)",
    "one_value": "the value {values}",
    "values": "the values {values}",
    "values_of_output": "{values} of output {output}",
    "and": " and ",
    "or": " or ",
    "noun_node": "node",
    "nouns_node": "nodes",
    "noun_edge": "edge",
    "nouns_edge": "edges",
    "noun_group": "group",
    "nouns_group": "groups",
    "noun_part": "part",
    "nouns_part": "parts",
    "noun_feature": "feature",
    "nouns_feature": "features",
    "noun_step": "step",
    "nouns_step": "steps",
    "noun_value": "value",
    "counted": "{number} {noun}",
    "verb_remove": "removing",
    "done_remove": "removed",
    "verb_rewire": "rewiring",
    "done_rewire": "rewired",
    "verb_attributes": "replacing the attributes of",
    "done_attributes": "given the attributes of another edge",
    "share_all": "all",
    "share_none": "none",
    "share_all_but": "all but {number}",
    "less_than": "less than {share}",
    "more_than": "more than {share}",
    "decimal_point": ".",
    "thousands_separator": ",",
    "language": "en",
    "title": "{headline}",
    "title_not_predicted": "{headline}",
    "title_value": "{headline}",
    "heading_effects": "What matters",
    "heading_tried": "What was tried",
    "heading_warnings": "Warnings",
    "caption": "Average change of {measured}{unit} when one {noun} is {changed}.",
    "or_feature": "{noun} or feature",
    "column_effect": "change",
    "column_range": "95% range",
    "column_evidence": "original data makes {outcome}",
    "column_evidence_part": "{noun} makes {outcome}",
    "column_direction": "direction",
    "column_p": "p",
    "cell_range": "{low} to {high}",
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
    "row_perturbation": "perturbation",
    "row_network": "network",
    "row_seed": "seed",
    "row_versions": "versions",
    "picture_title": "Around the prediction",
    "picture_target": "target",
    "picture_network": "node of the network",
    "picture_falls": "lowers {measured}",
    "picture_rises": "raises {measured}",
    "picture_weak": "no clear difference",
    "picture_range": "95% range",
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
        "A significant effect was found for {found} of {counted} ({level}){clear}; effects are "
        "mean changes while the other {nouns} are perturbed at random, and hold for this model "
        "and this perturbation only{warned}."
    ),
    "clear": ", with a clear direction for {number} of them",
    "sure_none": (
        "A significant effect was found for none of {counted} ({level}); this holds for this model "
        "and this perturbation only{warned}."
    ),
    "change": (
        "The smallest counterfactual found is {action}: it changes the prediction {often}{example}."
    ),
    "change_none": (
        "No counterfactual set of {nouns} was found: the best one changes the prediction {often}."
    ),
    "change_always": "in every perturbation",
    "change_often": "with probability {share}{range}",
    "change_never": "in none of the draws{range}",
    "change_rarely": "with a probability of only {share}{range}, fewer than half of the draws",
    "change_range": " (95% interval {low} to {high})",
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
    "together": (
        "; {first} and {second} together change {measured} by {joint}, not by {sum}, the sum of "
        "their single effects (95% interval of the difference {low} to {high})"
    ),
    "replacing": "perturbing {part}",
    "replacing_own": "perturbing {part} itself",
    "replacing_feature": "perturbing {feature} of {part}",
    "replacing_column": "perturbing {part} of {nodes}",
    "replacing_value": "perturbing {part}",
    "altering": "perturbing {part}",
    "replaced": "perturbed",
    "altered": "perturbed",
    "heading_effects": "Effects",
    "heading_tried": "Samples and settings",
    "caption": "Mean change of {measured}{unit} when one {noun} is {changed}; {level}.",
    "column_effect": "effect",
    "column_range": "95% interval",
    "column_evidence": "evidence",
    "column_evidence_part": "evidence",
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
