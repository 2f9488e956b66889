"""An explanation is that of its target alone, whatever is explained along with it."""

from contextlib import nullcontext
from dataclasses import astuple, fields

import numpy as np
import pytest

from pgm_explainer import ModelError, PerturbationError, PGMExplainer
from pgm_explainer.dataset import explain_dataset

TWO_STARS = np.array([[1, 2, 4, 5], [0, 0, 3, 3]])
TARGETS = [0, 3]


def sums(x, edge_index):
    """A node's own feature and those that arrive."""
    total = x[..., 0].copy()
    np.add.at(total.T, edge_index[1], x[:, edge_index[0], 0].T)
    return total


def one_minus(x, edge_index):
    arrived = sums(x, edge_index) - x[..., 0]
    return np.stack([1 - arrived, arrived], axis=-1)


def value(x, edge_index):
    return sums(x, edge_index)[..., None]


def explainer(model, features, edges=TWO_STARS, **options):
    x = np.array(features, dtype=float)[:, None]
    settings = {"num_layers": 1, "perturbation": "zero", **options}
    return PGMExplainer(model, x, edges, **settings)


def all_of(explanation):
    """Everything about it, also what does not count when two are compared."""
    contents = {each.name: getattr(explanation, each.name) for each in fields(explanation)}
    del contents["graph"], contents["network"]
    contents["ranking"] = [astuple(ranked) for ranked in explanation.ranking]
    for name in ("ends", "node_classes", "area"):
        contents[name] = contents[name].tolist()
    return contents, str(explanation)


def same_with_other_targets(made):
    together = made.explain_many(TARGETS)
    for target, explanation in zip(TARGETS, together, strict=True):
        with pytest.warns() if explanation.warnings else nullcontext():
            alone = made.explain(target)
        assert all_of(alone) == all_of(explanation)


def test_the_kind_of_scores_does_not_depend_on_other_targets():
    # Alone the logits of the second star look like probabilities, those of the first never do.
    made = explainer(one_minus, [0.3, 2.0, 1.5, 0.1, 0.2, 0.4], change=0.1)
    same_with_other_targets(made)
    assert made.explain(3).probability == pytest.approx(1 / (1 + np.exp(-0.2)))


def test_misread_scores_are_an_error_with_any_targets():
    made = explainer(one_minus, [0.1, 0.2, 0.4, 0.3, 2.0, 1.5])
    for ask in (lambda: made.explain(3), lambda: made.explain_many(TARGETS)):
        with pytest.raises(ModelError, match="scores='logits'"):
            ask()


@pytest.mark.parametrize("size", [1.0, 1e6, 1e8])
def test_how_large_other_values_are_does_not_matter(size):
    made = explainer(value, [1, 2, 3, size, 2 * size, 3 * size], scores="values")
    same_with_other_targets(made)
    assert made.explain(0).held < 0.9


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_a_constant_neighbourhood_is_no_error_with_any_targets(tmp_path):
    made = explainer(one_minus, [0, 0, 0, 1, 2, 3], scores="logits")
    same_with_other_targets(made)
    alone = made.explain(0)
    assert alone.held == 1
    assert any("only 0% of the cases" in text for text in alone.warnings)
    for size in (1, 2):
        data = explain_dataset(made, TARGETS, tmp_path / str(size), shard_size=size)
        assert data.failures() == {}


def test_a_perturbation_that_changes_nothing_anywhere_is_an_error():
    made = explainer(one_minus, [0] * 6)
    with pytest.raises(PerturbationError, match="'zero' changes no feature of any node"):
        made.explain(0)
    with pytest.raises(PerturbationError):
        made.explain_many(TARGETS)


def test_the_receptive_field_warning_is_for_all_targets_or_none():
    def three_steps(x, edge_index):
        for _ in range(3):
            x = sums(x, edge_index)[..., None]
        return np.concatenate([-x, x], axis=-1)

    path = np.array([[1, 2, 4, 5, 6, 7], [0, 0, 3, 4, 5, 6]])
    made = explainer(three_steps, [0.1, 0.2, 0.4, 0.3, 0.1, 0.2, 0.3, 0.5], path)
    same_with_other_targets(made)
    assert any("receptive field is larger" in text for text in made.explain_many([3])[0].warnings)


def test_a_model_that_fails_on_one_subgraph_is_tried_on_others():
    stars = 20
    middles = 3 * np.arange(stars)
    edges = np.stack((np.concatenate((middles + 1, middles[1:] + 2)), [*middles, *middles[1:]]))
    features = [0.3, 2.0, 1.5] + [0.3, 2.0, 9.0] + [0.3, 2.0, 1.5] * (stars - 2)

    def fails_near_nine(x, edge_index):
        if (x == 9).any():
            raise ValueError("no service there")
        return one_minus(x, edge_index)

    made = explainer(fails_near_nine, features, edges, change=0.1)
    assert made.explain(9).probability == pytest.approx(1 / (1 + np.exp(-6)))
    with pytest.raises(ModelError, match="no service there"):
        made.explain(3)
