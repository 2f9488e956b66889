"""The lowest versions that pyproject.toml and lab/pyproject.toml promise are tested.

``make test-min`` does it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = {
    "axe-playwright-python",
    "furo",
    "hatchling",
    "import-linter",
    "ipykernel",
    "mypy",
    "myst-nb",
    "nbclient",
    "pgmpy",
    "playwright",
    "ruff",
    "sphinx",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinx-gallery",
}  # for developers, not for users


def promised():
    library = (ROOT / "pyproject.toml").read_text()
    lab = (ROOT / "lab" / "pyproject.toml").read_text()
    needed = library[library.index("\ndependencies = ") : library.index("\n[project.scripts]")]
    needed += lab[lab.index("\ndependencies = ") : lab.index("\n[project.entry-points")]
    found = set(re.findall(r'"([a-z_-]+)>=([\d.]+)"', needed))
    assert len(found) == len(dict(found)), "the library and the lab promise different versions"
    return dict(found)


def pinned():
    text = (ROOT / "constraints-min.txt").read_text()
    return dict(re.findall(r"^([a-z_-]+)==([\d.]+)$", text, re.MULTILINE))


def test_every_promise_is_tested_or_known_not_to_be():
    assert set(promised()) - set(pinned()) == TOOLS
    assert set(pinned()) <= set(promised())


@pytest.mark.parametrize("name", sorted(set(promised()) - TOOLS))
def test_the_lowest_supported_versions_are_tested(name):
    wanted = [*map(int, promised()[name].split(".")), 0, 0][:3]
    lowest = [*map(int, pinned()[name].split(".")), 0, 0][:3]
    assert lowest == wanted


def test_the_oldest_python_is_the_one_promised():
    oldest = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    assert f"PYTHON_MIN ?= python{oldest}\n" in (ROOT / "Makefile").read_text()
