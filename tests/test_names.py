"""The user's own names of classes and nodes, and the classes of the nodes around a target."""

from __future__ import annotations

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer

NAMES = ["base", "top", "middle"]


def explainer(toy, model=None, **options):
    chosen = {"num_layers": 2, "num_samples": 200, **options}
    return PGMExplainer(model or toy.whole, toy.x, toy.edge_index, **chosen)


def test_names_of_classes_go_with_the_explanation(toy):
    explanation = explainer(toy, class_names=np.array(NAMES)).explain(14)
    assert explanation.settings.model.class_names == tuple(NAMES)
    assert [explanation.class_name(number) for number in range(3)] == NAMES
    plain = explainer(toy).explain(14)
    assert plain == explanation
    assert plain.class_name(2) == "2"


def test_a_label_of_many_is_there_or_not(toy):
    explanation = explainer(toy, output=1, scores="logits", class_names=NAMES).explain(14)
    assert [explanation.class_name(number) for number in (0, 1)] == ["not top", "top"]


@pytest.mark.parametrize("names", ["abc", [], [1, 2, 3], 5, ["a", None, "c"]], ids=repr)
def test_names_that_are_no_texts_are_refused(toy, names):
    with pytest.raises(InputError, match="class_names must be a list of strings"):
        explainer(toy, class_names=names)


def test_there_must_be_a_name_for_each_class(toy):
    with pytest.raises(InputError, match="2 names, but the model has 3 classes"):
        explainer(toy, class_names=["a", "b"]).explain(14)
    with pytest.raises(InputError, match="1 names, but none for output 2"):
        explainer(toy, class_names=["a"], output=2).explain(14)


def test_the_classes_of_the_nodes_around_are_the_models(toy):
    whole = toy.whole(toy.x[None])[0].argmax(axis=-1)
    for target, explanation in zip(
        [14, 3, 15], explainer(toy).explain_many([14, 3, 15]), strict=True
    ):
        around = np.union1d(explanation.ranking.nodes, [target])
        np.testing.assert_array_equal(explanation.node_classes, whole[around])
    other_class = explainer(toy, explained_class=1).explain(14)
    np.testing.assert_array_equal(other_class.node_classes, whole[other_class.neighbourhood.nodes])


def test_nodes_without_a_prediction_of_their_own_have_no_class(toy):
    graph = explainer(toy, toy.graph_level, task="graph").explain()
    values = explainer(toy, scores="values").explain(14)
    for explanation in (graph, values):
        assert len(explanation.node_classes) == len(explanation.neighbourhood.nodes)
        assert (explanation.node_classes == -1).all()


def test_some_nodes_may_be_named_and_named_again(toy):
    explanation = explainer(toy).explain(14)
    first, second = explanation.nodes[:2]
    named = explanation.named({14: "Ada", first: "Bob"})
    assert named.target == "Ada"
    assert named.nodes[:2] == ["Bob", second]
    assert named.query({"Bob": "kept"}) == explanation.query({first: "kept"})
    again = named.named({14: "Eve", second: "Bob"})
    assert (again.target, again.nodes[:2]) == ("Eve", [first, "Bob"])
    assert again.query({"Bob": "kept"}) == explanation.query({second: "kept"})


def test_both_ends_of_a_pair_are_named(toy):
    def link(x, pairs):
        score = (toy.whole(x)[:, pairs[0]] * toy.whole(x)[:, pairs[1]]).sum(-1, keepdims=True)
        return np.concatenate([-score, score], axis=-1)

    explanation = explainer(toy, link, task="edge").explain((14, 2))
    named = explanation.named([f"n{number}" for number in range(16)])
    assert named.target == ("n14", "n2")
    assert named.query() == explanation.query()
    assert named.markov_blanket == [f"n{node}" for node in explanation.markov_blanket]


def test_features_of_a_named_explanation_can_be_explained(toy):
    one = explainer(toy)
    explanation = one.explain(14)
    named = explanation.named([f"n{number}" for number in range(16)])
    np.testing.assert_array_equal(
        one.explain_features(named).log_p, one.explain_features(explanation).log_p
    )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "a name for each node"),
        (5, "a name for each node"),
        ([[0], [1], [2], [3], [4]], "a name for each node"),
        (["a", "b", "c", "b", "e"], "more than one node is called 'b'"),
        ({2: 1, 3: 1}, "more than one node is called 1"),
    ],
)
def test_names_that_cannot_be_used_are_refused(on_a_path, names, message):
    with pytest.raises(InputError, match=message):
        on_a_path().explain(0).named(names)
