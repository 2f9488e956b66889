"""A small graph of people and a model of it, in files in a new folder."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pgm_explainer.cli import main

# Workers import what they work with, so it lies where they find it: on the path.
IMPORTABLE = str(Path(__file__).parents[1] / "importable")
if IMPORTABLE not in sys.path:
    sys.path.append(IMPORTABLE)

MODEL = """
import numpy as np


def model(x, edge_index):
    visits = x[..., 0].copy()
    for source, target in edge_index.T:
        visits[:, target] += x[:, source, 0]
    return np.stack([0 * visits, visits - 4], axis=-1)


def pairs(x, pairs):
    score = x[:, pairs[0], 0] * x[:, pairs[1], 0]
    return np.stack([0 * score, score - 2], axis=-1)


def whole(x):
    return np.stack([x.sum((1, 2)), 5 + 0 * x[:, 0, 0]], axis=-1)


def make():
    return model


class Taking:
    def __init__(self, size):
        pass


number = 7
"""
NAMES = ["Ann", "Bob", "Cid, Jr", "Dee", "Eve"]
VISITS = np.array([[1.0], [4.0], [0.0], [2.0], [0.0]])
EDGES = np.array([[0, 1, 0, 3, 1, 2, 3, 4], [1, 0, 3, 0, 2, 1, 4, 3]])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a module, graphs in npz with and without names, and CSV."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "visits_model", raising=False)
    (tmp_path / "visits_model.py").write_text(MODEL)
    np.savez("graph.npz", x=VISITS, edge_index=EDGES)
    np.savez("named.npz", x=VISITS, edge_index=EDGES, names=np.array(NAMES))
    lines = [f'"{name}",{visits}' for name, (visits,) in zip(NAMES, VISITS, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["name,visits", *lines]))
    (tmp_path / "friends.csv").write_text('from,to\nAnn,Bob\nAnn,Dee\nBob,"Cid, Jr"\nDee,Eve\n')
    return tmp_path


@pytest.fixture
def shell(folder, capsys):
    """Run a command line; return its exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def explain(shell):
    """Explain with the model and the graph of the folder, unless given others."""

    def run(*arguments: str, model: str = "visits_model:model", graph: str = "graph.npz"):
        chosen = ["--model", model, "--num-layers", "1", "--num-samples", "200", *arguments]
        return shell("explain", *chosen, *(["--graph", graph] if graph else []))

    return run
