"""The pages on PyTorch Geometric run as they stand."""

import re
import warnings
from pathlib import Path

import pytest

from pgm_explainer import PGMExplainerWarning

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["pytorch-geometric.md"])
def test_the_snippets_of_a_page_run_top_to_bottom(page, capsys):
    snippets = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert len(snippets) > 5
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PGMExplainerWarning)
        for snippet in snippets:
            exec(compile(snippet, page, "exec"), names)
    assert "The model predicts class" in capsys.readouterr().out
    assert names["explanation"].target == ("paper", 4)
    assert list(names["found"].pgm) == [5, 6]
