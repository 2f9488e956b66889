"""The two studies of the lab's models, on real data where they need it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pgm_explainer_study.scenes import GraphScene, GridScene
from pgm_explainer_study.sources.digits import digits_study
from pgm_explainer_study.sources.neighbourhoods import nodes_study

DATA = os.environ.get("PGM_EXPLAINER_DATA")


def options(**changes):
    usual = {"seed": 0, "design": "default", "parts": 3, "arms_per_item": None, "repeats": None}
    return SimpleNamespace(**{**usual, "attention": None, "items": 3, **changes})


def needs(path):
    there = DATA is not None and (Path(DATA) / path).exists()
    return pytest.mark.skipif(not there, reason=f"needs {path} in PGM_EXPLAINER_DATA")


@needs("mnist")
@pytest.mark.filterwarnings("ignore")
def test_the_papers_study_has_random_digits_that_are_predicted_correctly():
    torch = pytest.importorskip("torch")
    superpixels = pytest.importorskip("pgm_explainer_lab.superpixels")
    from pgm_explainer_lab.superpixel_gnn import load_superpixel_gcn

    study = digits_study(options(), lambda line: None)
    model = load_superpixel_gcn()
    numbers = [int(item.id.removeprefix("digit-")) for item in study.items]
    assert numbers != sorted(numbers)
    graphs = superpixels.mnist_graphs("test", None, numbers)
    for item, graph in zip(study.items, graphs, strict=True):
        x, edges = torch.from_numpy(graph.x), torch.from_numpy(graph.edge_index)
        with torch.no_grad():
            assert int(model(x, edges).argmax()) == graph.label
            assert f"is a {graph.label}." in item.caption
            assert isinstance(item.scene, GridScene)
            assert {len(item.highlights[arm.id]) for arm in study.rated_arms} == {3}
            if item.forecast is not None:  # scored against the model itself
                x = x.clone()
                x[item.forecast.probe, 0] = 1 - x[item.forecast.probe, 0]
                changes = int(model(x, edges).argmax()) != graph.label
                assert item.forecast.correct == int(changes)
    assert any(item.forecast is not None for item in study.items)


@needs("author_checkpoints")
@pytest.mark.filterwarnings("ignore")
def test_the_study_of_nodes_shows_neighbourhoods():
    pytest.importorskip("torch")
    from pgm_explainer_lab import gnn
    from pgm_explainer_lab.checkpoints import load_author_syn6

    study = nodes_study(options(), lambda line: None)
    model, data = load_author_syn6()
    scores = gnn.as_function(model)(data.x, data.edge_index)
    for item in study.items:
        target = int(item.id.removeprefix("node-"))
        assert scores[target].argmax() == data.y[target]
        assert isinstance(item.scene, GraphScene)
        (centre,) = item.scene.targets
        for arm in study.rated_arms:
            assert len(item.highlights[arm.id]) == 3
            assert centre not in item.highlights[arm.id]
        near = {node for edge in item.scene.edges if centre in edge for node in edge} - {centre}
        degree = len(np.unique(data.edge_index[1][data.edge_index[0] == target]))
        assert len(near) <= degree
