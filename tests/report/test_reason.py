"""The written reason: its numbers are those of the explanation, for every kind of explanation."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import (
    Explanation,
    FeatureEffects,
    InputError,
    PGMExplainer,
    PGMExplainerWarning,
)
from pgm_explainer.report.reason import reason_sentences
from pgm_explainer.report.template_texts import AUDIENCES
from pgm_explainer.report.templates import templates_for

JARGON = re.compile(r"perturb|p-value|\bp [=<]|significan|\bsample|network|Markov|null", re.I)
NUMBER = r"(\d+(?:\.\d+)?)"
FULL = re.compile(
    rf"(?:node (\d+)(?: itself)?) (lowers|raises) the probability of class \d by {NUMBER} "
    rf"percentage points \(95% (?:range|interval) {NUMBER} to {NUMBER}"
)
MORE = re.compile(rf"(?:,| and) node (\d+) by {NUMBER} \({NUMBER} to {NUMBER}")


def effects_in(text: str) -> dict[int, tuple[float, float, float]]:
    """Every effect that a text tells, by node: signed, with its interval, in percentage points."""
    told = {}
    for sentence in re.split(r"(?<=\.) (?=[A-Z])", text):
        first = FULL.search(sentence)
        if first is None:
            continue
        sign = -1 if first[2] == "lowers" else 1
        for node, *numbers in [(first[1], *first.groups()[2:]), *MORE.findall(sentence)]:
            told[int(node)] = tuple(sign * float(each) for each in numbers)
    return told


def weighted(weights):
    """A model of four nodes in which node 0 weighs their features."""

    def model(x):
        score = 3 * x[..., 0] - 1
        score[:, 0] = x[..., 0] @ np.array(weights, float)
        return np.stack([0 * score, score], axis=-1)

    return model


def explained(weights, **options):
    edges = np.array([[1, 2, 3], [0, 0, 0]])
    chosen = {"num_layers": 1, "num_samples": 400, "perturb_probability": 0.3, **options}
    x = np.array([[1.0], [0.8], [0.6], [0.9]])
    return PGMExplainer(weighted(weights), x, edges, perturbation="zero", **chosen).explain(0)


@given(st.lists(st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0]), min_size=4, max_size=4))
def test_the_numbers_are_those_of_the_effects_and_samples(weights):
    explanation = explained(weights)
    effects = {each.node: each for each in explanation.effects}
    found = {node for node, each in effects.items() if each.significant}
    for audience in AUDIENCES:
        text = explanation.reason(audience)
        told = effects_in(text)
        assert found >= told.keys()
        clear = [node for node in found if effects[node].low > 0 or effects[node].high < 0]
        assert bool(told) == bool(clear)
        if clear:  # the largest in each direction are never left out
            falls = [node for node in clear if effects[node].effect < 0]
            for some in (falls, [node for node in clear if node not in falls]):
                if some:
                    assert max(some, key=lambda node: abs(effects[node].effect)) in told
        for node, (effect, *ends) in told.items():
            low, high = sorted(ends)
            its = effects[node]
            assert (effect, low, high) == pytest.approx(
                (100 * its.effect, 100 * its.low, 100 * its.high), abs=0.0501
            )
        count = 400 * explanation.class_stayed
        often = {0.0: "none", 400.0: "all"}.get(count, f"{explanation.class_stayed:.1%}")
        named = f"class {explanation.predicted_class} in {often} of "
        assert f"still predicted {named}" in text
    mean, before = explanation.sample_mean, explanation.probability
    if min(mean, before) > 0.001 and max(mean, before) < 0.999:
        assert f"averaged {mean:.1%} ({before:.1%} with" in explanation.reason()


@pytest.mark.parametrize("audience", AUDIENCES)
def test_there_are_three_to_six_sentences_for_every_kind(kinds, parts, crowd, audience):
    for explanation in (*kinds.values(), *parts.values(), crowd(30, 9, num_samples=3000)):
        sentences = reason_sentences(explanation, audience)
        assert 3 <= len(sentences) <= 6
        for sentence in sentences:
            assert isinstance(sentence[0], str)
            assert sentence[0][0].isupper()
            assert str(sentence[-1]).endswith(".")
        assert "{" not in explanation.reason(audience)


def test_a_manager_reads_no_jargon(kinds, parts):
    for explanation in (*kinds.values(), *parts.values()):
        assert not JARGON.search(explanation.reason())
        assert JARGON.search(explanation.reason("engineer"))


def test_an_engineer_reads_p_values_settings_and_warnings(kinds):
    text = kinds["node"].reason("engineer")
    first = kinds["node"].effects[0]
    assert f"p = {np.exp(first.log_p):.1g}" in text
    assert "each node is perturbed with probability 0.25" in text
    assert "level 0.05, Benjamini–Hochberg" in text
    warned = replace(kinds["node"], warnings=("the tables are thin", "the moon is full"))
    assert warned.reason("engineer").endswith("Warnings: the tables are thin; the moon is full.")
    assert warned.reason().endswith("read the warnings (2).")


def test_the_prediction_comes_first(kinds):
    openings = {
        "node": "The model predicts class 2 for node 14, with a probability of 95.4%.",
        "graph": "The model predicts class 2 for the graph, with a probability of",
        "edge": "The model predicts class 0 for the pair 14 – 2, with a probability of",
        "label": "The model predicts the absence of label 1 for node 14, with a probability of 50",
        "values": "The model predicts the values -5.572, -0.01569 and 3.011 for node 14.",
        "value": "The model predicts the value 3.011 of output 2 for node 14.",
        "other class": "The model predicts class 2 for node 14, not class 1, to which it gives a",
    }
    for kind, opening in openings.items():
        assert kinds[kind].reason().startswith(opening), kind


def test_the_strongest_pair_is_told(kinds):
    explanation = kinds["node"]
    pair = explanation.effects.pairs[0]
    first, second = pair.nodes
    numbers = pair.joint, pair.joint - pair.excess, pair.low, pair.high
    joint, total, low, high = (f"{100 * number:+.1f}".replace("-", "−") for number in numbers)
    assert (
        f"; node {first} and node {second} together change the probability of class 2 by {joint} "
        f"percentage points, not by {total}, the sum of their single effects (95% range of the "
        f"difference {low} to {high})."
    ) in explanation.reason()
    assert abs(pair.excess) == max(abs(each.excess) for each in explanation.effects.pairs)
    small = replace(explanation.effects, pairs=(replace(pair, excess=0.005),))
    assert "together" not in replace(explanation, effects=small).reason()
    assert len(plain_sentences(explanation)) <= 6


def test_a_feature_without_a_direction_is_told_only_alone(kinds):
    table = features_of((14, 0, -0.3, True), (14, 1, 0.001, True))
    both = replace(kinds["node"], features=table)
    assert "count_in" not in plain_sentences(both)[1]
    alone = replace(kinds["node"], features=features_of((14, 1, 0.001, True)))
    assert "“count_in” of node 14 changes" in plain_sentences(alone)[1]


def test_rows_of_a_report_are_in_the_order_of_the_number_shown(kinds, tmp_path):
    table = features_of((14, 0, -0.1, True), (14, 1, -0.3, True), (8, 2, -0.9, True))
    effects = kinds["node"].effects
    strength = np.linspace(0.1, 1, len(effects))[::-1]
    shuffled = replace(effects, strength=strength)  # not in the order of the effects
    explanation = replace(kinds["node"], features=table, effects=shuffled)
    text = explanation.report(tmp_path / "why.md").read_text()
    rows = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("|")][2:]
    sizes = [abs(float(number.replace("−", "-"))) for _, number in rows]
    assert sizes[:3] == [30.0, 10.0, 90.0]  # the target's own features first
    found = sizes[3 : 3 + int(effects.significant.sum())]
    assert found == sorted(found, reverse=True)


def test_evidence_for_and_against_is_told_apart(kinds):
    explanation = kinds["node"]
    for_it, against = [
        next(
            each.partition("; node")[0]
            for each in explanation.reason().split(". ")
            if ending in each
        )
        for ending in ("makes class 2 more likely", "makes class 2 less likely")
    ]
    for each in explanation.effects:
        if each.significant and each.low > 0:
            assert f"node {each.node} " not in for_it
        if each.significant and each.high < 0:
            assert f"node {each.node} " not in against


def test_a_regression_has_no_class(kinds):
    assert "the predicted value averaged" in kinds["value"].reason()
    assert "differed from the original ones by" in kinds["values"].reason()
    for kind in ("value", "values"):
        assert "likely" not in kinds[kind].reason()
        assert "class" not in kinds[kind].reason()


def test_nothing_found_is_said(kinds):
    said = kinds["constant"].reason()
    assert "Replacing the data of any single node makes no clear difference" in said
    assert "still predicted class 0 in all of them" in said
    edges, x = np.array([[1, 2], [0, 0]]), np.ones((3, 1))

    def constant(x, edge_index):
        return np.ones((*x.shape[:2], 2))

    explainer = PGMExplainer(constant, x, edges, num_layers=1, num_samples=50, parts="edges")
    assert (
        "Removing any single edge has no significant effect on the probability of class 0."
        in explainer.explain(0).reason("engineer")
    )


def test_names_appear_as_they_are(kinds):
    named = kinds["node"].named({14: ("author", 5), 8: "Bob"})
    assert "for node author 5, with" in named.reason()
    assert "Replacing the data of node Bob lowers" in named.reason()


def features_of(*rows):
    """Effects of features: a node, a feature, an effect, and whether it is significant."""
    nodes, columns, effects, found = map(np.array, zip(*rows, strict=True))
    size = np.ones(len(rows))
    names = ("share_given", "count_in", "weak")
    return FeatureEffects(
        nodes, columns, effects, effects - 0.01, effects + 0.01, size, -20 * size, found,
        ends=np.array([14]), feature_names=names,
    )  # fmt: skip


def test_the_targets_own_features_come_first(kinds, tmp_path):
    """Features are told if the explanation has them, with their own numbers."""
    rows = [(8, 0, -0.9, True), (14, 2, 0.05, False), (14, 1, 0.1, True), (14, 0, -0.3, True)]
    explanation = replace(kinds["node"], features=features_of(*rows))
    assert plain_sentences(explanation)[1] == (
        "Replacing “share_given” of node 14 lowers the probability of class 2 by 30.0 percentage "
        "points (95% range 29.0 to 31.0), so the original data makes class 2 more likely; "
        "replacing “count_in” of node 14 raises the probability of class 2 by 10.0 percentage "
        "points (95% range 9.0 to 11.0), so the original data makes class 2 less likely; "
        "replacing “share_given” of node 8 lowers the probability of class 2 by 90.0 percentage "
        "points (95% range 89.0 to 91.0), so the original data makes class 2 more likely."
    )
    assert 3 <= len(plain_sentences(explanation)) <= 6
    table = explanation.report(tmp_path / "why.md").read_text()
    assert r"| share\_given | −30.0 | −31.0 to −29.0 | more likely |" in table
    assert r"| share\_given of node 8 | −90.0 |" in table
    assert "when one node or feature is given replacement data." in table
    assert "| node or feature |" in table
    assert plain_sentences(kinds["node"])[1] == (
        "Replacing the data of node 14 itself makes no clear difference."
    )


def test_the_values_of_the_targets_features_are_told(kinds, tmp_path):
    """With the mean of all nodes or, for categories, the share of nodes with the same value."""
    table = features_of((14, 0, -0.3, True), (14, 1, -0.2, True), (8, 2, -0.1, True))
    nan = np.nan
    table = replace(
        table,
        value=np.array([0.8333, 1.0, nan]),
        mean=np.array([0.1234, nan, nan]),
        share=np.array([nan, 0.0821, nan]),
    )
    explanation = replace(kinds["node"], features=table, feature_names=table.feature_names)
    assert (
        "Replacing “share_given” (0.833; mean of all nodes 0.123) of node 14 lowers"
        in plain_sentences(explanation)[1]
    )
    assert "and “count_in” (1, as for 8.2% of all nodes) by 20.0" in plain_sentences(explanation)[1]
    written = explanation.report(tmp_path / "why.md").read_text()
    assert r"| share\_given (0.833) | −30.0 |" in written
    assert "| weak of node 8 | −10.0 |" in written
    assert '"share_given (0.833)"' in explanation.to_html()
    explanation.save(tmp_path / "why.json")
    assert Explanation.load(tmp_path / "why.json").reason() == explanation.reason()


def plain_sentences(explanation):
    said = reason_sentences(explanation)
    return ["".join(p if isinstance(p, str) else str(p.number) for p in each) for each in said]


def test_templates_can_be_replaced():
    german = {
        "predicted": "Das Modell sagt {outcome} für {target} voraus ({probability}).",
        "class": "Klasse {name}",
        "part": "Knoten {name}",
        "measured": "die Wahrscheinlichkeit von {outcome}",
        "points": "{number} Prozentpunkte",
        "replacing": "Ersetzt man die Daten von {part},",
        "replacing_own": "Ersetzt man die Daten von {part} selbst,",
        "lowers": "{action} sinkt {measured} um {size} ({low} bis {high})",
        "and": " und ",
    }
    explanation = explained([2.0, 2.0, 0.0, 0.0])
    said = explanation.reason(templates=german)
    assert said.startswith("Das Modell sagt Klasse 1 für Knoten 0 voraus (")
    first = next(each for each in explanation.effects if each.node == 0)
    assert (
        f"Ersetzt man die Daten von Knoten 0 selbst, sinkt die Wahrscheinlichkeit von Klasse 1 um "
        f"{-100 * first.effect:.1f} Prozentpunkte" in said
    )
    assert " und " in said
    # A brace that is none of a field, and a template that is not used.
    assert "{x}" in explanation.reason(templates={"class": "{{x}}", "value": ""})


WRONG = [
    (
        {"opening": ""},
        r"there is no template 'opening'; the templates are predicted, not_predicted, ",
    ),
    ({"predicted": "{who}"}, r"'predicted' has no field \{who\}; it has \{target\}, \{outcome\}"),
    ({"predicted": "{0}"}, r"'predicted' has no field \{0\}"),
    ({"predicted": "{target.__class__}"}, r"'predicted' has no field \{target.__class__\}"),
    ({"graph": "{name}"}, r"'graph' has no field \{name\}; it has none"),
    ({"pair": "{name:>9}"}, r"field \{name\} of the template 'pair' takes no format"),
    ({"pair": "{name!r}"}, r"field \{name\} of the template 'pair' takes no format"),
    ({"pair": "{name"}, r"the template 'pair' cannot be read: .*; write \{\{ for a brace"),
    ({"pair": "\ud800"}, r"the template 'pair' is not valid Unicode"),
    ({"pair": 3}, r"the template 'pair' must be a string, not 3"),
    (["pair"], r"templates must be a mapping from names to strings, not \['pair'\]"),
]


@pytest.mark.parametrize(("templates", "message"), WRONG)
def test_a_wrong_template_is_refused(kinds, templates, message):
    with pytest.raises(InputError, match=message):
        kinds["node"].reason(templates=templates)


@pytest.mark.parametrize("text", ["", "{{ }}", "a {{b}} c"])
def test_a_template_may_be_empty_or_have_braces(kinds, text):
    for name in ("replaced", "altered", "own", "and", "part", "class"):
        reason = kinds["node"].reason(templates={name: text})
        assert name != "replaced" or text.format() in reason


@pytest.mark.parametrize("audience", ["boss", 3, None])
def test_an_unknown_audience_is_refused(kinds, audience):
    with pytest.raises(InputError, match="manager, engineer"):
        kinds["node"].reason(audience)


def test_every_template_is_known_and_its_fields_are_valid():
    manager, engineer = AUDIENCES.values()
    assert manager.keys() == engineer.keys()
    for audience, built_in in AUDIENCES.items():
        assert templates_for(audience, built_in) == built_in


def test_a_loaded_explanation_has_the_same_reason(kinds, parts, tmp_path):
    for number, explanation in enumerate((*kinds.values(), *parts.values())):
        path = tmp_path / f"{number}.json"
        explanation.save(path)
        for audience in AUDIENCES:
            assert Explanation.load(path).reason(audience) == explanation.reason(audience)


def test_both_ends_of_a_pair_without_effect_are_named(kinds):
    explanation = kinds["edge"]
    ends = np.isin(explanation.effects.nodes, explanation.ends)
    idle = replace(explanation.effects, significant=explanation.effects.significant & ~ends)
    said = replace(explanation, effects=idle).reason()
    assert re.search(
        r"Replacing the data of node \d+ or node \d+ makes no clear difference\.", said
    )


def test_effects_too_small_to_matter_are_not_listed():
    def nearly_constant(x, edge_index):
        score = 5 + 0.001 * x[..., :1]
        return np.concatenate([score, np.zeros_like(score)], axis=-1)

    rng = np.random.default_rng(0)
    explainer = PGMExplainer(
        nearly_constant, rng.random((9, 2)), rng.integers(0, 9, (2, 20)), num_layers=1
    )
    with pytest.warns(PGMExplainerWarning, match="hardly changes"):
        explanation = explainer.explain(3)
    assert explanation.effects.significant.any()
    assert (
        "Replacing the data of any single node changes the probability of class 0 by less than 0.1 "
        "percentage points on average"
    ) in explanation.reason()
    assert "likely" not in explanation.reason()
