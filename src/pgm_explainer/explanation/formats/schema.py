"""An explanation as plain JSON values; ``docs/files.md`` describes every field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from ...effects import Effects
from ...effects.table import EFFECT_COLUMNS
from ...errors import InputError
from ...feature_names import FeatureNames
from ...graph import Subgraph
from ...limits import brief
from ...network.formats.plain import network_to_dict
from ...selection import Ranking
from ...selection.ranking import RANKING_COLUMNS
from ...storage.checked import plain_name
from ..edge_confidence import confidence_to_dict
from ..explanation import Explanation
from ..feature_effects import FEATURE_COLUMNS, FEATURE_LEVELS, FeatureEffects
from ..smallest_change import change_to_dict
from .settings_file import settings_to_dict

__all__ = ["FORMAT", "VERSION", "explanation_to_dict"]

FORMAT = "pgm-explainer explanation"
VERSION = 7


def explanation_to_dict(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as dicts, lists, numbers and strings.

    Of the graph, only the neighbourhood is included, with the names of its nodes.

    Raises:
        InputError: it is not an explanation, or a name or setting is not a plain value.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> from pgm_explainer.io import explanation_to_dict
        >>> document = explanation_to_dict(explanation)
        >>> document["format"], document["target"]
        ('pgm-explainer explanation', 1)
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
        "network": None if network is None else network_to_dict(network),
        "neighbourhood": _plain_neighbourhood(explanation.neighbourhood),
        "settings": settings_to_dict(explanation.settings),
        "warnings": list(explanation.warnings),
        **change_to_dict(explanation),
        **confidence_to_dict(explanation),
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


def _plain_neighbourhood(part: Subgraph | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {
        "edges": part.nodes[part.edge_index].T.tolist(),
        "columns": part.edges.tolist(),
        "num_nodes": part.whole_nodes,
        "num_edges": part.whole_edges,
    }
