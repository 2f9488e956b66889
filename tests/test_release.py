"""The files of a release agree with each other and with the package."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pgm_explainer import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomllib", reason="reading pyproject.toml needs Python 3.11")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def pythons(text):
    return set(re.findall(r"\b3\.1\d\b", text))


def test_every_place_names_the_same_pythons():
    prefix = "Programming Language :: Python :: "
    promised = {each.removeprefix(prefix) for each in PROJECT["classifiers"] if prefix in each}
    promised -= {"3 :: Only"}
    assert (
        pythons(re.search(r"python: \[(.*)\]", read(".github/workflows/tests.yml"))[1]) == promised
    )
    assert pythons(re.search(r"PYTHONS = \[(.*)\]", read("noxfile.py"))[1]) == promised
    oldest = min(promised, key=lambda each: int(each.split(".")[1]))
    assert PROJECT["requires-python"] == f">={oldest}"
    assert re.search(r"PYTHON_MIN \?= python(\S+)", read("Makefile"))[1] == oldest


def test_the_citation_has_the_version_of_the_package():
    assert re.search(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE)[1] == __version__


def test_each_extra_has_a_check_of_the_wheel():
    checks = re.search(r"CHECKS = \{(.*?)\n\}", read("packaging/smoke_wheel.py"), re.DOTALL)[1]
    named = set(re.findall(r'^    "(\w+)":', checks, re.MULTILINE))
    assert named == {"core", *PROJECT["optional-dependencies"]} - {"docs", "test"}


def test_hooks_have_the_versions_of_the_constraints():
    hooks = read(".pre-commit-config.yaml")
    pinned = re.search(r"^ruff==(\S+)$", read("constraints.txt"), re.MULTILINE)[1]
    assert set(re.findall(r"ruff==([\d.]+)", hooks)) == {pinned}


def test_each_session_of_nox_is_a_target_of_make():
    sessions = re.search(r"MAKE = \((.*)\)", read("noxfile.py"))[1]
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r'"(\w+)"', sessions)) | {"dist", "test-min"} <= targets | {"docs"}


def test_conda_needs_what_the_wheel_needs():
    recipe = read("packaging/conda/recipe.yaml")
    for requirement in PROJECT["dependencies"]:
        name, version = requirement.split(">=")
        assert f"{name} >={version}" in recipe
    assert f'version: "{__version__}"' in recipe
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in recipe
