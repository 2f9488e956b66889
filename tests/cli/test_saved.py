"""``show`` and ``query``: a saved explanation without its model."""

import json
import sys

import numpy as np
import pytest

from pgm_explainer import Explanation
from pgm_explainer.dataset import ExplanationDataset
from pgm_explainer.io import load_explanations

from .conftest import EDGES, VISITS


@pytest.fixture
def saved(explain):
    """The names of a file with one explanation, and of one with all."""
    assert explain("--target", "Ann", "--output", "one.json", graph="named.npz")[0] == 0
    assert explain("--target", "all", "--output", "all.json", graph="named.npz")[0] == 0
    return "one.json", "all.json"


def test_show_prints_the_text(saved, shell):
    one, many = saved
    explanations = load_explanations(many)
    assert shell("show", one) == (0, f"{explanations[0]}\n", "")
    assert shell("show", many, "--target", "Dee")[1] == f"{explanations[3]}\n"
    assert all(str(each) in shell("show", many)[1] for each in explanations)


def test_show_converts(saved, shell, folder):
    one, many = saved
    assert shell("show", many, "--output", "all.html")[0] == 0
    assert "Cid, Jr" in (folder / "all.html").read_text()
    assert shell("show", many, "--target", "Ann", "--output", "again.json")[0] == 0
    assert (folder / "again.json").read_bytes() == (folder / one).read_bytes()
    assert json.loads(shell("show", one, "--json")[1]) == json.loads((folder / one).read_text())


def test_query_prints_the_probability_with_and_without_evidence(saved, shell):
    explanation = load_explanations(saved[0])[0]
    known = {"Bob": "original, kept", "Dee": "kept"}
    given = ("--given", "Bob=original,kept", "--given", "Dee=kept")
    code, out, _ = shell("query", "one.json", *given, "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["target"] == "Ann"
    assert answer["given"] == [{"node": node, "known": what} for node, what in known.items()]
    assert (answer["before"], answer["after"]) == (explanation.query(), explanation.query(known))
    assert answer["probability_of_given"] == explanation.network.probability(known)
    assert answer["support"] == explanation.support(known)
    assert answer["warning"] is None
    words = shell("query", "one.json", *given)[1]
    assert f"{explanation.query():.1%}  without evidence" in words
    assert f"{explanation.query(known):.1%}  if Bob is original and kept and Dee is kept" in words


def test_query_prints_the_number_of_supporting_samples(saved, shell):
    share = load_explanations(saved[0])[0].network.probability({"Bob": "kept"})
    said = f"this occurs in {share:.1%} of perturbed graphs, about {200 * share:.0f}"
    words = shell("query", "one.json", "--given", "Bob=kept")[1]
    assert f"(according to the network, {said} of 200 samples)" in words
    assert "Warning" not in words


def test_query_warns_of_an_answer_with_too_few_samples(saved, shell):
    given = ("--given", "Bob=perturbed", "Dee=perturbed,kept")
    words = shell("query", "one.json", *given)[1]
    answer = json.loads(shell("query", "one.json", *given, "--json")[1])
    assert answer["support"] < 5
    assert f"about {answer['support']:.1f} of 200 samples" in words
    assert " ".join(words.split()).endswith(f" Warning: {answer['warning']}.")
    assert "the answer is unreliable" in answer["warning"]


def test_query_prints_the_effects_of_the_given_nodes(saved, shell):
    explanation = load_explanations(saved[0])[0]
    words = " ".join(shell("query", "one.json", "--given", "Bob=kept")[1].split())
    assert words.startswith("Node Ann is predicted to be of class 1 with probability 0.953. In the")
    assert "“kept” means that the probability of class 1 did not fall from 0.953 to below" in words
    effect = next(each for each in explanation.effects if each.node == "Bob")
    size = f"{-100 * effect.effect:.1f} percentage points"
    assert f"Perturbing node Bob lowers the probability of class 1 by {size} (95%" in words
    assert words.count("Perturbing node") == 1


def test_given_accepts_several_facts(saved, shell):
    apart = ("--given", "Bob=kept", "--given", "Dee=original")
    together = ("--given", "Bob=kept", "Dee=original")
    assert shell("query", "one.json", *together) == shell("query", "one.json", *apart)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", "all.json"], "5 explanations; choose one with --target: Ann, Bob, 'Cid, Jr'"),
        (["query", "all.json", "--target", "Zed"], "there is no explanation in all.json of 'Zed'"),
        (["query", "one.json", "--given", "Bib=kept"], "did you mean Bob?"),
        (["query", "one.json", "--given", "Bob"], "not of the form NODE=STATE, such as 300=kept"),
        (["query", "one.json", "--given", "Bob=odd"], "'odd' is not valid evidence for 'Bob'"),
        (["query", "one.json", "--given", "Bob=kept,changed"], "contradicts itself"),
        (["query", "no.json"], "no.json cannot be read"),
        (["show", "people.csv"], "not JSON"),
        (["show", "empty.json"], "contains no explanations"),
        (["show", "all.json", "--output", "all.png"], "a plot shows one explanation"),
    ],
)
def test_an_error_is_one_line(saved, shell, folder, arguments, said):
    (folder / "empty.json").write_text("[]")
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("pgm-explainer: error: ")
    assert err.count("\n") == 1


@pytest.fixture
def data_set(shell):
    """A data set of all five people, and what it holds."""
    named = ("--model", "visits_model:model", "--graph", "graph.npz", "--num-layers", "1")
    code, _, err = shell("run", *named, "--output", "people", "--engine", "local")
    assert code == 0, err
    return ExplanationDataset("people")


def test_a_data_set_is_shown_as_a_whole_or_by_target(data_set, shell, folder):
    assert shell("show", "people") == (0, f"{data_set.overview()}\n", "")
    assert shell("show", "people", "--target", "3") == (0, f"{data_set[3]}\n", "")
    assert shell("show", "people", "--output", "people.html")[0] == 0
    assert (folder / "people.html").read_text().count('"target"') >= 5
    assert len(json.loads(shell("show", "people", "--json")[1])) == 5


def test_without_pyarrow_the_error_says_what_to_install(data_set, shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for command in (["show", "people"], ["query", "people", "--target", "0"]):
        code, _, err = shell(*command)
        assert (code, err.count("\n")) == (2, 1)
        assert "pip install 'pgm-explainer[dataset]'" in err


def test_a_data_set_can_be_queried(data_set, shell):
    answer = json.loads(shell("query", "people", "--target", "0", "--given", "1=kept", "--json")[1])
    assert answer["after"] == data_set[0].query({1: "kept"})
    code, _, err = shell("query", "people")
    assert code == 2
    assert "--target" in err


def test_a_data_set_keeps_the_names_of_the_graph(shell, folder):
    named = ("--model", "visits_model:model", "--graph", "named.npz", "--num-layers", "1")
    assert shell("run", *named, "--output", "people", "--engine", "local")[0] == 0
    assert shell("show", "people", "--target", "Ann")[1].startswith(
        "The model predicts class 1 for node Ann, with"
    )
    assert "Cid, Jr" in shell("show", "people")[1]
    answer = json.loads(
        shell("query", "people", "--target", "Ann", "--given", "Bob=kept", "--json")[1]
    )
    assert answer["target"] == "Ann"
    assert "did you mean" in shell("show", "people", "--target", "Anna")[2]


@pytest.mark.parametrize("target", ["all", "10-12", "9", "10,11", "1" * 5000])
def test_a_data_set_with_names_is_queried_by_name(shell, folder, target):
    np.savez("tens.npz", x=VISITS, edge_index=EDGES, names=np.arange(10, 15))
    named = ("--model", "visits_model:model", "--graph", "tens.npz", "--num-layers", "1")
    assert shell("run", *named, "--output", "people", "--engine", "local")[0] == 0
    assert shell("show", "people", "--target", "12")[1].startswith(
        "The model predicts class 0 for node 12, with"
    )
    code, out, err = shell("show", "people", "--target", target)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "there is no node in people called" in err


def test_a_pair_of_a_data_set_with_names_is_typed_by_them(shell, folder):
    named = ("--model", "visits_model:pairs", "--graph", "named.npz", "--num-layers", "1")
    targets = ("--task", "edge", "--target", "Ann,Bob", "Cid, Jr,Bob", "--output", "pairs")
    assert shell("run", *named, *targets)[0] == 0
    for typed in ("Ann,Bob", "Cid, Jr,Bob"):
        code, out, err = shell("show", "pairs", "--target", typed, "--json")
        assert code == 0, err
        assert ",".join(json.loads(out)["target"]) == typed
    assert "there is no node 'all'" in shell("show", "pairs", "--target", "all,Bob")[2]
    assert "pair such as" in shell("show", "pairs", "--target", "all")[2]


def test_a_target_missing_from_a_data_set_is_an_error(data_set, shell, folder, monkeypatch):
    for target in ("7", "Ann", "3,4", "node,3", "1.0", "3" * 5000):
        code, _, err = shell("show", "people", "--target", target)
        assert code == 2
        assert "target" in err
    (folder / "empty").mkdir()
    assert "not a data set" in shell("show", "empty")[2]
    monkeypatch.setattr("pgm_explainer.cli.saved._MOST_AT_ONCE", 4)
    assert "choose one with --target" in shell("show", "people", "--json")[2]


@pytest.mark.parametrize("ending", [".md", ".html", ".docx", ".pdf"])
def test_show_writes_a_report(saved, shell, folder, ending):
    if ending == ".docx":
        pytest.importorskip("docx")
    name = f"why{ending}"
    code, out, err = shell("show", saved[0], "--report", name)
    assert (code, out) == (0, "")
    assert f"report written to {name}" in err
    assert (folder / name).stat().st_size > 500


def test_the_words_of_a_report_are_chosen(saved, shell, folder):
    (folder / "own.json").write_text('{"heading_tried": "Tried"}')
    options = ("--audience", "engineer", "--templates", "own.json")
    assert shell("show", saved[1], "--target", "Ann", "--report", "why.md", *options)[0] == 0
    text = (folder / "why.md").read_text()
    assert "## Tried" in text
    assert "perturbed graphs" in text
    assert load_explanations(saved[0])[0].reason("engineer")[:60] in text


def test_the_words_of_a_page_are_chosen(saved, shell, folder):
    (folder / "own.json").write_text('{"noun_node": "account", "title": "The case of {target}"}')
    options = ("--audience", "engineer", "--templates", "own.json")
    assert shell("show", saved[1], "--output", "why.html", *options)[0] == 0
    text = (folder / "why.html").read_text()
    assert '"headline": "The case of account ' in text or '"headline":"The case of account ' in text
    assert "perturbing account " in text.lower()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "why.txt"], "must be one of .md, .html, .docx, .pdf"),
        (["--report", "missing/why.md"], "there is no folder missing"),
        (["--report", "why.md", "--audience", "boss"], "manager, engineer"),
        (["--report", "why.md", "--templates", "none.json"], "none.json cannot be read"),
        (["--templates", "none.json"], "--templates needs --report"),
        (["--report", "why.md"], "a report is about one explanation, not 5"),
    ],
)
def test_a_wrong_report_is_refused(saved, shell, folder, options, message):
    code, _, err = shell("show", saved[1], *options)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (folder / "why.md").exists()


def test_explain_writes_a_report(explain, folder):
    code, out, err = explain("--target", "Ann", "--report", "why.md", graph="named.npz")
    assert (code, out) == (0, "")
    assert "report written to why.md" in err
    assert "for node Ann, with a probability of" in (folder / "why.md").read_text()
    code, _, err = explain("--target", "Ann", "Bob", "--report", "many.md", graph="named.npz")
    assert code == 2
    assert "about one explanation, not 2" in " ".join(err.split())


def test_each_target_has_a_report_of_its_own(explain, shell, folder):
    (folder / "reports").mkdir()
    every = ("--target", "Ann", "Cid, Jr", "Bob")
    code, _, err = explain(*every, "--report", "reports/{target}.md", graph="named.npz")
    assert code == 0, err
    assert sorted(each.name for each in (folder / "reports").iterdir()) == [
        "Ann.md",
        "Bob.md",
        "Cid, Jr.md",
    ]
    assert "for node Bob" in (folder / "reports/Bob.md").read_text()
    code, _, err = explain(*every, "--report", "why.md", graph="named.npz")
    assert code == 2
    assert "a report is about one explanation, not 3; " in err
    assert "a name with {target} for one file each, such as 'why-{target}.md'" in err
    assert not (folder / "why.md").exists()
    # The same from a saved file, and for the other outputs.
    assert explain("--target", "0-2", "--output", "all.json")[0] == 0
    options = ("--report", "{target}.md", "--output", "node {target}.json")
    assert shell("show", "all.json", *options)[0] == 0
    assert "for node 2," in (folder / "2.md").read_text()
    assert Explanation.load("node 1.json").target == 1


def test_names_of_targets_are_made_names_of_files(tmp_path, folder):
    from types import SimpleNamespace

    from pgm_explainer.cli.outputs import _files

    targets = ["a/b", "a:b", "..", "A/B", ("author", 5), "", "é ü", "x" * 300]
    shown = [SimpleNamespace(target=each, position=None) for each in targets]
    names = [place.name for place, _ in _files(tmp_path / "{target}.md", shown)]
    assert names[:7] == [
        "a_b.md",
        "a_b-2.md",
        "_.md",
        "A_B-3.md",
        "author,5.md",
        "_-2.md",
        "é ü.md",
    ]
    assert len(names[7]) < 120
    assert len({name.lower() for name in names}) == len(names)
    graph = SimpleNamespace(target="graph", position=3)
    assert [place.name for place, _ in _files(tmp_path / "{target}.md", [graph])] == ["3.md"]
