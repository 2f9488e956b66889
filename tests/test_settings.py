from __future__ import annotations

import inspect
import json
from dataclasses import fields

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.sampling import Fall
from pgm_explainer.settings import Settings
from pgm_explainer.structure import DAG


def test_the_defaults_are_the_documented_ones():
    settings = Settings()
    assert (settings.task, settings.num_layers, settings.num_samples) == ("node", None, 1000)
    assert (settings.hops, settings.perturb_probability) == (None, 0.1)
    assert (settings.perturbation, settings.change) == ("auto", "auto")
    assert (settings.significance, settings.structure, settings.score) == (
        0.05,
        "auto",
        "bic",
    )
    assert settings.correction == "benjamini_hochberg"
    assert (settings.output, settings.explained_class) == (None, None)
    assert settings.no_child is True
    assert settings.seed == 0


BAD = [
    ("task", "link"),
    ("task", ""),
    ("task", None),
    ("task", ["node"]),
    ("task", np.array([1, 2])),
    ("scores", "sigmoid"),
    ("scores", None),
    ("correction", "bonferroni"),
    ("correction", None),
    ("num_layers", -1),
    ("num_layers", 2.0),
    ("num_layers", True),
    ("hops", 0),
    ("hops", 1.5),
    ("hops", True),
    ("output", -1),
    ("output", 0.5),
    ("output", "first"),
    ("output", True),
    ("num_samples", 0),
    ("num_samples", 19),
    ("num_samples", "800"),
    ("max_nodes", 0),
    ("seed", -1),
    ("seed", None),
    ("seed", 0.5),
    ("perturb_probability", 0),
    ("perturb_probability", 0.0),
    ("perturb_probability", 1.0),
    ("perturb_probability", -0.1),
    ("perturb_probability", float("nan")),
    ("perturb_probability", "0.5"),
    ("perturb_probability", True),
    ("significance", 0),
    ("significance", 1),
    ("significance", None),
    ("significance", float("nan")),
    ("smoothing", -1),
    ("smoothing", float("nan")),
    ("smoothing", float("inf")),
    ("smoothing", "1"),
    ("max_parents", 0),
    ("max_parents", 1.5),
    ("samples_per_call", 0),
    ("samples_per_call", "all"),
    ("only_significant", 1),
    ("only_significant", None),
    ("no_child", "yes"),
    ("test", "fisher"),
    ("test", None),
    ("score", "mdl"),
    ("score", None),
    ("structure", "pc"),
    ("structure", ""),
    ("structure", 3),
    ("max_memory", "much"),
    ("max_memory", 0),
]


@pytest.mark.parametrize(("option", "value"), BAD, ids=[f"{o}-{v!r}" for o, v in BAD])
def test_a_bad_option_and_its_value_are_named(option, value):
    with pytest.raises(InputError, match=option) as error:
        Settings(**{option: value})
    named = value if isinstance(value, str) else repr(value)
    assert named in str(error.value)


@pytest.mark.parametrize(
    ("option", "known"),
    [
        ("task", "node, edge, graph"),
        ("structure", "auto, hill_climb, exact"),
        ("test", "chi_square, g"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(option, known):
    with pytest.raises(InputError, match=known):
        Settings(**{option: "unheard of"})


def _no_edges(data, cardinalities):
    return DAG(len(cardinalities))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("task", "edge"),
        ("scores", "values"),
        ("output", 0),
        ("output", np.int64(3)),
        ("num_layers", None),
        ("num_layers", 0),
        ("num_samples", np.int32(20)),
        ("perturb_probability", np.float64(0.5)),
        ("perturb_probability", np.float32(0.5)),
        ("significance", np.float32(0.25)),
        ("smoothing", 0),
        ("smoothing", np.float32(1.0)),
        ("max_parents", 1),
        ("max_memory", "1 GB"),
        ("max_memory", 10**30),
        ("samples_per_call", 10**9),
        ("structure", _no_edges),
        ("structure", None),
        ("seed", 2**80),
    ],
    ids=lambda each: getattr(each, "__name__", repr(each)),
)
def test_a_good_option_passes(option, value):
    assert getattr(Settings(**{option: value}), option) == value


def test_max_parents_is_not_for_a_search_of_ones_own():
    with pytest.raises(InputError, match="max_parents is for the searches by name"):
        Settings(structure=_no_edges, max_parents=2)


def test_settings_cannot_change_once_made():
    with pytest.raises(AttributeError):
        Settings().seed = 1


def test_plain_settings_can_be_written_as_json():
    settings = Settings(
        num_samples=np.int64(50),
        perturb_probability=np.float64(0.5),
        features=np.array([0, 2]),
        change=Fall(0.2),
        structure=_no_edges,
    )
    plain = json.loads(json.dumps(settings.as_plain()))
    assert plain["num_samples"] == 50
    assert plain["perturb_probability"] == 0.5
    assert plain["features"] == [0, 2]
    assert "0.2" in plain["change"]
    assert plain["structure"] == "_no_edges"
    assert plain["max_parents"] is None


def test_the_explainers_own_defaults_are_those_of_the_settings():
    own = inspect.signature(PGMExplainer).parameters
    for each in fields(Settings):
        assert own[each.name].default == each.default, each.name
