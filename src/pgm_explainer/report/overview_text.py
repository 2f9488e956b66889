"""The overview of a data set in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..progress import duration
from .names import printable, shorten, width

if TYPE_CHECKING:
    from ..dataset.overview import Influence, Overview

__all__ = ["facts", "name_of", "overview_text", "shown"]

_SHOWN = 6
_SHORT = 10
_WIDEST = 40


def overview_text(overview: Overview) -> str:
    """Say what was done and what stands out, a table for each."""
    blocks = [f"{printable(overview.folder)}\n" + _aligned([*facts(overview)])]
    for title, entries in (
        ("Nodes", overview.nodes),
        ("Kinds of nodes", overview.kinds),
        ("Features", overview.features),
    ):
        if entries:
            rows = [_line(each) for each in entries[:_SHORT]]
            blocks.append(f"{title} that explain most predictions:\n{_aligned(rows)}")
    if overview.shared:
        rows = [
            (f"{len(each.targets)} targets", f"by {shown(each.nodes)}: {shown(each.targets)}")
            for each in overview.shared[:_SHORT]
        ]
        blocks.append(f"Explanations shared by several targets:\n{_aligned(rows)}")
    return "\n\n".join(blocks)


def facts(overview: Overview) -> list[tuple[str, str]]:
    """Return what was done, as pairs of a name and a value."""
    done = overview.explained + overview.failed
    lines = [
        ("targets", f"{done:,} of {overview.targets:,}"),
        ("explained", f"{overview.explained:,}"),
        ("failed", f"{overview.failed:,}"),
        ("never changed", f"{overview.unchanged:,} predictions"),
        ("depend on no node", f"{overview.unexplained:,} predictions"),
        ("workers' time", duration(overview.seconds)),
        ("throughput", f"{overview.throughput:.3g} targets a second and worker"),
    ]
    worst = list(overview.errors.items())[:_SHOWN]
    return lines + [(f"{count:,} times", printable(text)) for text, count in worst]


def name_of(what: Any, columns: int = _WIDEST) -> str:
    """Return what a node, target, feature or kind is called, on one short line."""
    return shorten(printable(what), columns)


def shown(items: Sequence[Any]) -> str:
    """Join the first few items, and say how many more there are."""
    texts = [name_of(item) for item in items[:_SHOWN]]
    more = len(items) - len(texts)
    return ", ".join(texts) + (f" and {more:,} more" if more else "")


def _line(entry: Influence) -> tuple[str, str]:
    direct = "" if not entry.direct else f", {entry.direct:,} directly"
    return name_of(entry.what), f"{entry.explains:,}{direct}; mean effect {entry.effect_size:.2f}"


def _aligned(rows: Sequence[tuple[str, str]]) -> str:
    columns = max(width(name) for name, _ in rows)
    return "\n".join(f"  {name}{' ' * (columns - width(name))}  {value}" for name, value in rows)
