"""An explanation as plain JSON values; ``docs/files.md`` describes every field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from ...effects import EFFECT_COLUMNS, Effects
from ...errors import InputError
from ...feature_names import FeatureNames
from ...graph import Subgraph
from ...limits import brief
from ...network import BayesianNetwork, ConditionalTable, NoisyOr
from ...selection import RANKING_COLUMNS, Ranking
from ...storage.checked import plain_name
from ..explanation import Explanation
from ..feature_effects import FEATURE_COLUMNS, FEATURE_LEVELS, FeatureEffects
from ..smallest_change import change_to_dict
from .settings_file import settings_to_dict

__all__ = ["FORMAT", "NOISY_OR_FIELDS", "VERSION", "explanation_to_dict"]

FORMAT = "pgm-explainer explanation"
VERSION = 7
NOISY_OR_FIELDS = (
    "perturbed",
    "leak",
    "own",
    "log_likelihood",
    "num_parameters",
    "num_samples",
)


def explanation_to_dict(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as dicts, lists, numbers and strings.

    Of the graph, only the neighbourhood is included, with the names of its nodes.

    Raises:
        InputError: it is not an explanation, or a name or setting is not a plain value.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(f"expected an explanation, not {brief(explanation)}")
    network = explanation.network
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_with": dict(explanation.versions),
        "target": plain_name(explanation.target),
        "ends": explanation.ends.tolist(),
        "position": explanation.position,
        "title": explanation.title,
        "explained_class": explanation.explained_class,
        "probability": explanation.probability,
        "values": [_plain_number(value) for value in explanation.values],
        "held": explanation.held,
        "class_stayed": explanation.class_stayed,
        "sample_mean": _plain_number(explanation.sample_mean),
        "thresholds": list(explanation.thresholds),
        "effects": _plain_effects(explanation.effects),
        "ranking": _plain_ranking(explanation.ranking),
        "features": None if explanation.features is None else _plain_features(explanation.features),
        "names": _plain_names(explanation),
        "node_types": explanation.names.typed,
        "feature_names": _plain_feature_names(explanation.feature_names),
        "parts": _plain_parts(explanation),
        "node_classes": explanation.node_classes.tolist(),
        "network": None if network is None else _plain_network(network),
        "neighbourhood": _plain_neighbourhood(explanation.neighbourhood),
        "settings": settings_to_dict(explanation.settings),
        "warnings": list(explanation.warnings),
        **change_to_dict(explanation),
    }


def _plain_number(number: float) -> float | str:
    return float(number) if isfinite(number) else str(float(number))


def _plain_ranking(ranking: Ranking) -> dict[str, Any]:
    columns = {name: getattr(ranking, name).tolist() for name in RANKING_COLUMNS}
    for name in ("statistic", "log_p", "effect_size"):
        columns[name] = [_plain_number(number) for number in columns[name]]
    return {**columns, "left_out": ranking.left_out}


def _plain_effects(effects: Effects) -> dict[str, Any]:
    columns = {name: getattr(effects, name).tolist() for name in EFFECT_COLUMNS}
    columns["log_p"] = [_plain_number(number) for number in columns["log_p"]]
    pairs = [{**asdict(pair), "nodes": list(pair.nodes)} for pair in effects.pairs]
    return {**columns, "pairs": pairs, "left_out": effects.left_out}


def _plain_features(features: FeatureEffects) -> dict[str, Any]:
    columns = {name: getattr(features, name).tolist() for name in FEATURE_COLUMNS}
    columns["log_p"] = [_plain_number(number) for number in columns["log_p"]]
    for name in FEATURE_LEVELS:
        columns[name] = [number if isfinite(number) else None for number in columns[name]]
    return {**columns, "untested": features.untested, "left_out": features.left_out}


def _plain_names(explanation: Explanation) -> list[list[Any]] | None:
    if not explanation.names:
        return None
    numbers = (*explanation.around.tolist(), *explanation.part_labels)
    return [[number, plain_name(explanation.names[number])] for number in sorted(numbers)]


def _plain_feature_names(names: FeatureNames) -> list[str] | dict[str, list[str]]:
    if isinstance(names, Mapping):
        return {kind: list(its) for kind, its in names.items()}
    return list(names)


def _plain_parts(explanation: Explanation) -> dict[str, Any] | None:
    """The labels of parts that are not nodes, the neighbourhood, and the members of groups."""
    if not explanation.part_labels:
        return None
    labels = explanation.part_labels
    return {
        "labels": [[number, plain_name(labels[number])] for number in sorted(labels)],
        "area": explanation.area.tolist(),
        "members": [
            [number, [plain_name(member) for member in members]]
            for number, members in sorted(explanation.part_members.items())
        ],
    }


def _plain_network(network: BayesianNetwork) -> dict[str, Any]:
    variables = []
    for variable in network.variables:
        table = network.cpt(variable.id)
        variables.append(
            {
                "name": plain_name(variable.id),
                "perturbable": variable.perturbable,
                "levels": variable.levels,
                "parents": [plain_name(parent.id) for parent in table.parents],
                **_plain_table(table),
            }
        )
    score = None if network.score is None else _plain_number(network.score)
    return {"variables": variables, "score": score}


def _plain_table(table: ConditionalTable | NoisyOr) -> dict[str, Any]:
    if isinstance(table, ConditionalTable):
        return {"probabilities": table.values.tolist(), "counts": table.counts.tolist()}
    learnt = {name: getattr(table, name) for name in NOISY_OR_FIELDS}
    return {"noisy_or": {**learnt, "chances": [chance.tolist() for chance in table.chances]}}


def _plain_neighbourhood(part: Subgraph | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {
        "edges": part.nodes[part.edge_index].T.tolist(),
        "columns": part.edges.tolist(),
        "num_nodes": part.whole_nodes,
        "num_edges": part.whole_edges,
    }
