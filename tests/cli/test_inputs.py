"""Models and graphs as the command line names them."""

import os
import pickle

import numpy as np
import pytest
from job_models import gnn

from pgm_explainer import FileError, InputError, PGMExplainer, PGMExplainerWarning
from pgm_explainer.cli.inputs import read_graph, read_model


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def written(name, bomb):
    """A file that executes something if it is read without care."""
    array = np.array([bomb], dtype=object)
    if name.endswith(".npz"):
        np.savez(name, x=array, edge_index=array)
    elif name.endswith(".npy"):
        np.save(name, array)
    else:
        with open(name, "wb") as file:
            pickle.dump(bomb, file)


@pytest.mark.parametrize("option", ["--graph", "--targets-file"])
@pytest.mark.parametrize("command", ["explain", "run"])
@pytest.mark.parametrize("name", ["bomb.npz", "bomb.npy", "bomb.pickle"])
def test_a_file_that_would_execute_code_is_refused(folder, shell, command, option, name):
    written(name, Bomb())
    usual = {"--model": "visits_model:model", "--graph": "graph.npz", option: name}
    typed = [word for pair in usual.items() for word in pair]
    code, out, err = shell(command, *typed, "--output", "why.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("pgm-explainer: error: ")
    assert name in err or "no node" in err
    assert not (folder / "exploded").exists()


def test_a_graph_needs_features_and_edges(folder):
    np.savez("half.npz", x=np.eye(2))
    with pytest.raises(FileError, match=r"half\.npz has no array 'edge_index'; its arrays: x"):
        read_graph(folder / "half.npz", trust=False)


def test_a_model_is_used_or_created():
    assert read_model("job_models:gnn", None, trust=False) is gnn
    made = [read_model(f"job_models:{name}", None, False) for name in ("explainer", "prepared")]
    assert all(isinstance(each, PGMExplainer) for each in made)


def test_a_module_class_is_instantiated_but_not_called():
    pytest.importorskip("torch")
    assert type(read_model("torch.nn:Identity", None, trust=False)).__name__ == "Identity"


def test_a_class_without_weights_gives_a_warning(folder, recwarn):
    torch = pytest.importorskip("torch")
    (folder / "linear_model.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Linear):\n"
        "    def __init__(self):\n        super().__init__(2, 2)\n\n\nnet = Net()\n"
    )
    with pytest.warns(
        PGMExplainerWarning, match="linear_model:Net is a class, so its weights are untrained"
    ):
        model = read_model("linear_model:Net", None, trust=False)
    torch.save(model.state_dict(), "weights.pt")
    recwarn.clear()
    read_model("linear_model:Net", folder / "weights.pt", trust=False)
    read_model("linear_model:net", None, trust=False)
    read_model("torch.nn:Identity", None, trust=False)
    assert not recwarn.list


def test_a_factory_that_fails_is_named():
    with pytest.raises(InputError, match=r"broken_factory\(\) failed with OSError: weights are"):
        read_model("job_models:broken_factory", None, trust=False)
