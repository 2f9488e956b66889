"""The paper's Syn 6: generated, trained, and the authors' checkpoint."""

import os
from io import BytesIO

import numpy as np
import pytest
import torch

from pgm_explainer import PGMExplainer
from pgm_explainer.cli import main
from pgm_explainer_lab import gnn
from pgm_explainer_lab.checkpoints import load_author_syn6
from pgm_explainer_lab.data import DataFile, read_data
from pgm_explainer_lab.metrics import top_k_accuracy
from pgm_explainer_lab.synthetic import SYNTHETIC, make_synthetic

needs_data = pytest.mark.skipif(
    not os.environ.get("PGM_EXPLAINER_DATA"),
    reason="PGM_EXPLAINER_DATA does not name a folder with the authors' checkpoints",
)
SIZES = {"syn1": 700, "syn2": 1400, "syn3": 1020, "syn4": 871, "syn5": 1231, "syn6": 700}
CLASSES = {"syn1": 4, "syn2": 8, "syn3": 2, "syn4": 2, "syn5": 2, "syn6": 4}


@pytest.mark.parametrize("name", SYNTHETIC)
def test_the_synthetic_sets_have_the_published_shape(name):
    data = make_synthetic(name)
    assert (len(data.x), data.num_classes) == (SIZES[name], CLASSES[name])
    assert data.train.mean() == pytest.approx(0.8, abs=0.01)
    pairs = set(map(tuple, data.edge_index.T.tolist()))
    assert all((v, u) in pairs and u != v for u, v in pairs)
    again = make_synthetic(name)
    assert np.array_equal(data.edge_index, again.edge_index)
    assert np.array_equal(data.x, again.x)
    assert not np.array_equal(data.train, make_synthetic(name, seed=1).train)


def test_syn6_has_as_many_edges_as_the_published_one():
    assert make_synthetic("syn6").edge_index.shape[1] == 2 * 1974


def test_features_are_constant_except_in_syn2():
    assert (make_synthetic("syn6").x == 1).all()
    x = make_synthetic("syn2").x
    assert (x.min(), x.max()) == (0, 1)
    assert x[:700, 0].mean() < x[700:, 0].mean() - 0.2


def test_stacked_samples_match_single_samples():
    data = make_synthetic("syn6")
    torch.manual_seed(0)
    model = gnn.NodeGNN(10, 4)
    x = torch.rand((3, 700, 10))
    edges = torch.from_numpy(data.edge_index)
    with torch.no_grad():
        stacked = model(x, edges)
        for sample, answer in zip(x, stacked, strict=True):
            torch.testing.assert_close(model(sample, edges), answer, rtol=1e-4, atol=1e-4)


@needs_data
def test_the_authors_model_reproduces_their_predictions():
    model, data = load_author_syn6()
    file = DataFile(
        "author_checkpoints/syn6_graph.npz",
        "4d745360d8b58ce9841b5fbfec3174d4b539b7b25e960b39bec4ed1376a24c0c",
    )
    with np.load(BytesIO(read_data(file)), allow_pickle=False) as stored, torch.no_grad():
        answer = model(torch.from_numpy(data.x), torch.from_numpy(data.edge_index)).numpy()
        np.testing.assert_allclose(answer, stored["pred"], atol=1e-4)


@needs_data
def test_the_authors_model_is_explained_better_than_in_the_paper():
    model, data = load_author_syn6()
    targets = data.targets
    found = PGMExplainer(model, data.x, data.edge_index).explain_many(targets)
    assert top_k_accuracy(found, data) >= 0.953
    assert top_k_accuracy(found, data, count_target=False) >= 0.94
    assert all(each.network is not None for each in found)


def test_the_demo_runs_from_training_to_pictures(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path), "--epochs", "150"]) == 0
    said = capsys.readouterr().out
    assert "as a leaf (no-child)" in said
    assert "Probability that the prediction is kept" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "node-304-free.html",
        "node-304-free.png",
        "node-304-no-child.html",
        "node-304-no-child.png",
    ]
