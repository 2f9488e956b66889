"""The configurations of the steps: each checks itself when it is made."""

from __future__ import annotations

import inspect
import json
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.choices import Recorded
from pgm_explainer.execution import ExecutionConfig
from pgm_explainer.explanation.formats.settings_file import settings_to_dict
from pgm_explainer.model_config import ModelConfig
from pgm_explainer.network import NetworkConfig
from pgm_explainer.sampling import Fall, SamplingConfig
from pgm_explainer.selection import SelectionConfig
from pgm_explainer.settings import Settings
from pgm_explainer.significance import SignificanceConfig
from pgm_explainer.structure import DAG

CONFIGS = (
    ModelConfig,
    SamplingConfig,
    SignificanceConfig,
    SelectionConfig,
    NetworkConfig,
    ExecutionConfig,
)
OWNER = {each.name: config for config in CONFIGS for each in fields(config)}
X, EDGES = np.eye(3), np.array([[0, 1], [1, 2]])


def explainer(**options):
    return PGMExplainer(lambda x: x, X, EDGES, **options)


def test_no_option_has_two_owners():
    assert len(OWNER) == sum(len(fields(config)) for config in CONFIGS)


def test_the_flat_signature_lists_every_option_and_no_other():
    given = {"model", "x", "edge_index", "inputs", "names", "feature_names", "target_type"}
    assert set(inspect.signature(PGMExplainer).parameters) == given | set(OWNER)


def test_the_explainers_defaults_are_those_of_the_configurations():
    made = explainer()
    model = replace(made.settings.model, num_layers=None, hops=None)
    assert replace(made.settings, model=model) == Settings()
    assert made.execution == ExecutionConfig()


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
    ("num_samples", True),
    ("change", "nonsense"),
    ("change", None),
    ("change", {}),
    ("perturbation", "nonsense"),
    ("perturbation", 3),
    ("features", "nonsense"),
    ("features", []),
    ("features", [0.5]),
    ("features", [-1]),
    ("explained_class", 0.5),
    ("explained_class", "one"),
    ("class_names", "abc"),
    ("class_names", [1, 2]),
    ("progress", 1),
    ("max_nodes", 0),
    ("target_table", "half"),
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
    ("structure", "annealing"),
    ("structure", ""),
    ("structure", 3),
    ("max_memory", "much"),
    ("max_memory", 0),
]


@pytest.mark.parametrize(("option", "value"), BAD, ids=[f"{o}-{v!r}" for o, v in BAD])
def test_a_bad_option_and_its_value_are_named(option, value):
    with pytest.raises(InputError, match=option) as error:
        OWNER[option](**{option: value})
    named = value if isinstance(value, str) else repr(value)
    assert named in str(error.value) or f"<U{len(str(value))}" in str(error.value)
    with pytest.raises(InputError, match=option):
        explainer(**{option: value})


@pytest.mark.parametrize(
    ("option", "known"),
    [
        ("task", "node, edge, graph"),
        ("scores", "auto, logits"),
        ("correction", "none, benjamini_hochberg"),
        ("change", "auto, large_fall, large_move, fall, flip"),
        ("perturbation", "mean, zero, max, min, random, uniform, permute, substitute"),
        ("structure", "auto, hill_climb, exact"),
        ("score", "bic, aic, bdeu, bds, qnml, fnml, held_out, log_likelihood"),
        ("target_table", "auto, noisy_or, full"),
        ("test", "chi_square, g"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(option, known):
    with pytest.raises(InputError, match=f"unknown {option} 'unheard of'; .*{known}"):
        OWNER[option](**{option: "unheard of"})


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
        ("samples_per_call", 10**9),
        ("seed", 2**80),
    ],
    ids=lambda each: getattr(each, "__name__", repr(each)),
)
def test_a_good_option_passes(option, value):
    assert getattr(OWNER[option](**{option: value}), option) == value


def test_names_become_objects_when_a_configuration_is_made():
    assert SamplingConfig(change=0.2).change == Fall(0.2)
    for config in CONFIGS[1:5]:
        for each in fields(config):
            assert not isinstance(getattr(config(), each.name), str) or each.name in (
                "correction",
                "family",
                "target_table",
            )


def test_memory_is_read_once():
    assert ExecutionConfig(max_memory="1 GB").memory == 2**30
    free = ExecutionConfig()
    assert free.memory == free.memory > 0


def test_max_parents_does_not_apply_to_a_user_defined_search():
    with pytest.raises(InputError, match="max_parents=2 does not apply to a custom"):
        NetworkConfig(structure=_no_edges, max_parents=2)


@pytest.mark.parametrize(
    "given",
    [{"score": "bic"}, {"smoothing": 0.0}, {"max_parents": 3}, {"target_table": "full"}],
    ids=str,
)
def test_options_of_the_network_do_not_apply_without_one(given):
    ((name, value),) = given.items()
    with pytest.raises(InputError, match=f"{name}={value!r} does not apply with structure=None"):
        explainer(structure=None, **given)
    assert explainer(structure=None).settings.network is None
    assert explainer(**given).settings.network is not None


def test_configurations_that_do_not_fit_each_other_are_refused():
    with pytest.raises(InputError, match="requires the target to be a leaf"):
        explainer(no_child=False, target_table="noisy_or")
    with pytest.raises(InputError, match="applies to probabilities"):
        Settings(model=ModelConfig(scores="values"))
    with pytest.raises(InputError, match="network must be a NetworkConfig"):
        Settings(network="auto")


@pytest.mark.parametrize("config", [*CONFIGS, Settings], ids=lambda each: each.__name__)
def test_configurations_cannot_change_once_made(config):
    made = config()
    with pytest.raises(AttributeError):
        setattr(made, fields(config)[0].name, 1)


def test_settings_can_be_written_as_json():
    settings = explainer(
        num_samples=np.int64(50),
        perturb_probability=np.float64(0.5),
        features=np.array([2, 0]),
        change=Fall(np.float32(0.25)),
        structure=_no_edges,
    ).settings
    plain = json.loads(json.dumps(settings_to_dict(settings)))
    assert (plain["num_samples"], plain["perturb_probability"]) == (50, 0.5)
    assert plain["features"] == [0, 2]
    assert plain["change"] == {"name": "fall", "threshold": 0.25}
    assert plain["structure"] == {"name": "_no_edges", "own": True}
    assert plain["max_parents"] is None
    assert not {"max_memory", "samples_per_call", "progress"} & plain.keys()


def test_an_explanation_keeps_functions_by_name_and_can_be_pickled():
    def halved(x, rng):
        return x / 2

    options = {"num_samples": 50, "num_layers": 1, "scores": "logits"}
    explanation = explainer(perturbation=halved, **options).explain(0)
    assert explanation.settings.sampling.perturbation == Recorded("halved")
    assert pickle.loads(pickle.dumps(explanation)) == explanation
    with pytest.raises(InputError, match="perturbation 'halved' is a custom function"):
        explainer(**explanation.settings.options())
    again = {**explanation.settings.options(), "perturbation": halved}
    assert explainer(**again).explain(0).settings == explanation.settings
