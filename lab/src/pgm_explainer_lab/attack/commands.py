"""Odd command lines: they must exit with 0 or 2, with one line of the package as the error."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from pgm_explainer import PGMExplainerError, explain_dataset, save_explanations

from .subjects import explainers, explanations

_MODEL = f"{__package__}.served:net"
_ODD = (
    *(
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1e9",
        "nan",
        "a\nb",
        "é",
        "'",
        "[",
        "[[[[",
        "{",
        "all",
        "no/such",
    ),
    *(
        "0-99999999999",
        "3-1",
        "0,1",
        "1=kept",
        "=",
        "1=",
        "a=b",
        "..",
        "/",
        "saved.json",
        "data set",
    ),
    *(
        "graph.npz",
        "why.xyz",
        "why.png",
        "{target}",
        "{0.x}",
        "x" * 3000,
        "9" * 30,
        "null",
        "0.5",
        "\udcff",
    ),
)


@cache
def _main() -> Any:
    (script,) = entry_points(group="console_scripts", name="pgm-explainer")
    return script.load()


@cache
def prepare() -> None:
    """Write the files that valid commands name."""
    x = np.arange(12.0).reshape(6, 2) % 5 - 2
    edges = np.stack((np.arange(6), (np.arange(6) + 1) % 6))
    np.savez("graph.npz", x=x, edge_index=edges)
    Path("nodes.csv").write_text("name,a,b\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(6)))
    Path("edges.csv").write_text("".join(f"{i},{(i + 1) % 6}\n" for i in range(6)))
    Path("targets.txt").write_text("0\n3\n")
    Path("groups.json").write_text('{"a": [0, 1], "b": [2]}')
    save_explanations("saved.json", [explanations()["nodes"], explanations()["graph"]])
    if not Path("data set").exists():
        explain_dataset(explainers()["nodes"], [0, 1, 2], "data set", shard_size=2)


def valid_words(chance: random.Random) -> list[str]:
    """Return a command line that should succeed."""
    quick = ["--num-samples", "30", "--num-layers", "1"]
    graph = ["--graph", "graph.npz"]
    if chance.random() < 0.3:
        graph = ["--features", "nodes.csv", "--edges", "edges.csv", "--undirected"]
    settings = chance.sample(
        [
            [
                "--parts",
                chance.choice(("nodes", "edges", "features", "nodes,edges", "groups.json")),
            ],
            ["--perturbation", chance.choice(("mean", "zero", "permute"))],
            ["--change", chance.choice(("flip", "0.1", "absolute", "auto"))],
            ["--max-nodes", "3"],
            ["--seed", "1"],
            ["--class-names", "no,yes"],
            ["--set", chance.choice(("no_child=false", "max_memory=50MB", "features=[0]"))],
            ["--scores", "probabilities"],
            ["--hops", "1"],
        ],
        2,
    )
    more = [word for setting in settings for word in setting]
    output = chance.choice(([], ["--json"], ["--output", "out.html"], ["--output", "out.json"]))
    explain = ["explain", "--model", _MODEL, *graph, "--target", "0", *quick, *more, *output]
    job = ["run", "--model", _MODEL, *graph, "--target", "0-3", *quick, *more]
    return chance.choice(
        (
            explain,
            [*explain, chance.choice(("--explain-features", "--counterfactual"))],
            [*job, "--output", f"job {chance.randrange(10**9)}", "--shard-size", "2"],
            ["show", chance.choice(("saved.json", "data set")), "--target", "1", *output],
            ["show", "saved.json", "--report", chance.choice(("r.md", "r.html"))],
            ["query", "saved.json", "--target", "1", "--given", "0=kept"],
        )
    )


def run(words: Sequence[str]) -> tuple[int, str, str]:
    """Run a command line in this process; return exit code, standard output and error."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = _main()(list(words))
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
    return int(code or 0), out.getvalue(), err.getvalue()


class RefusedError(PGMExplainerError):
    """A command line that ended with an error of the package, as it should."""


def complaint(words: Sequence[str]) -> str | None:
    """Run a command line; return what is wrong with the way it ended.

    Raises:
        RefusedError: it was refused in the right way.
    """
    command = f"pgm-explainer {' '.join(each[:60] for each in words)!r}"
    try:
        code, _, err = run(words)
    except Exception as error:
        from .calls import type_named

        raise type_named(error, command) from error
    lines = [each for each in err.splitlines() if each.startswith("pgm-explainer: error: ")]
    if "Traceback" in err or code not in (0, 2):
        return f"{command}: exit code {code}: {err[-300:]}"
    if code == 2 and len(lines) != 1:
        return f"{command}: exit code 2 with {len(lines)} messages: {err[-300:]}"
    if code == 2:
        raise RefusedError(lines[0])
    return None


def attack(chance: random.Random) -> str | None:
    """Run a command line with some words changed, repeated or left out."""
    prepare()
    words = valid_words(chance)
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        at = chance.randrange(1, len(words))
        way = chance.randrange(5)
        if way == 0:
            del words[at]
        elif way == 1:
            words.insert(at, chance.choice(_ODD))
        else:
            words[at] = chance.choice((*_ODD, words[at] + chance.choice(("x", "=", ",", "0", " "))))
        if len(words) < 2:
            break
    with suppress(RefusedError):
        return complaint(words)
    return None
