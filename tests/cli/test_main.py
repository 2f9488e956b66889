"""What a shell expects: help, exit codes, quiet ends; and the page on the command line."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pgm_explainer import cli

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_help_lists_every_command(shell):
    code, out, _ = shell("--help")
    assert code == 0
    assert all(re.search(rf"^    {name}\s+\w", out, re.MULTILINE) for name in cli.COMMANDS)


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_the_help_of_each_command_has_examples(shell, command):
    code, out, _ = shell(command, "--help")
    assert code == 0
    assert f"examples:\n  pgm-explainer {command}" in out


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["show"], ["query", "--nothing"]])
def test_wrong_usage_prints_one_line_and_exits_with_2(shell, arguments):
    code, out, err = shell(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("pgm-explainer: error: ")
    assert "--help" in err


def test_an_interrupt_is_130(shell, monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.show, "run", interrupted)
    assert shell("show", "why.json") == (130, "", "")


def test_a_reader_that_stops_is_no_error(explain, folder):
    explain("--target", "all", "--output", "why.json")
    command = [sys.executable, "-m", "pgm_explainer", "show", "why.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_the_examples_of_the_page_run(shell, folder):
    page = PAGE.read_text()
    for name, content in re.findall(r"in `([\w.]+)`:\n\n```\w+\n(.*?)```", page, re.DOTALL):
        (folder / name).write_text(content)
    (session,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    steps = re.findall(r"^\$ pgm-explainer (.*)\n((?:[^$].*\n)*)", session, re.MULTILINE)
    assert len(steps) == 3
    for typed, expected in steps:
        code, out, _ = shell(*shlex.split(typed))
        assert (code, out) == (0, expected)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000], ids=["null", "too long"])
@pytest.mark.parametrize("command", [["show"], ["query"], ["demo", "--output"]], ids=str)
def test_an_impossible_file_name_is_an_error(shell, folder, command, name):
    """Before, both ended in a traceback."""
    pytest.importorskip("torch")
    code, out, err = shell(*command, name)
    assert (code, out) == (2, "")
    assert err.startswith("pgm-explainer: error: ")
    assert "cannot be" in err
