"""Random graphs, options and broken models: an explanation of the right shape, or a package error.

Never a traceback of NumPy or torch, and (pytest turns them into errors) never a stray warning.
"""

import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pgm_explainer import BayesianNetwork, Explanation, PGMExplainer, PGMExplainerError
from pgm_explainer.dataset import explain_dataset
from pgm_explainer.sampling import PERTURBATIONS
from pgm_explainer.structure import bic_score, exact_search, hill_climb

NUMBERS = st.floats(-1e3, 1e3, width=32)
ANY_NUMBER = st.floats(width=64)  # NaN, infinities and the largest there are, too
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=3),
    st.just({}),
    st.just(object()),
)


@st.composite
def graphs(draw):
    """Features and edges that fit each other."""
    nodes, edges = draw(st.integers(1, 8)), draw(st.integers(0, 16))
    x = draw(arrays.arrays(np.float64, (nodes, draw(st.integers(1, 3))), elements=NUMBERS))
    ends = draw(arrays.arrays(np.int64, (2, edges), elements=st.integers(0, nodes - 1)))
    return x, ends


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "num_layers": st.integers(0, 4),
        "num_samples": st.integers(20, 60),
        "perturbation": st.sampled_from([*PERTURBATIONS]),
        "perturb_probability": st.floats(0.01, 0.99),
        "change": st.sampled_from(
            ["large_move", "fall", "flip", "absolute", "top_fraction", "levels", 0.1]
        ),
        "scores": st.sampled_from(["auto", "logits", "values", "probabilities"]),
        "output": st.integers(0, 2),
        "explained_class": st.integers(0, 2),
        "test": st.sampled_from(["chi_square", "g"]),
        "significance": st.floats(0.001, 0.999),
        "correction": st.sampled_from(["none", "benjamini_hochberg"]),
        "max_nodes": st.integers(1, 6),
        "only_significant": st.booleans(),
        "target_table": st.sampled_from(["auto", "full"]),
        "no_child": st.booleans(),
        "structure": st.sampled_from(["auto", "hill_climb", "exact", None]),
        "score": st.sampled_from(["bic", "aic", "bdeu", "log_likelihood"]),
        "max_parents": st.integers(1, 3),
        "smoothing": st.floats(0, 10),
        "seed": st.integers(0, 2**40),
        "max_memory": st.sampled_from([1, "1KB", "1GB"]),
        "samples_per_call": st.integers(1, 100),
    },
)


def linear(x, edge_index):
    """A model that works, of any number of features."""
    total = x.copy()
    np.add.at(total, (slice(None), edge_index[1]), x[:, edge_index[0]])
    return np.tanh(total.sum(axis=-1, keepdims=True)) * np.array([1.0, -1.0, 0.5])


BROKEN = {
    "raises": lambda x, edge_index: 1 / 0,
    "nothing": lambda x, edge_index: None,
    "text": lambda x, edge_index: "class 1",
    "one number": lambda x, edge_index: 3.5,
    "ragged": lambda x, edge_index: [[1], [1, 2]],
    "objects": lambda x, edge_index: np.array([object()] * len(x)),
    "nan": lambda x, edge_index: linear(x, edge_index) * np.nan,
    "sometimes inf": lambda x, edge_index: np.where(x[..., :1] > 0, np.inf, linear(x, edge_index)),
    "huge": lambda x, edge_index: linear(x, edge_index) * 1e300,
    "random": lambda x, edge_index: np.random.default_rng().normal(size=(*x.shape[:2], 2)),
    "no classes": lambda x, edge_index: linear(x, edge_index)[..., :0],
    "one class": lambda x, edge_index: linear(x, edge_index)[..., :1],
    "too few nodes": lambda x, edge_index: linear(x, edge_index)[:, 1:],
    "too few samples": lambda x, edge_index: linear(x, edge_index)[1:],
    "flat": lambda x, edge_index: linear(x, edge_index).ravel(),
    "whole numbers": lambda x, edge_index: linear(x, edge_index).astype(np.int8),
    "booleans": lambda x, edge_index: linear(x, edge_index) > 0,
    "complex": lambda x, edge_index: linear(x, edge_index) * 1j,
    "torch": lambda x, edge_index: torch.from_numpy(linear(x, edge_index)),
    "needs a gradient": lambda x, edge_index: torch.ones(*x.shape[:2], 2, requires_grad=True),
    "writes to its inputs": lambda x, edge_index: _written(x, edge_index),
    "mixes samples": lambda x, edge_index: linear(x, edge_index) + x.mean(),
    "sees all nodes": lambda x, edge_index: (
        linear(x, edge_index) + x.sum(axis=1, keepdims=True)[..., :1]
    ),
    "constant": lambda x, edge_index: np.ones((*x.shape[:2], 2)),
    "works": linear,
}


def _written(x, edge_index):
    answer = linear(x, edge_index)
    x[...] = np.nan
    edge_index[...] = 0
    return answer


def check(explanation, target, explainer):
    """The shape that every explanation has."""
    assert isinstance(explanation, Explanation)
    assert explanation.target == target
    assert 0 <= explanation.held <= 1
    most = explainer.settings.selection.max_nodes
    assert len(explanation.nodes) == len(set(explanation.nodes))
    assert most is None or len(explanation.nodes) <= most
    assert set(explanation.nodes) <= set(explainer.candidates(target).tolist())
    assert np.isfinite(explanation.values).all()
    assert np.isfinite(explanation.ranking.log_p).all()
    assert (explanation.ranking.log_p <= 0).all()
    if explanation.network is not None:
        assert isinstance(explanation.network, BayesianNetwork)
        assert -1e-9 <= explanation.query() <= 1 + 1e-9
    assert str(explanation)


@given(graphs(), OPTIONS, st.sampled_from(sorted(BROKEN)), st.data())
def test_any_graph_option_and_model(graph, options, model, data):
    x, edges = graph
    before = x.copy(), edges.copy()
    target = data.draw(st.integers(0, len(x) - 1))
    try:
        explainer = PGMExplainer(BROKEN[model], x, edges, **options)
        explanation = explainer.explain(target)
    except PGMExplainerError as error:
        message = str(error)
        assert message
        return
    finally:
        np.testing.assert_array_equal(x, before[0])
        np.testing.assert_array_equal(edges, before[1])
    check(explanation, target, explainer)


@given(st.data())
def test_any_value_of_any_option(data):
    name = data.draw(st.sampled_from(sorted(PGMExplainer.__init__.__annotations__)))
    value = data.draw(ANYTHING)
    arguments = {"model": linear, "x": np.eye(4), "edge_index": np.array([[0, 1, 2], [1, 2, 3]])}
    if name in ("return", "progress"):
        return
    try:
        explainer = PGMExplainer(**{**arguments, "num_samples": 30, name: value})
        explanation = explainer.explain(3)
    except PGMExplainerError:
        return
    check(explanation, 3, explainer)


@given(
    arrays.arrays(np.float64, arrays.array_shapes(max_dims=3, max_side=4), elements=ANY_NUMBER),
    arrays.arrays(
        st.sampled_from([np.int64, np.float64, np.uint8, np.bool_]),
        arrays.array_shapes(max_dims=3, max_side=4),
    ),
    ANYTHING,
)
def test_any_arrays_and_any_target(x, edges, target):
    try:
        explainer = PGMExplainer(linear, x, edges, num_samples=20)
        explanation = explainer.explain(target)
    except PGMExplainerError:
        return
    check(explanation, int(target), explainer)


class Module(torch.nn.Module):
    """A module with a given behaviour, right or wrong."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, x, edge_index):
        return self.answer(x, edge_index)


MODULES = {
    "works": lambda x, edges: x.cumsum(-1),
    "in place": lambda x, edges: x.mul_(2),
    "raises": lambda x, edges: x @ torch.ones(7, 2),
    "index": lambda x, edges: x[..., 9],
    "half": lambda x, edges: x.half(),
    "tuple": lambda x, edges: (x, edges),
    "none": lambda x, edges: None,
    "nan": lambda x, edges: x / 0 * 0,
    "dropout": lambda x, edges: torch.nn.functional.dropout(x, 0.5, training=True),
    "graph level": lambda x, edges: x.mean(dim=-2),
    "sparse": lambda x, edges: x.to_sparse(),
    "whole numbers": lambda x, edges: (10 * x).long(),
}


@settings(max_examples=30)
@given(graphs(), st.sampled_from(sorted(MODULES)), st.sampled_from(["node", "graph", "edge"]))
def test_any_module_in_any_task(graph, module, task):
    x, edges = graph
    target = {"node": 0, "edge": (0, len(x) - 1), "graph": None}[task]
    try:
        explainer = PGMExplainer(Module(MODULES[module]), x, edges, task=task, num_samples=20)
        explanation = explainer.explain(target)
    except PGMExplainerError:
        return
    assert 0 <= explanation.held <= 1
    assert str(explanation)


@given(
    arrays.arrays(
        np.int64, st.tuples(st.integers(0, 30), st.integers(0, 4)), elements=st.integers(-1, 4)
    ),
    st.lists(st.integers(-1, 5), max_size=4),
)
def test_searches_give_a_network_or_a_package_error(data, cardinalities):
    for search in (hill_climb, exact_search):
        try:
            dag = search(data, cardinalities)
        except PGMExplainerError:
            continue
        assert dag.num_variables == data.shape[1]
        assert np.isfinite(bic_score(data, cardinalities, dag.edges))


@settings(max_examples=25)
@given(graphs(), st.sampled_from(sorted(BROKEN)), st.integers(1, 5))
def test_a_job_over_any_model_records_every_target_once(graph, model, shard_size):
    x, edges = graph
    with tempfile.TemporaryDirectory() as folder:
        try:
            explainer = PGMExplainer(BROKEN[model], x, edges, num_samples=20)
            data = explain_dataset(explainer, None, folder, shard_size=shard_size)
        except PGMExplainerError:
            return
        targets = [each.target for each in data] + list(data.failures())
        assert sorted(targets) == list(range(len(x)))
        assert str(data.overview())


def test_every_promise_names_a_test_that_exists():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "guarantees.md").read_text()
    named = re.findall(r"`((?:lab/)?tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) >= 15
    for path, test in named:
        text = (root / path).read_text()
        assert not test or re.search(rf"def {test}\(", text), f"{path} has no {test}"


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="counts open files by /proc")
def test_a_job_leaves_no_file_open(tmp_path):
    explainer = PGMExplainer(linear, np.eye(5), np.array([[0, 1], [1, 2]]), num_samples=20)
    explain_dataset(explainer, None, tmp_path / "first")
    before = len(os.listdir("/proc/self/fd"))
    explain_dataset(explainer, None, tmp_path / "second")
    assert len(os.listdir("/proc/self/fd")) == before
