"""The overview of a data set in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..progress import duration
from .names import printable, shorten, width

if TYPE_CHECKING:
    from ..dataset.overview import Influence, Overview

__all__ = ["Listing", "facts", "listings", "name_of", "overview_text", "shown"]

_SHOWN = 6
_SHORT = 10
_WIDEST = 40


@dataclass(frozen=True)
class Listing:
    """What matters to most predictions.

    Attributes:
        title: says what is listed.
        what: it is, in one word.
        entries: the first matters to most.
        measure: what the mean size is of.
        in_points: whether that is an effect on probabilities, in percentage points.
    """

    title: str
    what: str
    entries: list[Influence]
    measure: str
    in_points: bool = False

    def size(self, entry: Influence) -> str:
        """Return the mean size of an entry, with its unit."""
        return f"{100 * entry.size:.1f} points" if self.in_points else f"{entry.size:.2g}"


def listings(overview: Overview) -> list[Listing]:
    """Return all that is listed and not empty."""
    effect, cramer = "mean |effect|", "mean Cramér's V"
    change, points = "that change most predictions", overview.in_points
    every = [
        Listing(f"Nodes {change}", "node", overview.causes, effect, points),
        Listing("Nodes that move along with most predictions", "node", overview.along, cramer),
        Listing(f"Kinds of nodes {change}", "kind", overview.kinds, effect, points),
        Listing("Features that matter to most predictions", "feature", overview.features, cramer),
    ]
    return [each for each in every if each.entries]


def overview_text(overview: Overview) -> str:
    """Say what was done and what stands out, a table for each."""
    blocks = [f"{printable(overview.folder)}\n" + _aligned([*facts(overview)])]
    for listing in listings(overview):
        rows = [
            (
                name_of(each.what),
                f"{each.predictions:,}; {listing.measure} {listing.size(each)}",
            )
            for each in listing.entries[:_SHORT]
        ]
        blocks.append(f"{listing.title}:\n{_aligned(rows)}")
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
        ("no significant effect", f"{overview.unaffected:,} predictions"),
        ("changed by the target itself", f"{overview.own:,} predictions"),
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


def _aligned(rows: Sequence[tuple[str, str]]) -> str:
    columns = max(width(name) for name, _ in rows)
    return "\n".join(f"  {name}{' ' * (columns - width(name))}  {value}" for name, value in rows)
