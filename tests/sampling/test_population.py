from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer.sampling import Population

X = np.array([[0.0, 5.0], [10.0, 1.0], [4.0, 5.0], [30.0, 1.0], [20.0, 1.0]])
KINDS = np.array([0, 1, 0, 1, 1])
EVERYONE = np.arange(5)


def test_without_kinds_all_nodes_have_one_mean_and_one_range():
    population = Population(X)
    for got, expected in [
        (population.mean(EVERYONE), X.mean(axis=0)),
        (population.low(EVERYONE), X.min(axis=0)),
        (population.high(EVERYONE), X.max(axis=0)),
    ]:
        np.testing.assert_allclose(got, np.tile(expected, (5, 1)))


@pytest.mark.parametrize(
    ("what", "first", "second"),
    [("mean", [2, 5], [20, 1]), ("low", [0, 5], [10, 1]), ("high", [4, 5], [30, 1])],
)
def test_each_kind_has_a_mean_and_a_range_of_its_own(what, first, second):
    usual = getattr(Population(X, KINDS), what)
    assert usual(EVERYONE).tolist() == [first, second, first, second, second]
    assert usual(np.array([3, 0])).tolist() == [second, first]


@pytest.mark.parametrize(
    ("columns", "kinds", "expected"),
    [
        ([0], None, [True] * 5),
        ([1], None, [True] * 5),
        ([0], KINDS, [True] * 5),
        ([1], KINDS, [False] * 5),
        ([0, 1], KINDS, [True] * 5),
        ([0], np.array([0, 1, 0, 1, 2]), [True, True, True, True, False]),
    ],
)
def test_varying_features_are_detected_by_type_and_columns(columns, kinds, expected):
    assert Population(X, kinds).varies(EVERYONE, np.array(columns)).tolist() == expected


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_features_that_differ_by_rounding_do_not_vary(scale):
    x = np.full((4, 1), 0.1 * scale) * (1 + np.array([[0], [1], [-1], [0]]) * 1e-9)
    assert not Population(x).varies(np.arange(4), np.array([0])).any()


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=15),
    st.integers(0, 10**6),
)
def test_another_node_is_another_one_of_the_same_kind_each_as_likely(kinds, seed):
    kinds = np.unique(kinds, return_inverse=True)[1]
    population = Population(np.zeros((len(kinds), 1)), kinds)
    nodes = np.random.default_rng(seed).permutation(len(kinds))
    for node in nodes:
        others = np.flatnonzero(kinds == kinds[node])
        others = others[others != node]
        if len(others):
            evenly = (np.arange(len(others)) + 0.5) / len(others)
            found = population.another(np.array([node]), evenly[:, None])[:, 0]
            assert sorted(found.tolist()) == others.tolist()


def test_another_node_takes_the_edges_of_the_unit_interval():
    uniforms = np.array([[0.0] * 5, [1 - 2.0**-53] * 5])
    for population in (Population(X), Population(X, KINDS)):
        assert (population.another(EVERYONE, uniforms) != EVERYONE).all()


def test_the_only_node_of_its_kind_has_no_other_than_itself():
    population = Population(X, np.array([0, 1, 1, 1, 1]))
    assert population.another(np.array([0]), np.array([[0.0], [0.99]])).tolist() == [[0], [0]]


def test_one_kind_is_as_good_as_none():
    plain, kind = Population(X), Population(X, np.zeros(5, dtype=int))
    uniforms = np.random.default_rng(0).random((50, 5))
    np.testing.assert_array_equal(
        plain.another(EVERYONE, uniforms), kind.another(EVERYONE, uniforms)
    )
    for what in ("mean", "low", "high"):
        np.testing.assert_array_equal(getattr(plain, what)(EVERYONE), getattr(kind, what)(EVERYONE))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_replacement_values_keep_type_and_range(dtype):
    x = np.full((1000, 1), 0.1, dtype=dtype)
    population = Population(x, np.arange(1000) % 3)
    mean = population.mean(np.arange(1000))
    assert mean.dtype == dtype
    assert (mean == x).all()


def test_the_level_of_a_feature_is_its_value_and_how_usual_that_is():
    rng = np.random.default_rng(0)
    x = np.column_stack((rng.random(50), rng.integers(0, 2, 50), rng.integers(0, 5, 50)))
    nodes, features = np.array([3, 3, 3, 8]), np.array([0, 1, 2, 1])
    found = Population(x).levels(nodes, features)
    assert found["value"].tolist() == x[nodes, features].tolist()
    assert found["mean"] == pytest.approx(
        [x[:, 0].mean(), np.nan, x[:, 2].mean(), np.nan], nan_ok=True
    )
    same = [(x[:, 1] == x[node, 1]).mean() for node in (3, 8)]
    assert found["share"] == pytest.approx([np.nan, same[0], np.nan, same[1]], nan_ok=True)
    assert x[3, 1] != x[8, 1]  # both values of a binary feature are tested
    # Integers are categories, whose mean is none.
    found = Population(x.astype(int), has_integers=True).levels(nodes[:3], features[:3])
    assert np.isnan(found["mean"]).all()
    whole = x.astype(int)
    assert found["share"] == pytest.approx((whole == whole[3]).mean(axis=0))


def test_levels_are_among_nodes_of_the_same_type():
    x, kinds = np.array([[1.0], [3.0], [1.0], [0.0]]), np.array([0, 0, 1, 1])
    found = Population(x, kinds).levels(np.array([1, 2]), np.array([0, 0]))
    assert found["mean"] == pytest.approx([2.0, np.nan], nan_ok=True)
    assert found["share"] == pytest.approx([np.nan, 0.5], nan_ok=True)
    assert Population(np.ones((4, 6)), steps=2).levels(kinds, kinds) == {}
