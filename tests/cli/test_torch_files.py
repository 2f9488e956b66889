"""Models and graphs in PyTorch files: safe files are read, unsafe ones only if trusted."""

import importlib
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from .conftest import EDGES, NAMES, VISITS

torch = pytest.importorskip("torch")

NET = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(1, 2)

    def forward(self, x, edge_index, edge_weight=None):
        messages = x[edge_index[0]]
        if edge_weight is not None:
            messages = messages * edge_weight[:, None]
        return self.linear(x.index_add(0, edge_index[1], messages))
"""
WEIGHTS = {"linear.weight": torch.tensor([[0.0], [1.0]]), "linear.bias": torch.tensor([0.0, -4.0])}


class Trap:
    """What runs code when it is unpickled without care."""

    def __reduce__(self):
        return Path.touch, (Path("sprung"),)


@pytest.fixture
def net(folder, monkeypatch):
    (folder / "visits_net.py").write_text(NET)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "visits_net", raising=False)
    torch.save(WEIGHTS, "net.pt")
    module = importlib.import_module("visits_net").Net()  # TorchScript wants its source
    module.load_state_dict(WEIGHTS)
    return module.eval()


def target_of(answer):
    code, out, err = answer
    assert code == 0, err
    return json.loads(out)["target"], json.loads(out)["held"]


def test_weights_are_loaded_into_the_model(net, explain):
    safetensors = pytest.importorskip("safetensors.torch")
    safetensors.save_file(WEIGHTS, "net.safetensors")
    torch.save({"epoch": 3, "state_dict": WEIGHTS}, "checkpoint.pt")
    expected = target_of(explain("--target", "0", "--json"))
    for name in ("net.pt", "net.safetensors", "checkpoint.pt"):
        found = explain("--target", "0", "--json", "--weights", name, model="visits_net:Net")
        assert target_of(found) == expected


def test_further_arrays_are_passed_to_matching_arguments(net, explain):
    chosen = ("--target", "0", "--json", "--weights", "net.pt")
    plain = target_of(explain(*chosen, model="visits_net:Net"))
    np.savez("weighted.npz", x=VISITS, edge_index=EDGES, edge_weight=np.arange(8.0), y=VISITS)
    weighted = target_of(explain(*chosen, model="visits_net:Net", graph="weighted.npz"))
    assert weighted != plain


def test_data_objects_are_read_without_trust(explain):
    data = pytest.importorskip("torch_geometric.data")
    x, edges = torch.tensor(VISITS), torch.tensor(EDGES)
    torch.save(data.Data(x=x, edge_index=edges, names=NAMES), "data.pt")
    expected = explain("--target", "Ann", graph="named.npz")
    assert explain("--target", "Ann", graph="data.pt") == expected
    torch.save(data.Data(), "empty.pt")
    code, _, err = explain("--target", "0", graph="empty.pt")
    assert code == 2
    assert "holds a Data without a graph" in err


@pytest.mark.parametrize("command", ["explain", "run"])
@pytest.mark.parametrize("option", ["--weights", "--graph", "--model"])
@pytest.mark.parametrize("how", ["torch", "pickle"])
def test_a_malicious_pickle_is_not_executed(net, shell, folder, command, option, how):
    if how == "torch":
        torch.save({"linear.weight": Trap()}, "trap.pt")
    else:
        (folder / "trap.pt").write_bytes(pickle.dumps(Trap()))
    usual = {"--model": "visits_net:Net", "--graph": "graph.npz", option: "trap.pt"}
    typed = [word for pair in usual.items() for word in pair]
    code, out, err = shell(command, *typed, "--target", "0", "--output", "why.json")
    assert (code, out) == (2, "")
    assert "--trust" in err or "not a program" in err
    assert not (folder / "sprung").exists()


def test_a_malicious_npz_is_not_executed(explain, folder):
    np.savez("trap.npz", x=np.array([Trap()], dtype=object), edge_index=EDGES)
    assert explain("--target", "0", "--trust", graph="trap.npz")[0] == 2
    assert not (folder / "sprung").exists()


def test_torchscript_only_if_trusted(net, explain):
    inputs = (torch.tensor(VISITS, dtype=torch.float32), torch.tensor(EDGES))
    torch.jit.trace(net, inputs).save("net.ts")
    code, _, err = explain("--target", "0", model="net.ts")
    assert code == 2
    assert "contains a program" in err
    found = explain("--target", "0", "--json", "--trust", model="net.ts")
    assert target_of(found) == target_of(explain("--target", "0", "--json"))


def test_exported_programs_only_if_trusted_and_for_any_size(net, explain):
    inputs = (torch.tensor(VISITS, dtype=torch.float32), torch.tensor(EDGES))
    sizes = {
        "x": {0: torch.export.Dim("nodes")},
        "edge_index": {1: torch.export.Dim("edges")},
    }
    torch.export.save(torch.export.export(net, inputs), "one.pt2")
    torch.export.save(torch.export.export(net, inputs, dynamic_shapes=sizes), "any.pt2")
    assert "contains a program" in explain("--target", "0", model="any.pt2")[2]
    assert "for a fixed graph size" in explain("--target", "0", "--trust", model="one.pt2")[2]
    found = explain("--target", "0", "--json", "--trust", model="any.pt2")
    assert target_of(found) == target_of(explain("--target", "0", "--json"))


def shards(folder):
    return [path.read_bytes() for path in sorted((folder / "shards").iterdir())]


@pytest.fixture
def job(shell):
    """Explain all people into a data set, with a graph that holds them."""

    def run(folder, *arguments):
        usual = ("--num-layers", "1", "--num-samples", "60", "--shard-size", "3")
        return shell("run", *usual, *arguments, "--output", folder)

    return run


def test_a_job_accepts_a_data_file_and_weights(net, folder, job):
    data = pytest.importorskip("torch_geometric.data")
    x, edges = torch.tensor(VISITS), torch.tensor(EDGES)
    torch.save(data.Data(x=x, edge_index=edges, names=NAMES), "data.pt")
    model = ("--model", "visits_net:Net", "--weights", "net.pt")
    for name, graph in (("arrays", "graph.npz"), ("data", "data.pt")):
        code, _, err = job(name, *model, "--graph", graph)
        assert code == 0, err
    assert shards(folder / "data") == shards(folder / "arrays")


def test_a_job_runs_a_trusted_program_in_several_processes(net, folder, job):
    inputs = (torch.tensor(VISITS, dtype=torch.float32), torch.tensor(EDGES))
    torch.jit.trace(net, inputs).save("net.ts")
    program = ("--model", "net.ts", "--graph", "graph.npz")
    code, _, err = job("why", *program)
    assert code == 2
    assert "contains a program" in err
    for name, engine in (("here", "local"), ("there", "processes")):
        code, _, err = job(name, *program, "--trust", "--engine", engine)
        assert code == 0, err
    assert shards(folder / "there") == shards(folder / "here")


def test_a_job_refuses_a_changed_program(net, job):
    inputs = (torch.tensor(VISITS, dtype=torch.float32), torch.tensor(EDGES))
    sizes = ({0: torch.export.Dim("nodes")}, {1: torch.export.Dim("edges")})
    program = ("--model", "net.pt2", "--graph", "graph.npz", "--trust")
    torch.export.save(torch.export.export(net, inputs, dynamic_shapes=sizes), "net.pt2")
    assert job("why", *program)[0] == 0
    assert job("why", *program)[0] == 0
    net.linear.bias.data += 0.001
    torch.export.save(torch.export.export(net, inputs, dynamic_shapes=sizes), "net.pt2")
    code, _, err = job("why", *program)
    assert code == 2
    assert "the model changed" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "net.pt", "--trust"], "net.pt is a state_dict"),
        (["--model", "graph.npz", "--trust"], "is not a TorchScript model"),
        (["--model", "people.csv", "--trust"], "not a zip archive"),
        (
            ["--model", "visits_net.py"],
            "visits_net.py is a Python file: name the model in it, as in",
        ),
        (["--model", "net.pt", "--weights", "net.pt"], "--weights is for a model named"),
        (["--model", "visits_net:Net", "--weights", "no.pt"], "no.pt cannot be read"),
        (["--model", "visits_net:Net", "--weights", "no.safetensors"], "cannot be read"),
        (["--model", "visits_net:Net", "--weights", "people.csv"], "is broken, or contains"),
        (["--model", "visits_net:Net", "--weights", "wrong.pt"], "do not fit the model"),
        (["--model", "visits_net:Net", "--weights", "list.pt"], "contains a list"),
        (
            ["--model", "visits_net:Net", "--weights", "net.pt", "--graph", "list.pt"],
            "a list without a graph",
        ),
    ],
)
@pytest.mark.parametrize("command", ["explain", "run"])
def test_files_that_cannot_be_used(net, shell, command, arguments, said):
    torch.save({"other": torch.ones(2)}, "wrong.pt")
    torch.save([1, 2], "list.pt")
    graph = [] if "--graph" in arguments else ["--graph", "graph.npz"]
    code, _, err = shell(command, *arguments, *graph, "--target", "0", "--output", "why.json")
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("trust", [(), ("--trust",)])
def test_a_state_dict_is_no_program(folder, explain, trust):
    torch.save(torch.nn.Linear(1, 2).state_dict(), "net.pt")
    code, _, err = explain("--target", "0", *trust, model="net.pt")
    assert code == 2
    assert "net.pt is a state_dict" in err
    assert "--model module:attribute with --weights net.pt" in err
    torch.save(torch.nn.Linear(1, 2), "net.pt")
    code, _, err = explain("--target", "0", *trust, model="net.pt")
    assert code == 2
    assert "written by torch.save and holds an object, not a program" in err
