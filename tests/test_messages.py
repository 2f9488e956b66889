"""Messages of errors show any value in a few letters, and no value can prevent them."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from pgm_explainer import (
    ChiSquareTest,
    Edges,
    Explanation,
    Groups,
    HttpPredictor,
    InputError,
    LargeMove,
    PGMExplainer,
    PGMExplainerError,
    TopFraction,
    explain_dataset,
    explain_graphs,
)
from pgm_explainer.io import explanation_from_dict
from pgm_explainer.limits import SHOWN, brief
from pgm_explainer.report.plots import plot_superpixels

X = np.arange(24.0).reshape(8, 3) % 5
RING = np.stack((np.arange(8), np.roll(np.arange(8), -1)))
QUICK = {"num_samples": 30, "num_layers": 1}
REPEATED = np.broadcast_to(1.0, (10**6, 10**6))


def model(x, edge_index):
    return x[..., :2]


class Weighted(torch.nn.Module):
    def forward(self, x, edge_index, edge_weight):
        return x[..., :2]


def deep(levels=5000):
    nested = []
    for _ in range(levels):
        nested = [nested]
    return nested


class Mute:
    def __repr__(self):
        raise KeyError("own")


class Raising(str):
    __slots__ = ()

    def __hash__(self):
        raise KeyError("own")

    def __eq__(self, other):
        raise KeyError("own")


def test_any_value_is_shown_in_a_few_letters():
    for value in ("x" * 10**6, deep(), Mute(), 10**5000, [deep()], {"a": deep()}):
        assert 0 < len(brief(value)) <= SHOWN


def test_short_values_are_shown_as_they_are():
    for value in ("mean", [1, "a"], (0.5,), None, {"a": 1}, range(3)):
        assert brief(value) == repr(value)


def test_a_long_message_of_another_package_is_cut():
    assert len(str(InputError("x" * 10**6))) == 2000


@pytest.fixture(scope="module")
def found():
    explainer = PGMExplainer(model, X, RING, only_significant=False, **QUICK)
    return explainer.explain(3, with_features=True)


ODD = {"text": "x" * 100_000, "deep": deep(), "mute": Mute(), "raising": Raising("unknown")}


OPTIONS = (
    *("task", "num_samples", "seed", "perturbation", "parts", "structure", "score", "class_names"),
    *("features", "scores", "no_child", "smoothing", "correction", "max_memory", "progress"),
    *("names", "feature_names", "inputs", "test", "change", "target_type", "explained_class"),
)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_odd_option_is_refused_by_a_short_message(option, odd):
    with pytest.raises(PGMExplainerError) as caught:
        PGMExplainer(model, X, RING, **{**QUICK, option: ODD[odd]})
    assert len(str(caught.value)) < 1000


def frame(**labels):
    made = pd.DataFrame(X)
    for name, value in labels.items():
        setattr(made, name, [value, *range(1, len(getattr(made, name)))])
    return made


def data(**values):
    from torch_geometric.data import Data

    return Data(**{"x": torch.tensor(X), "edge_index": torch.tensor(RING), **values})


class Odd(list):
    def __len__(self):
        raise KeyError("own")


class OddFloat(float):
    def __lt__(self, other):
        raise KeyError("own")

    __gt__ = __le__ = __ge__ = __lt__


class NoAttributes:
    def __getattr__(self, name):
        raise KeyError("own")


class OddIteration(list):
    def __iter__(self):
        raise KeyError("own")


class NoText:
    def __str__(self):
        raise KeyError("own")


class OddMapping(dict):
    def items(self):
        raise KeyError("own")


CALLS = {
    "class names": lambda _: PGMExplainer(model, X, RING, class_names=Odd("ab")),
    "significance": lambda _: PGMExplainer(model, X, RING, significance=OddFloat(0.1)),
    "mapping": lambda _: PGMExplainer(model, X, RING, parts=OddMapping(a=[1])),
    "input repeated": lambda _: PGMExplainer(Weighted(), X, RING, inputs={"edge_weight": REPEATED}),
    "x repeated": lambda _: PGMExplainer(model, REPEATED, RING),
    "x sparse": lambda _: PGMExplainer(model, sp.csr_matrix((9, 10**9)), RING),
    "sparse x and edges": lambda _: PGMExplainer(model, sp.eye(8), sp.eye(8)).explain("a"),
    "features repeated": lambda _: PGMExplainer(model, X, RING, features=REPEATED),
    "names repeated": lambda found: found.named(REPEATED),
    "names of a job": lambda _: explain_dataset(
        PGMExplainer(model, X, RING), None, "no", names=REPEATED
    ),
    "matrix of parts": lambda _: PGMExplainer(model, X, RING, parts=np.matrix(X)),
    "undirected": lambda _: Edges(undirected=np.zeros(3)),
    "name of a test": lambda _: ChiSquareTest(sp.eye(3)),
    "task of graphs": lambda _: explain_graphs(model, [(X, RING)], task=np.zeros(3)),
    "endless group": lambda _: Groups({"a": itertools.count()}),
    "times as members": lambda _: Groups({"a": np.zeros((2, 2), "m8[s]")}, of="edges"),
    "member": lambda _: PGMExplainer(model, X, RING, parts=Groups({"a": [Raising("b")]})),
    "document": lambda _: explanation_from_dict(OddMapping(a=1)),
    "model": lambda _: PGMExplainer(NoAttributes(), X, RING),
    "noise": lambda _: LargeMove(noise=10**400),
    "large font": lambda found: found.plot("effects", font_size=10**400),
    "classes": lambda _: PGMExplainer(model, X, RING, explained_class=OddIteration([0])),
    "evidence": lambda found: found.network.query(3, OddMapping({3: "kept"})),
    "label of a node": lambda _: PGMExplainer(model, frame(index=NoText()), RING),
    "sparse groups": lambda _: Groups([{"a": [0]}, sp.dok_matrix(np.eye(3))]),
    "sparse evidence": lambda found: found.query(sp.dok_matrix(np.eye(3))),
    "headers": lambda _: HttpPredictor("http://no", headers=OddMapping(a="b")),
    "font": lambda found: found.plot("effects", font_size=1e-320),
    "width": lambda found: found.plot("effects", figsize=(np.timedelta64("NaT"), 1)),
    "names of groups": lambda _: Groups([deep(), 1]),
    "nested graphs": lambda _: explain_graphs(
        model, [(X, torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]))]
    ),
    "row": lambda found: found.effects["a"],
    "row that is not there": lambda found: found.effects[10**30],
    "rows to keep": lambda found: found.features.keeping(np.zeros(3)),
    "title": lambda _: plot_superpixels(np.eye(4), np.zeros((4, 4), int), {(0, 1): [0]}),
    "path": lambda _: Explanation.load(type("P", (), {"__fspath__": lambda self: 1 / 0})()),
    "column": lambda _: PGMExplainer(model, frame(columns=np.zeros(3)), RING).explain("a"),
    "index": lambda _: PGMExplainer(model, frame(index=np.zeros(3)), RING).explain("a"),
    "data": lambda _: PGMExplainer(torch.nn.Linear(3, 2), data(x=3)),
    "target": lambda _: PGMExplainer(
        lambda x, edge_index: x.mean(axis=1), [(X, RING)], task="graph", **QUICK
    ).explain((np.zeros(3), 1)),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_an_odd_argument_is_refused(call, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PGMExplainerError):
        CALLS[call](found)


def test_rows_end_as_those_of_any_sequence(found):
    with pytest.raises(IndexError):
        found.effects[99]
    assert len(list(iter(found.effects))) == len(found.effects)
    assert found.effects[-1] == list(found.effects)[-1]


def test_names_may_be_any_mapping(found):
    assert found.network.renamed(sp.dok_matrix((9, 9))).nodes == found.network.nodes


def test_fractions_are_numbers(found):
    some = found.counterfactual(probability=Fraction(1, 3), max_queries=500)
    assert some.probability >= 1 / 3
    change = TopFraction(Fraction(1, 3))
    assert "33.3%" in str(PGMExplainer(model, X, RING, change=change, **QUICK).explain(3))


def test_an_index_may_hold_anything():
    made = pd.DataFrame(X, index=[np.timedelta64("NaT"), *"bcdefgh"])
    assert PGMExplainer(model, made, RING, **QUICK).explain("b").target == "b"


def test_a_number_of_queries_may_be_a_tensor(found):
    once = found.counterfactual(max_queries=1)
    assert found.counterfactual(max_queries=torch.tensor(True)) == once


def test_a_probability_near_zero_is_usable():
    PGMExplainer(model, X, RING, perturb_probability=1e-320, **QUICK)


ODD_CALLS = (
    *({"x": torch.zeros(0, 3)}, {"x": 3}, {"target": 3}, {"target": torch.tensor(3)}),
    *({"index": torch.zeros(0, dtype=int)}, {"edge_index": torch.tensor(3)}),
    *({"index": torch.zeros(3, device="meta")}, {"x": {"a": 3}}),
    *({"index": torch.eye(8).to_sparse()}, {"target": torch.zeros(8, device="meta")}),
)


@pytest.mark.parametrize("change", ODD_CALLS, ids=str)
def test_an_odd_call_of_the_plug_in_is_refused(change):
    from torch_geometric.explain.config import ExplainerConfig, ModelConfig

    from pgm_explainer.pyg import PGMExplainerAlgorithm

    algorithm = PGMExplainerAlgorithm(**QUICK)
    algorithm.connect(
        ExplainerConfig(explanation_type="model", node_mask_type="object"),
        ModelConfig(mode="multiclass_classification", task_level="node", return_type="raw"),
    )
    given = {"x": torch.tensor(X), "edge_index": torch.tensor(RING), "target": torch.zeros(8)}
    given.update(change)
    with pytest.raises(InputError):
        algorithm(torch.nn.Linear(3, 2), given.pop("x"), given.pop("edge_index"), **given)
