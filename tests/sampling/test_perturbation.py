from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer import InputError, PerturbationError
from pgm_explainer.limits import brief
from pgm_explainer.sampling import (
    PERTURBATIONS,
    CustomPerturbation,
    Population,
    as_perturbation,
    check_columns,
)
from pgm_explainer.sampling.perturbation import changed_share
from pgm_explainer.sampling.perturbation import new_features as checked_features
from pgm_explainer.sampling.randomness import Draws

X = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 9.0], [3.0, 1.0]])
POPULATION = Population(X)
NODES = np.array([1, 3])
DRAWS = Draws.grid(0, np.arange(2000), NODES)


def new_features(name: str) -> np.ndarray:
    return np.broadcast_to(PERTURBATIONS[name](POPULATION, DRAWS), (2000, 2, 2))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("mean", [2.0, 5.0]), ("zero", [0.0, 0.0]), ("max", [4.0, 9.0]), ("min", X.min(axis=0))],
)
def test_a_constant_scheme_gives_every_node_the_same_features(name, expected):
    assert (new_features(name) == expected).all()


def test_random_is_zero_or_one_by_a_fair_coin_for_each_feature():
    new = new_features("random")
    assert set(np.unique(new)) == {0.0, 1.0}
    assert abs(new.mean(axis=0) - 0.5).max() < 0.05
    assert abs(np.corrcoef(new.reshape(2000, 4).T) - np.eye(4)).max() < 0.1


def test_uniform_moves_by_up_to_half_the_range_and_stays_within_it():
    new = new_features("uniform")
    low, high = X.min(axis=0), X.max(axis=0)
    moved = abs(new - X[NODES])
    assert (new >= low).all()
    assert (new <= high).all()
    assert (moved <= (high - low) / 2).all()
    assert (moved.max(axis=(0, 1)) > 0.95 * (high - low) / 2).all()
    inside = (new > low) & (new < high)
    assert len(np.unique(new[inside])) == inside.sum()


def test_permute_gives_another_nodes_row_each_as_likely_and_never_its_own():
    new = new_features("permute")
    for at, node in enumerate(NODES):
        others = [other for other in range(4) if other != node]
        donors = np.array([(new[:, at] == X[other]).all(axis=1) for other in others])
        assert (donors.sum(axis=0) == 1).all()
        assert abs(donors.mean(axis=1) - 1 / 3).max() < 0.05


@given(st.integers(2, 40), st.integers(0, 1000))
def test_permute_is_never_itself(num_nodes, seed):
    ids = np.arange(num_nodes, dtype=np.float64)[:, None]
    new = PERTURBATIONS["permute"](
        Population(ids), Draws.grid(seed, np.arange(30), np.arange(num_nodes))
    )
    assert (new != ids).all()
    assert np.isin(new, ids).all()


@pytest.mark.parametrize("name", PERTURBATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_features_keep_the_type_and_the_population(name, dtype):
    population = Population(X.astype(dtype))
    new = PERTURBATIONS[name](population, DRAWS)
    assert np.result_type(new, population.x) == dtype
    assert (population.x == X).all()


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_new_features_do_not_depend_on_the_requested_samples_and_nodes(name):
    alone = PERTURBATIONS[name](POPULATION, Draws.grid(0, np.arange(700, 705), np.array([3])))
    alone = np.broadcast_to(alone, (5, 1, 2))
    np.testing.assert_array_equal(alone, new_features(name)[700:705, 1:])


ALL = np.arange(2)


@pytest.mark.parametrize(
    ("x", "columns", "name"),
    [
        (X, [0, 1], "permute"),
        (np.ones((4, 2)), [0, 1], "random"),
        (np.full((10, 2), 0.1), [0, 1], "random"),
        ([[1.0, 0.0], [1.0, 2.0]], [0, 1], "permute"),
        ([[1.0, 0.0], [1.0, 2.0]], [0], "random"),
        ([[3.0, 4.0]], [0, 1], "random"),
    ],
)
def test_auto_is_another_nodes_features_where_that_changes_a_chosen_one(x, columns, name):
    assert as_perturbation("auto", Population(np.array(x)), np.array(columns), "node").name == name


def test_auto_is_the_mean_for_a_graph():
    assert as_perturbation("auto", POPULATION, ALL, "graph").name == "mean"


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.eye(3)[[0, 1, 2]], "substitute"),  # one-hot encoded atoms
        (np.array([[6, 4], [8, 2], [6, 4]]), "substitute"),  # categories as whole numbers
        (np.array([[0.0, 0.3], [1.0, 0.7], [0.0, 0.1]]), "substitute"),  # a flag and a measurement
        (np.array([[0.0, 0.3], [0.5, 0.7], [1.0, 0.1]]), "mean"),  # intensities
    ],
)
def test_auto_makes_no_impossible_rows_in_a_graph_task(x, expected):
    population = Population(x.astype(np.float32))
    assert as_perturbation("auto", population, ALL, "graph").name == expected


KINDS = np.array([0, 1, 0, 1, 1])
MIXED = np.array([[0.0, 2.0], [7.0, 7.0], [4.0, 2.0], [7.0, 7.0], [7.0, 7.0]])


@pytest.mark.parametrize(
    ("columns", "name"),
    [([0], "permute and random"), ([1], "random"), ([0, 1], "permute and random")],
)
def test_auto_is_chosen_for_each_node_type_separately(columns, name):
    population = Population(MIXED, KINDS)
    auto = as_perturbation("auto", population, np.array(columns), "node")
    assert auto.name == name
    draws = Draws.grid(0, np.arange(200), np.array([0, 1, 2, 4]))
    new = np.broadcast_to(auto(population, draws), (200, 4, 2))
    coins = PERTURBATIONS["random"](population, draws)
    np.testing.assert_array_equal(new[:, [1, 3]], coins[:, [1, 3]])
    donors = np.broadcast_to(population.x[[2, 0]], (200, 2, 2))  # each has but one other
    expected = donors if 0 in columns else coins[:, [0, 2]]
    np.testing.assert_array_equal(new[:, [0, 2]], expected)


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_new_features_come_from_nodes_of_the_same_kind(name):
    x = np.arange(12.0).reshape(6, 2)
    kinds = np.array([0, 1, 1, 0, 1, 0])
    population, draws = Population(x, kinds), Draws.grid(3, np.arange(50), np.arange(6))
    new = np.broadcast_to(PERTURBATIONS[name](population, draws), (50, 6, 2))
    for kind in (0, 1):
        members = np.flatnonzero(kinds == kind)
        alone = Population(x[members])
        own = Draws.grid(3, np.arange(50), np.arange(3))
        mine, theirs = new[:, members], PERTURBATIONS[name](alone, own)
        if name in ("mean", "zero", "max", "min"):
            np.testing.assert_array_equal(mine, np.broadcast_to(theirs, mine.shape))
        elif name != "random":
            assert (mine >= x[members].min(axis=0)).all()
            assert (mine <= x[members].max(axis=0)).all()


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_name_is_the_scheme_of_that_name(name):
    assert as_perturbation(name, POPULATION, ALL, "node") is PERTURBATIONS[name]


def test_an_instance_is_taken_as_it_is():
    mine = CustomPerturbation(lambda x, rng: x, "mine")
    assert as_perturbation(mine, POPULATION, ALL, "node") is mine


@pytest.mark.parametrize("bad", ["median", "", None, 0.5, ["mean"], CustomPerturbation])
def test_an_unknown_perturbation_is_named_and_the_known_ones_listed(bad):
    with pytest.raises(InputError, match="permute") as error:
        as_perturbation(bad, POPULATION, ALL, "node")
    assert brief(bad) in str(error.value)


def test_a_function_gets_a_fresh_copy_and_a_generator_for_each_sample():
    def shift(x, rng):
        x += rng.integers(1, 5)
        return x

    custom = as_perturbation(shift, POPULATION, ALL, "node")
    new = custom(POPULATION, DRAWS)
    assert custom.name == "shift"
    assert new.shape == (2000, 2, 2)
    assert set(np.unique(new - X[NODES])) == {1, 2, 3, 4}
    assert (np.ptp(new - X[NODES], axis=(1, 2)) == 0).all()
    later = custom(POPULATION, Draws.grid(0, np.arange(1500, 1510), NODES))
    np.testing.assert_array_equal(later, new[1500:1510])


def test_a_function_gets_all_nodes():
    seen = []

    def centred(x, rng):
        seen.append(x.shape)
        return x - x.mean(axis=0) + rng.normal(size=x.shape)

    custom = as_perturbation(centred, POPULATION, ALL, "node")
    both = custom(POPULATION, DRAWS)
    alone = custom(POPULATION, Draws.grid(0, np.arange(2000), NODES[1:]))
    np.testing.assert_array_equal(alone, both[:, 1:])
    assert set(seen) == {X.shape}


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (np.ones(2), r"\(2,\)"),
        (np.ones((2, 2)), r"\(2, 2\)"),
        (np.ones((4, 3)), r"\(4, 3\)"),
        (np.full((4, 2), np.nan), "NaN"),
        (np.full((4, 2), np.inf), "infinity"),
    ],
    ids=["vector", "few rows", "wide", "nan", "infinity"],
)
def test_a_function_with_a_bad_answer_is_an_error(answer, named):
    def mine(x, rng):
        return answer

    with pytest.raises(PerturbationError, match=named) as error:
        checked_features(as_perturbation(mine, POPULATION, ALL, "node"), POPULATION, DRAWS)
    assert "'mine'" in str(error.value)


def test_a_function_that_returns_none_is_an_error():
    with pytest.raises(InputError, match="the output of the perturbation"):
        as_perturbation(lambda x, rng: None, POPULATION, ALL, "node")(POPULATION, DRAWS)


def test_the_changed_share_counts_only_chosen_columns():
    x = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 0.0]])
    zero = PERTURBATIONS["zero"]
    share = changed_share(zero, Population(x), np.arange(3), np.array([0, 1]), seed=0)
    assert share.tolist() == [1.0, 1.0, 0.0]
    share = changed_share(zero, Population(x), np.arange(3), np.array([0]), seed=0)
    assert share.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("value", [1.0, 0.1, 0.3, 1e-9, 1e9 + 0.1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 3, 10, 1000])
def test_the_mean_of_constant_features_changes_nothing(value, dtype, count):
    population = Population(np.full((count, 2), value, dtype=dtype))
    share = changed_share(PERTURBATIONS["mean"], population, np.arange(count), ALL, seed=0)
    assert not share.any()


def test_all_columns_are_chosen_by_default_and_others_sorted_without_duplicates():
    assert check_columns(None, 3).tolist() == [0, 1, 2]
    assert check_columns([2, 0, 2], 3).tolist() == [0, 2]
    assert check_columns(range(2), 3).tolist() == [0, 1]


@pytest.mark.parametrize("bad", [[], [3], [-1], [0.5], [True], ["a"], "ab", [[0], [1, 2]], {0}])
def test_columns_that_do_not_exist_are_named(bad):
    with pytest.raises(InputError, match="features"):
        check_columns(bad, 3)


def test_what_auto_stood_for_can_be_chosen_by_name(on_a_path):
    first = on_a_path().explain(0)
    for name in ("permute and random", first.settings.sampling.perturbation):
        again = on_a_path(perturbation=name).explain(0)
        assert again == first


def test_permute_keeps_rare_values_rare():
    """Two of a hundred nodes have a mark, and so has one perturbed node in fifty."""
    x = np.zeros((100, 1))
    x[:2] = 1
    draws = Draws.grid(0, np.arange(400), np.arange(2, 100))
    assert abs(PERTURBATIONS["permute"](Population(x), draws).mean() - 2 / 99) < 0.003


ATOMS = np.repeat(np.eye(4), [7, 2, 1, 0], axis=0)  # seven carbons, two nitrogens, one oxygen
NOT_ALIKE = Population(ATOMS)


def shares(new):
    """How often each atom becomes an atom of each type, ``[atoms, types]``."""
    assert (new.sum(axis=-1) == 1).all()
    return new.mean(axis=0)


def test_substitute_draws_common_rows_less_often_than_they_occur():
    draws = Draws.grid(0, np.arange(8000), np.arange(10))
    expected = np.array([7, 2, 1, 0]) ** 0.25
    found = shares(PERTURBATIONS["substitute"](NOT_ALIKE, draws))
    assert abs(found - expected / expected.sum()).max() < 0.03


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=12),
    st.integers(0, 99),
)
def test_every_row_of_the_type_is_drawn_and_no_other(rows, seed):
    x, kinds = np.array(rows, dtype=np.float64)[:, :1], np.array([kind for _, kind in rows])
    nodes = np.arange(len(x))
    uniforms = np.random.default_rng(seed).random((300, len(x)))
    uniforms[:2] = [[0.0], [np.nextafter(1.0, 0.0)]]
    found = Population(x, kinds).tempered(nodes, uniforms)
    for node in nodes:
        same_kind = np.flatnonzero(kinds == kinds[node])
        assert set(found[:, node].tolist()) <= set(same_kind.tolist())
        assert set(x[found[:, node], 0].tolist()) == set(x[same_kind, 0].tolist())


def test_substitute_takes_rows_of_several_one_hot_blocks_as_a_whole():
    blocks = np.eye(3)[[0, 0, 1, 2]], np.eye(2)[[0, 1, 1, 0]]
    x = np.concatenate(blocks, axis=1)
    new = PERTURBATIONS["substitute"](Population(x), Draws.grid(1, np.arange(200), np.arange(4)))
    assert {tuple(row) for row in new.reshape(-1, 5)} == {tuple(row) for row in x}
