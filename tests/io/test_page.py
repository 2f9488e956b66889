"""The code of the page on files runs."""

import re
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "files.md"


def test_the_snippets_run_top_to_bottom(tmp_path, monkeypatch, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they warn while they are imported
        for package in ("pandas", "networkx", "pgmpy", "pyagrum"):
            pytest.importorskip(package)
        import pgmpy.models
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for snippet in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(snippet, PAGE.name, "exec"), names)
    assert sorted(names["explanation"].nodes) == [1, 2, 3]
    assert '"node_1" -> "node_0";' in capsys.readouterr().out
    assert isinstance(names["network"].to_pgmpy(), pgmpy.models.DiscreteBayesianNetwork)


def test_the_page_names_every_field(explanations):
    from pgm_explainer.io import explanation_to_dict

    document = explanation_to_dict(explanations["features"])
    parts = ("effects", "ranking", "features", "neighbourhood", "network")
    inner = [document[name] for name in parts]
    fields = [*document, *(name for each in inner for name in each)]
    fields += document["network"]["variables"][0]
    assert [name for name in fields if f"`{name}`" not in PAGE.read_text()] == []
