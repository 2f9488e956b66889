"""Files of version 4, in which settings are texts, can still be read."""

import json
from pathlib import Path

import pytest

from pgm_explainer import Explanation, FileError
from pgm_explainer.choices import Recorded
from pgm_explainer.explanation.formats.version4 import change_from_text
from pgm_explainer.io import explanation_from_dict
from pgm_explainer.network import NetworkConfig
from pgm_explainer.sampling import (
    PERTURBATIONS,
    Fall,
    LargeFall,
    Levels,
    RandomWhereConstant,
    SamplingConfig,
    TopDeviation,
)
from pgm_explainer.settings import Settings

FILES = sorted((Path(__file__).parent / "version4").glob("*.json"))


def load(name):
    return Explanation.load(Path(__file__).parent / "version4" / f"{name}.json")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_version_4_is_read_and_saved_in_the_present_one(path, tmp_path):
    assert json.loads(path.read_text())["version"] == 4
    explanation = Explanation.load(path)
    assert "held" in str(explanation)
    explanation.save(tmp_path / "new.json")
    assert json.loads((tmp_path / "new.json").read_text())["version"] == 7
    again = Explanation.load(tmp_path / "new.json")
    assert again == explanation
    assert again.settings == explanation.settings


def test_the_defaults_of_version_4_are_those_of_today():
    settings = load("defaults").settings
    assert settings.sampling == SamplingConfig(num_samples=200)
    assert settings.network == NetworkConfig()
    assert (settings.selection, settings.significance) == (
        Settings().selection,
        Settings().significance,
    )
    assert (settings.model.num_layers, settings.model.hops) == (1, 1)


def test_choices_become_objects_again():
    options = load("options").settings
    assert options.sampling.change == LargeFall(0.3, 0.2, noise=0.01)
    assert options.sampling.features == (0,)
    assert options.model.class_names == ("few", "many")
    assert options.network == NetworkConfig(structure="exact", score="aic", smoothing=1)
    bare = load("no-network").settings
    assert bare.network is None
    assert bare.sampling.change == Levels((0.05, 0.3))
    assert bare.sampling.perturbation == PERTURBATIONS["zero"]
    assert bare.model.explained_class == (1, 1, 0, 1, 0)
    regression = load("regression").settings
    assert regression.sampling.change == TopDeviation(0.5)
    assert regression.selection.test.name == "chi_square"
    assert regression.significance.correction == "none"
    own = load("own").settings.sampling
    assert (own.change, own.perturbation) == (Recorded("above"), Recorded("shifted"))


def test_a_perturbation_for_some_nodes_is_recognised():
    document = json.loads(FILES[0].read_text())
    document["settings"] |= {"perturbation": "permute and random", "features": [0]}
    made = explanation_from_dict(document).settings.sampling.perturbation
    assert made == RandomWhereConstant(PERTURBATIONS["permute"], (0,))


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("fall(0.05)", Fall(0.05)),
        ("fall", Fall()),
        ("levels(0.1, 0.2)", Levels((0.1, 0.2))),
        ("large_fall(0.4, 0.15, 1e-3)", LargeFall(0.4, 0.15, 1e-3)),
        ("fall(2)", None),
        ("fall(0.05, 2)", None),
        ("fall(0.05", None),
        ("fall)", None),
        ("mine(0.1)", None),
        ("fall()", None),
    ],
)
def test_a_change_is_read_from_text(text, change):
    assert change_from_text(text) == change


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("seed", ..., "has no field 'seed'"),
        ("task", "nodes", "should be one of node, edge, graph"),
        ("change", {}, "should be a text"),
        ("max_nodes", 0, "cannot be used: max_nodes must be at least 1"),
    ],
)
def test_settings_of_version_4_are_checked(option, value, message):
    document = json.loads(FILES[0].read_text())
    document["settings"][option] = value
    if value is ...:
        del document["settings"][option]
    with pytest.raises(FileError, match=message):
        explanation_from_dict(document)
