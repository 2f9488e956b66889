"""What a reviewer once found wrong, kept right: names, settings read back, and too large tables."""

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer, QueryError
from pgm_explainer.report.html.payload import page_payload
from pgm_explainer.sampling import LargeFall, TopFraction

EDGES = np.array([[0, 0, 1, 3, 1, 3, 2, 4], [1, 3, 2, 4, 0, 0, 1, 3]])
X = np.array([[1.0], [4.0], [0.0], [2.0], [0.0]])


def visits(x, edge_index):
    total = x[..., 0].copy()
    np.add.at(total.T, edge_index[1], x[:, edge_index[0], 0].T)
    return np.stack([0 * total, total - 4], axis=-1)


def explainer(model=visits, **options):
    return PGMExplainer(model, X, EDGES, num_layers=1, num_samples=200, **options)


@pytest.mark.parametrize("change", [TopFraction(0.3, noise=0.05), LargeFall(noise=0.01)])
def test_a_change_is_read_back_with_its_noise(change):
    first = explainer(change=change).explain(0)
    assert explainer(change=first.settings.sampling.change).explain(0) == first


def test_what_auto_stood_for_can_be_asked_for():
    first = explainer().explain(0)
    for name in ("permute and random", first.settings.sampling.perturbation):
        again = explainer(perturbation=name).explain(0)
        assert again == first


def test_a_function_with_one_of_our_names_is_not_described_as_ours():
    def zero(x, rng):
        return x + rng.normal(size=x.shape)

    def flip(before, after):
        return (abs(after - before).max(axis=-1) > 0.1).astype(int)

    said = str(explainer(perturbation=zero, change=flip).explain(0))
    assert "became 0" not in said
    assert "most likely" not in said
    settings = explainer(perturbation=zero, change=flip).explain(0).settings
    assert (settings.sampling.perturbation.name, settings.sampling.change.name) == (
        "own zero",
        "own flip",
    )


def test_one_output_of_several_is_settled_far_out_too():
    def three(x, edge_index):
        logit = x[..., :1] / 10
        return np.concatenate([logit, 0.1 + 0 * logit, 0.2 + 0 * logit], axis=-1)

    one = explainer(lambda x, edge_index: x[..., :1] / 10)
    assert explainer(three, output=0).predict(1) == one.predict(1)


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({"class_names": ["price", "area"]}, ["price", "area"]),
        ({"class_names": ["price", "area"], "output": 1}, ["area"]),
        ({"output": 1}, ["value 1"]),
        ({}, ["value 0", "value 1"]),
    ],
)
def test_the_page_calls_values_as_the_words_do(options, labels):
    explanation = explainer(scores="values", **options).explain(0)
    told = page_payload([explanation])["explanations"][0]
    assert [label for label, _ in told["answer"]] == labels


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "a name for each node"),
        (5, "a name for each node"),
        ([[0], [1], [2], [3], [4]], "a name for each node"),
        (["a", "b", "c", "b", "e"], "more than one node is called 'b'"),
        ({2: 1, 3: 1}, "more than one node is called 1"),
    ],
)
def test_names_that_cannot_be_used_are_refused(names, said):
    with pytest.raises(InputError, match=said):
        explainer().explain(0).named(names)


def test_an_explanation_of_another_graph_is_refused():
    larger = PGMExplainer(visits, np.tile(X, (2, 1)), EDGES, num_layers=1).explain(0)
    for wrong in ("x", larger):
        with pytest.raises(InputError, match="explanation"):
            explainer().explain_features(wrong)


@pytest.mark.parametrize("targets", [[], 5])
def test_samples_around_nothing_are_refused(targets):
    with pytest.raises(InputError, match="targets"):
        explainer().samples(targets)


def star(size, **options):
    edges = np.stack((np.arange(1, size), np.zeros(size - 1, dtype=int)))

    def model(x, edge_index):
        total = x[..., 0].copy()
        np.add.at(total.T, edge_index[1], x[:, edge_index[0], 0].T)
        return np.stack([0 * total, total], axis=-1)

    x = np.random.default_rng(0).normal(size=(size, 1))
    settings = {"num_samples": 100, "max_nodes": size - 1, "only_significant": False}
    return PGMExplainer(model, x, edges, num_layers=1, **settings, **options).explain(0)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_tables_that_would_not_fit_into_memory_are_refused():
    with pytest.raises(InputError, match="set max_parents"):
        star(40, score="log_likelihood", structure="hill_climb")
    network = star(40, structure="hill_climb").network
    with pytest.raises(QueryError, match="ask about fewer"):
        network.query(network.nodes)
