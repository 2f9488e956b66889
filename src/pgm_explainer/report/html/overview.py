"""The overview of a data set as a page, with a table of targets that opens their explanations."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..names import printable
from ..overview_text import Listing, facts, listings, shown
from .page import page_script
from .parts import as_data, plain_page, policy, read_part, section, table

if TYPE_CHECKING:
    from ...dataset.overview import Overview
    from ...dataset.targets_table import Pages, TargetRow

__all__ = ["overview_page"]

_FILTERS = {
    "class": ("class", {"": "any class"}),
    "effect": (
        "direction of the largest effect",
        {"": "any effect", "falls": "lowers it", "rises": "raises it", "none": "no effect"},
    ),
    "warning": (
        "warnings",
        {
            "": "with or without warnings",
            "warned": "with warnings",
            "fine": "without",
            "failed": "failed",
        },
    ),
}


def overview_page(
    overview: Overview, targets: Sequence[TargetRow] = (), pages: Pages | None = None
) -> str:
    """Return the page as HTML; every text in it is escaped.

    Args:
        overview: the overview.
        targets: the rows of the table; without any, the page has no table and no script.
        pages: where the explanations of the targets are shown.
    """
    title = escape(f"Explanations in {overview.folder}")
    summary = table([], (map(escape, each) for each in facts(overview)))
    style = read_part("theme.css") + read_part("overview.css")
    script = read_part("overview.js") if targets else None
    # The policy of this page applies to an embedded page too.
    inner = page_script() if pages is not None and pages.embedded else None
    allowed = policy(style, script, *([] if inner is None else inner))
    parts = [
        f"<header>\n<h1>{title}</h1>\n{_lead(overview, pages)}\n</header>",
        *(_listing(each) for each in listings(overview) if each.signed),
        _targets(overview, targets) if targets else "",
        section("Summary", summary),
        *(_listing(each) for each in listings(overview) if not each.signed),
        _shared(overview),
    ]
    scripts = _scripts(overview, targets, pages, script)
    return plain_page(title, filter(None, parts), style, allowed, end=scripts)


def _targets(overview: Overview, targets: Sequence[TargetRow]) -> str:
    """Return the table of targets without rows, which the script adds."""
    selects = "".join(
        f'<select id="{name}" aria-label="Filter by {label}">'
        + "".join(f'<option value="{value}">{text}</option>' for value, text in options.items())
        + "</select>"
        for name, (label, options) in _FILTERS.items()
    )
    unit = ", in percentage points" if overview.in_points else ""
    effects = {"effect": f"largest effect{unit}"}
    if _has_own(targets):
        effects = {"own": f"effect of the target itself{unit}", "other": "largest other effect"}
    columns = {
        "target": "target",
        "class": "class",
        "probability": "probability",
        "kept": _kept(overview),
        **effects,
        "significant": "number of effects",
        "warnings": "warnings",
    }
    head = "".join(
        f'<th scope="col" data-column="{name}"><button type="button">{text}</button></th>'
        for name, text in columns.items()
    )
    what = "the probability of the class" if overview.in_points else "the value"
    done, listed = overview.explained + overview.failed, len(targets)
    note = f"<p>Only the first {listed:,} of {done:,} are listed.</p>" if listed < done else ""
    return section(
        "Targets",
        '<div class="search"><input id="search" type="search" placeholder="Search" '
        f'aria-label="Search targets, classes and causes">{selects}</div>'
        f'<p id="count" role="status"></p>{note}'
        f'<p class="keys"><i class="key falls"></i>lowers {what} <i class="key rises"></i>raises '
        f"{what}</p>"
        f'<table id="targets"><thead><tr>{head}</tr></thead><tbody id="rows"></tbody></table>'
        '<button id="more" type="button" hidden>Show more</button>',
    )


def _has_own(targets: Sequence[TargetRow]) -> bool:
    """Return whether some targets have an effect of their own."""
    return any(row.own is not None for row in targets)


def _kept(overview: Overview) -> str:
    return "kept" if overview.class_stayed is None else "class kept"


def _scripts(
    overview: Overview, targets: Sequence[TargetRow], pages: Pages | None, script: str | None
) -> str:
    if script is None:
        return ""
    data = as_data(_payload(overview, targets, pages))
    return (
        "<noscript><p>The table of targets needs JavaScript.</p></noscript>\n"
        f'<script id="data" type="application/json">{data}</script>\n<script>{script}</script>\n'
    )


def _payload(
    overview: Overview, targets: Sequence[TargetRow], pages: Pages | None
) -> dict[str, Any]:
    """Return the data of the table; classes and warnings, which recur, are stored once."""
    classes = sorted({row.explained_class for row in targets if row.explained_class is not None})
    warnings = sorted({text for row in targets for text in row.warnings})
    of_class = {name: at for at, name in enumerate(classes)}
    of_warning = {text: at for at, text in enumerate(warnings)}

    def share(number: float | None) -> float | None:
        """Return a share that is not rounded to 0 or 1."""
        return short(number if number in (None, 0, 1) else min(max(number, 1e-4), 0.9999))

    def short(number: float | None) -> float | None:
        return None if number is None else float(f"{number:.4g}")

    return {
        "rows": [
            [
                row.target,
                None if row.explained_class is None else of_class[row.explained_class],
                share(row.probability),
                share(row.kept),
                row.cause,
                short(row.effect),
                short(row.own),
                row.other,
                short(row.other_effect),
                row.significant,
                [of_warning[text] for text in row.warnings],
                row.error,
            ]
            for row in targets
        ],
        "classes": classes,
        "warnings": warnings,
        "inPoints": overview.in_points,
        "kept": _kept(overview),
        "hasOwn": _has_own(targets),
        "pages": 0 if pages is None else pages.count,
        "perFile": 1 if pages is None else pages.per_file,
        "folder": "" if pages is None else pages.folder,
        "embedded": "" if pages is None else pages.embedded,
    }


def _lead(overview: Overview, pages: Pages | None) -> str:
    """Return how many predictions are explained, and how to show one of them."""
    linked = 0 if pages is None else pages.count
    said = f"<b>{overview.explained:,} of {overview.targets:,}</b> predictions are explained"
    if overview.failed:
        said += f", <b>{overview.failed:,}</b> failed"
    folder = quote(overview.folder)
    command = f"pgm-explainer show {folder} --target TARGET --output why.html"
    how = f"To show one of them: <code>{escape(command)}</code>"
    if linked:
        how = "Select a target to open its explanation."
    if 0 < linked < overview.explained:
        how += f" The first {linked:,} can be opened; for others: <code>{escape(command)}</code>"
    return f'<p class="lead">{said}. {how}</p>'


def _listing(listing: Listing) -> str:
    most = max(each.predictions for each in listing.entries)
    rows = (
        f"<tr><td>{escape(printable(each.what))}</td>"
        f'<td class="number">{each.predictions:,}</td>'
        f'<td class="bar"><meter max="{most}" value="{each.predictions}"></meter></td>'
        f'<td class="number">{escape(listing.size(each))}</td></tr>'
        for each in listing.entries
    )
    # The number and its bar are two columns, so that all bars start at the same place.
    head = (
        f'<th scope="col">{escape(listing.what)}</th><th scope="col" colspan="2">predictions</th>'
        f'<th scope="col" class="number">{escape(listing.measure)}</th>'
    )
    body = "\n".join(rows)
    return section(
        escape(listing.title),
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>",
    )


def _shared(overview: Overview) -> str:
    if not overview.shared:
        return ""
    rows = (
        [f"{len(each.targets):,}", escape(shown(each.nodes)), escape(shown(each.targets))]
        for each in overview.shared
    )
    head = ("number of targets", "explained by", "targets")
    return section("Explanations shared by several targets", table(head, rows))
