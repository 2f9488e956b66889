"""Pictures of scenes as SVG. The highlight is drawn last; all else is the same in every arm."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape

from .scenes import GraphScene, GridScene, ListScene, Scene

__all__ = ["alt_text", "picture"]

_SIZE = 420
_ORANGE, _BLUE, _INK, _GREY = "#d55e00", "#0072b2", "#222222", "#8a8a8a"
_ROW = 34


def picture(scene: Scene, highlight: Sequence[int], probe: int | None = None) -> str:
    """Return an SVG of a scene; highlighted parts are orange, the probe is dashed and blue.

    The order of the highlighted parts is not visible: they are drawn in the order of their numbers.
    """
    base, height = _base(scene)
    marks = _marks(scene, sorted(highlight))
    probed = "" if probe is None else f'<g class="probe">{_probe(scene, probe)}</g>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {height:g}" '
        f'width="{_SIZE}" height="{height:g}">{base}<g class="highlight">{marks}</g>{probed}</svg>'
    )


def alt_text(scene: Scene, highlight: Sequence[int], probe: int | None = None) -> str:
    """Return a picture in words, for screen readers."""
    what = {GridScene: "A picture", GraphScene: "A graph", ListScene: "A list"}[type(scene)]
    text = f"{what} with {scene.num_parts} parts. "
    if highlight:
        text += f"Highlighted: {'; '.join(scene.describe(part) for part in sorted(highlight))}. "
    return text + ("" if probe is None else f"Marked as changed: {scene.describe(probe)}.")


@lru_cache(maxsize=4096)
def _base(scene: Scene) -> tuple[str, float]:
    """Return what all arms share, and the height of the picture."""
    if isinstance(scene, GridScene):
        return _grid_base(scene)
    if isinstance(scene, GraphScene):
        return _graph_base(scene), _SIZE
    height = _ROW * len(scene.names) + 8
    rows = (
        f'<text x="30" y="{_ROW * at + 27}" font-family="sans-serif" font-size="16" '
        f'fill="{_INK}">{escape(name)}</text>'
        for at, name in enumerate(scene.names)
    )
    return f'<rect width="{_SIZE}" height="{height}" fill="#fff"/>{"".join(rows)}', height


def _marks(scene: Scene, parts: Sequence[int]) -> str:
    if isinstance(scene, GridScene):  # the white lines below all orange ones
        outlines = "".join(_outline(scene, part) for part in parts)
        path = f'<path {_enlarged(scene)} d="{outlines}" fill="none"'
        return (
            f'{path} stroke="#fff" stroke-width="7"/>{path} stroke="{_ORANGE}" stroke-width="4"/>'
        )
    if isinstance(scene, GraphScene):
        return "".join(_graph_mark(scene, part, _ORANGE, "") for part in parts)
    return "".join(
        f'<rect x="18" y="{_ROW * part + 6}" width="{_SIZE - 36}" height="{_ROW - 4}" rx="5" '
        f'fill="none" stroke="{_ORANGE}" stroke-width="4"/>'
        for part in parts
    )


def _probe(scene: Scene, part: int) -> str:
    if isinstance(scene, GridScene):
        path = f'<path {_enlarged(scene)} d="{_outline(scene, part)}" stroke-width="3"'
        return (
            f'{path} fill="{_BLUE}" fill-opacity=".45" stroke="#fff"/>'
            f'{path} fill="none" stroke="{_BLUE}" stroke-dasharray="6 4"/>'
        )
    if isinstance(scene, GraphScene):
        return _graph_mark(scene, part, _BLUE, ' stroke-dasharray="5 4"', 6)
    return (
        f'<rect x="6" y="{_ROW * part + 2}" width="{_SIZE - 12}" height="{_ROW + 4}" rx="7" '
        f'fill="none" stroke="{_BLUE}" stroke-width="3" stroke-dasharray="6 4"/>'
    )


# Images in superpixels


def _grid_base(scene: GridScene) -> tuple[str, float]:
    rows, columns = len(scene.image), len(scene.image[0])
    height = _SIZE * rows / columns
    data = base64.b64encode(_png(scene.image)).decode()
    borders = "".join(_outline(scene, part) for part in range(scene.num_parts))
    return (
        f'<image width="{_SIZE}" height="{height:g}" preserveAspectRatio="none" '
        f'image-rendering="pixelated" href="data:image/png;base64,{data}"/>'
        f'<path {_enlarged(scene)} d="{borders}" fill="none" stroke="{_GREY}"/>',
        height,
    )


def _enlarged(scene: GridScene) -> str:
    """Return attributes that draw pixels at their size, with lines of the stated width."""
    return f'transform="scale({_SIZE / len(scene.image[0]):g})" vector-effect="non-scaling-stroke"'


@lru_cache(maxsize=100_000)
def _outline(scene: GridScene, part: int) -> str:
    """Return the border of a superpixel as closed paths around its pixels."""
    follows: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for start, end in _sides(scene.segments, part):
        follows.setdefault(start, []).append(end)
    paths = []
    while follows:
        start = at = next(iter(follows))
        corners = [start]
        while True:
            at = follows[at].pop()
            if not follows[corners[-1]]:
                del follows[corners[-1]]
            if at == start:
                break
            corners.append(at)
        turns = [
            (r, c)
            for (r0, c0), (r, c), (r1, c1) in zip(
                [corners[-1], *corners], corners, [*corners[1:], start], strict=False
            )
            if (r - r0, c - c0) != (r1 - r, c1 - c)
        ]
        paths.append("M" + "L".join(f"{c} {r}" for r, c in turns) + "Z")
    return "".join(paths)


def _sides(
    segments: tuple[tuple[int, ...], ...], part: int
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the sides of pixels at the border of a part, clockwise, as corners (row, column)."""
    rows, columns = len(segments), len(segments[0])

    def outside(r: int, c: int) -> bool:
        return not (0 <= r < rows and 0 <= c < columns) or segments[r][c] != part

    for r in range(rows):
        for c in range(columns):
            if segments[r][c] != part:
                continue
            if outside(r - 1, c):
                yield (r, c), (r, c + 1)
            if outside(r, c + 1):
                yield (r, c + 1), (r + 1, c + 1)
            if outside(r + 1, c):
                yield (r + 1, c + 1), (r + 1, c)
            if outside(r, c - 1):
                yield (r + 1, c), (r, c)


def _png(image: tuple[tuple[int, ...], ...]) -> bytes:
    """Return a greyscale image as PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    head = struct.pack(">IIBBBBB", len(image[0]), len(image), 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(row) for row in image)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


# Graphs


def _place(scene: GraphScene, node: int) -> tuple[float, float]:
    x, y = scene.positions[node]
    return 26 + x * (_SIZE - 52), 26 + y * (_SIZE - 52)


def _graph_base(scene: GraphScene) -> str:
    lines, discs = [], []
    for first, second in scene.edges:
        (x1, y1), (x2, y2) = _place(scene, first), _place(scene, second)
        lines.append(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
    for node, label in enumerate(scene.labels):
        x, y = _place(scene, node)
        target = node in scene.targets
        discs.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12" fill="{_INK if target else "#dddddd"}" '
            f'stroke="{_INK}"/><text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" '
            f'font-family="sans-serif" font-size="10" fill="{"#fff" if target else _INK}">'
            f"{escape(label)}</text>"
        )
    return (
        f'<rect width="{_SIZE}" height="{_SIZE}" fill="#fff"/><path d="{"".join(lines)}" '
        f'fill="none" stroke="{_GREY}"/>{"".join(discs)}'
    )


def _graph_mark(scene: GraphScene, part: int, colour: str, dashes: str, more: int = 0) -> str:
    style = f'fill="none" stroke="{colour}" stroke-width="4"{dashes}'
    if scene.parts == "nodes":
        x, y = _place(scene, part)
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{15 + more}" {style}/>'
    (x1, y1), (x2, y2) = (_place(scene, node) for node in scene.edges[part])
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" {style}/>'
