"""The table of targets on the page of a data set, and the pages of their explanations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FileError
from ..explanation import Explanation
from ..report.html import to_html
from ..report.names import printable
from ..storage.files import write_text
from .reading import ExplanationDataset
from .types import label_from_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Pages", "TargetRow", "target_rows", "write_pages"]

MOST_ROWS = 20_000
"""The maximum number of targets that a page lists; 10,000 take about a megabyte."""
_EMBEDDED = 20
"""Up to this many explanations are part of the page itself."""
_PER_FILE = 100
_COLUMNS = (
    "target",
    "error",
    "explained_class",
    "probability",
    "class_stayed",
    "held",
    "effects",
    "warnings",
)


@dataclass(frozen=True)
class TargetRow:
    """A target in the table.

    Attributes:
        target: its name.
        explained_class: the name of the explained class; None for a regression or a failure.
        probability: of this class.
        kept: the share of samples in which the predicted class or, for a regression, the prediction
            was kept.
        cause: the part with the largest significant effect, if there is any.
        effect: this effect.
        significant: the number of significant effects.
        warnings: the warnings of the explanation.
        error: why it could not be explained.
        own: the effect of the target itself, if it is significant.
        other: the part other than the target itself with the largest significant effect, if there
            is any.
        other_effect: this effect.
    """

    target: str
    explained_class: str | None = None
    probability: float | None = None
    kept: float | None = None
    cause: str | None = None
    effect: float | None = None
    significant: int = 0
    warnings: tuple[str, ...] = ()
    error: str | None = None
    own: float | None = None
    other: str | None = None
    other_effect: float | None = None


@dataclass(frozen=True)
class Pages:
    """The pages that the table links to, each with several explanations.

    Attributes:
        count: how many explanations have a page, the first ones of the data set.
        per_file: how many explanations a page has.
        folder: the name of the folder with the pages ``0.html``, ``1.html``, …; empty if the only
            page is part of the page with the table.
        embedded: the HTML of the only page in this case; otherwise empty.
    """

    count: int = 0
    per_file: int = _PER_FILE
    folder: str = ""
    embedded: str = ""


def target_rows(dataset: ExplanationDataset) -> Iterator[TargetRow]:
    """Yield the first targets of a data set, one shard in memory at a time."""
    columns = [*_COLUMNS, *(["explanation"] if dataset.task == "graph" else [])]
    every = (row for table in dataset.tables(columns) for row in _rows(table, dataset))
    return islice(every, MOST_ROWS)


def _rows(table: pa.Table, dataset: ExplanationDataset) -> Iterator[TargetRow]:
    for row in table.to_pylist():
        name = _title(row) or _target_name(dataset, row["target"])
        if row["error"] is not None:
            yield TargetRow(name, error=row["error"])
            continue
        # By size, as in a reason: strength also counts changes that cancel out.
        found = sorted(
            (each for each in row["effects"] if each["significant"]),
            key=lambda each: -abs(each["effect"]),
        )
        own = [each for each in found if _is_own(each, row["target"], dataset)]
        others = [each for each in found if each not in own]
        number = row["explained_class"]
        yield TargetRow(
            target=name,
            explained_class=None if number is None else dataset.class_name(number),
            probability=row["probability"],
            kept=row["held"] if row["class_stayed"] is None else row["class_stayed"],
            cause=_cause(found[0], row["target"], dataset) if found else None,
            effect=found[0]["effect"] if found else None,
            own=own[0]["effect"] if own else None,
            other=_cause(others[0], row["target"], dataset) if others else None,
            other_effect=others[0]["effect"] if others else None,
            significant=len(found),
            warnings=tuple(row["warnings"]),
        )


def _title(row: dict[str, Any]) -> str:
    """Return the name that a graph was given; empty if it has none."""
    stored = row.get("explanation")
    return printable(json.loads(stored).get("title") or "") if stored else ""


def _target_name(dataset: ExplanationDataset, target: Any) -> str:
    if dataset.task == "graph":
        return f"graph {target}"
    if dataset.task == "edge":
        return " – ".join(printable(each) for each in dataset.called(target))
    kind = "" if dataset.target_type is None else f"{dataset.target_type} "
    return kind + printable(dataset.called(target))


def _cause(effect: dict[str, Any], target: Any, dataset: ExplanationDataset) -> str:
    """Return the name of a part."""
    if effect["part"] is not None:
        label = label_from_text(effect["part"])
        label = dataset.called(label) if dataset.task != "graph" else label
        return " – ".join(map(printable, label)) if isinstance(label, tuple) else printable(label)
    own = " (target)" if _is_own(effect, target, dataset) else ""
    if effect["kind"] is not None:
        return f"{effect['kind']} {effect['node']}{own}"
    name = effect["node"] if dataset.task == "graph" else dataset.called(effect["node"])
    return f"{printable(name)}{own}"


def _is_own(effect: dict[str, Any], target: Any, dataset: ExplanationDataset) -> bool:
    """Return whether an effect is that of the target itself, which is a node."""
    is_node = dataset.task == "node" and effect["part"] is None
    return is_node and effect["kind"] == dataset.target_type and effect["node"] == target


def write_pages(dataset: ExplanationDataset, page: Path, most: int) -> Pages:
    """Write the pages of the first explanations next to the page with the table.

    Raises:
        FileError: they cannot be written.
    """
    explained = sum(entry.rows - entry.failed for entry in dataset.entries)
    count = min(most, explained)
    chosen = islice(dataset, count)
    if count <= _EMBEDDED:
        several = list(chosen)
        return Pages(count, max(count, 1), embedded=str(to_html(several)) if several else "")
    folder = page.parent / f"{page.stem}_pages"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} cannot be created: {error}") from None
    for number, several in enumerate(_chunks(chosen)):
        write_text(folder / f"{number}.html", str(to_html(several)))
    return Pages(count, _PER_FILE, folder.name)


def _chunks(explanations: Iterator[Explanation]) -> Iterator[list[Explanation]]:
    while several := list(islice(explanations, _PER_FILE)):
        yield several
