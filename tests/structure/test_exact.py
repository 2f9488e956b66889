"""Exact search, against brute force over all 543 networks of four variables."""

import time

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.structure import DAG, SCORES, exact_search, hill_climb, network_score
from pgm_explainer.structure.exact import MAX_EXACT_VARIABLES

every_score = pytest.mark.parametrize("name", list(SCORES))
BRUTE_FORCE_LIMITS = [
    {"max_parents": 1},
    {"max_parents": 2, "forbidden": [(0, 1), (3, 2)]},
    {"forbidden": [(0, 1), (1, 0), (2, 0), (3, 0)]},
    {"required": [(3, 0), (0, 2)]},
    {"required": [(3, 0), (2, 0)], "forbidden": [(1, 0), (1, 3)], "max_parents": 2},
    {"max_parents": 0},
]


def close(value):
    return pytest.approx(value, rel=1e-10, abs=1e-7)


def legal(dag, max_parents=3, forbidden=(), required=()):
    edges = set(dag.edges)
    return (
        not edges & set(forbidden)
        and edges >= set(required)
        and all(len(dag.parents(v)) <= max_parents for v in range(4))
    )


def test_brute_force_sees_all_543_networks(four_variable_dags):
    assert len(four_variable_dags) == len(set(four_variable_dags)) == 543


@every_score
@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_brute_force(random_data, four_variable_dags, best_by_brute_force, name, seed):
    data, cards = random_data(seed, 4, rows=[30, 100, 400][seed % 3], density=0.7)
    found = exact_search(data, cards, score=name)
    best = best_by_brute_force(data, cards, name, four_variable_dags)
    assert network_score(data, cards, found.edges, name) == close(best)


@every_score
@pytest.mark.parametrize("limits", BRUTE_FORCE_LIMITS)
def test_agrees_with_brute_force_under_constraints(
    random_data, four_variable_dags, best_by_brute_force, name, limits
):
    dags = [dag for dag in four_variable_dags if legal(dag, **limits)]
    for seed in (20, 21, 22):
        data, cards = random_data(seed, 4, rows=120, density=0.8)
        found = exact_search(data, cards, score=name, **limits)
        assert legal(found, **limits)
        best = best_by_brute_force(data, cards, name, dags)
        assert network_score(data, cards, found.edges, name) == close(best)


@pytest.mark.parametrize("seed", range(3))
def test_states_that_never_occur_and_constants_are_no_trouble(
    random_data, four_variable_dags, best_by_brute_force, seed
):
    data, cards = random_data(seed, 4, cardinalities=[2, 3, 2, 3])
    data[:, 1] = 2
    cards = [3, 3, 1, 4]
    data[:, 2] = 0
    for name in SCORES:
        found = exact_search(data, cards, score=name)
        best = best_by_brute_force(data, cards, name, four_variable_dags)
        assert network_score(data, cards, found.edges, name) == close(best)


@every_score
@pytest.mark.parametrize("seed", range(4))
def test_never_below_hill_climbing(random_data, name, seed):
    data, cards = random_data(seed, 7, rows=200, density=0.6)
    exact = network_score(data, cards, exact_search(data, cards, score=name).edges, name)
    climbed = hill_climb(data, cards, score=name, restarts=3)
    assert exact >= network_score(data, cards, climbed.edges, name) - 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_never_below_hill_climbing_under_constraints(random_data, seed):
    data, cards = random_data(seed, 8, rows=300, density=0.7)
    limits = {"max_parents": 2, "forbidden": [(0, 1), (1, 0)], "required": [(7, 2), (2, 3)]}
    exact = exact_search(data, cards, **limits)
    assert set(exact.edges) >= {(7, 2), (2, 3)}
    climbed = hill_climb(data, cards, restarts=3, **limits)
    assert (
        network_score(data, cards, exact.edges) >= network_score(data, cards, climbed.edges) - 1e-7
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_columns_does_not_matter_to_the_score(random_data, seed):
    data, cards = random_data(seed, 6)
    order = np.random.default_rng(seed).permutation(6)
    moved, sizes = data[:, order], np.array(cards)[order]
    one = network_score(data, cards, exact_search(data, cards).edges)
    assert network_score(moved, sizes, exact_search(moved, sizes).edges) == close(one)


def test_fifteen_four_state_variables_take_seconds(random_data):
    data, cards = random_data(0, 15, rows=800, cardinalities=[4] * 15, density=0.2)
    started = time.perf_counter()
    dag = exact_search(data, cards)
    assert time.perf_counter() - started < 10  # about 1 s; room for a busy machine
    climbed = hill_climb(data, cards)
    assert len(dag.edges) > 5
    assert network_score(data, cards, dag.edges) >= network_score(data, cards, climbed.edges) - 1e-7


def test_two_runs_give_the_same_network(random_data):
    data, cards = random_data(5, 7)
    assert exact_search(data, cards) == exact_search(data.copy(), np.array(cards))


def test_arrows_left_open_point_to_the_last_variable():
    """So that the target, which comes last, is explained rather than explaining."""
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 300)
    copies = [np.where(rng.random(300) < 0.1, 1 - cause, cause) for _ in range(2)]
    assert exact_search(np.stack([cause, copies[0]], axis=1), [2, 2]).edges == ((0, 1),)
    assert exact_search(np.stack([copies[0], cause], axis=1), [2, 2]).edges == ((0, 1),)


@pytest.mark.parametrize("size", [0, 1])
def test_too_few_variables_for_an_edge(size):
    dag = exact_search(np.zeros((5, size), dtype=int), np.full(size, 2))
    assert dag == DAG(size)


def test_too_many_variables_are_refused_with_a_suggestion():
    size = MAX_EXACT_VARIABLES + 1
    with pytest.raises(InputError, match=f"{size}.*hill_climb"):
        exact_search(np.zeros((5, size), dtype=int), [2] * size)


@pytest.mark.parametrize(
    "limits",
    [
        {"forbidden": [(0, 1)], "required": [(0, 1)]},
        {"required": [(0, 1), (1, 2), (2, 0)]},
        {"required": [(0, 2), (1, 2)], "max_parents": 1},
    ],
)
def test_contradictory_constraints_are_refused(random_data, limits):
    data, cards = random_data(0, 4)
    with pytest.raises(InputError):
        exact_search(data, cards, **limits)
