"""An explanation as a notebook shows it: words, table and network, without scripts.

Everything takes its colour from the page, so it looks right on dark ones too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from .colours import CHANGED, KEPT, VERMILLION
from .facts import own_chance, telling_facts, told_nodes
from .layers import Point, place_network
from .names import printable, shorten, variable_label
from .terms import describe_terms
from .text import chances, column_words, fact_words, summarise

if TYPE_CHECKING:
    from ..explanation import Explanation
    from ..sampling import VariableId

__all__ = ["to_notebook_html"]

_ACROSS, _DOWN = 124, 74
_BOX = (104, 44)
_CELL = 'style="text-align: right; padding: 0.15em 0.6em"'


def to_notebook_html(explanation: Explanation) -> str:
    """Return a piece of HTML that says and shows what was found; names in it are only text."""
    parts = [f"<p>{_text(summarise(explanation))}</p>"]
    if explanation.network is not None:
        told = "".join([_table(explanation), *_facts(explanation)])
        parts.append(_side_by_side([_svg(explanation), told]))
    parts.append(f"<p>{_text(describe_terms(explanation.settings))}</p>")
    parts += [f"<p><b>Beware:</b> {_text(warning)}.</p>" for warning in explanation.warnings]
    return f'<div style="max-width: 72em">{"".join(parts)}</div>'


def _text(text: str) -> str:
    return escape(printable(text))


def _side_by_side(parts: Sequence[str]) -> str:
    inside = "".join(f"<div>{part}</div>" for part in parts)
    return (
        f'<div style="display: flex; flex-wrap: wrap; gap: 2em; align-items: center">{inside}</div>'
    )


def _table(explanation: Explanation) -> str:
    """How likely the prediction holds, given what is known of one node."""
    head, *rows = chances(explanation)
    heads = "".join(f'<th scope="col" {_CELL}>{_text(cell)}</th>' for cell in head)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    more = len(explanation.nodes) - len(told_nodes(explanation))
    left_out = f"; {more} more nodes are in explanation.ranking" if more else ""
    caption = (
        f"How likely the prediction holds by the network: {explanation.query():.1%} when nothing "
        f"is known, and given what is known of one node{left_out}. {column_words(explanation)}"
    )
    return (
        f'<table style="color: inherit; font: inherit; border-collapse: collapse">'
        f'<caption style="caption-side: top; text-align: left">{_text(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells(row: Sequence[str]) -> str:
    name, *values = row
    cells = "".join(f"<td {_CELL}>{_text(value)}</td>" for value in values)
    return f'<th scope="row" {_CELL}>{_text(name)}</th>{cells}'


def _facts(explanation: Explanation) -> Iterator[str]:
    facts = telling_facts(explanation)
    if facts:
        rows = "".join(f"<li>{fact.holds:.1%} if {_text(fact_words(fact))}</li>" for fact in facts)
        yield f'<p>What tells most:</p><ul style="list-style: none; padding: 0">{rows}</ul>'


def _svg(explanation: Explanation) -> str:
    """The network, each variable with the chance that it is as it was."""
    assert explanation.network is not None
    at, routes = place_network(explanation.network)
    points = [*at.values(), *(point for route in routes for point in route)]
    left, right = (limit(x for x, _ in points) for limit in (min, max))
    lowest = min(y for _, y in points)
    width, height = round((right - left + 1) * _ACROSS), round((1 - lowest) * _DOWN)

    def scaled(point: Point) -> Point:
        return round((point[0] - left + 0.5) * _ACROSS, 1), round((0.5 - point[1]) * _DOWN, 1)

    arrows = "".join(_arrow([scaled(point) for point in route]) for route in routes)
    boxes = "".join(_box(explanation, node, scaled(point)) for node, point in at.items())
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="Bayesian network" style="max-width: 100%; color: inherit">'
        f"{arrows}{boxes}</svg>"
    )


def _arrow(route: Sequence[Point]) -> str:
    """A line from below the parent, down through the layers between, and a head above the child."""
    half, head = _BOX[1] / 2, 7
    stops = [(x, y + side) for x, y in route for side in (-half, half)][1:-1]
    (x, y), (end_x, end_y) = stops[0], stops[-1]
    stops[-1] = (end_x, end_y - head)
    line = [f"M{x} {y}"]
    for at, (start, end) in enumerate(pairwise(stops)):
        middle = (start[1] + end[1]) / 2
        bend = f"C{start[0]} {middle} {end[0]} {middle} {end[0]} {end[1]}"
        line.append(f"L{end[0]} {end[1]}" if at % 2 else bend)
    tip = f"M{end_x - 4} {end_y - head}h8l-4 {head}z"
    return (
        f'<path d="{"".join(line)}" fill="none" stroke="currentColor"/>'
        f'<path d="{tip}" fill="currentColor"/>'
    )


def _box(explanation: Explanation, node: VariableId, centre: Point) -> str:
    x, y = centre
    width, height = _BOX
    left, top = x - width / 2, y - height / 2
    share, word = own_chance(explanation, node)
    is_target = node == explanation.target
    frame = f'stroke="{VERMILLION}" stroke-width="3"' if is_target else 'stroke="currentColor"'
    name = variable_label(explanation, node)
    bar, kept = width - 12, round(share * (width - 12), 1)
    return (
        f"<g><title>{_text(name)}</title>"
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="6" fill="none" {frame}/>'
        f'<g fill="currentColor" font-size="12" text-anchor="middle">'
        f'<text x="{x}" y="{top + 15}" font-weight="bold">{_text(shorten(name, 14))}</text>'
        f'<text x="{x}" y="{top + 29}" font-size="10">{word} {share:.0%}</text></g>'
        f'<rect x="{left + 6}" y="{top + 34}" width="{bar}" height="5" fill="{CHANGED}"/>'
        f'<rect x="{left + 6}" y="{top + 34}" width="{kept}" height="5" fill="{KEPT}"/></g>'
    )
