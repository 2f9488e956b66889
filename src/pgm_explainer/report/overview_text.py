"""The overview of a data set as text."""

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
    """A list of what affects the most predictions.

    Attributes:
        title: the heading of the list.
        what: the kind of entry, in one word.
        entries: the most frequent first.
        measure: the quantity whose mean is shown.
        in_points: whether it is an effect on probabilities, in percentage points.
        signed: whether the sign of the mean effect is shown.
    """

    title: str
    what: str
    entries: list[Influence]
    measure: str
    in_points: bool = False
    signed: bool = False

    def size(self, entry: Influence) -> str:
        """Return the mean size of an entry, or its mean effect with its sign, with its unit."""
        if self.signed and entry.effect is not None:
            size = f"{100 * entry.effect:+.1f} points" if self.in_points else f"{entry.effect:+.2g}"
            return size.replace("-", "−")
        return f"{100 * entry.size:.1f} points" if self.in_points else f"{entry.size:.2g}"


def listings(overview: Overview) -> list[Listing]:
    """Return all lists that are not empty."""
    effect, cramer = "mean |effect|", "mean Cramér's V"
    change, points = "that change the most predictions", overview.in_points
    by_class = [
        Listing(
            f"Class {name_of(each.name)}, {each.predictions:,} predictions: parts with the largest "
            f"effects",
            "part",
            each.causes,
            "mean effect",
            points,
            signed=True,
        )
        for each in overview.classes
    ]
    noun = overview.noun
    other = f"Other {noun}s that depend on the most predictions"
    every = [
        Listing(f"Features {change}", "feature", overview.features, effect, points),
        Listing(f"{noun.capitalize()}s {change}", noun, overview.causes, effect, points),
        *by_class,
        Listing(other, noun, overview.along, cramer),
        Listing(f"Node types {change}", "type", overview.kinds, effect, points),
    ]
    return [each for each in every if each.entries]


def overview_text(overview: Overview) -> str:
    """Return the overview as text, with a table for each list."""
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
    """Return figures about the job, as pairs of a name and a value."""
    done = overview.explained + overview.failed
    stayed = []
    if overview.class_stayed is not None:
        often = f"in {overview.class_stayed:.1%} of perturbed graphs, on average"
        stayed = [("class stayed the same", often)]
    lines = [
        ("targets", f"{done:,} of {overview.targets:,}"),
        ("explained", f"{overview.explained:,}"),
        ("failed", f"{overview.failed:,}"),
        *stayed,
        ("never changed", f"{overview.unchanged:,} predictions"),
        ("no significant effect", f"{overview.unaffected:,} predictions"),
        ("changed by the target itself", f"{overview.own:,} predictions"),
        ("worker time", duration(overview.seconds)),
        ("throughput", f"{overview.throughput:.3g} targets per second and worker"),
    ]
    worst = list(overview.errors.items())[:_SHOWN]
    return lines + [(f"{count:,} times", printable(text)) for text, count in worst]


def name_of(what: Any, columns: int = _WIDEST) -> str:
    """Return the name of a node, target, feature or kind, shortened to one line."""
    return shorten(printable(what), columns)


def shown(items: Sequence[Any]) -> str:
    """Join the first few items, followed by the number of others."""
    texts = [name_of(item) for item in items[:_SHOWN]]
    more = len(items) - len(texts)
    return ", ".join(texts) + (f" and {more:,} more" if more else "")


def _aligned(rows: Sequence[tuple[str, str]]) -> str:
    columns = max(width(name) for name, _ in rows)
    return "\n".join(f"  {name}{' ' * (columns - width(name))}  {value}" for name, value in rows)
