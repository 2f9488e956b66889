"""The smallest change of a prediction: how often it works is said wherever it is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from pgm_explainer import Explanation, Features, FileError, InputError, MinimalSet, PGMExplainer
from pgm_explainer.io import explanation_from_dict, explanation_to_dict

RARE = "fewer than half"


def votes(x):
    """Three of six nodes vote; a perturbed node votes as another node does."""
    total = x[:, :3].sum(axis=(1, 2))
    return np.stack([1.5 - total, total - 1.5], axis=-1)


@pytest.fixture(scope="module")
def explainer():
    x = np.array([[1.0]] * 3 + [[0.0]] * 3)
    edges = np.array([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]])
    return PGMExplainer(
        lambda x, edge_index: votes(x), x, edges, task="graph", perturbation="permute"
    )


@pytest.fixture(scope="module")
def explanation(explainer):
    return explainer.explain()


@pytest.fixture(scope="module")
def rare(explanation):
    """Two votes of three change the prediction with probability 0.6 squared."""
    return explanation.counterfactual(probability=0.3, max_size=2)


def test_a_larger_set_that_usually_works_is_preferred(explanation, rare):
    """All three votes change it if at least two of them fall: 0.6³ + 3 · 0.6² · 0.4 = 0.648."""
    assert len(rare) == 2
    assert rare.probability < 0.5
    usual = explanation.counterfactual(probability=0.3)
    assert sorted(usual.parts) == [0, 1, 2]
    assert usual.low < 0.648 < usual.high
    assert len(usual.values) == 3


def test_at_most_one_part_is_added():
    """A second part is added only if it is enough for half of the perturbations."""
    x = np.repeat([[1.0], [0.0], [1.0]], [4, 3, 3], axis=0)
    chance = {"num_samples": 1000}

    def model(x, edge_index):  # any of the first four nodes changes it if it becomes 0
        least = x[:, :4, 0].min(axis=1)
        return np.stack([0.5 - least, least - 0.5], axis=-1)

    edges = np.array([np.arange(1, 10), np.zeros(9, int)])
    found = PGMExplainer(model, x, edges, task="graph", perturbation="permute").explain()
    # A perturbed node becomes 0 in 3 of 9 cases: 0.33, 0.56 for two.
    assert len(found.counterfactual(probability=0.2, **chance)) == 2
    x = np.repeat([[1.0], [0.0], [1.0]], [4, 2, 9], axis=0)
    edges = np.array([np.arange(1, 15), np.zeros(14, int)])
    found = PGMExplainer(model, x, edges, task="graph", perturbation="permute").explain()
    # Here in 2 of 14: 0.14 and 0.27 for two.
    alone = found.counterfactual(probability=0.1, **chance)
    assert len(alone) == 1
    assert alone.is_rare


def test_a_rare_change_is_called_rare_wherever_it_is_shown(explanation, rare, tmp_path):
    shown = explanation.with_counterfactual(rare)
    share = f"{100 * rare.probability:.1f}%"
    outputs = [str(rare), shown.reason(), shown.reason("engineer"), str(shown), shown.to_html()]
    outputs += [shown.report(tmp_path / f"why{ending}").read_text() for ending in (".md", ".html")]
    outputs.append(shown._repr_html_())
    for text in outputs:
        flat = " ".join(text.replace("\\", "").split())
        assert RARE in flat
        assert share in flat
    assert RARE in repr(rare)
    usual = explanation.counterfactual()
    for text in (str(usual), repr(usual), explanation.reason(counterfactual=usual)):
        assert RARE not in text
    assert f"{100 * usual.probability:.1f}%" in explanation.reason(counterfactual=usual)


def test_a_certain_change_needs_no_interval():
    x = np.array([[2.0], [1.0], [1.0]])
    edges = np.array([[0, 1, 2], [0, 0, 0]])

    def model(x, edge_index):
        score = np.zeros((*x.shape[:2], 2))
        score[:, 0, 1] = x[:, 0, 0] - 1
        return score

    explanation = PGMExplainer(model, x, edges, num_layers=1, perturbation="zero").explain(0)
    said = explanation.reason(counterfactual=True)
    assert (
        "The smallest change found is replacing the data of node 0: it changes the prediction "
        "every time; for example, 0: feature 0 2 → 0." in said
    )
    assert "always" in str(explanation.counterfactual())


@pytest.mark.parametrize("ending", [".md", ".html", ".docx", ".pdf"])
def test_reports_have_a_sentence_in_every_format(explanation, ending, tmp_path):
    if ending == ".docx":
        pytest.importorskip("docx")
    plain = explanation.report(tmp_path / f"plain{ending}").read_bytes()
    path = explanation.report(tmp_path / f"why{ending}", counterfactual=True)
    assert path.read_bytes() != plain
    if ending == ".docx":
        import docx

        text = " ".join(each.text for each in docx.Document(path).paragraphs)
    elif ending != ".pdf":
        text = path.read_text()
    else:
        return
    assert "The smallest change found is replacing the data of node" in text


def test_if_there_is_none_the_reason_says_so(explanation, explainer):
    with pytest.raises(Exception, match="no set of at most 1"):
        explanation.counterfactual(max_size=1)
    never = PGMExplainer(
        lambda x, edge_index: np.stack([0 * x.sum((1, 2)), 9 + x.sum((1, 2))], axis=-1),
        np.eye(4)[:, :1],
        np.array([[1, 2, 3], [0, 0, 0]]),
        task="graph",
    ).explain()
    shown = never.with_counterfactual()
    assert shown.smallest_change is not None
    assert shown.smallest_change.parts == ()
    assert "No set of nodes was found that changes the prediction often enough" in shown.reason()
    assert "No set of the 4 parts was found" in str(shown.smallest_change)
    assert "No set of nodes" in explanation_from_dict(explanation_to_dict(shown)).reason()


def test_it_is_saved_renamed_and_removed(explanation, tmp_path):
    shown = explanation.with_counterfactual()
    shown.save(tmp_path / "why.json")
    again = Explanation.load(tmp_path / "why.json")
    assert again.smallest_change == shown.smallest_change
    assert again.reason() == shown.reason()
    named = again.named({node: f"n{node}" for node in range(6)})
    assert set(named.smallest_change.parts) == {f"n{each}" for each in shown.smallest_change.parts}
    assert "node n" in re.search("smallest change.*", named.reason())[0]
    assert named.with_counterfactual(False).reason() == named.reason(counterfactual=False)
    assert "smallest change" not in named.reason(counterfactual=False)
    assert "smallest_change" not in explanation_to_dict(explanation)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parts", [0, 99]),
        ("parts", [0, 0]),
        ("probability", 2),
        ("low", 0.99999),
        ("values", ["a"] * 7),
        ("queries", -1),
        ("more", 1),
    ],
)
def test_a_file_with_an_impossible_change_is_refused(explanation, field, value):
    document = json.loads(json.dumps(explanation_to_dict(explanation.with_counterfactual())))
    document["smallest_change"][field] = value
    with pytest.raises(FileError, match="smallest_change"):
        explanation_from_dict(document)


def test_only_a_counterfactual_of_the_same_explanation_is_accepted(explanation, tmp_path):
    found = explanation.counterfactual()
    for wrong in (explanation.sufficient(), "yes", 1, replace(found, parts=(0, 77))):
        with pytest.raises(InputError, match="counterfactual"):
            explanation.report(tmp_path / "why.md", counterfactual=wrong)
    assert not list(tmp_path.iterdir())
    copied = replace(explanation, source=None)
    with pytest.raises(InputError, match="does not include the model"):
        copied.reason(counterfactual=True)
    assert isinstance(copied.with_counterfactual(found).smallest_change, MinimalSet)


def test_edges_are_removed_not_replaced():
    x = np.ones((3, 1))
    edges = np.array([[1, 2], [0, 0]])

    def model(x, edge_index):
        score = np.zeros((*x.shape[:2], 2))
        np.add.at(score[..., 1].T, edge_index[1], x[:, edge_index[0], 0].T)
        score[..., 0] = 1.5
        return score

    found = PGMExplainer(model, x, edges, num_layers=1, parts="edges").explain(0)
    said = found.reason(counterfactual=True)
    assert re.search(r"The smallest change found is removing edge [12] → 0: it changes the", said)


def test_the_values_of_features_are_told():
    """The model checks whether the first feature of node 0 is above 5."""
    x = np.random.default_rng(0).uniform(0, 10, size=(40, 2))
    x[0] = 7.0, 1.0

    def model(x, edge_index):
        score = np.zeros((*x.shape[:2], 2))
        score[:, 0, 1] = 3 * (x[:, 0, 0] > 5) - 1.5
        return score

    edges = np.array([[1], [0]])
    options = {"num_layers": 1, "feature_names": ["pay", "age"], "perturbation": "permute"}
    explainer = PGMExplainer(model, x, edges, parts=Features(nodes=[0]), **options)
    change = explainer.explain(0).counterfactual(probability=0.2)
    assert change.parts == ((0, "pay"),)
    (value,) = change.values
    before, after = value.removeprefix("pay ").split(" → ")
    assert float(before) == 7
    below = x[x[:, 0] < 5, 0]
    assert float(after) == pytest.approx(below.max(), abs=0.01)  # the smallest change that works
    assert f"; for example, {value}." in explainer.explain(0).reason(counterfactual=change)


def test_a_set_that_never_works_is_not_said_to_work_rarely():
    never = MinimalSet("counterfactual", (), 0.0, 0.0, 0.02, 900, 3)
    assert "changes it in none of the random perturbations (95% interval 0.0% to 2.0%)" in str(
        never
    )
    assert RARE not in str(never)
