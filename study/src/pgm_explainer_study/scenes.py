"""What a picture shows, apart from what is highlighted: an image, a graph or a list of parts.

The parts of a scene are numbered from 0. A highlight is a list of these numbers, so the same code
draws the explanation of every arm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from .checked import Checked

__all__ = ["GraphScene", "GridScene", "ListScene", "Scene", "read_scene", "scene_to_dict"]

_SIDE, _NODES, _EDGES, _NAMES = 256, 1000, 10_000, 200


@dataclass(frozen=True)
class GridScene:
    """An image in superpixels, which are its parts.

    Attributes:
        image: brightness of each pixel, 0 to 255, by rows.
        segments: the superpixel of each pixel.
    """

    image: tuple[tuple[int, ...], ...]
    segments: tuple[tuple[int, ...], ...]

    @property
    def num_parts(self) -> int:
        return 1 + max(max(row) for row in self.segments)

    def describe(self, part: int) -> str:
        """Where a superpixel is."""
        cells = [
            (r, c) for r, row in enumerate(self.segments) for c, s in enumerate(row) if s == part
        ]
        row = sum(r for r, _ in cells) / len(cells) + 1
        column = sum(c for _, c in cells) / len(cells) + 1
        return f"row {row:.0f}, column {column:.0f} of {len(self.image)}"


@dataclass(frozen=True)
class GraphScene:
    """A neighbourhood in a graph, whose parts are its nodes or its edges.

    Attributes:
        positions: of each node, from 0 to 1.
        edges: pairs of nodes.
        labels: what is written at each node.
        targets: the nodes whose prediction is explained; empty for a whole graph.
        parts: ``"nodes"`` or ``"edges"``.
    """

    positions: tuple[tuple[float, float], ...]
    edges: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]
    targets: tuple[int, ...]
    parts: str = "nodes"

    @property
    def num_parts(self) -> int:
        return len(self.positions) if self.parts == "nodes" else len(self.edges)

    def describe(self, part: int) -> str:
        """The label of a node, or those of both ends of an edge."""
        if self.parts == "nodes":
            return f"node {self.labels[part]}"
        first, second = self.edges[part]
        return f"edge {self.labels[first]} to {self.labels[second]}"


@dataclass(frozen=True)
class ListScene:
    """Parts without a place, such as features, groups or time steps, as a list of names."""

    names: tuple[str, ...]

    @property
    def num_parts(self) -> int:
        return len(self.names)

    def describe(self, part: int) -> str:
        return self.names[part]


Scene: TypeAlias = GridScene | GraphScene | ListScene

_KINDS: dict[str, type[Any]] = {"grid": GridScene, "graph": GraphScene, "list": ListScene}


def scene_to_dict(scene: Scene) -> dict[str, Any]:
    """Return a scene as JSON values."""
    kind = next(name for name, cls in _KINDS.items() if type(scene) is cls)
    return {"kind": kind, **asdict(scene)}


def read_scene(document: Checked) -> Scene:
    """Read what :func:`scene_to_dict` wrote; everything is checked."""
    kinds = dict(document.entries()).get("kind", Checked(None, f"{document.place}.kind"))
    readers: dict[str, Callable[[Checked], Scene]] = {"grid": _grid, "graph": _graph, "list": _list}
    return readers[kinds.one_of(*readers)](document)


def _grid(document: Checked) -> GridScene:
    fields = document.fields("kind", "image", "segments")
    image = _rows(fields["image"], 255)
    segments = _rows(fields["segments"], _NODES)
    sizes = {len(row) for row in (*image, *segments)}
    if len(image) != len(segments) or len(sizes) != 1:
        fields["segments"].refuse("as large as the image, with rows of one length")
    used = {segment for row in segments for segment in row}
    if used != set(range(len(used))):
        fields["segments"].refuse("numbered from 0 without gaps")
    return GridScene(image, segments)


def _rows(document: Checked, most: int) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(cell.whole(0, most) for cell in row.items(_SIDE, 1))
        for row in document.items(_SIDE, 1)
    )


def _graph(document: Checked) -> GraphScene:
    fields = document.fields("kind", "positions", "edges", "labels", "targets", "parts")
    positions = tuple(_pair(each) for each in fields["positions"].items(_NODES, 1))
    last = len(positions) - 1
    edges = []
    for edge in fields["edges"].items(_EDGES):
        first, second = edge.items(2, 2)
        edges.append((first.whole(0, last), second.whole(0, last)))
    labels = tuple(each.text(40) for each in fields["labels"].items(last + 1, last + 1))
    targets = tuple(each.whole(0, last) for each in fields["targets"].items(2))
    parts = fields["parts"].one_of("nodes", "edges")
    return GraphScene(positions, tuple(edges), labels, targets, parts)


def _pair(document: Checked) -> tuple[float, float]:
    first, second = document.items(2, 2)
    return first.number(), second.number()


def _list(document: Checked) -> ListScene:
    names = document.fields("kind", "names")["names"].items(_NAMES, 1)
    return ListScene(tuple(each.text(80) for each in names))
