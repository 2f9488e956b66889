"""Explanations as rows of a table, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..effects import Effect
from ..errors import FileError, JobError
from ..explanation import Explanation, FeatureEffects
from ..explanation.formats.settings_file import settings_to_dict
from ..explanation.smallest_change import part_numbers
from ..io import explanation_from_dict, explanation_to_dict
from ..storage.checked import parse_json
from .bounded import read_parquet
from .types import label_to_text, type_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Row",
    "as_explanation",
    "check_pyarrow",
    "failed_row",
    "joined",
    "parquet_bytes",
    "read_table",
    "row_of",
    "schema",
    "table_of",
]

Row = dict[str, Any]
_EFFECT_NUMBERS = ("effect", "low", "high", "strength", "log_p")


def check_pyarrow() -> None:
    """Check that pyarrow is installed.

    Raises:
        JobError: it is missing; the message has installation instructions.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise JobError("data sets need pyarrow: pip install 'pgm-explainer[dataset]'") from error


def schema(task: str) -> pa.Schema:
    """Return the columns of a data set, which ``docs/datasets.md`` describes."""
    import pyarrow as pa

    node = [("node", pa.int64()), ("kind", pa.string())]
    numbers = [*((name, pa.float64()) for name in _EFFECT_NUMBERS), ("significant", pa.bool_())]
    of_feature = [("feature", pa.int64()), ("name", pa.string()), ("own", pa.bool_())]
    feature = pa.struct([*node, *of_feature, *numbers])
    effect = pa.struct([*node, ("part", pa.string()), ("type", pa.string()), *numbers])
    return pa.schema(
        [
            ("target", pa.list_(pa.int64(), 2) if task == "edge" else pa.int64()),
            ("error", pa.string()),
            ("explained_class", pa.int64()),
            ("probability", pa.float64()),
            ("held", pa.float64()),
            ("class_stayed", pa.float64()),
            ("sample_mean", pa.float64()),
            ("nodes", pa.list_(pa.int64())),
            ("kinds", pa.list_(pa.string())),
            ("parts", pa.list_(pa.string())),
            ("log_p", pa.list_(pa.float64())),
            ("effect_size", pa.list_(pa.float64())),
            ("effects", pa.list_(effect)),
            ("markov_blanket", pa.list_(pa.int64())),
            ("markov_blanket_kinds", pa.list_(pa.string())),
            ("candidates", pa.int64()),
            ("features", pa.list_(feature)),
            ("network", pa.string()),
            ("warnings", pa.list_(pa.string())),
            ("settings", pa.string()),
            ("explanation", pa.string()),
        ]
    )


def row_of(
    target: Any,
    explanation: Explanation,
    keep: int,
    types: Sequence[str | None] | None = None,
    names: Sequence[Any] | None = None,
) -> Row:
    """Return the row of an explanation, with the first ``keep`` of its ranking and effects.

    Of its features, those with significant effects are kept too.

    Args:
        types: the type of each node, for one of many graphs.
        names: the names of its nodes, if they have any; other names are stored with the job.
    """
    ranked = {each.node: each for each in explanation.ranking if each.selected}
    chosen = [ranked[node] for node in explanation.nodes]
    network = explanation.network
    kept = _trimmed(explanation, keep)
    nodes, kinds = _split(explanation.nodes, explanation)
    blanket, blanket_kinds = _split(explanation.markov_blanket, explanation)
    return {
        "target": target,
        "explained_class": explanation.explained_class,
        "probability": explanation.probability,
        "held": explanation.held,
        "class_stayed": explanation.class_stayed,
        "sample_mean": explanation.sample_mean,
        "nodes": nodes,
        "kinds": kinds,
        "parts": _labels(explanation.nodes, explanation),
        "log_p": [each.log_p for each in chosen],
        "effect_size": [each.effect_size for each in chosen],
        "effects": [_effect(each, explanation, types) for each in kept.effects],
        "markov_blanket": blanket,
        "markov_blanket_kinds": blanket_kinds,
        "candidates": len(explanation.ranking),
        "features": None if kept.features is None else _features(kept.features),
        "network": None if network is None else network.factorisation,
        "warnings": list(explanation.warnings),
        "settings": json.dumps(settings_to_dict(explanation.settings)),
        "explanation": json.dumps(
            explanation_to_dict(kept if names is None else kept.named(names)), allow_nan=False
        ),
    }


def failed_row(target: Any, error: str) -> Row:
    """Return the row of a target that could not be explained."""
    return {"target": target, "error": error}


def table_of(rows: Sequence[Row], task: str) -> pa.Table:
    """Return rows as a table; missing values are null."""
    import pyarrow as pa

    return pa.Table.from_pylist(list(rows), schema=schema(task))


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a table as the bytes of a Parquet file, deterministically."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def read_table(data: bytes, place: str, columns: list[str] | None = None) -> pa.Table:
    """Return a Parquet file's table.

    Raises:
        FileError: it is not a Parquet file, or expands beyond the limit.
    """
    try:
        return read_parquet(data, columns)
    except FileError as error:
        raise FileError(f"{place}: {error}") from None


def joined(parts: Sequence[tuple[bytes, Sequence[int]]], task: str) -> bytes:
    """Merge Parquet files; the result is the same as if all rows had been written at once.

    Args:
        parts: each file with the positions of its rows in the result.
        task: the task of the explanations.
    """
    import pyarrow as pa

    whole = pa.concat_tables(read_table(data, "part of a shard") for data, _ in parts)
    order = np.argsort(np.concatenate([places for _, places in parts]))
    # Parquet uses another name for the items of a list.
    return parquet_bytes(whole.take(order).cast(schema(task)))


def as_explanation(row: Row, place: str) -> Explanation:
    """Return the explanation in a row.

    If the data set kept only part of the ranking, the explanation has a warning.

    Raises:
        FileError: the row contains an error instead, or no explanation.
    """
    if row["error"] is not None:
        raise FileError(f"{place} could not be explained: {row['error']}")
    try:
        document = parse_json(row["explanation"] or "", "run the job again in another folder")
    except FileError as error:
        raise FileError(f"{place}: {error}") from None
    explanation = explanation_from_dict(document, place)
    ranking = explanation.ranking
    if not ranking.left_out:
        return explanation
    kept, of = len(ranking), ranking.num_candidates
    note = f"the data set kept only the first {kept} of {of} candidates"
    return replace(explanation, warnings=(*explanation.warnings, note))


def _trimmed(explanation: Explanation, keep: int) -> Explanation:
    """Return the explanation with only the first candidates by ranking and by effect.

    The nodes of the network and the parts of a smallest change are always kept.
    """
    ranking, effects = explanation.ranking, explanation.effects
    change = explanation.smallest_change
    changed = np.array([] if change is None else part_numbers(explanation, change), np.int64)
    first = np.concatenate((ranking.nodes[:keep], effects.nodes[:keep], explanation.ends, changed))
    ranking, effects = ranking.keeping(first), effects.keeping(first, ranking.selected_nodes)
    kept = set(ranking.nodes.tolist())
    labels = {part: label for part, label in explanation.part_labels.items() if part in kept}
    area = explanation.area
    pairs = [label for label in labels.values() if isinstance(label, tuple)]
    if ranking.left_out and len(pairs) == len(labels):
        # As for nodes, keep only the nodes that the remaining parts consist of.
        about = kept.difference(labels).union(
            each for label in pairs for each in label if isinstance(each, int)
        )
        area = area[np.isin(area, list(about))]
    features = explanation.features
    trimmed = replace(
        explanation,
        ranking=ranking,
        effects=effects,
        part_labels=labels,
        area=area,
        features=None if features is None else features.keeping(keep),
    )
    classes = explanation.node_classes
    stays = np.isin(explanation.around, trimmed.around)
    return replace(trimmed, node_classes=classes[stays] if len(classes) else classes)


def _split(nodes: Sequence[Any], explanation: Explanation) -> tuple[list[int], list[str] | None]:
    """Return the nodes' numbers; in a heterogeneous graph, the numbers per type and the types."""
    if explanation.part_labels:
        return [explanation.names.index(node) for node in nodes], None
    if not explanation.names:
        return list(nodes), None
    return [number for _, number in nodes], [kind for kind, _ in nodes]


def _features(features: FeatureEffects) -> list[Row]:
    """Return the effects of features, strongest first."""
    own = features.own.tolist()
    return [
        {
            **_node(each.node),
            **{name: getattr(each, name) for name in (*_EFFECT_NUMBERS, "significant")},
            "feature": feature,
            "name": each.feature if isinstance(each.feature, str) else None,
            "own": own[at],
        }
        for at, (each, feature) in enumerate(zip(features, features.features.tolist(), strict=True))
    ]


def _labels(parts: Sequence[Any], explanation: Explanation) -> list[str] | None:
    """Return parts by their labels as JSON; None if all parts are nodes."""
    return [label_to_text(each) for each in parts] if explanation.part_labels else None


def _effect(effect: Effect, explanation: Explanation, types: Sequence[str | None] | None) -> Row:
    numbers = {name: getattr(effect, name) for name in _EFFECT_NUMBERS}
    row = {**numbers, "significant": effect.significant}
    if types is not None:
        row["type"] = type_of(effect.node, types)
    if not explanation.part_labels:
        return {**_node(effect.node), **row}
    number = explanation.names.index(effect.node)
    return {"node": number, "part": label_to_text(effect.node), **row}


def _node(name: Any) -> Row:
    kind, number = name if isinstance(name, tuple) else (None, name)
    return {"node": number, "kind": kind}
