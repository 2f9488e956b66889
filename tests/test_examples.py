"""Every public name is explained by an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import pgm_explainer

ROOT = Path(__file__).parents[1]
LINE = re.search(
    r"^- Public modules: (.*)$", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE
)
MODULES = re.findall(r"`([\w.]+)`", LINE[1])


def public():
    """Each public name with its module; the same thing under two names counts once."""
    seen = set()
    for module in MODULES:
        if module in ("pgm_explainer.pyg", "pgm_explainer.report.plots"):
            pytest.importorskip("torch_geometric")
            pytest.importorskip("matplotlib")
        found = import_module(module)
        for name in found.__all__:
            thing = getattr(found, name)
            if (key := (name, id(thing))) not in seen:
                seen.add(key)
                yield module, name, thing


def examples(text):
    return "".join(each.source for each in doctest.DocTestParser().get_examples(text or ""))


def test_every_public_class_and_function_has_an_example():
    without = [
        f"{module}.{name}"
        for module, name, thing in public()
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and not examples(thing.__doc__)
    ]
    assert without == []


def test_every_public_constant_is_used_in_an_example_of_its_module():
    without = [
        f"{module}.{name}"
        for module, name, thing in public()
        if not (inspect.isclass(thing) or inspect.isfunction(thing))
        and not re.search(rf"\b{name}\b", all_examples(module))
    ]
    assert without == []


def all_examples(module):
    """The examples of a module, of the modules inside it, and of what they define."""
    found = import_module(module)
    inside = [found]
    if module != "pgm_explainer":
        names = [each.name for each in walk_packages(getattr(found, "__path__", ()), f"{module}.")]
        inside += [import_module(name) for name in names]
    return "\n".join(
        examples(thing.__doc__)
        for each in inside
        for thing in (each, *vars(each).values())
        if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isfunction(thing)
    )


def test_a_name_without_an_example_would_be_found():
    assert examples("Text only.") == ""
    assert examples("Text.\n\n>>> Fall(0.1)\nFall(0.1)\n") == "Fall(0.1)\n"
    assert "PGMExplainer" in pgm_explainer.__all__
