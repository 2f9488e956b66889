"""A short attack of each part, and what the attack itself must not miss."""

import inspect
import os
import random
import sys
from pathlib import Path

import pytest

import pgm_explainer
from pgm_explainer import (
    BayesianNetwork,
    Explanation,
    ExplanationDataset,
    PGMExplainer,
    PGMExplainerError,
)
from pgm_explainer_lab.attack import calls, commands, files, kills
from pgm_explainer_lab.attack.__main__ import main
from pgm_explainer_lab.attack.cases import checked, run_cases
from pgm_explainer_lab.attack.surface import surface

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="it reads /proc"),
]


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory):
    """One folder for all cases of a process, as in an attack: it holds what they prepare."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("attack"))
    yield
    os.chdir(before)


@pytest.mark.parametrize(("part", "cases"), [(calls, 30), (files, 60), (kills, 1)])
def test_nothing_is_found(part, cases):
    """The same on every run; ``make attack`` runs other and more cases."""
    found = [checked(part, 0, number) for number in range(cases)]
    assert [each for each in found if each] == []


@pytest.mark.parametrize("kind", files.KINDS)
def test_a_sound_file_is_read(kind):
    """Or its mutations would be refused for another reason."""
    for document in files.documents()[kind]:
        assert files.KINDS[kind][1](document) is None


def test_valid_commands_succeed():
    commands.prepare()
    ended = [commands.run(commands.valid_words(random.Random(seed)))[0] for seed in range(15)]
    assert ended.count(0) >= 10  # some options exclude each other


def test_valid_calls_are_answered():
    """Apart from a server that is not there, and sets of parts that may not exist."""
    calls = {name: call for group in surface().values() for name, call in group.items()}
    refused = {name for name, call in calls.items() if _is_refused(*call)}
    words = ("counterfactual", "sufficient", "HttpPredictor")
    assert {each for each in refused if not each.endswith(words)} == set()


def _is_refused(call, arguments):
    try:
        call(**arguments)
    except PGMExplainerError:
        return True
    return False


RESULTS = {"Explanation", "FeatureEffects", "MinimalSet"}
PROTOCOLS = {"Change", "Engine", "GraphicalModel", "Perturbation", "Predictor"}
WITHOUT_ARGUMENTS = {"FNMLScore", "Flip", "GESSearch", "LocalEngine", "Nodes", "QNMLScore"}


def test_every_public_name_is_attacked():
    called = " ".join(name for group in surface().values() for name in group)
    own = {
        name
        for name in pgm_explainer.__all__
        if callable(getattr(pgm_explainer, name)) and not name.endswith(("Error", "Warning"))
    }
    made = RESULTS | PROTOCOLS | WITHOUT_ARGUMENTS | {"PGMExplainer", "explain_graphs"}
    assert {name for name in own - made if name not in called} == set()


@pytest.mark.parametrize("kind", [PGMExplainer, Explanation, BayesianNetwork, ExplanationDataset])
def test_every_public_method_with_arguments_is_attacked(kind):
    called = " ".join(name for group in surface().values() for name in group)
    methods = {
        name
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and len(inspect.signature(method).parameters) > 1
    }
    assert {name for name in methods if name not in called} == set()


BROKEN = """
import os, time
import numpy as np
FULL, MOST_CPU, MOST_WALL, MOST_MEMORY = 7, 1.0, 60.0, 50

def case(seed, number):
    if number == 1:
        return f"wrong for seed {seed}"
    if number == 2:
        raise KeyError("raw")
    if number == 3:
        os.kill(os.getpid(), 9)
    if number == 4:
        while True:
            pass
    if number == 5:
        np.ones(2**23)
"""


def test_wrong_answers_errors_deaths_hangs_and_memory_are_found(tmp_path, monkeypatch):
    (tmp_path / "broken_part.py").write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.syspath_prepend(tmp_path)
    found = {each.number: str(each) for each in run_cases("broken_part", 9, range(7))}
    assert sorted(found) == [1, 2, 3, 4, 5]
    for number, says in enumerate(
        ["wrong for seed 9", "KeyError: 'raw'", "exit code -9", "more than 1 s", "MB of memory"], 1
    ):
        assert says in found[number]
        assert f"--seed 9 --only broken_part {number}" in found[number]


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--parts", "calls,nothing"])
    assert "unknown parts: nothing" in capsys.readouterr().err
