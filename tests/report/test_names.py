"""Names as they can be printed."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer.report.names import label_of, listed, pad, printable, shorten, width


@given(st.text(), st.integers(3, 30))
def test_a_shortened_name_fits_and_keeps_both_ends(text, columns):
    short = shorten(text, columns)
    assert width(short) <= columns
    if short != text:
        head, tail = short.split("…", 1) if text.count("…") == 0 else (short[0], short[-1])
        assert text.startswith(head)
        assert text.endswith(tail)


def test_a_name_of_any_length_is_shortened_at_once():
    started = time.perf_counter()
    assert shorten("a" + "東" * 200_000 + "b", 11) == "a東東…東東b"
    assert shorten("x" * 200_000, 5) == "xx…xx"
    assert time.perf_counter() - started < 5


@given(st.text())
def test_only_printable_characters_are_kept(text):
    assert printable(text).isprintable()
    if text.isprintable():
        assert printable(text) == text


@pytest.mark.parametrize("text", ["a", "東京", "e\u0301", ""])
def test_padding_counts_columns(text):
    assert width(pad(text, 10)) == 10
    assert pad(text, 10).endswith(text)


def test_lists_and_labels_read_as_people_write_them():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert label_of(("paper", 4)) == "paper 4"
    assert label_of(7) == "7"
