"""An explanation from plain values of an untrusted source, with every field validated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import IntArray
from ...effects import Effects, PairEffect
from ...effects.table import EFFECT_COLUMNS
from ...errors import FileError
from ...feature_names import FeatureNames
from ...graph import Subgraph
from ...limits import brief
from ...network.formats.plain import network_from_dict
from ...node_names import NodeNames
from ...selection import Ranking
from ...selection.ranking import RANKING_COLUMNS
from ...storage.checked import Checked
from ...variables import VariableId, is_edge
from ...versions import CURRENT_VERSIONS
from ..edge_confidence import confidence_from
from ..explanation import Explanation
from ..feature_effects import FEATURE_COLUMNS, FEATURE_LEVELS, FeatureEffects
from ..smallest_change import change_from
from .consistency import check_consistent
from .schema import FORMAT, VERSION
from .settings_file import settings_from_dict

__all__ = ["explanation_from_dict"]

_FIELDS = (
    "format",
    "version",
    "made_with",
    "target",
    "ends",
    "position",
    "title",
    "explained_class",
    "probability",
    "values",
    "held",
    "class_stayed",
    "sample_mean",
    "thresholds",
    "effects",
    "ranking",
    "features",
    "names",
    "node_types",
    "feature_names",
    "parts",
    "node_classes",
    "network",
    "neighbourhood",
    "settings",
    "warnings",
)
_OPTIONAL = {"smallest_change": change_from, "edge_confidence": confidence_from}
"""Fields that are left out if the explanation has none, and what adds them to it."""
_ENDS = {"node": 1, "edge": 2, "graph": 0}


def explanation_from_dict(document: Any, place: str = "the explanation") -> Explanation:
    """Return the explanation from the values of ``explanation_to_dict``.

    Args:
        document: the values.
        place: the name of the document in errors.

    Raises:
        FileError: the values have another format or version, or a field is missing,
            unknown, or inconsistent with the others.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> from pgm_explainer.io import explanation_from_dict, explanation_to_dict
        >>> explanation_from_dict(explanation_to_dict(explanation)) == explanation
        True
    """
    fields = _checked_fields(Checked(document, place))
    settings = settings_from_dict(fields["settings"])
    ranking = _read_ranking(fields["ranking"])
    ends = fields["ends"].array((_ENDS[settings.model.task],), Checked.whole_number, np.int64)
    found = fields["parts"].or_none(lambda parts: _read_parts(parts, ends))
    labels, area, members = found or ({}, ends[:0], {})
    nodes = np.union1d(area if labels else ranking.nodes, ends)
    numbers = np.union1d(nodes, sorted(labels)).astype(np.int64)
    names = fields["names"].or_none(lambda names: _read_names(names, numbers)) or NodeNames()
    if fields["node_types"].flag():
        names = _typed(names, nodes, fields["names"].place)
    with_target = np.union1d(ranking.nodes, ends)  # other parts need not include the target
    by_nodes = settings.sampling.parts.name == "nodes"
    tested = [with_target] if by_nodes else [with_target, np.sort(ranking.nodes)]
    effects = _read_effects(fields["effects"], tested)
    values = tuple(value.number() for value in fields["values"].items())
    known = _read_feature_names(fields["feature_names"])
    versions = fields["made_with"].fields(*CURRENT_VERSIONS)
    explanation = Explanation(
        target=fields["target"].name(),
        explained_class=fields["explained_class"].or_none(Checked.whole_number),
        probability=fields["probability"].or_none(Checked.fraction),
        values=values,
        held=fields["held"].fraction(),
        class_stayed=fields["class_stayed"].or_none(Checked.fraction),
        sample_mean=fields["sample_mean"].number(),
        thresholds=tuple(each.finite() for each in fields["thresholds"].items()),
        effects=replace(effects, names=names),
        ranking=replace(ranking, names=names),
        network=fields["network"].or_none(network_from_dict),
        settings=settings,
        warnings=tuple(fields["warnings"].texts()),
        graph=fields["neighbourhood"].or_none(lambda part: _read_neighbourhood(part, nodes)),
        ends=ends,
        node_classes=_read_classes(fields["node_classes"], len(nodes)),
        versions={name: version.text() for name, version in versions.items()},
        names=names,
        part_labels=labels,
        area=area,
        part_members=members,
        position=fields["position"].or_none(Checked.whole_number),
        title=fields["title"].text(),
        feature_names=known,
        features=fields["features"].or_none(
            lambda each: _read_features(each, nodes, ends=ends, names=names, feature_names=known)
        ),
    )
    check_consistent(explanation, place)
    for name, add in _OPTIONAL.items():
        if name in fields:
            explanation = add(fields[name], explanation)
    return explanation


def _checked_fields(document: Checked) -> dict[str, Checked]:
    """Return the fields after checking format and version."""
    known = dict(document.entries())
    said = known["format"].value if "format" in known else None
    if not isinstance(said, str) or said != FORMAT:
        raise FileError(
            f"{document.place} is not an explanation: it has no field 'format' that says "
            f"{brief(FORMAT)}"
        )
    if "version" in known:
        version = known["version"].whole_number(at_least=1)
        if version != VERSION:
            hint = "install a newer one" if version > VERSION else "explain again and save"
            raise FileError(
                f"{document.place} has version {version}, but this pgm-explainer reads version "
                f"{VERSION}: {hint}"
            )
    return document.fields(*_FIELDS, *(name for name in _OPTIONAL if name in known))


def _read_parts(
    parts: Checked, ends: IntArray
) -> tuple[dict[int, VariableId], IntArray, dict[int, tuple[VariableId, ...]]]:
    """Return the labels of parts that are not nodes, the neighbourhood, and groups' members."""
    fields = parts.fields("labels", "area", "members")
    pairs = [pair.items(2) for pair in fields["labels"].items()]
    labels = {number.whole_number(): label.name() for number, label in pairs}
    if not labels or len(labels) < len(pairs):
        raise FileError(f"{fields['labels'].place} must have a label for each part, each once")
    each_label = (label if isinstance(label, tuple) else (label,) for label in labels.values())
    mentioned = [each for label in each_label for each in label]
    if any(isinstance(each, int) and not 0 <= each < min(labels) for each in mentioned):
        raise FileError(
            f"{fields['labels'].place} must refer to nodes, numbered before other parts"
        )
    shape = (len(fields["area"].items()),)
    area: IntArray = fields["area"].array(shape, Checked.whole_number, np.int64)
    if not np.array_equal(np.unique(area), area) or max(area, default=-1) >= min(labels):
        raise FileError(f"{fields['area'].place} must list nodes, ascending, before other parts")
    around = set(np.union1d(area, ends).tolist())
    return labels, area, _read_members(fields["members"], labels, around)


def _read_members(
    members: Checked, labels: Mapping[int, VariableId], around: set[int]
) -> dict[int, tuple[VariableId, ...]]:
    """Return the members of each group: nodes of the neighbourhood, or pairs of them."""
    pairs = [pair.items(2) for pair in members.items()]
    found = {
        number.whole_number(): tuple(each.name() for each in listed.items())
        for number, listed in pairs
    }
    every = [member for listed in found.values() for member in listed]
    nodes = [
        node
        for each in every
        for node in (each if isinstance(each, tuple) and is_edge(each) else (each,))
    ]
    if len(found) < len(pairs) or not labels.keys() >= found.keys() or not around.issuperset(nodes):
        raise FileError(f"{members.place} must list nodes of the neighbourhood for groups")
    return found


def _read_classes(classes: Checked, count: int) -> IntArray:
    """Return the class of each of ``count`` nodes; empty if they are unknown."""
    shape = (count if classes.items() else 0,)
    return classes.array(shape, lambda each: each.whole_number(at_least=-1), np.int64)


def _read_effects(effects: Checked, tested: Sequence[IntArray]) -> Effects:
    """Return the effects of one of these sets of parts."""
    fields = effects.fields(*EFFECT_COLUMNS, "pairs", "left_out")
    shape = (len(fields["nodes"].items()),)
    own: IntArray = fields["nodes"].array(shape, Checked.whole_number, np.int64)
    if not any(np.array_equal(np.sort(own), each) for each in tested):
        raise FileError(
            f"{effects.place}.nodes must be the nodes of the ranking and the target, each once"
        )
    read = Effects(
        own,
        **_read_numbers(fields, shape),
        pairs=tuple(_read_pair(pair, own) for pair in fields["pairs"].items()),
        left_out=fields["left_out"].whole_number(),
    )
    _check_intervals(read, effects)
    return read


def _read_features(features: Checked, nodes: IntArray, **about: Any) -> FeatureEffects:
    fields = features.fields(*FEATURE_COLUMNS, "untested", "left_out")
    shape = (len(fields["nodes"].items()),)
    its: IntArray = fields["nodes"].array(shape, Checked.whole_number, np.int64)
    column: IntArray = fields["features"].array(shape, Checked.whole_number, np.int64)
    if not np.isin(its, nodes).all() or len(set(zip(its, column, strict=True))) < len(its):
        raise FileError(f"{features.place} must list features of nodes in the ranking, each once")
    levels = {
        name: fields[name].array(shape, lambda cell: cell.or_none(Checked.finite), np.float64)
        for name in FEATURE_LEVELS
    }
    read = FeatureEffects(
        its,
        column,
        **{**_read_numbers(fields, shape), **levels},
        untested=fields["untested"].whole_number(),
        left_out=fields["left_out"].whole_number(),
        **about,
    )
    _check_intervals(read, features)
    return read


def _read_numbers(fields: dict[str, Checked], shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the columns of a table of effects that are not indices."""
    finite = {
        name: fields[name].array(shape, Checked.finite, np.float64)
        for name in ("effect", "low", "high")
    }
    return {
        **finite,
        "strength": fields["strength"].array(shape, Checked.fraction, np.float64),
        "log_p": fields["log_p"].array(shape, Checked.log_probability, np.float64),
        "significant": fields["significant"].array(shape, Checked.flag, np.bool_),
    }


def _check_intervals(read: Effects | FeatureEffects, place: Checked) -> None:
    if not ((read.low <= read.effect) & (read.effect <= read.high)).all():
        raise FileError(f"{place.place}.effect must be from low to high in every row")


def _read_pair(pair: Checked, nodes: IntArray) -> PairEffect:
    fields = pair.fields("nodes", "joint", "excess", "low", "high", "log_p")
    first, second = (node.whole_number() for node in fields.pop("nodes").items(2))
    if not np.isin((first, second), nodes).all():
        raise FileError(
            f"{pair.place}.nodes are {first} and {second}, one of which is not in the effects"
        )
    log_p = fields.pop("log_p").log_probability()
    numbers = {name: each.finite() for name, each in fields.items()}
    return PairEffect((first, second), **numbers, log_p=log_p)


def _read_ranking(ranking: Checked) -> Ranking:
    fields = ranking.fields(*RANKING_COLUMNS, "left_out")
    shape = (len(fields["nodes"].items()),)
    nodes = fields["nodes"].array(shape, Checked.whole_number, np.int64)
    if len(np.unique(nodes)) < len(nodes):
        raise FileError(f"{ranking.place}.nodes names a node twice")
    return Ranking(
        nodes,
        statistic=fields["statistic"].array(shape, Checked.number, np.float64),
        dof=fields["dof"].array(shape, Checked.whole_number, np.int64),
        log_p=fields["log_p"].array(shape, Checked.log_probability, np.float64),
        effect_size=fields["effect_size"].array(shape, Checked.number, np.float64),
        significant=fields["significant"].array(shape, Checked.flag, np.bool_),
        selected=fields["selected"].array(shape, Checked.flag, np.bool_),
        left_out=fields["left_out"].whole_number(),
    )


def _read_feature_names(names: Checked) -> FeatureNames:
    """Return a list of names, or one for each node type."""
    if isinstance(names.value, Mapping):
        return {kind: _read_titles(its) for kind, its in names.entries()}
    return _read_titles(names)


def _read_titles(names: Checked) -> tuple[str, ...]:
    titles = tuple(names.texts())
    if len(set(titles)) < len(titles) or "" in titles:
        raise FileError(f"{names.place} must give every feature a different name")
    return titles


def _read_names(names: Checked, nodes: IntArray) -> NodeNames:
    pairs = [pair.items(2) for pair in names.items(len(nodes))]
    read = {number.whole_number(): name.name() for number, name in pairs}
    if len(set(read.values())) < len(read):
        raise FileError(f"{names.place} gives two nodes the same name")
    if sorted(read) != nodes.tolist():
        raise FileError(f"{names.place} must give every node of the ranking and the target a name")
    return NodeNames(read, nodes.tolist())


def _typed(names: NodeNames, nodes: IntArray, place: str) -> NodeNames:
    """Return the names of nodes that have types: pairs of a type and a name."""
    for name in names.of(nodes.tolist()):
        if not isinstance(name, tuple) or len(name) != 2 or not isinstance(name[0], str):
            raise FileError(f"{place} must give every node a type and a name, not {brief(name)}")
    return replace(names, typed=True)


def _read_neighbourhood(part: Checked, nodes: IntArray) -> Subgraph:
    fields = part.fields("edges", "columns", "num_nodes", "num_edges")
    count = len(fields["edges"].items())
    edges: IntArray = fields["edges"].array((count, 2), Checked.whole_number, np.int64)
    columns: IntArray = fields["columns"].array((count,), Checked.whole_number, np.int64)
    num_nodes = fields["num_nodes"].whole_number(at_least=int(nodes.max(initial=-1)) + 1)
    num_edges = fields["num_edges"].whole_number(at_least=int(columns.max(initial=-1)) + 1)
    if not np.isin(edges, nodes).all():
        raise FileError(f"{fields['edges'].place} must connect nodes of the ranking and the target")
    return Subgraph(nodes, np.searchsorted(nodes, edges.T), columns, num_nodes, num_edges)
