"""The command line, and studies of saved explanations of every kind."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tomllib

import pgm_explainer_study
from pgm_explainer import Edges, Features, PGMExplainer, save_explanations
from pgm_explainer_study import command
from pgm_explainer_study.design import plan
from pgm_explainer_study.scenes import GraphScene, ListScene
from pgm_explainer_study.store import Store
from pgm_explainer_study.study_file import load_study, save_study

ROOT = Path(__file__).parents[2]
SOURCE = Path(pgm_explainer_study.__file__).parent


@pytest.fixture
def shell(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder; return code, output and errors."""
    from pgm_explainer import cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "installed_commands", lambda _wanted: {"study": command})

    def run(*words):
        try:
            code = cli.main(["study", *map(str, words)])
        except SystemExit as end:
            code = end.code
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def saved(study, tmp_path):
    path = tmp_path / "study.json"
    save_study(study, path)
    return path


@pytest.fixture(scope="module")
def explain():
    """Explain nodes of a ring with chords, by a model that sums over neighbours."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 3))
    ring = np.stack((np.arange(12), np.roll(np.arange(12), 1)))
    edges = np.concatenate((ring, ring[::-1], [[0, 6], [6, 0]]), axis=1)

    def model(x, edge_index):
        total = x[..., :2].copy()
        np.add.at(total.swapaxes(0, 1), edge_index[1], x[:, edge_index[0], :2].swapaxes(0, 1))
        return 3 * total

    def explain(targets=(0, 5, 7), **options):
        usual = {"num_layers": 1, "num_samples": 300, "progress": False, "only_significant": False}
        explainer = PGMExplainer(model, x, edges, **{**usual, "max_nodes": 2, **options})
        return explainer.explain_many(list(targets))

    return explain


def test_the_package_adds_the_command_by_an_entry_point():
    project = tomllib.loads((ROOT / "study" / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"]["pgm_explainer.commands"]
    assert entries == {"study": command.__name__}
    assert command.SUMMARY


def test_the_help_of_every_command_works(shell):
    code, out, _ = shell("--help")
    assert code == 0
    assert "examples:\n  pgm-explainer study" in out
    names = re.findall(r"^    (\w+)  ", out, re.MULTILINE)
    assert names == ["make", "serve", "import", "power", "simulate", "report", "export"]
    for name in names:
        assert shell(name, "--help")[0] == 0


def test_a_study_from_simulation_to_export(shell, saved, tmp_path):
    assert shell("simulate", saved, "--raters", 5)[0] == 0
    answers = tmp_path / "study.simulated.sqlite"
    for act, file in (("report", "report.html"), ("export", "answers.parquet")):
        code, out, err = shell(act, saved, "--answers", answers)
        assert (code, err) == (0, "")
        assert file in out
        assert (tmp_path / f"study.{act}" / file).is_file()


def test_simulated_and_human_answers_are_kept_apart(shell, saved, study, tmp_path):
    shell("simulate", saved, "--raters", 1)
    code, _, err = shell("serve", saved, "--answers", tmp_path / "study.simulated.sqlite")
    assert code == 2
    assert "never mixed" in err
    Store(tmp_path / "study.sqlite", study.code).close()
    assert "never mixed" in shell("simulate", saved, "--answers", tmp_path / "study.sqlite")[2]


@pytest.mark.parametrize(
    "words",
    [
        ["report", "nothing.json"],
        ["make", "saved"],
        ["make", "saved", "--arm", "nothing"],
        ["make", "saved", "--arm", "a=nothing.json"],
        ["make", "mnist", "--arm", "a=b"],
        ["make", "nothing"],
        ["make", "mnist", "--items", "-1"],
        ["power"],
        ["power", "--effect", "nan"],
        ["power", "--effect", "1", "--sd-error", "0"],
        ["power", "--effect", "1", "--raters", "1"],
        ["serve", "nothing.json"],
        ["import", "nothing.json", "answers.json"],
    ],
)
def test_wrong_usage_is_one_line(shell, words):
    code, _, err = shell(*words)
    assert code == 2
    assert err.count("\n") == 1
    assert err.startswith("pgm-explainer: error: ")


def test_answers_are_missing(shell, saved):
    assert "does not exist; serve the study first" in shell("report", saved)[2]


def test_power_prints_a_table_and_the_number_of_raters(shell):
    code, out, _ = shell("power", "--effect", 1, "--raters", 10, 50, "--items", 48)
    assert code == 0
    assert re.search(r"raters\s+48 items\n\s+10\s+0\.\d\d\n\s+50\s+0\.\d\d\n", out)
    assert re.search(r"Raters needed for a power of 0.8: 48 items: \d+", out)


@pytest.mark.parametrize(
    ("options", "scene", "parts"),
    [
        ({}, GraphScene, "nodes"),
        ({"parts": Edges()}, GraphScene, "edges"),
        ({"parts": Features()}, ListScene, None),
    ],
    ids=["nodes", "edges", "features"],
)
def test_a_study_of_saved_explanations(shell, explain, tmp_path, options, scene, parts):
    first = explain(**options)
    save_explanations(tmp_path / "ours.json", first)
    save_explanations(tmp_path / "theirs.json", explain(seed=5, **options))
    arms = ["--arm", "Ours=ours.json", "--arm", "Theirs=theirs.json"]
    code, out, err = shell("make", "saved", *arms, "--output", "made.json", "--repeats", 0)
    assert (code, err) == (0, "")
    study = load_study(tmp_path / "made.json")
    assert [arm.id for arm in study.arms] == ["ours", "theirs", "random", "none"]
    assert len(study.items) == 3
    for item, explanation in zip(study.items, first, strict=True):
        assert isinstance(item.scene, scene)
        assert parts is None or item.scene.parts == parts
        counts = {len(item.highlights[arm.id]) for arm in study.rated_arms}
        assert len(counts) == 1
        assert counts <= {1, 2}
        assert str(explanation.target) in item.id
        assert item.forecast is None
    assert f"{len(plan(study, 0))} questions" in out


def test_the_nodes_of_an_arm_may_come_from_another_program(shell, explain, tmp_path):
    save_explanations(tmp_path / "ours.json", explain())
    (tmp_path / "other.json").write_text(json.dumps({"0": [1, 6], "5": [4, 6], "7": [6, 8]}))
    arms = ["--arm", "ours=ours.json", "--arm", "other=other.json"]
    assert shell("make", "saved", *arms, "--output", "made.json")[0] == 0
    study = load_study(tmp_path / "made.json")
    for item, found in zip(study.items, ([1, 6], [4, 6], [6, 8]), strict=True):
        near = {n for edge in item.scene.edges if set(edge) & set(item.scene.targets) for n in edge}
        assert set(item.highlights["other"]) <= near  # neighbours of the target, as the file says
        assert len(found) == len(item.highlights["other"])
    (tmp_path / "other.json").write_text(json.dumps({"0": [1, 99], "5": [4], "7": [6]}))
    assert "99 is not a part" in shell("make", "saved", *arms)[2]
    (tmp_path / "other.json").write_text(json.dumps({"0": [1]}))
    assert "does not explain 5" in shell("make", "saved", *arms)[2]


def handed_back(study, changes):
    answers = [
        {"trial": at, "value": trial.answers(study.scale)[0], "ms": 9, "submission": f"s{at}"}
        for at, trial in enumerate(plan(study, 1))
    ]
    usual = {"format": "pgm-explainer-answers", "version": 1, "study": study.code, "slot": 1}
    return {**usual, "run": "run-1", "answers": answers, **changes}


def test_answers_of_static_pages_are_imported_once(shell, saved, study, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(handed_back(study, {})))
    (tmp_path / "b.json").write_text(json.dumps(handed_back(study, {"run": "run-2"})))
    assert shell("import", saved, "a.json", "b.json")[0] == 0
    assert "was imported before" in shell("import", saved, "a.json")[1]
    store = Store(tmp_path / "study.sqlite", study.code)
    assert [(rater.slot, rater.source) for rater in store.raters()] == [(1, "imported")] * 2
    assert len(store.history()) == 2 * len(plan(study, 1))
    store.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"study": "0" * 32},
        {"version": 2},
        {"slot": -1},
        {"slot": "1"},
        {"run": "<script>"},
        {"answers": [{"trial": 0, "value": 99, "ms": 1, "submission": "s"}]},
        {"answers": "none"},
        {"more": 1},
    ],
    ids=str,
)
def test_forged_answers_are_refused_and_nobody_is_added(shell, saved, study, tmp_path, changes):
    (tmp_path / "a.json").write_text(json.dumps(handed_back(study, changes)))
    code, _, err = shell("import", saved, "a.json")
    assert code == 2
    assert "refused" in err
    assert Store(tmp_path / "study.sqlite", study.code).raters() == []


def test_binding_to_other_addresses_is_said(saved, monkeypatch, capsys):
    import uvicorn

    told = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: told.update(options))
    for host, warned in (("127.0.0.1", False), ("0.0.0.0", True)):
        words = [sys.executable, "serve", str(saved), "--host", host]
        monkeypatch.setattr(sys, "argv", words)
        from pgm_explainer_study.__main__ import main

        assert main() == 0
        assert told["host"] == host
        assert ("other machines can reach this server" in capsys.readouterr().out) == warned


def _breaches():
    """The check of the lab, which is the same for this package."""
    path = ROOT / "lab" / "tests" / "test_public_names.py"
    spec = importlib.util.spec_from_file_location("lab_public_names", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.breaches


def test_only_public_names_of_the_library_are_used():
    breaches = _breaches()
    for path in SOURCE.rglob("*.py"):
        assert breaches(path.read_text()) == [], path


def test_the_command_line_starts_without_heavy_imports():
    heavy = ["torch", "pandas", "starlette", "matplotlib"]
    code = f"import sys, pgm_explainer_study.command; print({{*{heavy}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
