"""An explanation as HTML for notebooks: text, tables and network, without scripts.

Colours are inherited from the notebook, so dark themes work too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from .colours import CHANGED, KEPT, VERMILLION
from .contents import (
    CHANGES,
    DEPENDS,
    MOST_EFFECTS,
    PAIRS,
    as_texts,
    chances,
    column_words,
    effect_column_words,
    effect_rows,
    fact_words,
    moved_words,
    network_words,
    pair_rows,
    reason_lines,
)
from .effects import dependence_sentence, effects_caption, own_sentences
from .facts import fact_nodes, informative_facts, own_chance
from .features import FEATURES, feature_rows, feature_words
from .layers import Point, Route, place_network
from .measure import measure_of
from .names import printable, shorten, variable_label
from .terms import describe_kept, describe_terms
from .wording import wording_of

if TYPE_CHECKING:
    from ..explanation import Explanation, FeatureEffects
    from ..sampling import VariableId

__all__ = ["to_notebook_html"]

_ACROSS, _DOWN = 124, 74
_BOX = (104, 44)
_CELL = 'style="text-align: right; padding: 0.15em 0.6em"'


def to_notebook_html(explanation: Explanation) -> str:
    """Return an HTML fragment that shows the explanation; all names in it are escaped."""
    parts = [*map(_paragraph, reason_lines(explanation)), *_effects(explanation)]
    parts += [_paragraph(said) for said in network_words(explanation)]
    if explanation.network is not None:
        parts.append(_paragraph(describe_kept(explanation)))
        known = "".join([_dependence(explanation), *_facts(explanation)])
        parts.append(_side_by_side([_svg(explanation), known]))
    parts.append(_paragraph(describe_terms(explanation.settings)))
    parts += [_paragraph(f"{warning}.", "Warning") for warning in explanation.warnings]
    return f'<div style="max-width: 72em">{"".join(parts)}</div>'


def _paragraph(text: str, title: str = "") -> str:
    return f"<p>{f'<b>{title}:</b> ' if title else ''}{_text(text)}</p>"


def _text(text: str) -> str:
    return escape(printable(text))


def _side_by_side(parts: Sequence[str]) -> str:
    inside = "".join(f"<div>{part}</div>" for part in parts)
    return (
        f'<div style="display: flex; flex-wrap: wrap; gap: 2em; align-items: center">{inside}</div>'
    )


def _effects(explanation: Explanation) -> Iterator[str]:
    """Yield what changes the prediction, and what else depends on it."""
    found = int(explanation.effects.significant.sum())
    if found:
        more = found - MOST_EFFECTS
        left_out = f" {more} more are in explanation.effects." if more > 0 else ""
        caption = f"{effects_caption(explanation)}{left_out} {effect_column_words(explanation)}"
        yield _table(f"<b>{CHANGES}:</b> {_text(caption)}", effect_rows(explanation))
    else:
        yield _paragraph(effects_caption(explanation), CHANGES)
    for said in as_texts(explanation, own_sentences(explanation)):
        yield _paragraph(said)
    if explanation.effects.pairs:
        yield _table(_text(f"{PAIRS}:"), pair_rows(explanation))
    if explanation.features is not None:
        yield from _features(explanation, explanation.features)
    for said in as_texts(explanation, [dependence_sentence(explanation)]):
        yield _paragraph(said, DEPENDS)


def _features(explanation: Explanation, features: FeatureEffects) -> Iterator[str]:
    """Yield which single features change the prediction."""
    caption, columns = feature_words(explanation, features)
    if not features.significant.any():
        yield _paragraph(caption, FEATURES)
        return
    rows = feature_rows(features, measure_of(explanation, features))
    yield _table(f"<b>{FEATURES}:</b> {_text(f'{caption} {columns}')}", rows)


def _dependence(explanation: Explanation) -> str:
    """Return the table of probabilities that the prediction is kept, given evidence."""
    more = len(explanation.nodes) - len(fact_nodes(explanation))
    words = wording_of(explanation.settings)
    left_out = f"; {more} more {words.plural} are in explanation.ranking" if more else ""
    caption = (
        f"Probability that the prediction is kept according to the network: "
        f"{explanation.query():.1%} without evidence, and given evidence about one "
        f"{words.noun}{left_out}. {column_words()}"
    )
    return _table(_text(caption), chances(explanation))


def _table(caption: str, lines: Iterable[Sequence[str]]) -> str:
    """Return a table from its rows, header first; the caption is HTML already."""
    head, *rows = lines
    heads = "".join(f'<th scope="col" {_CELL}>{_text(cell)}</th>' for cell in head)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    return (
        f'<table style="color: inherit; font: inherit; border-collapse: collapse">'
        f'<caption style="caption-side: top; text-align: left">{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells(row: Sequence[str]) -> str:
    name, *values = row
    cells = "".join(f"<td {_CELL}>{_text(value)}</td>" for value in values)
    return f'<th scope="row" {_CELL}>{_text(name)}</th>{cells}'


def _facts(explanation: Explanation) -> Iterator[str]:
    facts = informative_facts(explanation, most=1)
    if facts:
        base = explanation.query()
        rows = "".join(
            f"<li>{fact.holds:.1%} if {_text(fact_words(fact))} "
            f"({moved_words(fact.holds, base)})</li>"
            for fact in facts
        )
        yield "<p>Most informative evidence:</p>"
        yield f'<ul style="list-style: none; padding: 0">{rows}</ul>'


def _svg(explanation: Explanation) -> str:
    """Return the network as SVG, each variable with the probability that it is unchanged."""
    assert explanation.network is not None
    at, routes = place_network(explanation.network)
    points = [*at.values(), *(point for route in routes for point in route.points)]
    left, right = (limit(x for x, _ in points) for limit in (min, max))
    lowest = min(y for _, y in points)
    width, height = round((right - left + 1) * _ACROSS), round((1 - lowest) * _DOWN)

    def scaled(point: Point) -> Point:
        return round((point[0] - left + 0.5) * _ACROSS, 1), round((0.5 - point[1]) * _DOWN, 1)

    arrows = "".join(
        _arrow(replace(route, points=[scaled(point) for point in route.points])) for route in routes
    )
    boxes = "".join(_box(explanation, node, scaled(point)) for node, point in at.items())
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{explanation.network.title}" style="max-width: 100%; color: inherit">'
        f"{arrows}{boxes}</svg>"
    )


def _arrow(route: Route) -> str:
    """Return an edge that leads down through the layers in between, with its arrowheads."""
    half, (up, down) = _BOX[1] / 2, (7 * tip for tip in route.tips)
    stops = [(x, y + side) for x, y in route.points for side in (-half, half)][1:-1]
    (x, y), (end_x, end_y) = stops[0], stops[-1]
    stops[0], stops[-1] = (x, y + up), (end_x, end_y - down)
    line = [f"M{x} {y + up}"]
    for at, (start, end) in enumerate(pairwise(stops)):
        middle = (start[1] + end[1]) / 2
        bend = f"C{start[0]} {middle} {end[0]} {middle} {end[0]} {end[1]}"
        line.append(f"L{end[0]} {end[1]}" if at % 2 else bend)
    tips = f"M{end_x - 4} {end_y - down}h8l-4 {down}z" if down else ""
    tips += f"M{x - 4} {y + up}h8l-4 {-up}z" if up else ""
    return (
        f'<path d="{"".join(line)}" fill="none" stroke="currentColor"/>'
        f'<path d="{tips}" fill="currentColor"/>'
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
