"""The whole data set at a glance: what explains most, and which targets share an explanation."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import check_whole_number
from ..io.files import PathLike, write_text
from .reading import ExplanationDataset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Influence", "Overview", "Shared", "overview"]

_COLUMNS = [
    "target",
    "error",
    "held",
    "nodes",
    "kinds",
    "effect_size",
    "markov_blanket",
    "markov_blanket_kinds",
    "features",
]
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Influence:
    """How much something explains, over all explanations.

    Attributes:
        what: a node, or a (kind, number); a feature's column, or a (kind, column); a kind of node.
        explains: how many predictions it explains.
        effect_size: its mean effect (Cramér's V) on them.
        direct: for how many of them it is in the Markov blanket; None for features and kinds.
    """

    what: Any
    explains: int
    effect_size: float
    direct: int | None = None


@dataclass(frozen=True)
class Shared:
    """An explanation that several targets share: the same explaining nodes."""

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
        unchanged: how many predictions never changed in any sample.
        unexplained: how many did change, but were not found to depend on any node.
        seconds: what all workers together took.
        nodes, kinds, features: what explains most; features only if they were explained.
        shared: explanations that more than one target has, the most shared first.
    """

    folder: str
    targets: int
    explained: int
    failed: int
    errors: dict[str, int]
    unchanged: int
    unexplained: int
    seconds: float
    nodes: list[Influence]
    kinds: list[Influence]
    features: list[Influence]
    shared: list[Shared]

    @property
    def throughput(self) -> float:
        """Targets a worker does in a second."""
        return (self.explained + self.failed) / self.seconds if self.seconds else 0.0

    def plot(self) -> Figure:
        """Draw what explains most and what is shared; needs matplotlib."""
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
        top: how many nodes, features and shared explanations to tell of.
    """
    check_whole_number(top, "top", at_least=1)
    counts = _Counts()
    for row in dataset.rows(_COLUMNS):
        counts.add(row)
    return Overview(
        folder=str(dataset.path),
        targets=dataset.num_targets,
        explained=counts.explained,
        failed=sum(counts.errors.values()),
        errors=dict(counts.errors.most_common()),
        unchanged=counts.unchanged,
        unexplained=counts.unexplained,
        seconds=sum(entry.seconds for entry in dataset.entries),
        nodes=[replace(each, what=dataset.called(each.what)) for each in _most(counts.nodes, top)],
        kinds=_most(counts.kinds, top),
        features=_most(counts.features, top),
        shared=_shared(dataset, np.array(counts.keys, dtype=np.uint64), top),
    )


class _Counts:
    """What is counted in one go over the rows; grows with the graph, not with the data set."""

    def __init__(self) -> None:
        self.explained = self.unchanged = self.unexplained = 0
        self.errors: Counter[str] = Counter()
        self.nodes: Tally = defaultdict(lambda: [0, 0.0, 0])
        self.kinds: Tally = defaultdict(lambda: [0, 0.0, None])
        self.features: Tally = defaultdict(lambda: [0, 0.0, None])
        self.keys: list[int] = []

    def add(self, row: dict[str, Any]) -> None:
        if row["error"] is not None:
            self.errors[_NUMBER.sub("…", row["error"])] += 1
            return
        self.explained += 1
        self.unchanged += row["held"] == 1
        self.unexplained += row["held"] < 1 and not row["nodes"]
        self.keys.extend(_keys(row))
        direct = set(_names(row, "markov_blanket", "markov_blanket_kinds"))
        for name, effect in zip(_names(row), row["effect_size"], strict=True):
            _tally(self.nodes, name, effect, name in direct)
        strongest: dict[Any, float] = {}
        for name, effect in zip(_names(row), row["effect_size"], strict=True):
            if isinstance(name, tuple):
                strongest[name[0]] = max(effect, strongest.get(name[0], 0.0))
        for kind, effect in strongest.items():
            _tally(self.kinds, kind, effect, None)
        columns: dict[Any, float] = {}
        for each in row["features"] or ():
            kind, column = each["kind"], each["feature"]
            name = column if kind is None else (kind, column)  # each kind has its own columns
            columns[name] = max(each["effect_size"], columns.get(name, 0.0))
        for feature, effect in columns.items():
            _tally(self.features, feature, effect, None)


Tally = dict[Any, list[Any]]


def _tally(into: Tally, what: Any, effect: float, direct: bool | None) -> None:
    entry = into[what]
    entry[0] += 1
    entry[1] += effect
    if direct is not None:
        entry[2] += direct


def _most(tally: Tally, top: int) -> list[Influence]:
    """Those that explain most predictions; of equals, those with the larger effect."""
    order = sorted(tally.items(), key=lambda item: (-item[1][0], -item[1][1], str(item[0])))
    return [
        Influence(what, count, total / count, direct)
        for what, (count, total, direct) in order[:top]
    ]


def _names(row: dict[str, Any], nodes: str = "nodes", kinds: str = "kinds") -> list[Any]:
    if row[kinds] is None:
        return list(row[nodes])
    return list(zip(row[kinds], row[nodes], strict=True))


def _keys(row: dict[str, Any]) -> Iterator[int]:
    """A number for the set of explaining nodes, if there are any."""
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
