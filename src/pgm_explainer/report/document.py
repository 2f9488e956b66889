"""A report on one page: the reason, the effects, and what was tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..storage.files import PathLike, as_path, write_bytes
from .colours import BAR_COLOURS
from .contents import headline
from .effects import ShownEffect, own_effects, plain, shown_effects
from .features import ShownFeature, shown_features
from .html.parts import plain_page, policy, read_part, section, table
from .measure import Measure, measure_of, p_value
from .names import class_label, printable, variable_label
from .reason import Writer, reason_sentences
from .template_texts import AUDIENCES
from .terms import describe_kept, describe_perturbed
from .wording import wording_of

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["Report", "Row", "check_report", "report_title", "write_report"]

_MOST_ROWS, _MOST_FEATURES = 8, 4
_BLOCKS = 10
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#&@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
"""Characters with a meaning in Markdown, including those that turn a URL into a link."""


@dataclass(frozen=True)
class Row:
    """A row of the table of effects: its cells, and the numbers and direction of its bar."""

    cells: list[str]
    numbers: tuple[float, float, float]
    direction: str


@dataclass(frozen=True)
class Report:
    """The contents of a report, in any format.

    Attributes:
        explanation: the explanation that is reported.
        title: what is predicted.
        reason: the sentences of the reason.
        headings: of the effects, of what was tried, and of the warnings.
        caption: what the effects are.
        columns: the header of the table of effects.
        rows: at most four features, if they were explained, the target's own first; then the
            effects of the eight strongest parts and the target's own. Both are sorted by the
            displayed effect, the largest change first.
        tried: what was tried, as pairs of a name and a value.
        language: the code of the language, for HTML.
        picture_words: what replaces built-in words in pictures; empty for the built-in language.
    """

    explanation: Explanation
    title: str
    reason: list[str]
    headings: tuple[str, str, str]
    caption: str
    columns: list[str]
    rows: list[Row]
    tried: list[tuple[str, str]]
    language: str = "en"
    picture_words: Mapping[str, str] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        return [f"{warning[:1].upper()}{warning[1:]}." for warning in self.explanation.warnings]


def write_report(
    explanation: Explanation,
    path: PathLike,
    audience: str = "manager",
    templates: Mapping[str, str] | None = None,
) -> Path:
    """Write a report; see :meth:`~pgm_explainer.Explanation.report`."""
    place = check_report(path)
    write_bytes(place, _FORMATS[place.suffix](_report(explanation, audience, templates)))
    return place


def check_report(path: PathLike) -> Path:
    """Return the path of a report after checking its extension.

    Raises:
        InputError: there is no report with this extension.
    """
    place = as_path(path)
    if place.suffix not in _FORMATS:
        raise InputError(f"{place}: the extension of a report must be one of {', '.join(_FORMATS)}")
    return place


def _report(explanation: Explanation, audience: str, templates: Mapping[str, str] | None) -> Report:
    writer = Writer.of(explanation, audience, templates)

    def said(template: str) -> str:
        return plain(writer.fact(template), writer.mention)

    sentences = reason_sentences(explanation, audience, templates)
    technical = audience == "engineer"
    noun = str(writer.facts["noun"])
    if explanation.features is not None:
        noun = writer.text("or_feature", noun=noun)
    way = "column_direction" if explanation.explained_class is None else "column_evidence"
    if way == "column_evidence" and wording_of(explanation.settings).how == "remove":
        way = "column_evidence_part"
    columns = [noun, *map(said, ("column_effect", "column_range", way))]
    return Report(
        explanation,
        report_title(writer),
        [plain(each, writer.mention) for each in sentences],
        (said("heading_effects"), said("heading_tried"), said("heading_warnings")),
        writer.text("caption", **{**writer.facts, "noun": noun}),
        [*columns, *([said("column_p")] if technical else [])],
        [
            *_feature_rows(writer, technical),
            *(_part_row(each, writer, technical) for each in _shown(writer)),
        ],
        list(_tried(writer, said, technical)),
        writer.text("language"),
        _picture_words(writer, said),
    )


def _shown(writer: Writer) -> list[ShownEffect]:
    """Return the effects of the table: the largest, and every part that the sentences name."""
    explanation = writer.explanation
    named = [each for group in writer.named_parts().values() for each in group]
    rest = sorted(shown_effects(explanation), key=lambda each: -abs(each.effect.effect))
    found = rest[:_MOST_ROWS] + [each for each in named if each not in rest[:_MOST_ROWS]]
    shown = [*found, *(each for each in own_effects(explanation) if each not in found)]
    shown.sort(key=lambda each: (not each.effect.significant, -abs(each.effect.effect)))
    return shown


def report_title(writer: Writer) -> str:
    """Return what is predicted, from the templates; also the title of the interactive page."""
    explanation = writer.explanation
    kinds = {"predicted": "title", "not_predicted": "title_not_predicted", "value": "title_value"}
    headed = headline(explanation, variable_label(explanation, explanation.target))
    title = writer.text(kinds[writer.opening], **writer.facts, headline=headed)
    return title[:1].upper() + title[1:]


def _picture_words(writer: Writer, said: Callable[[str], str]) -> dict[str, str]:
    """Return what replaces the words of pictures, by the built-in words; none if they are kept."""
    if writer.templates["language"] == AUDIENCES["manager"]["language"]:
        return {}
    explanation, measure = writer.explanation, measure_of(writer.explanation)
    classes = range(max(len(explanation.values), 1 + int(explanation.node_classes.max(initial=-1))))
    named = {
        class_label(explanation, number): plain(writer.class_words(number), str)
        for number in (classes if explanation.explained_class is not None else ())
        if explanation.settings.model.class_names is None
    }
    return {
        **named,
        "Around the prediction": said("picture_title"),
        "target": said("picture_target"),
        "node of the network": said("picture_network"),
        "large: in the network": said("picture_network"),
        measure.directions["falls"]: said("picture_falls"),
        measure.directions["rises"]: said("picture_rises"),
        measure.directions["both"]: said("cell_varies"),
        "not significant": said("picture_weak"),
        "95% interval": said("picture_range"),
        " (target)": f" ({said('picture_target')})",
    }


def _feature_rows(writer: Writer, technical: bool) -> Iterator[Row]:
    """Yield a row for each of the largest features, the target's own first.

    They include all that the sentences name.
    """
    features = writer.explanation.features
    if features is not None:
        measure, named = measure_of(writer.explanation, features), writer.named_features()
        about = {(each.node, each.feature) for each in named}
        found = sorted(
            shown_features(features),
            key=lambda each: (
                (each.effect.node, each.effect.feature) not in about,
                -abs(each.effect.effect),
            ),
        )[:_MOST_FEATURES]
        for each in sorted(found, key=lambda each: (not each.is_target, -abs(each.effect.effect))):
            yield _row(each, _feature_label(each, writer), measure, writer, technical)


def _feature_label(shown: ShownFeature, writer: Writer) -> str:
    """Return a feature, its node unless it is the target, and its value if it is known."""
    feature = shown.effect.feature
    name = writer.text("feature", name=str(feature)) if isinstance(feature, int) else shown.feature
    if not shown.is_target:
        name = writer.text("feature_of_node", feature=name, node=writer.node(shown.effect.node))
    return name + (f" ({writer.number(shown.value)})" if shown.value else "")


def _part_row(shown: ShownEffect, writer: Writer, technical: bool) -> Row:
    own = f" ({plain(writer.fact('own'), str)})" if shown.is_target else ""
    name = f"{writer.label(shown.number)}{own}"
    return _row(shown, name, measure_of(writer.explanation), writer, technical)


def _row(
    shown: ShownEffect | ShownFeature, name: str, measure: Measure, writer: Writer, technical: bool
) -> Row:
    effect = shown.effect
    mean, low, high = (
        writer.signed(number, measure) for number in (effect.effect, effect.low, effect.high)
    )
    cells = [
        name,
        mean,
        writer.text("cell_range", low=low, high=high),
        plain(writer.fact(_meaning(shown.direction, writer.explanation)), str),
        *([writer.number(p_value(effect.log_p))] if technical else []),
    ]
    return Row(cells, (effect.effect, effect.low, effect.high), shown.direction)


def _meaning(direction: str, explanation: Explanation) -> str:
    """Return the template for what an effect means."""
    if explanation.explained_class is not None:
        words = {"falls": "cell_for", "rises": "cell_against"}
    elif len(explanation.values) > 1:
        words = {"falls": "cell_closer", "rises": "cell_further"}
    else:
        words = {"falls": "cell_lowers", "rises": "cell_raises"}
    return {**words, "both": "cell_varies", "": "cell_none"}[direction]


def _tried(
    writer: Writer, said: Callable[[str], str], technical: bool
) -> Iterator[tuple[str, str]]:
    explanation, facts = writer.explanation, writer.facts
    effects = explanation.effects
    yield said("row_samples"), str(facts["samples"])
    yield said("row_parts"), writer.number(f"{len(effects) + effects.left_out:,}")
    if explanation.class_stayed is not None:
        yield said("row_stayed"), str(facts["stayed"])
    if facts["probability"]:
        yield said("row_mean"), f"{facts['mean']} ({facts['probability']})"
    else:
        yield said("row_mean_value"), str(facts["mean"])
    if not technical:
        return
    yield said("row_perturbation"), describe_perturbed(explanation.settings)
    if explanation.network is not None:
        yield said("row_network"), describe_kept(explanation)
    yield said("row_seed"), str(explanation.settings.sampling.seed)
    yield (
        said("row_versions"),
        ", ".join(f"{name} {each}" for name, each in explanation.versions.items()),
    )


def _markdown(report: Report) -> bytes:
    effects, tried, warnings = report.headings
    largest = max((abs(row.numbers[0]) for row in report.rows), default=0.0) or 1.0
    lines = [f"# {_plain(report.title)}", *map(_plain, report.reason), f"## {_plain(effects)}"]
    if report.rows:
        head = [*map(_plain, report.columns), ""]
        rows = [[*map(_plain, row.cells), _blocks(row, largest)] for row in report.rows]
        table = [head, ["---"] * len(head), *rows]
        lines += [_plain(report.caption), "\n".join(f"| {' | '.join(row)} |" for row in table)]
    facts = "\n".join(f"- {_plain(name)}: {_plain(value)}" for name, value in report.tried)
    lines += [f"## {_plain(tried)}", facts]
    if report.warnings:
        items = "\n".join(f"- {_plain(each)}" for each in report.warnings)
        lines += [f"## {_plain(warnings)}", items]
    return ("\n\n".join(lines) + "\n").encode("utf-8", "replace")


def _plain(text: str) -> str:
    """Return a text with the special characters of Markdown escaped."""
    return _SPECIAL.sub(r"\\\1", printable(text))


def _blocks(row: Row, largest: float) -> str:
    size = "█" * max(1, round(_BLOCKS * abs(row.numbers[0]) / largest))
    return {"falls": f"◀{size}", "rises": f"{size}▶", "both": f"◀{size}▶", "": ""}[row.direction]


_BAR, _HEIGHT = 220, 16


def _html(report: Report) -> bytes:
    effects, tried, warnings = map(_text, report.headings)
    style = "".join(map(read_part, ("theme.css", "overview.css", "report.css")))
    title = _text(report.title)
    reason = "\n".join(f'<p class="lead">{_text(each)}</p>' for each in report.reason)
    parts = [f"<header>\n<h1>{title}</h1>\n{reason}\n</header>"]
    if report.rows:
        numbers = [0.0, *(number for row in report.rows for number in row.numbers)]
        bars = [_bar(row, min(numbers), max(numbers)) for row in report.rows]
        rows = [[*map(_text, row.cells), bar] for row, bar in zip(report.rows, bars, strict=True)]
        bars_and_numbers = table([*map(_text, report.columns), ""], rows, "effects")
        parts.append(section(effects, f"<p>{_text(report.caption)}</p>\n{bars_and_numbers}"))
    facts = [[_text(name), _text(value)] for name, value in report.tried]
    parts.append(section(tried, table([], facts)))
    if report.warnings:
        items = "\n".join(f"<li>{_text(each)}</li>" for each in report.warnings)
        parts.append(section(warnings, f"<ul>\n{items}\n</ul>"))
    page = plain_page(title, parts, style, policy(style), lang=_text(report.language))
    return page.encode("utf-8", "replace")


def _text(text: str) -> str:
    return escape(printable(text))


def _bar(row: Row, lowest: float, highest: float) -> str:
    """Return an effect as a bar from 0, with its interval as a line."""
    scale = (_BAR - 4) / ((highest - lowest) or 1.0)

    def at(number: float) -> float:
        return round(2 + (number - lowest) * scale, 1)

    effect, low, high = map(at, row.numbers)
    left, right = sorted((at(0.0), effect))
    middle = _HEIGHT / 2
    return (
        f'<svg width="{_BAR}" height="{_HEIGHT}" viewBox="0 0 {_BAR} {_HEIGHT}" '
        f'preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{left}" y="3" width="{right - left:.1f}" height="{_HEIGHT - 6}" '
        f'fill="{BAR_COLOURS[row.direction]}"/>'
        f'<path d="M{at(0.0)} 0V{_HEIGHT}M{low} {middle}H{high}" stroke="currentColor"/></svg>'
    )


def _pdf(report: Report) -> bytes:
    from .plots.document import pdf_report  # needs matplotlib

    return pdf_report(report)


def _docx(report: Report) -> bytes:
    from .word import docx_report  # needs python-docx

    return docx_report(report)


_FORMATS: dict[str, Callable[[Report], bytes]] = {
    ".md": _markdown,
    ".html": _html,
    ".docx": _docx,
    ".pdf": _pdf,
}
