"""The commands that the lab adds."""

import re
import subprocess
import sys

import pytest

from pgm_explainer.cli import main
from pgm_explainer_lab.benchmarks import __main__ as suites

COMMANDS = ("bench", "demo", "reproduce")


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run a command line in a new folder; return exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return code, *capsys.readouterr()

    return run


def test_help_lists_every_command(shell):
    code, out, _ = shell("--help")
    assert code == 0
    assert all(re.search(rf"^    {name}\s+\w", out, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_examples(shell, command):
    code, out, _ = shell(command, "--help")
    assert code == 0
    assert f"examples:\n  pgm-explainer {command}" in out


def test_wrong_usage_prints_one_line_and_exits_with_2(shell):
    code, out, err = shell("demo", "--nothing")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--help" in err


def test_bench_runs_the_named_suites(shell, monkeypatch):
    measured = []
    monkeypatch.setattr(suites, "SUITES", {name: _suite(name, measured) for name in "ab"})
    assert shell("bench", "b")[0] == 0
    assert measured == ["b"]
    assert shell("bench")[0] == 0
    assert measured == ["b", "a", "b"]
    assert shell("bench", "c")[0] == 2


def _suite(name, measured):
    def rows():
        measured.append(name)
        return []

    return rows


@pytest.mark.parametrize("command", [["demo"], ["reproduce", "table2"]])
def test_without_torch_the_error_says_what_to_install(command):
    script = "import sys; sys.modules['torch'] = None; from pgm_explainer.cli import main; "
    whole = [sys.executable, "-c", f"{script}sys.exit(main({command!r}))"]
    done = subprocess.run(whole, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "pip install -e . -e lab" in done.stderr


@pytest.mark.parametrize("command", [["demo"], ["reproduce", "table2"]])
def test_a_folder_that_cannot_be_created_is_an_early_error(shell, tmp_path, command):
    (tmp_path / "taken").write_text("something of the user's")
    code, out, err = shell(*command, "--output", "taken")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "taken cannot" in err
    assert (tmp_path / "taken").read_text() == "something of the user's"
