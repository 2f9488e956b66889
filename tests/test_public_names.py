"""The names that users import from the package, and the names that its help mentions."""

from __future__ import annotations

import builtins
import inspect
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

import pgm_explainer
from pgm_explainer import engines, errors
from pgm_explainer.sampling.change import CHANGE_TYPES

ELSEWHERE = {"Data", "HeteroData", *dir(builtins)}
"""Classes of PyTorch Geometric, as the help says, and of Python."""


def documented():
    """Each public name, and each public method and property of a class, with its docstring."""
    for name in pgm_explainer.__all__:
        thing = getattr(pgm_explainer, name)
        if isinstance(thing, str):
            continue
        yield name, inspect.getdoc(thing)
        for part in dir(thing) if inspect.isclass(thing) else ():
            member = inspect.getattr_static(thing, part)
            if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                yield f"{name}.{part}", inspect.getdoc(member)


def mentioned(text):
    """The classes that a docstring names in code or in a reference."""
    for _, quoted in re.findall(r"(`{1,2})~?([^`]+)\1", text):
        yield from re.findall(r"(?<![\w.\"'])(?:[a-z_]\w*\.)*[A-Z]\w*[a-z]\w*", quoted)


def lives(name):
    """Whether a dotted name leads to something."""
    module, _, last = name.rpartition(".")
    return bool(module) and find_spec(module) is not None and hasattr(import_module(module), last)


def test_what_users_name_is_public():
    wanted = {*errors.__all__, *(each.__name__ for each in CHANGE_TYPES.values())}
    wanted |= {each.__name__ for each in engines.ENGINES.values()}
    assert wanted - set(pgm_explainer.__all__) == set()


def test_every_public_name_is_there_and_an_unknown_one_is_an_error():
    assert [name for name in pgm_explainer.__all__ if not hasattr(pgm_explainer, name)] == []
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        pgm_explainer.Nonsense  # noqa: B018


def test_help_says_where_a_name_lives():
    without = [
        (name, each)
        for name, text in documented()
        for each in mentioned(text or "")
        if each not in {name.split(".")[0], *ELSEWHERE} and not lives(each)
    ]
    assert without == []


def test_a_name_without_its_place_would_be_found():
    text = "Pass ``Fall(0.1)``, ``pgm_explainer.Flip()`` or :class:`~pgm_explainer.nowhere.Fall`."
    assert list(mentioned(text)) == ["Fall", "pgm_explainer.Flip", "pgm_explainer.nowhere.Fall"]
    assert list(map(lives, mentioned(text))) == [False, True, False]


def test_importing_the_package_does_not_load_http():
    code = "import sys, pgm_explainer; print('pgm_explainer.predictors.http' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
