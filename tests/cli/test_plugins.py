"""Commands of other packages, found by entry points, and the message if the lab is missing."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from pgm_explainer.cli import plugins

GROUP = "pgm_explainer.commands"


@pytest.fixture
def entries(monkeypatch):
    """The entry points that are installed, to be filled in by a test."""
    installed = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: installed if group == GROUP else [])
    return installed


def command(answer):
    module = ModuleType("a_command")
    module.SUMMARY = "do something else"
    module.configure = lambda parser: parser.add_argument("--number", type=int)
    module.run = lambda options: sys.stdout.write(f"{answer} {options.number}\n") and None
    return module


@pytest.fixture
def another(entries, monkeypatch):
    """A package that adds a command, and tries to replace another."""
    monkeypatch.setitem(sys.modules, "another_package", command("it ran"))
    entries += [EntryPoint(name, "another_package", GROUP) for name in ("another", "show")]


def test_a_package_can_add_a_command(shell, another):
    assert shell("another", "--number", "3") == (0, "it ran 3\n", "")
    assert "another" in shell("--help")[1]
    assert "do something else" in shell("--help")[1]


def test_no_package_replaces_a_command(shell, another):
    assert "--number" not in shell("show", "--help")[1]
    assert "print saved explanations" in shell("--help")[1]


@pytest.mark.parametrize("typed", [["demo"], ["demo", "--seed", "1"], ["reproduce", "table2"]])
def test_without_the_lab_the_error_says_how_to_install_it(shell, entries, typed):
    code, out, err = shell(*typed)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"the command {typed[0]!r} needs the lab" in err
    assert "pip install -e . -e lab" in err


def test_without_the_lab_all_else_works(shell, entries):
    code, out, _ = shell("--help")
    assert code == 0
    assert "reproduce" not in out
    code, _, err = shell("nothing")
    assert code == 2
    assert "invalid choice" in err


def test_a_broken_plugin_affects_only_its_command(shell, entries):
    entries.append(EntryPoint("broken", "no_such_package.command", GROUP))
    code, out, err = shell("broken", "--number", "3")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "'broken' cannot be loaded" in err
    assert "no_such_package" in err
    assert shell("--help")[0] == 0


def test_built_in_commands_load_no_plugins(shell, monkeypatch):
    def searched(group):
        raise AssertionError("entry points were searched")

    monkeypatch.setattr(plugins, "entry_points", searched)
    assert shell("explain", "--help")[0] == 0
