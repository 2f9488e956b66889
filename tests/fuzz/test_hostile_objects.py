"""Objects whose own methods raise errors, in place of numbers, lists and options."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pgm_explainer import (
    BayesianNetwork,
    FileError,
    InputError,
    PGMExplainer,
    QueryError,
    explain_dataset,
    save_explanations,
)
from pgm_explainer.predictors import as_predictor
from pgm_explainer.sampling import (
    CustomChange,
    CustomPerturbation,
    LargeMove,
    Variable,
    as_change,
)
from pgm_explainer.selection import as_test
from pgm_explainer.storage.checked import Checked
from pgm_explainer.structure import DAG, BDeuScore, hill_climb

X = np.random.default_rng(0).normal(size=(6, 3))
EDGES = np.stack((np.arange(6), np.roll(np.arange(6), -1)))


class NoIndex:
    def __index__(self):
        raise KeyError("own")


class NoFloat(float):
    def __float__(self):
        raise KeyError("own")


class NoLength(list):
    def __len__(self):
        raise KeyError("own")


class NoHash:
    def __hash__(self):
        raise KeyError("own")


class NoArray:
    def __array__(self, *_, **__):
        raise KeyError("own")


class NoAttributes:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise KeyError("own")


def model(x, edge_index):
    return x[..., :2]


@pytest.mark.parametrize(
    "call",
    [
        lambda: PGMExplainer(model, X, EDGES, seed=NoIndex()),
        lambda: PGMExplainer(model, X, EDGES, num_samples=NoIndex()),
        lambda: PGMExplainer(model, X, EDGES, smoothing=NoFloat(0.1)),
        lambda: PGMExplainer(model, X, EDGES, perturb_probability=NoFloat(0.1)),
        lambda: as_change(NoFloat(0.1)),
        lambda: as_change(NoLength([0.1])),
        lambda: as_change(NoAttributes()),
        lambda: LargeMove(most=NoFloat(0.1)),
        lambda: as_test(NoAttributes()),
        lambda: hill_climb(np.eye(2, dtype=int), [2, 2], score=NoAttributes()),
        lambda: save_explanations("no.json", np.array(3)),
        lambda: Variable(np.timedelta64(3), True, 2),  # NumPy calls it an integer
        lambda: CustomPerturbation(model, name=np.zeros(2)),
        lambda: CustomChange(model, name=np.zeros(2)),
        lambda: BDeuScore(name=np.zeros(2)),
        lambda: as_predictor(model, inputs=np.zeros(2)),
        lambda: as_predictor(model, inputs=3),
        lambda: as_predictor(torch.nn.Linear(3, 2), inputs={"weight": NoArray()}),
        lambda: PGMExplainer(model, X, EDGES).within(NoArray()),
        lambda: hill_climb(np.eye(2, dtype=int), [2, 2**40]),
    ],
)
def test_an_error_of_the_value_itself_becomes_ours(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize("node", [NoHash(), np.timedelta64(3)])
def test_a_node_without_a_hash_is_not_in_the_network(node):
    network = BayesianNetwork.fit([Variable(0, True, 1)], DAG(1), np.zeros((9, 1), np.uint8))
    for ask in (network.parents, network.query, network.cpt, network.variable):
        with pytest.raises(QueryError, match="not in the network"):
            ask(node)


@pytest.mark.parametrize("names", [torch.zeros(6, dtype=torch.bfloat16), torch.tensor(3)])
def test_names_that_are_tensors_are_refused(names, tmp_path):
    explainer = PGMExplainer(model, X, EDGES, num_layers=1, num_samples=30)
    with pytest.raises(InputError, match="names"):
        explain_dataset(explainer, [0], tmp_path / "set", names=names)


def test_a_shard_is_read_by_its_entry(tmp_path):
    explainer = PGMExplainer(model, X, EDGES, num_layers=1, num_samples=30)
    found = explain_dataset(explainer, [0], tmp_path / "set")
    assert len(found.table(found.entries[0])) == 1
    with pytest.raises(InputError, match="entries"):
        found.table(0)


def test_a_list_whose_length_fails_is_refused():
    class Hostile(list):
        def __len__(self):
            raise RuntimeError

    with pytest.raises(FileError, match="should be a list"):
        Checked(Hostile([1]), "$").items()
