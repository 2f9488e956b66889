"""Computes the overview of a data set in two passes over its rows."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import check_whole_number
from ..errors import FileError, PGMExplainerError
from .overview import ClassCauses, Influence, Overview, Shared
from .reading import ExplanationDataset
from .types import label_from_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["overview"]

_COLUMNS = [
    "target",
    "error",
    "explained_class",
    "held",
    "class_stayed",
    "nodes",
    "kinds",
    "parts",
    "effect_size",
    "effects",
    "features",
]
_NUMBER = re.compile(r"\d+")


def overview(dataset: ExplanationDataset, top: int = 20) -> Overview:
    """Compute the overview of a data set in two passes, one shard at a time.

    Args:
        dataset: the data set.
        top: the number of nodes, types, features and shared explanations to list.
    """
    check_whole_number(top, "top", at_least=1)
    many = dataset.task == "graph"
    counts = _Counts(dataset.target_type, many)
    try:
        for table in dataset.tables(_COLUMNS):
            effects = _significant_effects(table, many)
            for at, row in enumerate(table.drop_columns(["effects"]).to_pylist()):
                counts.add(row, effects.get(at, {}))
    except PGMExplainerError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise FileError(f"{dataset.path}: a row is incomplete or damaged: {error}") from error

    def named(tally: _Tally, by_size: bool = False) -> list[Influence]:
        found = tally.most(top, by_size)
        return [replace(each, what=dataset.called(each.what)) for each in found]

    return Overview(
        folder=str(dataset.path),
        targets=dataset.num_targets,
        explained=counts.explained,
        failed=sum(counts.errors.values()),
        errors=dict(counts.errors.most_common()),
        unchanged=counts.unchanged,
        unaffected=counts.unaffected,
        own=counts.own,
        seconds=sum(entry.seconds for entry in dataset.entries),
        in_points=counts.in_points,
        causes=named(counts.causes),
        along=[replace(each, effect=None) for each in named(counts.along)],
        kinds=counts.kinds.most(top),
        features=counts.features.most(top),
        shared=_shared(dataset, np.array(counts.keys, dtype=np.uint64), top),
        classes=[
            ClassCauses(dataset.class_name(number), count, named(tally, by_size=True))
            for number, (count, tally) in sorted(counts.classes.items())
        ],
        noun="part" if counts.classes else "node",
        class_stayed=counts.stayed / counts.classified if counts.classified else None,
        dataset=dataset,
    )


def _significant_effects(table: pa.Table, many: bool) -> dict[int, dict[Any, float]]:
    """Return, for each row that has significant effects, each effect by part.

    For many graphs, parts are replaced by their types, and the strongest part of a type counts.

    To save time, effects that are not significant are removed before conversion to Python objects.
    """
    import pyarrow.compute as pc

    column = table["effects"].combine_chunks()
    rows, effects = pc.list_parent_indices(column), pc.list_flatten(column)
    kept = pc.struct_field(effects, "significant")
    found: dict[int, dict[Any, float]] = defaultdict(dict)
    for at, each in zip(
        rows.filter(kept).to_pylist(), effects.filter(kept).to_pylist(), strict=True
    ):
        name = each["type"] if many else _name(each)
        if name is not None:
            found[at][name] = max(each["effect"], found[at].get(name, 0.0), key=abs)
    return found


def _name(effect: dict[str, Any]) -> Any:
    """Return the name of a part: a node, (type, number), or its label."""
    if effect["part"] is not None:
        return label_from_text(effect["part"])
    return effect["node"] if effect["kind"] is None else (effect["kind"], effect["node"])


class _Tally:
    """Counts the predictions that each node, part or feature matters to, and sums the sizes."""

    def __init__(self) -> None:
        self._counted: dict[Any, tuple[int, float, float]] = {}

    def add(self, effects: Iterable[tuple[Any, float]]) -> None:
        """Count what matters to one prediction; of duplicates, the largest effect counts."""
        largest: dict[Any, float] = {}
        for what, effect in effects:
            largest[what] = max(effect, largest.get(what, 0.0), key=abs)
        for what, effect in largest.items():
            count, total, signed = self._counted.get(what, (0, 0.0, 0.0))
            self._counted[what] = (count + 1, total + abs(effect), signed + effect)

    def most(self, top: int, by_size: bool = False) -> list[Influence]:
        """Return those that affect the most predictions, or have the largest sum of sizes."""

        def key(item: tuple[Any, tuple[int, float, float]]) -> tuple[float, float, str]:
            what, (count, total, _) = item
            return (-total, -count, str(what)) if by_size else (-count, -total, str(what))

        return [
            Influence(what, count, total / count, signed / count)
            for what, (count, total, signed) in sorted(self._counted.items(), key=key)[:top]
        ]


class _Counts:
    """The counts of one pass over the rows; memory grows with the graph, not with the data set."""

    def __init__(self, target_type: str | None, many: bool = False) -> None:
        self._target_type, self._many = target_type, many
        self.classes: dict[int, tuple[int, _Tally]] = {}
        self.explained = self.unchanged = self.unaffected = self.own = 0
        self.in_points = False
        self.stayed, self.classified = 0.0, 0
        self.errors: Counter[str] = Counter()
        self.causes, self.along, self.kinds, self.features = (_Tally() for _ in range(4))
        self.keys: list[int] = []

    def add(self, row: dict[str, Any], effects: dict[Any, float]) -> None:
        if row["error"] is not None:
            self.errors[_NUMBER.sub("…", row["error"])] += 1
            return
        self.explained += 1
        self.unchanged += row["held"] == 1
        if row["class_stayed"] is not None:
            self.stayed, self.classified = self.stayed + row["class_stayed"], self.classified + 1
        self.unaffected += not effects
        if (self._many or row["parts"] is not None) and row["explained_class"] is not None:
            count, tally = self.classes.get(row["explained_class"], (0, _Tally()))
            tally.add(effects.items())
            self.classes[row["explained_class"]] = (count + 1, tally)
        self.in_points = self.in_points or row["explained_class"] is not None
        self.keys.extend(_keys(row, self._many))
        own = self._ends(row["target"])
        others = {name: size for name, size in effects.items() if name not in own}
        self.own += len(others) < len(effects)
        self.causes.add(others.items())
        if row["kinds"] is not None:
            self.kinds.add(
                (name[0], size) for name, size in others.items() if isinstance(name, tuple)
            )
        network = zip(_names(row), row["effect_size"], strict=True)
        self.along.add(
            (name, size)
            for name, size in network
            if name not in effects and _comparable(name, self._many)
        )
        self.features.add(
            (_feature(each), each["effect"])
            for each in row["features"] or ()
            if each["significant"]
        )

    def _ends(self, target: Any) -> list[Any]:
        """Return the nodes that a prediction is about, named as in the effects."""
        ends = target if isinstance(target, list) else [target]
        return ends if self._target_type is None else [(self._target_type, end) for end in ends]


def _feature(effect: dict[str, Any]) -> Any:
    """Return a feature by its name or column; each node type has different columns."""
    feature = effect["feature"] if effect["name"] is None else effect["name"]
    return feature if effect["kind"] is None else (effect["kind"], feature)


def _comparable(name: Any, many: bool) -> bool:
    """Return whether a name means the same part in all rows; for many graphs, only groups do."""
    return isinstance(name, str) or not many


def _names(row: dict[str, Any]) -> list[Any]:
    """Return the nodes of the network, named as in the effects."""
    if row["parts"] is not None:
        return [label_from_text(text) for text in row["parts"]]
    if row["kinds"] is None:
        return list(row["nodes"])
    return list(zip(row["kinds"], row["nodes"], strict=True))


def _keys(row: dict[str, Any], many: bool) -> Iterator[int]:
    """Yield a hash of the set of nodes in the network; nothing if rows cannot share it."""
    if row["nodes"] and all(_comparable(name, many) for name in _names(row)):
        text = repr(_sorted(_names(row))).encode()
        yield int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _sorted(names: list[Any]) -> list[Any]:
    """Return sorted names; a mix of numbers and tuples is sorted by their text."""
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=repr)


def _shared(dataset: ExplanationDataset, keys: NDArray[np.uint64], top: int) -> list[Shared]:
    values, counts = np.unique(keys, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:top]
    wanted = set(values[order[counts[order] > 1]].tolist())
    found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    many = dataset.task == "graph"
    for row in dataset.rows(["target", "nodes", "kinds", "parts"]) if wanted else ():
        if wanted.intersection(_keys({**row, "nodes": row["nodes"] or []}, many)):
            found[tuple(_sorted(_names(row)))].append(row["target"])
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), str(item[0])))
    return [
        Shared(tuple(map(dataset.called, nodes)), tuple(map(dataset.called, sorted(targets))))
        for nodes, targets in ranked
    ]
