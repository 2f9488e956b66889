"""The pages on PyTorch Geometric, molecules and inputs run as they stand."""

import re
import warnings
from pathlib import Path

import pytest

from pgm_explainer import PGMExplainerWarning

DOCS = Path(__file__).parents[2] / "docs"


def run(page):
    """Run the snippets of a page from top to bottom; return their variables."""
    snippets = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert len(snippets) > 5
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PGMExplainerWarning)
        for snippet in snippets:
            exec(compile(snippet, page, "exec"), names)
    return names


def test_the_page_on_pytorch_geometric(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names = run("pytorch-geometric.md")
    assert "The model predicts class" in capsys.readouterr().out
    assert names["explanation"].target == ("paper", 4)
    assert list(names["found"].pgm) == [5, 6]
    assert (tmp_path / "why-graph.png").stat().st_size > 0


def test_the_page_on_molecules(capsys, tmp_path, monkeypatch):
    for package in ("torch_geometric", "matplotlib", "pyarrow"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names = run("molecules.md")
    said = capsys.readouterr().out
    assert "predicts class toxic for graph 0 (molecule 0)" in said
    # The first molecule is toxic for its nitro group, the last three atoms.
    nitro = set(names["molecules"][0].node_names[-3:])
    assert set(names["explanation"].nodes[:2]) <= nitro
    assert set(names["change"].parts) <= nitro
    assert all(" → " in value for value in names["change"].values)
    assert set(names["by_bonds"].effects[0].node) & nitro
    assert names["by_groups"].effects[0].node == "nitro"
    assert "Class toxic, " in said


def test_the_page_on_inputs():
    for package in ("networkx", "pandas"):
        pytest.importorskip(package)
    names = run("inputs.md")
    assert set(names["explanation"].nodes) <= {"acct_2", "acct_3", "acct_4"}
    assert names["explanation"].nodes[0] == "acct_2"
