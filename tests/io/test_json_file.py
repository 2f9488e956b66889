"""Saved explanations are loaded with the same bits; invalid files are refused with a position."""

import json
import os
import re
import stat
from copy import deepcopy
from dataclasses import replace

import pytest

from pgm_explainer import Explanation, FileError, InputError
from pgm_explainer.io import (
    explanation_from_dict,
    explanation_to_dict,
    load_explanations,
    save_explanations,
)
from pgm_explainer.report.html import to_html

KINDS = (
    *("node", "graph", "pair", "levels", "regression", "no network", "never changed"),
    *("named", "no graph", "certain", "pairs", "weak", "tiny", "features"),
)


def strictly(text):
    """Parse as strict JSON, which has no NaN and no Infinity."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_explanation_is_loaded_with_the_same_bits(explanations, identical, kind, tmp_path):
    explanation = explanations[kind]
    explanation.save(tmp_path / "why.json")
    loaded = Explanation.load(tmp_path / "why.json")
    assert identical(loaded, explanation)
    assert str(loaded) == str(explanation)
    assert loaded.nodes == explanation.nodes
    strictly((tmp_path / "why.json").read_text())
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "why.json").read_bytes()


def test_the_comparison_detects_differences(explanations, identical):
    kinds = list(explanations.values())
    assert [[identical(a, b) for b in kinds] for a in kinds] == [
        [a is b for b in kinds] for a in kinds
    ]


@pytest.mark.parametrize("kind", ["node", "named", "no graph", "pair"])
def test_a_loaded_explanation_gives_the_same_plots(explanations, kind, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    pictures = []
    plain = explanations["node" if kind == "named" else kind]
    names = None if kind != "named" else [f"n{number}" for number in range(16)]
    fresh = plain if names is None else plain.named(names)
    fresh.save(tmp_path / "why.json")
    for each in (fresh, Explanation.load(tmp_path / "why.json")):
        figure = each.plot()
        figure.canvas.draw()
        pictures.append(bytes(figure.canvas.buffer_rgba()))
        pyplot.close(figure)
    assert pictures[0] == pictures[1]


def test_many_in_one_file(explanations, identical, tmp_path):
    path = tmp_path / "all.json"
    save_explanations(path, explanations.values())
    loaded = load_explanations(path)
    assert all(map(identical, loaded, explanations.values()))
    assert len(loaded) == len(explanations)
    with pytest.raises(FileError, match=r"all\.json contains 15 explanations, not one"):
        Explanation.load(path)


def test_a_file_with_one_gives_a_list_of_one(explanations, identical, tmp_path):
    explanations["node"].save(tmp_path / "one.json")
    [loaded] = load_explanations(tmp_path / "one.json")
    assert identical(loaded, explanations["node"])
    save_explanations(tmp_path / "list.json", [explanations["node"]])
    assert identical(Explanation.load(tmp_path / "list.json"), explanations["node"])
    save_explanations(tmp_path / "none.json", [])
    assert load_explanations(tmp_path / "none.json") == []


def test_the_file_records_the_versions_used(explanations):
    document = explanation_to_dict(explanations["node"])
    document["made_with"]["numpy"] = "0.0"
    assert explanation_to_dict(explanation_from_dict(document))["made_with"]["numpy"] == "0.0"


@pytest.mark.parametrize("version", [1, 4, 5])
def test_older_files_are_refused(document, version):
    document["version"] = version
    del document["parts"]
    with pytest.raises(FileError, match=f"has version {version}, but this .* explain again"):
        explanation_from_dict(document)


def test_what_cannot_be_saved(explanations, tmp_path):
    with pytest.raises(InputError, match=r"must be an integer, .* not \d+\.5"):
        explanations["node"].named([number + 0.5 for number in range(16)]).save(
            tmp_path / "why.json"
        )
    with pytest.raises(InputError, match="only explanations"):
        save_explanations(tmp_path / "why.json", ["a text"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("why.html", "explanation.to_html(path)"),
        ("why.PDF", "explanation.report(path)"),
        ("why.docx", "explanation.report(path)"),
        ("why.md", "explanation.report(path)"),
        ("why.svg", "explanation.plot().savefig(path)"),
        ("why.csv", "explanation.to_pandas().to_csv(path)"),
    ],
)
def test_the_extension_of_another_format_names_the_right_call(explanations, name, call, tmp_path):
    with pytest.raises(InputError, match=re.escape(f"or call {call}")):
        explanations["node"].save(tmp_path / name)
    with pytest.raises(InputError, match=re.escape(f"or call {call}")):
        save_explanations(tmp_path / name, [explanations["node"]])
    assert list(tmp_path.iterdir()) == []


def test_other_extensions_are_json(explanations, tmp_path):
    for name in ("why", "why.json", "why.explanation"):
        explanations["node"].save(tmp_path / name)
        assert Explanation.load(tmp_path / name) == explanations["node"]


@pytest.fixture
def document(explanations):
    return deepcopy(explanation_to_dict(explanations["named"]))


def put(document, place, value):
    """Set what stands at a place; leave it out if the value is ``...``."""
    *way, last = place
    for step in way:
        document = document[step]
    if value is ...:
        del document[last]
    else:
        document[last] = value


WRONG = [
    (("format",), "other", "is not an explanation: it has no field 'format' that says"),
    (("format",), ..., "is not an explanation"),
    (
        ("version",),
        8,
        "has version 8, but this .* reads version 7: install a newer",
    ),
    (("version",), 6, "has version 6, but this .* reads version 7: explain again"),
    (("class_stayed",), None, r"\.class_stayed must be null for a regression, and only then"),
    (("class_stayed",), 1.5, r"\.class_stayed should be from 0 to 1"),
    (("thresholds",), ["inf"], r"\.thresholds\[0\] should be"),
    (("ranking", "reach"), [], r"\.ranking has a field 'reach', which this version does not know"),
    (("ranking", "left_out"), -1, r"\.ranking\.left_out should be a whole number of at least 0"),
    (("effects",), ..., "has no field 'effects': the file is incomplete"),
    (("effects", "nodes", 0), 999, r"\.effects\.nodes must be the nodes of the ranking and the ta"),
    (("effects", "nodes", 0), 8, r"\.effects\.nodes must be the nodes .* each once"),
    (("effects", "nodes", 0), ..., r"\.effects\.nodes must be the nodes of the ranking"),
    (
        ("effects", "effect", 0),
        "nan",
        r"\.effects\.effect\[0\] should be a number, but it is 'nan'",
    ),
    (("effects", "low", 0), "-inf", r"\.effects\.low\[0\] should be a number"),
    (("effects", "high"), [], r"\.effects\.high should have \d+ items, not 0"),
    (("effects", "low", 0), 9, r"\.effects\.effect must be from low to high in every row"),
    (("effects", "high", 0), -9, r"\.effects\.effect must be from low to high in every row"),
    (("effects", "strength", 0), 1.5, r"\.effects\.strength\[0\] should be from 0 to 1"),
    (("effects", "log_p", 0), 0.1, r"\.effects\.log_p\[0\] should be a number of at most 0"),
    (("effects", "log_p", 0), "nan", r"\.effects\.log_p\[0\] should be a number of at most 0"),
    (("effects", "significant", 0), 1, r"\.effects\.significant\[0\] should be true or false"),
    (("effects", "left_out"), -1, r"\.effects\.left_out should be a whole number"),
    (("effects", "pairs"), {}, r"\.effects\.pairs should be a list"),
    (("effects", "pairs"), [{}], r"\.pairs\[0\] has no field 'nodes'"),
    (("version",), "1", r"\.version should be a whole number of at least 1, but it is '1'"),
    (("version",), ..., "has no field 'version'"),
    (("node_classes", 0), -2, r"\.node_classes\[0\] should be a whole number of at least -1"),
    (("node_classes",), [0], r"\.node_classes should have \d+ items, not 1"),
    (("settings", "class_names"), ["a"], r"\.settings\.class_names has 1 names, not 3"),
    (
        ("settings", "class_names"),
        "abc",
        r"\.settings cannot be used: class_names must be",
    ),
    (
        ("settings", "correction"),
        "other",
        r"cannot be used: unknown correction .*: none, ben",
    ),
    (("surprise",), 1, "has a field 'surprise', which this version does not know"),
    (("held",), ..., "has no field 'held': the file is incomplete"),
    (("held",), 1.5, r"\.held should be from 0 to 1, but it is 1\.5"),
    (("held",), "0.5", r"\.held should be a number"),
    (("held",), True, r"\.held should be a number"),
    (("values", 0), None, r"\.values\[0\] should be a number, but it is None"),
    (("values",), [], "does not fit its 0 values"),
    (("explained_class",), 3, "does not fit its 3 values"),
    (("probability",), None, "does not fit"),
    (("target",), {}, r"\.target should be a name"),
    (("target",), "someone else", r"\.network is about .* the target is 'someone else'"),
    (("ends",), [], r"\.ends should have 1 items, not 0"),
    (("made_with", "numpy"), 2, r"\.made_with\.numpy should be a string"),
    (("ranking", "log_p"), [], r"\.ranking\.log_p should have \d+ items, not 0"),
    (("ranking", "log_p", 1), "-infinity", r"\.ranking\.log_p\[1\] should be a number"),
    (("ranking", "dof", 0), 10**30, r"\.ranking\.dof\[0\] should be a whole number"),
    (("ranking", "statistic", 0), 10**400, r"\.ranking\.statistic\[0\] should be a number that"),
    (("ranking", "selected", 0), 1, r"\.selected\[0\] should be true or false"),
    (("ranking", "nodes", 0), 8, r"\.ranking\.nodes names a node twice"),
    (("names", 0, 0), 999, r"\.names must give every node of the ranking and the target a name"),
    (("names", 0, 1), "someone", r"\.network is about .* but the selected nodes are .*'someone"),
    (("network", "variables"), "x" * 999, r"\.variables should be a list, but it is 'x+\.\.\.x+'"),
    (("network", "variables", 0, "levels"), 10**9, r"\.probabilities should have \d+ items"),
    (("network", "variables", 0, "levels"), 0, r"\.levels should be a whole number of at least 1"),
    (("network", "variables", 0, "parents"), ["nobody"], "names 'nobody', which is not a variable"),
    (("network", "variables", 0, "probabilities", 0), 0.9, "do not add up to 1 in every row"),
    (("network", "variables", 0, "counts", 0), -1, r"\.counts\[0\] should be a whole number"),
    (
        ("settings", "task"),
        "nodes",
        r"cannot be used: unknown task .*: node, edge, graph",
    ),
    (("settings", "seed"), ..., r"\.settings has no field 'seed'"),
    (("settings", "change"), {}, r"\.settings\.change has no field 'name'"),
    (("settings", "change"), "fall", r"\.settings\.change should be an object"),
    (
        ("settings", "change"),
        {"name": "x"},
        r"\.change\.name is 'x', which is unknown to this version",
    ),
    (
        ("settings", "change"),
        {"name": "fall", "x": 1},
        r"\.change has other parameters",
    ),
    (("settings", "change"), {"name": "fall", "threshold": 2}, r"\.change cannot be used"),
    (("settings", "change"), {"name": "fall"}, r"\.change has no field 'threshold'"),
    (("probability",), 0.123, r"\.values must be probabilities .* as in .*\.probability"),
    (("values", 0), 0.123, r"\.values must be probabilities that add up to 1"),
    (("ranking", "log_p", 0), 0.5, r"\.ranking\.log_p\[0\] should be a number of at most 0"),
    (("settings", "max_memory"), 1, r"\.settings has a field 'max_memory', which this version"),
    (("settings", "perturbation"), ..., r"\.settings has no field 'perturbation'"),
    (
        ("settings", "perturb_probability"),
        2,
        r"cannot be used: perturb_probability must be",
    ),
    (("settings", "features"), [[0, 1]], r"\.features\[0\] should be a whole number"),
    (("settings", "parts"), {"name": "features", "nodes": 0}, r"\.parts has .* in place of"),
    (("settings", "features"), 3, r"\.settings\.features should be a list"),
    (("settings", "features"), {}, r"\.settings\.features should be a "),
    (("warnings",), "none", r"\.warnings should be a list"),
    (("neighbourhood", "edges", 0), [0, 999], r"\.edges must connect nodes of the ranking"),
    (("neighbourhood", "num_nodes"), 2, r"\.num_nodes should be a whole number of at least"),
    (("neighbourhood", "columns"), [], r"\.columns should have \d+ items, not 0"),
]


@pytest.mark.parametrize(("place", "value", "message"), WRONG)
def test_an_invalid_value_is_refused(document, place, value, message, tmp_path):
    put(document, place, value)
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileError, match=message) as caught:
        load_explanations(path)
    assert str(caught.value).startswith(f"{path}: $")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("nodes", 999, "must list features of nodes in the ranking, each once"),
        ("features", -1, r"\.features\.features\[0\] should be a whole number of at least 0"),
        ("effect", 9, r"\.features\.effect must be from low to high in every row"),
        ("strength", 2, r"\.features\.strength\[0\] should be from 0 to 1"),
        ("log_p", 1, r"\.features\.log_p\[0\] should be a number of at most 0"),
        ("significant", 1, r"\.features\.significant\[0\] should be true or false"),
    ],
)
def test_an_invalid_effect_of_a_feature_is_refused(explanations, field, value, message):
    document = deepcopy(explanation_to_dict(explanations["features"]))
    document["features"][field][0] = value
    with pytest.raises(FileError, match=message):
        explanation_from_dict(document)


def test_a_feature_is_listed_once(explanations):
    document = deepcopy(explanation_to_dict(explanations["features"]))
    for column in ("nodes", "features"):
        document["features"][column][1] = document["features"][column][0]
    with pytest.raises(FileError, match="each once"):
        explanation_from_dict(document)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "nodes",
            [0, 999],
            r"\.pairs\[0\]\.nodes are 0 and 999, one of which is not in the effects",
        ),
        ("nodes", [0], r"\.pairs\[0\]\.nodes should have 2 items, not 1"),
        ("joint", "nan", r"\.pairs\[0\]\.joint should be a number, but it is 'nan'"),
        ("excess", None, r"\.pairs\[0\]\.excess should be a number"),
        ("high", "inf", r"\.pairs\[0\]\.high should be a number"),
        ("log_p", 1, r"\.pairs\[0\]\.log_p should be a number of at most 0"),
    ],
)
def test_a_pair_that_does_not_fit_is_refused(explanations, field, value, message):
    document = deepcopy(explanation_to_dict(explanations["pairs"]))
    explanation_from_dict(document)
    document["effects"]["pairs"][0][field] = value
    with pytest.raises(FileError, match=message):
        explanation_from_dict(document)


@pytest.mark.parametrize("place", [("held",), ("target",), ("settings", "change"), ("network",)])
def test_deep_nesting_is_refused(document, place):
    deep = []
    for _ in range(800):
        deep = [deep]
    put(document, place, deep)
    with pytest.raises(FileError, match=rf"\.{place[-1]}.* should be"):
        explanation_from_dict(document)


@pytest.mark.parametrize(
    ("kind", "target", "called"),
    [
        ("never changed", 3, 15),
        ("regression", "3", 3),
        ("pair", [5, 2], (2, 5)),
        ("graph", "another", "graph"),
    ],
)
def test_a_target_that_contradicts_ends_or_names_is_refused(explanations, kind, target, called):
    document = deepcopy(explanation_to_dict(explanations[kind]))
    document["target"] = target
    document["network"] = None
    with pytest.raises(FileError, match=r"\.target is .* by its ends and names it is") as caught:
        explanation_from_dict(document)
    assert repr(called) in str(caught.value)


def test_two_nodes_of_one_name_are_refused(document):
    document["names"][0][1] = document["names"][1][1]
    with pytest.raises(FileError, match=r"\.names gives two nodes the same name"):
        explanation_from_dict(document)


def test_a_cycle_is_refused(document):
    first, second = document["network"]["variables"][:2]
    for one, other in ((first, second), (second, first)):
        one["parents"] = [other["name"]]
        one["probabilities"] = [[0.25] * 4] * 4
        one["counts"] = [[1] * 4] * 4
    with pytest.raises(FileError, match="the edges form a cycle"):
        explanation_from_dict(document)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "null", "3", '"text"', "{}", "[[]]", "nonsense", "[NaN]", "[1e999]"),
        *("[" * 100_000, '{"a":' * 100_000, "9" * 10_000, '{"format": 1, "format": 2}', "\ufeff{}"),
    ],
)
def test_a_file_without_an_explanation_is_refused(text, tmp_path):
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=r"wrong\.json"):
        load_explanations(path)


def test_a_file_cut_short_is_refused(explanations, tmp_path):
    path = tmp_path / "why.json"
    explanations["node"].save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(FileError, match="is truncated"):
            Explanation.load(path)


def test_unreadable_text_is_refused(tmp_path):
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name in ("bytes.json", "missing.json", ".", "nul\0.json"):
        with pytest.raises(FileError, match=r"this is not UTF-8 text|cannot be read"):
            Explanation.load(tmp_path / name)


@pytest.mark.parametrize("seed", [0, 2**63, 2**128 - 1], ids=str)
def test_a_seed_may_be_of_any_size(explanations, tmp_path, seed):
    explanation = explanations["node"]
    sampling = replace(explanation.settings.sampling, seed=seed)
    settings = replace(explanation.settings, sampling=sampling)
    replace(explanation, settings=settings).save(tmp_path / "why.json")
    assert Explanation.load(tmp_path / "why.json").settings.sampling.seed == seed


def test_an_invalid_path_or_explanation_is_an_error(explanations, tmp_path):
    explanation = explanations["node"]
    for call in (Explanation.load, load_explanations, explanation.save, explanation.to_html):
        with pytest.raises(InputError, match="a string or a Path, not 5"):
            call(5)
    with pytest.raises(InputError, match="not 5"):
        save_explanations(tmp_path / "why.json", 5)
    with pytest.raises(InputError, match="not 5"):
        to_html(5)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_keeps_the_previous_file(explanations, tmp_path, monkeypatch):
    path = tmp_path / "why.json"
    explanations["node"].save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"why\.json cannot be written: .*No space left"):
        explanations["graph"].save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileError, match="cannot be written"):
        explanations["node"].save(tmp_path / "no such folder" / "why.json")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o640])
def test_a_file_that_is_replaced_keeps_its_permissions(explanations, tmp_path, mode):
    path = tmp_path / "why.json"
    path.touch()
    path.chmod(mode)
    explanations["node"].save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert Explanation.load(path) == explanations["node"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_path_that_is_not_a_file_is_neither_read_nor_replaced(explanations, tmp_path, make):
    path = tmp_path / "why.json"
    make(path)
    for call in (Explanation.load, explanations["node"].save):
        with pytest.raises(FileError, match=r"cannot be (read|written)"):
            call(path)
    assert not path.is_file()
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_default_permissions(explanations, tmp_path):
    (tmp_path / "plain").touch()
    explanations["node"].save(tmp_path / "why.json")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "why.json")]
    assert modes[0] == modes[1]
