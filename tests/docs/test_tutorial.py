"""The tutorial runs from top to bottom in a notebook kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgm_explainer.settings import Settings

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")
nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient")

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"
LARGEST = 300_000


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each code cell shows, by its kind."""
    notebook = nbformat.read(TUTORIAL, as_version=4)
    folder = str(tmp_path_factory.mktemp("notebook"))
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MPLBACKEND", raising=False)  # otherwise plots would not show in the notebook
        patch.setenv("OMP_NUM_THREADS", "1")  # threads of several test processes would only wait
        client.execute()
    return [
        [each for output in cell.outputs for each in output.get("data", {}).items()]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_it_shows_an_explanation_and_two_pictures(outputs):
    shown = [kind for cell in outputs for kind, _ in cell]
    assert shown.count("image/png") == 2
    assert shown.count("text/html") == 1


def test_its_statements_are_true(outputs):
    texts = [content for cell in outputs for kind, content in cell if kind == "text/plain"]
    words = next(content for cell in outputs for kind, content in cell if kind == "text/html")
    assert "The model predicts class bottom for node 304, with a probability" in words
    accuracy = float(texts[0].strip("'").split("%")[0])
    assert accuracy > 95
    inside, _, found = next(text for text in texts if "bottle" in text).strip("'").split()[:3]
    assert int(inside) > 0.7 * int(found)


def test_the_last_cell_shows_a_warning(outputs):
    (kind, content), *_ = outputs[-1]
    assert kind == "text/plain"
    assert "samples" in content


def test_its_text_states_the_current_defaults():
    cells = nbformat.read(TUTORIAL, as_version=4).cells
    prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert f"{Settings().sampling.num_samples} times" in " ".join(prose.split())


def test_it_is_small():
    assert TUTORIAL.stat().st_size < LARGEST
