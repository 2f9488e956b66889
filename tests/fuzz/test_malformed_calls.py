"""Odd values in every argument of the Python API: a result, or a package error with a message.

Never a traceback of Python, NumPy or torch, and (pytest turns them into errors) no stray warning.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv

from pgm_explainer import BayesianNetwork, Explanation, PGMExplainer, PGMExplainerError, to_html
from pgm_explainer import sampling as s
from pgm_explainer.network import cpdag
from pgm_explainer.predictors import SubgraphFunction, WholeGraphFunction
from pgm_explainer.predictors.http import HttpPredictor
from pgm_explainer.predictors.torch_module import TorchModulePredictor
from pgm_explainer.pyg import PGMExplainerAlgorithm
from pgm_explainer.structure import DAG, exact_search, hill_climb

pytestmark = pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")

EACH = 20
"""So many odd values are tried in each place, another choice for each; the same on every run."""


def raising(*_: Any, **__: Any) -> Any:
    raise KeyError("of the user's own")


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    return nested


def odd_values() -> list[Any]:
    """Values of all kinds, made anew, since some can be used only once."""
    plain = [None, True, 0, -1, 3, 10**30, 1.5, float("nan"), float("inf"), 1j, Decimal("0.1")]
    texts = ["", "abc", "0.1", "fall(2)", "a\0b", b"x", "mean", "graph", Path("no") / "such"]
    lists = [[], [1], [[1]], [None], ["a"], (1, 2), range(3), iter([1]), {1}, {}, {1: 2}, deep()]
    arrays = [np.array(3), np.array([]), np.array(["a"]), np.full((2, 2), np.nan), np.zeros((6, 3))]
    arrays += [np.array(None), np.ones(6, bool), np.zeros(2, "M8[s]"), np.uint64(2**63)]
    tensors = [torch.tensor(3), torch.zeros(2, 2), torch.zeros(3, device="meta"), torch.float32]
    functions = [lambda: None, lambda x: x, lambda *_: None, raising, int, print]
    others = [object(), Exception("e"), Fraction(1, 3), slice(1), ..., NotImplemented]
    ours = [Data(), HeteroData(), s.Fall(0.1), s.Fall, DAG(2), torch.nn.Linear(3, 2)]
    return plain + texts + lists + arrays + tensors + functions + others + ours


X = np.random.default_rng(0).normal(size=(6, 3))
EDGES = np.stack((np.arange(6), np.roll(np.arange(6), -1)))
WEIGHTS = 3 * np.random.default_rng(1).normal(size=(3, 2))
QUICK = {"num_samples": 30, "num_layers": 1, "perturb_probability": 0.4}
DATA = np.random.default_rng(0).integers(0, 2, (30, 3))


def model(x, edge_index):
    total = x.copy()
    np.add.at(total, (slice(None), edge_index[1]), x[:, edge_index[0]])
    return total @ WEIGHTS


def of_pairs(x, pairs):
    scores = model(x, EDGES)
    return scores[:, pairs[0]] + scores[:, pairs[1]]


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = GCNConv(3, 2)

    def forward(self, x, edge_index, edge_weight=None):
        return 5 * self.layer(x, edge_index, edge_weight)


MODULE = Module()


class Answering(torch.nn.Module):
    def __init__(self, answer):
        super().__init__()
        object.__setattr__(self, "answer", answer)

    def forward(self, x, edge_index):
        return self.answer


@dataclass
class Own:
    """Any object that may be passed, which answers every question with the same value."""

    answer: Any
    name: str = "own"
    levels: Any = 2
    needs_all_samples: Any = False

    def severity(self, *_: Any) -> Any:
        return self.answer

    grade = statistic = terms = penalty = __call__ = severity


@dataclass
class Box:
    accepts_subgraph: Any = True
    num_layers: Any = 1
    flow: Any = "both"
    latency_bound: Any = False

    def __call__(self, x: Any, part: Any, pairs: Any = None) -> Any:
        return model(x, part.edge_index)


def explained(target: Any = 3, **options: Any) -> Explanation:
    given = {"model": model, "x": X, "edge_index": EDGES, **QUICK, **options}
    return PGMExplainer(**given).explain(target)


def hetero(**changed: Any) -> HeteroData:
    data = HeteroData()
    data["a"].x = changed.get("x", torch.ones(4, 2))
    data["b"].x = torch.ones(3, 2)
    data["a", "to", "b"].edge_index = changed.get("edges", torch.tensor([[0, 1], [1, 2]]))
    return data


class OfKinds(torch.nn.Module):
    def forward(self, x, edges):
        return 3 * x["b"]


Call = Callable[[Any], Any]


def constructor() -> Iterator[Call]:
    names = list(signature(PGMExplainer).parameters)
    yield from (lambda v, n=name: explained(**{n: v}) for name in names)
    yield from (lambda v, n=name: explained(**{"model": MODULE, n: v}) for name in names)
    own = ("perturbation", "change", "test", "score", "model")
    yield from (lambda v, n=name: explained(**{n: Own(v)}) for name in own)
    yield from (lambda v, n=n: explained(**{n: lambda *_: v}) for n in (*own, "structure"))
    yield lambda v: explained(None, model=lambda x: v, task="graph")
    yield lambda v: explained((0, 1), model=lambda x, pairs: v, task="edge")


def targets() -> Iterator[Call]:
    quick = {"edge_index": EDGES, **QUICK}
    for explainer in (
        PGMExplainer(model, X, **quick),
        PGMExplainer(MODULE, X, **quick),
        PGMExplainer(of_pairs, X, task="edge", **quick),
        PGMExplainer(lambda x: model(x, EDGES).mean(axis=1), X, task="graph", **quick),
        PGMExplainer(OfKinds(), hetero(), target_type="b", **QUICK),
    ):
        yield from (explainer.explain, explainer.explain_many, explainer.candidates)
        yield from (explainer.predict, explainer.samples, explainer.explain_features)
        yield lambda v, e=explainer: e.explain_many([v])
        yield lambda v, e=explainer: e.explain((v, 1))
        yield lambda v, e=explainer: e.explain(("b", v))


def hashed(ask: Call) -> Call:
    """Query a mapping made from the value, if possible."""

    def call(value: Any) -> Any:
        try:
            mapping = {value: "kept"}
        except TypeError:
            return None
        return ask(mapping)

    return call


def explanations(folder: Path) -> Iterator[Call]:
    found = explained(only_significant=False)
    assert found.network is not None
    first = found.network.nodes[0]
    for ask in (found.query, found.support):
        yield from (ask, hashed(ask), lambda v, a=ask: a({first: v}), lambda v, a=ask: a({3: v}))
    yield from (found.named, lambda v: str(found.named({0: v})), found.plot, Explanation.load)
    yield lambda v: found.named([v] * 6)
    yield lambda v: found.plot("network", max_shown=v)
    yield from (to_html, lambda v: to_html([v]), lambda v: found == v)
    yield lambda v: found.save(folder / v if isinstance(v, str) else v)
    yield lambda v: to_html(found, folder / v if isinstance(v, str) else v)


def networks() -> Iterator[Call]:
    network = explained(only_significant=False).network
    assert network is not None
    variables, dag = [s.Variable(each, True, 1) for each in range(3)], DAG(3, [(0, 1)])
    tables = [BayesianNetwork.fit(variables, dag, DATA).cpt(each) for each in range(3)]
    yield from (network.query, network.probability, network.log_likelihood, network.parents)
    yield from (network.children, network.markov_blanket, network.cpt, network.variable)
    yield from (network.renamed, BayesianNetwork.load, lambda v: network.renamed({3: v}))
    yield from (lambda v: network.query(3, v), lambda v: network.query([3], {3: v}))
    yield from (lambda v: network.sample(3, v), hashed(network.probability))
    yield lambda v: network.sample(v) if not isinstance(v, int) or v < 100 else None
    for at in range(3):
        yield lambda v, at=at: BayesianNetwork(*_with(v, at, variables, dag, tables))
    for at in range(5):
        yield lambda v, at=at: BayesianNetwork.fit(*_with(v, at, variables, dag, DATA, 0.0, "bic"))
    yield from (cpdag, DAG(3).parents, DAG(3).markov_blanket)
    yield from (lambda v: DAG(3, v), lambda v: DAG(3, [v]), lambda v: DAG(3, [(v, 1)]))
    yield lambda v: DAG(v) if not isinstance(v, (int, np.integer)) or v < 100 else None
    for search in (hill_climb, exact_search):
        yield lambda v, search=search: search(v, [2, 2, 2])
        yield lambda v, search=search: search(DATA, v)
        yield lambda v, search=search: search(DATA, [2, 2, 2], score=v)
        yield lambda v, search=search: search(DATA, [2, 2, 2], max_parents=v)


def _with(value: Any, at: int, *arguments: Any) -> tuple[Any, ...]:
    return (*arguments[:at], value, *arguments[at + 1 :])


def small_objects() -> Iterator[Call]:
    yield from (lambda v: s.Variable(v, True, 2), lambda v: s.Variable(0, v, 2))
    yield lambda v: s.Variable(0, True, v)
    yield from (s.Variable(0, True, 2).matching, s.Variable(0, False, 3).matching)
    changes = (s.Fall, s.Absolute, s.TopFraction, s.LargeFall, s.LargeMove, s.Levels)
    yield from (lambda v, kind=kind: explained(change=kind(v)) for kind in changes)
    for kind in (s.Deviation, s.TopDeviation):
        yield lambda v, kind=kind: explained(change=kind(v), scores="values")
    yield lambda v: explained(change=s.TopFraction(0.3, v))
    yield lambda v: explained(change=s.LargeFall(0.3, v))
    yield lambda v: explained(change=s.LargeFall(0.3, 0.4, v))
    yield lambda v: explained(change=s.CustomChange(v))
    yield lambda v: explained(change=s.CustomChange(lambda before, after: after[..., 0] > 0, v))
    yield lambda v: explained(perturbation=s.CustomPerturbation(v))
    yield lambda v: explained(change=Own(np.zeros((30, 6)), levels=v))
    yield lambda v: explained(change=Own(np.zeros((30, 6)), needs_all_samples=v))
    yield lambda v: s.as_change(v)
    yield lambda v: s.SamplingConfig(change=v)
    yield lambda v: s.SamplingConfig(perturbation=v)
    yield lambda v: s.SamplingConfig(features=v)


def predictors() -> Iterator[Call]:
    yield lambda v: explained(model=SubgraphFunction(v))
    yield lambda v: explained(model=WholeGraphFunction(v))
    yield lambda v: explained(model=Answering(v))
    for name in ("accepts_subgraph", "num_layers", "flow", "latency_bound"):
        yield lambda v, name=name: explained(model=Box(**{name: v}))
    for name in ("module", "task", "inputs", "output", "batching"):
        yield lambda v, n=name: explained(model=TorchModulePredictor(**{"module": MODULE, n: v}))
    yield lambda v: explained(model=MODULE, inputs={"edge_weight": v})
    for name in signature(HttpPredictor).parameters:
        yield lambda v, name=name: HttpPredictor(**{"url": "http://localhost", name: v})
    yield lambda v: HttpPredictor("http://localhost", headers={"X": v})
    yield lambda v: explained(model=MODULE, x=Data(x=v, edge_index=torch.tensor(EDGES)))
    yield lambda v: explained(model=MODULE, x=Data(x=torch.tensor(X), edge_index=v))
    for change in ("x", "edges"):
        yield lambda v, change=change: _of_kinds(data=hetero(**{change: v}))
    yield lambda v: _of_kinds(module=v)
    yield lambda v: _of_kinds(target_type=v)
    yield lambda v: PGMExplainerAlgorithm(**{str(v)[:9]: v})


def _of_kinds(module: Any = None, data: Any = None, target_type: Any = "b") -> Explanation:
    module = OfKinds() if module is None else module
    data = hetero() if data is None else data
    return PGMExplainer(module, data, target_type=target_type, **QUICK).explain(1)


@pytest.fixture
def plots():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


GROUPS = {
    "constructor": constructor,
    "targets": targets,
    "explanations": explanations,
    "networks": networks,
    "small objects": small_objects,
    "predictors": predictors,
}


@pytest.mark.parametrize("group", GROUPS)
def test_odd_values_give_a_result_or_a_package_error(group, tmp_path, monkeypatch, plots):
    monkeypatch.chdir(tmp_path)  # whatever is written by odd names
    choice, made = random.Random(group), GROUPS[group]
    calls = list(made(tmp_path) if group == "explanations" else made())
    messages = [
        refusal(call, odd_values()[at])
        for call in calls
        for at in choice.sample(range(len(odd_values())), EACH)
    ]
    assert len(messages) >= 300
    assert sum(message is not None for message in messages) > len(messages) / 2  # they are odd
    assert "" not in messages


def refusal(call: Call, value: Any) -> str | None:
    """Return the message of the package error, if there is one."""
    try:
        call(value)
    except PGMExplainerError as error:
        return str(error)
    return None
