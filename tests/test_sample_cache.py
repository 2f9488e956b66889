"""Explaining the same targets again needs no new samples, unless the model has changed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pgm_explainer import PGMExplainer


class Counting:
    """A model that counts the samples it is called on, and whose weights can be changed."""

    def __init__(self, model) -> None:
        self.model, self.samples, self.scale = model, 0, 1.0

    def __call__(self, x, edge_index):
        self.samples += len(x)
        return self.scale * self.model(x, edge_index)


@pytest.fixture
def model(toy):
    return Counting(toy.part)


@pytest.fixture
def explainer(toy, model):
    return PGMExplainer(model, toy.x, toy.edge_index, num_layers=2, num_samples=400)


def calls(model, run):
    before = model.samples
    result = run()
    return model.samples - before, result


def test_the_same_target_again_calls_the_model_on_few_samples(explainer, model):
    first = explainer.explain(3)
    count, again = calls(model, lambda: explainer.explain(3))
    assert again == first
    assert count < 40
    count, _ = calls(model, lambda: explainer.explain_many([3]))
    assert count < 40


def test_other_targets_are_sampled(explainer, model):
    explainer.explain(3)
    for run in (lambda: explainer.explain(4), lambda: explainer.explain_many([3, 4])):
        count, _ = calls(model, run)
        assert count >= 400


def test_a_model_that_changed_is_sampled_again(explainer, model, toy):
    explainer.explain(3)
    model.scale = 2.0
    count, changed = calls(model, lambda: explainer.explain(3))
    assert count >= 400
    fresh = PGMExplainer(
        lambda x, edge_index: 2.0 * toy.part(x, edge_index),
        *(toy.x, toy.edge_index),
        num_layers=2,
        num_samples=400,
    )
    assert changed == fresh.explain(3)


@pytest.mark.parametrize("parts", ["edges", ["nodes", "edges"]])
def test_a_model_that_changed_only_where_edges_are_missing_is_sampled_again(toy, parts):
    penalty = 0.0

    def model(x, edge_index):
        missing = len(toy.edge_index[0]) - edge_index.shape[1]
        return toy.part(x, edge_index) - penalty * missing * np.array([1.0, 0.0, 0.0])

    def make():
        options = {"task": "graph", "num_samples": 100, "parts": parts, "seed": 1}
        return PGMExplainer(
            lambda x, edge_index: model(x, edge_index).mean(axis=1),
            *(toy.x, toy.edge_index),
            **options,
        )

    explainer = make()
    explainer.explain()
    penalty = 0.5
    assert explainer.explain() == make().explain()


def test_a_pickled_explainer_has_no_samples(explainer):
    explainer._cache._last = "samples"
    assert pickle.loads(pickle.dumps(explainer._cache))._last is None
