"""The layers on the architecture page are those of the contract that ``make lint`` checks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pgm_explainer"


def contract():
    """The layers in pyproject.toml, from the top, each as a list of modules."""
    text = (ROOT / "pyproject.toml").read_text()
    block = re.search(r"^layers = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)[1]
    layers = [line.split(" | ") for line in re.findall(r'"(.+)"', block)]
    return [layer for layer in layers if layer != ["__main__"]]  # which only calls the CLI


def page():
    """The layers on the page, likewise; what follows two spaces is a remark."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    block = re.search(r"^## Layers\n.*?```\n(.*?)```", text, re.MULTILINE | re.DOTALL)[1]
    return [re.split(r"\s{2,}", line)[0].split(", ") for line in block.splitlines()]


def test_the_page_shows_the_layers_of_the_contract():
    assert page() == contract()


def test_every_module_has_a_layer():
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    modules |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {name for layer in page() for name in layer} == modules - {"__init__", "__main__"}


def test_files_that_the_page_names_exist():
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_0-9]*(?:\.py)?)`", text)
    others = [ROOT / name / "src" / f"pgm_explainer_{name}" for name in ("lab", "study")]
    places = (ROOT, PACKAGE, *others)
    assert [each for each in named if not any((place / each).exists() for place in places)] == []
