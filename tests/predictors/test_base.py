"""Declared capabilities of predictors, and their defaults."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.predictors import Predictor, as_predictor
from pgm_explainer.predictors.base import AdaptedPredictor

DEFAULTS = {
    "accepts_subgraph": False,
    "latency_bound": False,
    "num_layers": None,
    "flow": "source_to_target",
    "module": None,
    "inputs": {},
}


class Plain(Predictor):
    def __call__(self, x, part, pairs=None):
        return x


class Own:
    """Not a subclass; recognised by what it declares."""

    accepts_subgraph = True
    num_layers = 2
    module = "not a torch module"

    def __call__(self, x, part):
        return x + 1


def test_every_capability_has_a_default():
    predictor = as_predictor(Plain())
    assert {name: getattr(predictor, name) for name in DEFAULTS} == DEFAULTS
    assert predictor.has_prediction(np.array([4, 7])).tolist() == [True, True]


def test_a_predictor_is_taken_as_it_is():
    own = Plain()
    assert as_predictor(own) is own


def test_declared_capabilities_are_read_once_with_defaults():
    predictor = as_predictor(Own())
    assert isinstance(predictor, AdaptedPredictor)
    declared = {**DEFAULTS, "accepts_subgraph": True, "num_layers": 2}
    assert {name: getattr(predictor, name) for name in DEFAULTS} == declared
    np.testing.assert_array_equal(predictor(np.zeros((1, 2, 3)), None), np.ones((1, 2, 3)))


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("accepts_subgraph", 1),
        ("latency_bound", "yes"),
        ("num_layers", -1),
        ("num_layers", 1.5),
        ("flow", "sideways"),
    ],
)
@pytest.mark.parametrize("kind", [Plain, Own])
def test_an_invalid_capability_is_an_error_that_names_it(kind, name, bad):
    predictor = kind()
    setattr(predictor, name, bad)
    with pytest.raises(InputError, match=f"(?s){name}.*{bad}"):
        as_predictor(predictor)
