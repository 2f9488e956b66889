"""The lowest versions in pyproject.toml are those that ``make test-min`` installs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = {"ipykernel", "mypy", "nbclient", "pgmpy", "playwright", "ruff"}  # of ours, not of users


def promised_versions():
    text = (ROOT / "pyproject.toml").read_text()
    project = text[text.index("\ndependencies = ") : text.index("\n[project.scripts]")]
    return dict(re.findall(r'"([a-z_-]+)>=([\d.]+)"', project))


def pinned_versions():
    text = (ROOT / "constraints-min.txt").read_text()
    return dict(re.findall(r"^([a-z_-]+)==([\d.]+)$", text, re.MULTILINE))


def test_every_promise_is_tested_or_known_not_to_be():
    assert set(promised_versions()) - set(pinned_versions()) == TOOLS
    assert set(pinned_versions()) <= set(promised_versions())


@pytest.mark.parametrize("name", sorted(set(promised_versions()) - TOOLS))
def test_what_is_tested_is_the_lowest(name):
    wanted = [*map(int, promised_versions()[name].split(".")), 0, 0][:3]
    pinned = [*map(int, pinned_versions()[name].split(".")), 0, 0][:3]
    assert pinned == wanted


def test_the_oldest_python_is_the_one_promised():
    oldest = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    assert f"PYTHON_MIN ?= python{oldest}\n" in (ROOT / "Makefile").read_text()
