"""Models, graphs, targets and options as the command line names them."""

import os
import pickle

import numpy as np
import pytest
from job_models import gnn

from pgm_explainer import FileError, InputError, PGMExplainer, PGMExplainerError
from pgm_explainer.cli.loading import load_graph, load_model, load_targets, read_options


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("name", ["graph.npz", "graph.npy", "graph.pickle"])
def test_a_file_that_would_execute_something_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    bomb = np.array([Bomb()], dtype=object)
    if name == "graph.npz":
        np.savez(name, x=bomb, edge_index=bomb)
    elif name == "graph.npy":
        np.save(name, bomb)
    else:
        (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FileError, match=name):
        load_graph(tmp_path / name)
    with pytest.raises(FileError, match=name):
        load_targets(tmp_path / name)
    assert not (tmp_path / "exploded").exists()


def test_a_graph_needs_features_and_edges(tmp_path):
    np.savez(tmp_path / "graph.npz", x=np.eye(2))
    with pytest.raises(FileError, match="no edge_index, but x"):
        load_graph(tmp_path / "graph.npz")


def test_a_model_is_taken_or_made():
    assert load_model("job_models:gnn") is gnn
    assert isinstance(load_model("job_models:explainer"), PGMExplainer)


def test_a_module_is_not_called_to_get_a_model():
    assert type(load_model("torch.nn:Identity")).__name__ == "Identity"


@pytest.mark.parametrize("text", ["num_samples", "=3", "samples=3", ""])
def test_an_option_that_is_none_is_named(text):
    with pytest.raises(InputError, match="no option"):
        read_options([text])


def test_values_are_json_or_texts():
    given = ["no_child=false", "change=0.1", "perturbation=zero", "features=[1]", "structure=null"]
    assert read_options(given) == {
        "no_child": False,
        "change": 0.1,
        "perturbation": "zero",
        "features": [1],
        "structure": None,
    }


@pytest.mark.parametrize("text", ["a\nb\n", "1.5\n", "1 2\n3\n"])
def test_targets_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "targets.txt").write_text(text)
    with pytest.raises(PGMExplainerError, match="targets"):
        load_targets(tmp_path / "targets.txt")
