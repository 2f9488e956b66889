"""The text matches the explanation, for every kind of explanation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgm_explainer.report.contents import predicted, reason_lines
from pgm_explainer.report.names import width

BEGINNINGS = {
    "node": "Node 14 is predicted to be of class 2 with probability 0.9",
    "graph": "The graph is predicted to be of class ",
    "edge": "The pair (14, 2) is predicted to be of class ",
    "label": "Node 14 is predicted not to have label 1 with probability 0.50",
    "values": "Node 14 has the values -5.572, -0.0",
    "value": "Node 14 has the value 3.011 of output 2.",
    "other class": "Node 14 could be of class 1 with probability 0.0",
    "alone": "Node 15 is predicted to be of class ",
    "constant": "Node 14 is predicted to be of class 0 with probability 0.500.",
}


def row_of(words: str, name: str) -> str:
    table = words[words.index("  log p") :]
    return next(line for line in table.splitlines() if line.split()[:1] == [name])


def effect_lines(explanation) -> list[str]:
    """The lines of the table of effects."""
    lines = str(explanation).splitlines()
    head = next(
        at for at, line in enumerate(lines) if "95% interval " in line and "strength" in line
    )
    end = next(at for at, line in enumerate(lines) if line.startswith(("effect: ", "… and")))
    return lines[head + 1 : end]


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_the_text_begins_with_the_prediction(kinds, kind):
    assert predicted(kinds[kind]).startswith(BEGINNINGS[kind])
    words = " ".join(str(kinds[kind]).split())
    assert words.startswith(" ".join(reason_lines(kinds[kind])))


def test_the_text_fits_in_a_terminal(kinds, crowd):
    for explanation in [*kinds.values(), crowd(30, 9, max_nodes=9, num_samples=3000)]:
        lines = str(explanation).splitlines()
        assert len(lines) <= 84
        assert max(width(line) for line in lines) <= 88


def test_the_table_has_the_probabilities_of_the_network(kinds):
    explanation = kinds["node"]
    words = str(explanation)
    assert f"({explanation.query():.1%} without evidence)" in " ".join(words.split())
    for node in explanation.nodes:
        row = row_of(words, str(node)).split()
        expected = [explanation.query({node: fact}) for fact in ("original", "perturbed")]
        assert row[3:5] == [f"{chance:.1%}" for chance in expected]
    own = row_of(words, "(the")
    assert f"{explanation.query({14: 'original'}):.1%}" in own
    assert f"{explanation.query({14: 'perturbed'}):.1%}" in own
    assert f"Network: {explanation.network.factorisation}" in " ".join(words.split())


def test_the_columns_of_the_table_are_explained_below_it(kinds):
    lines = str(kinds["node"]).splitlines()
    last = next(at for at, line in enumerate(lines) if line.startswith("log p: "))
    assert lines[last - 1] == row_of("\n".join(lines), str(kinds["node"].nodes[-1]))
    assert "Cramér's V" in " ".join(lines[last : last + 2])
    last = next(at for at, line in enumerate(lines) if line.startswith("effect: mean change"))
    assert lines[last - 1] in effect_lines(kinds["node"])
    assert "in percentage points" in " ".join(lines[last : last + 2])


def test_tasks_without_node_predictions_have_only_perturbations(kinds):
    for kind in ("graph", "edge"):
        assert "if perturbed" in str(kinds[kind])
        assert "if kept" not in str(kinds[kind])


def test_warnings_are_printed(kinds):
    warned = replace(kinds["node"], warnings=("the tables are thin",))
    assert str(warned).endswith("Warning: the tables are thin.")


def test_they_do_without_a_network(kinds):
    found = kinds["no network"]
    assert f"structure is None); the selected nodes are {found.nodes[0]}" in " ".join(
        str(found).split()
    )
    assert "Network:" not in str(found)
    assert "etwork" not in str(kinds["constant"]).partition("Warning: ")[0]
    assert "kept” means" not in str(found)
    assert effect_lines(found) == effect_lines(kinds["node"])


def test_a_node_that_stands_alone(kinds):
    words = str(kinds["alone"])
    assert "not found to depend on any other node" in words
    assert [line.split()[:2] for line in effect_lines(kinds["alone"])] == [["15", "(target)"]]
    assert "0.0%  if 15 is perturbed" in words


def test_classes_have_the_names_given_to_them(explain):
    names = ["base", "top", "middle"]
    assert "predicts class middle for node 14" in str(explain(class_names=names))
    other = predicted(explain(class_names=names, explained_class=1))
    assert "Node 14 could be of class top with probability" in other
    assert ", but is predicted to be of class middle." in other
    label = explain(class_names=names, output=1, scores="logits")
    assert "is predicted not to have label top with" in predicted(label)
    label = explain(class_names=names, output=1, scores="logits", explained_class=1)
    assert "could have label top with probability" in predicted(label)
    assert ", but is predicted not to have label top." in predicted(label)
    values = explain(class_names=names, scores="values")
    assert predicted(values).startswith("Node 14 has base -5.572, top -0.01569 and middle 3.011.")
    value = explain(class_names=names, scores="values", output=2)
    assert predicted(value).startswith("Node 14 has middle 3.011.")


def test_nodes_have_the_names_given_to_them(kinds):
    explanation = kinds["node"]
    named = explanation.named({14: "Ada", explanation.nodes[0]: "Bob"})
    assert str(named).startswith("The model predicts class 2 for node Ada, with")
    assert row_of(str(named), "Bob")
    pair = kinds["edge"].named({14: "Ada"})
    assert predicted(pair).startswith("The pair ('Ada', 2)")
    assert "P(('Ada', 2) |" in " ".join(str(pair).split())


def test_columns_stay_in_line_whatever_the_names(kinds):
    explanation = kinds["node"]
    odd = ["東京", "e\u0301e\u0301", "a\nb", "\x1b[31mred", "x" * 60, *map(str, range(5, 16))]
    ids = [*explanation.nodes, *[n for n in range(16) if n not in explanation.nodes]]
    words = str(explanation.named(dict(zip(ids, odd, strict=True))))
    assert "\x1b" not in words
    lines = words.splitlines()
    head = next(at for at, line in enumerate(lines) if line.endswith("  if changed"))
    rows = lines[head + 2 : head + 2 + len(explanation.nodes)]
    assert {width(row) for row in rows} == {width(lines[head])}


def test_the_effects_are_those_of_the_explanation(kinds):
    explanation = kinds["node"]
    found = [each for each in explanation.effects if each.significant]
    assert 3 < len(found) <= 8
    lines = effect_lines(explanation)
    assert len(lines) == len(found)
    for line, each in zip(lines, found, strict=True):
        effect, low, high = (f"{100 * n:+.1f}" for n in (each.effect, each.low, each.high))
        assert line.split()[:5] == [str(each.node), effect, low, "to", high]
        assert f"{each.strength:.2f}" in line


def test_effects_of_a_regression_are_values(kinds):
    explanation = kinds["value"]
    first = explanation.effects[0]
    words = " ".join(str(explanation).split())
    assert f"lowers the predicted value by {-first.effect:.2f} (95% " in words
    assert f"{first.low:+.2f} to {first.high:+.2f}" in effect_lines(explanation)[0]
    assert "percentage points" not in str(explanation)


def test_at_most_eight_effects_have_a_line(kinds):
    explanation = kinds["graph"]
    found = int(explanation.effects.significant.sum())
    assert found > 8
    assert len(effect_lines(explanation)) == 8
    assert f"… and {found - 8} more: see explanation.effects" in str(explanation)


def test_pairs_have_separate_lines(kinds):
    explanation = kinds["node"]
    (found,) = explanation.effects.pairs
    four = tuple(replace(found, joint=found.joint - at / 100) for at in range(4))
    explanation = replace(explanation, effects=replace(explanation.effects, pairs=four))
    lines = str(explanation).splitlines()
    start = lines.index("Pairs whose joint effect differs from the sum of their effects:")
    shown = explanation.effects.pairs[:3]
    assert lines[start + 5] == "… and 1 more: see explanation.effects.pairs"
    for line, pair in zip(lines[start + 2 : start + 5], shown, strict=True):
        numbers = (pair.joint, pair.joint - pair.excess, pair.excess, pair.low, pair.high)
        joint, total, excess, low, high = (
            f"{100 * n:+.1f}".replace("+0.0", "0.0") for n in numbers
        )
        first, second = map(str, pair.nodes)
        assert line.split() == [first, "and", second, joint, total, excess, low, "to", high]
    assert "Pairs whose" not in str(kinds["alone"])


def test_many_nodes_are_counted_not_listed(crowd):
    found = crowd(30, 9, max_nodes=9, num_samples=3000)
    assert len(found.nodes) == 9
    words = str(found)
    assert f"and {len(found.nodes) - 8} more" in " ".join(words.split())
    assert f"… and {len(found.nodes) - 8} more: see explanation.ranking" in words


def test_a_users_function_is_not_described_as_the_built_in_of_that_name(on_a_path):
    def zero(x, rng):
        return x + rng.normal(size=x.shape)

    def flip(before, after):
        return (abs(after - before).max(axis=-1) > 0.1).astype(int)

    explanation = on_a_path(perturbation=zero, change=flip).explain(0)
    assert "became 0" not in str(explanation)
    assert "most likely" not in str(explanation)
    sampling = explanation.settings.sampling
    assert (sampling.perturbation.name, sampling.change.name) == ("own zero", "own flip")
