"""The index of errors lists every class, with its Python class, and quotes real messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgm_explainer import errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text()
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_every_class_has_a_section_and_every_section_a_class():
    assert set(SECTIONS) == set(errors.__all__)


@pytest.mark.parametrize("name", sorted({*errors.__all__} - {"PGMExplainerError"}))
def test_each_section_says_what_to_do(name):
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", SECTIONS[name], re.MULTILINE)
    assert len(rows) >= 1 + 2, "a header, and two causes or more"


@pytest.mark.parametrize("name", errors.__all__)
def test_each_section_names_the_class_of_python(name):
    base = {"ValueError", "RuntimeError"} & {
        each.__name__ for each in getattr(errors, name).__mro__
    }
    stated = set(re.findall(r"Also a `(\w+)`", SECTIONS[name]))
    for parent in re.findall(r"A kind of `(\w+)`", SECTIONS[name]):
        assert issubclass(getattr(errors, name), getattr(errors, parent))
        stated |= base
    assert stated == base


@pytest.mark.parametrize("page", ["errors.md", "faq.md"])
def test_messages_that_are_quoted_are_those_of_the_code(page):
    """The words of a quoted message, between its variable parts, are in the source."""
    text = (ROOT / "docs" / page).read_text()
    source = " ".join(
        "".join(re.findall(r"\"([^\"\n]*)\"", path.read_text()))
        for path in (ROOT / "src" / "pgm_explainer").rglob("*.py")
    )
    part = text if page == "errors.md" else text[text.index("## Troubleshooting") :]
    quoted = re.findall(r"^\| \*(.+?)\* \|", part, re.MULTILINE)
    quoted += re.findall(r"^\*\*(.+?)\.?\*\*$", part, re.MULTILINE)
    pieces = [piece.strip(" ,") for each in quoted for piece in each.split("…")]
    assert len(pieces) > 8
    absent = [piece for piece in pieces if len(piece) > 12 and piece not in source]
    assert [each for each in absent if not each.startswith(("torch.load", "It is slow"))] == []
