"""SECURITY.md states the limits that hold."""

import re
from pathlib import Path

from pgm_explainer import limits

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text()
VALUES = {name: getattr(limits, name) for name in limits.__all__ if name.isupper()}


def test_the_table_is_that_of_the_module():
    table = PAGE.partition("## Limits")[2].partition("Besides:")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    stated = {}
    for names, values in rows:
        found = re.findall(r"`(\w+)`", names)
        # A comma within a number is no comma between two.
        listed = values.split(", ") if len(found) > 1 else [values]
        stated.update(zip(found, map(str.strip, listed), strict=True))
    assert stated == {name: _in_words(name, value) for name, value in VALUES.items()}


def _in_words(name, value):
    if name.endswith("_BYTES"):
        return limits.as_size(value)
    return "half" if value == 0.5 else f"{value:,}"


def test_every_limit_is_used():
    sources = Path(limits.__file__).parent.rglob("*.py")
    text = "\n".join(path.read_text() for path in sources if path.name != "limits.py")
    assert [name for name in VALUES if name not in text] == []


def test_every_test_that_the_page_names_is_there():
    root = Path(__file__).parents[2]
    for path in re.findall(r"`(tests/[\w/.]+)`", PAGE):
        assert (root / path).exists(), path
