"""The whole data set at a glance: what changes predictions, what moves along, what is shared."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import check_whole_number
from ..storage.files import PathLike, write_text
from .reading import ExplanationDataset

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

__all__ = ["Influence", "Overview", "Shared", "overview"]

_COLUMNS = [
    "target",
    "error",
    "explained_class",
    "held",
    "nodes",
    "kinds",
    "effect_size",
    "effects",
    "features",
]
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Influence:
    """How much something matters, over all explanations.

    Attributes:
        what: a node, or a (kind, number); a feature's column, or a (kind, column); a kind of node.
        predictions: how many predictions it changes, moves along with, or matters to.
        size: its mean size there: of the effect, in either direction; of what moves along and of
            features, Cramér's V.
    """

    what: Any
    predictions: int
    size: float


@dataclass(frozen=True)
class Shared:
    """An explanation that several targets share: the same nodes in their networks."""

    nodes: tuple[Any, ...]
    targets: tuple[Any, ...]


@dataclass(frozen=True)
class Overview:
    """What a data set says as a whole.

    Attributes:
        folder: where it is.
        targets: how many the job has.
        explained, failed: how many of them have an explanation, or an error.
        errors: how often each error came, with its numbers left out.
        unchanged: how many predictions held in every sample.
        unaffected: how many predictions no node was found to have a significant effect on.
        own: how many predictions perturbing the target itself changes significantly.
        seconds: what all workers together took.
        in_points: whether effects are on probabilities; if not, they are on predicted values.
        causes: the nodes that change most predictions: those with a significant effect.
        along: the nodes that move along with most: in the network, without a significant effect.
        kinds: the kinds of nodes that change most predictions.
        features: those that matter most; only if they were explained.
        shared: explanations that more than one target has, the most shared first.
    """

    folder: str
    targets: int
    explained: int
    failed: int
    errors: dict[str, int]
    unchanged: int
    unaffected: int
    own: int
    seconds: float
    in_points: bool
    causes: list[Influence]
    along: list[Influence]
    kinds: list[Influence]
    features: list[Influence]
    shared: list[Shared]

    @property
    def throughput(self) -> float:
        """Targets a worker does in a second."""
        return (self.explained + self.failed) / self.seconds if self.seconds else 0.0

    def plot(self) -> Figure:
        """Draw what changes most predictions, moves along and is shared; needs matplotlib."""
        from ..report.overview_plot import plot_overview

        return plot_overview(self)

    def to_html(self, path: PathLike) -> None:
        """Write a page that needs nothing but itself: no script, no network.

        Raises:
            FileError: it cannot be written.
        """
        from ..report.html.overview import overview_page

        write_text(path, overview_page(self))

    def __str__(self) -> str:
        from ..report.overview_text import overview_text

        return overview_text(self)


def overview(dataset: ExplanationDataset, top: int = 20) -> Overview:
    """Go over a data set twice, a shard at a time, and say what stands out.

    Args:
        top: how many nodes, kinds, features and shared explanations to name.
    """
    check_whole_number(top, "top", at_least=1)
    counts = _Counts(dataset.target_type)
    for table in dataset.tables(_COLUMNS):
        effects = _significant_effects(table)
        for at, row in enumerate(table.drop_columns(["effects"]).to_pylist()):
            counts.add(row, effects.get(at, {}))

    def named(tally: _Tally) -> list[Influence]:
        return [replace(each, what=dataset.called(each.what)) for each in tally.most(top)]

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
        along=named(counts.along),
        kinds=counts.kinds.most(top),
        features=counts.features.most(top),
        shared=_shared(dataset, np.array(counts.keys, dtype=np.uint64), top),
    )


def _significant_effects(table: pa.Table) -> dict[int, dict[Any, float]]:
    """Return the size of each significant effect by node, for each row of a table that has any.

    Most effects are not significant; they are left out before they become Python objects.
    """
    import pyarrow.compute as pc

    column = table["effects"].combine_chunks()
    rows, effects = pc.list_parent_indices(column), pc.list_flatten(column)
    kept = pc.struct_field(effects, "significant")
    found: dict[int, dict[Any, float]] = defaultdict(dict)
    for at, each in zip(
        rows.filter(kept).to_pylist(), effects.filter(kept).to_pylist(), strict=True
    ):
        name = each["node"] if each["kind"] is None else (each["kind"], each["node"])
        found[at][name] = abs(each["effect"])
    return found


class _Tally:
    """How many predictions something matters to, and how much."""

    def __init__(self) -> None:
        self._counted: dict[Any, tuple[int, float]] = {}

    def add(self, sizes: Iterable[tuple[Any, float]]) -> None:
        """Count what matters to one prediction, each with its size; of the same, the largest."""
        largest: dict[Any, float] = {}
        for what, size in sizes:
            largest[what] = max(size, largest.get(what, 0.0))
        for what, size in largest.items():
            count, total = self._counted.get(what, (0, 0.0))
            self._counted[what] = (count + 1, total + size)

    def most(self, top: int) -> list[Influence]:
        """Those that matter to most predictions; of equals, those that matter more."""
        order = sorted(
            self._counted.items(), key=lambda item: (-item[1][0], -item[1][1], str(item[0]))
        )
        return [Influence(what, count, total / count) for what, (count, total) in order[:top]]


class _Counts:
    """What is counted in one go over the rows; grows with the graph, not with the data set."""

    def __init__(self, target_type: str | None) -> None:
        self._target_type = target_type
        self.explained = self.unchanged = self.unaffected = self.own = 0
        self.in_points = False
        self.errors: Counter[str] = Counter()
        self.causes, self.along, self.kinds, self.features = (_Tally() for _ in range(4))
        self.keys: list[int] = []

    def add(self, row: dict[str, Any], effects: dict[Any, float]) -> None:
        if row["error"] is not None:
            self.errors[_NUMBER.sub("…", row["error"])] += 1
            return
        self.explained += 1
        self.unchanged += row["held"] == 1
        self.unaffected += not effects
        self.in_points = self.in_points or row["explained_class"] is not None
        self.keys.extend(_keys(row))
        own = self._ends(row["target"])
        others = {name: size for name, size in effects.items() if name not in own}
        self.own += len(others) < len(effects)
        self.causes.add(others.items())
        self.kinds.add((name[0], size) for name, size in others.items() if isinstance(name, tuple))
        network = zip(_names(row), row["effect_size"], strict=True)
        self.along.add((name, size) for name, size in network if name not in effects)
        self.features.add(
            # Each kind has its own columns.
            (
                each["feature"] if each["kind"] is None else (each["kind"], each["feature"]),
                each["effect_size"],
            )
            for each in row["features"] or ()
        )

    def _ends(self, target: Any) -> list[Any]:
        """The nodes that a prediction is about, as effects name them."""
        ends = target if isinstance(target, list) else [target]
        return ends if self._target_type is None else [(self._target_type, end) for end in ends]


def _names(row: dict[str, Any]) -> list[Any]:
    """The nodes of the network, as effects name them."""
    if row["kinds"] is None:
        return list(row["nodes"])
    return list(zip(row["kinds"], row["nodes"], strict=True))


def _keys(row: dict[str, Any]) -> Iterator[int]:
    """A number for the set of nodes in the network, if there are any."""
    if row["nodes"]:
        text = repr(sorted(_names(row))).encode()
        yield int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _shared(dataset: ExplanationDataset, keys: NDArray[np.uint64], top: int) -> list[Shared]:
    values, counts = np.unique(keys, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:top]
    wanted = set(values[order[counts[order] > 1]].tolist())
    found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in dataset.rows(["target", "nodes", "kinds"]) if wanted else ():
        if wanted.intersection(_keys({**row, "nodes": row["nodes"] or []})):
            found[tuple(sorted(_names(row)))].append(row["target"])
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), str(item[0])))
    return [
        Shared(tuple(map(dataset.called, nodes)), tuple(map(dataset.called, sorted(targets))))
        for nodes, targets in ranked
    ]
