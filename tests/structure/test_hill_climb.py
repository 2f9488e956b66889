"""Hill climbing: legal, deterministic, never below its start and at a local optimum."""

from itertools import permutations

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.structure import DAG, SCORES, hill_climb, network_score

every_score = pytest.mark.parametrize("name", list(SCORES))


def neighbours(dag, max_parents=None, forbidden=(), required=()):
    """Every legal network one addition, removal or reversal away."""
    size, edges = dag.num_variables, set(dag.edges)
    for u, v in permutations(range(size), 2):
        if (u, v) in edges:
            changes = [edges - {(u, v)}, edges - {(u, v)} | {(v, u)}]
        else:
            changes = [edges | {(u, v)}]
        for changed in changes:
            try:
                other = DAG(size, changed)
            except InputError:
                continue
            most = max(len(other.parents(w)) for w in range(size))
            legal = not changed & set(forbidden) and changed >= set(required)
            if legal and (max_parents is None or most <= max_parents):
                yield other


def improvement(data, cards, dag, name, **limits):
    """How much the best single move would add to the score."""
    best = max(network_score(data, cards, o.edges, name) for o in neighbours(dag, **limits))
    return best - network_score(data, cards, dag.edges, name)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["bic", "aic", "bdeu"])
def test_no_single_move_improves_the_result(random_data, name, seed):
    data, cards = random_data(seed, 4 + seed % 3)
    assert improvement(data, cards, hill_climb(data, cards, score=name), name) < 1e-6


@pytest.mark.parametrize(
    ("name", "size", "seed", "density"),
    [
        ("bic", 5, 156, 0.8),
        ("bic", 5, 228, 0.5),
        ("bic", 6, 120, 0.5),
        ("bic", 7, 34, 0.8),
        ("bic", 8, 10, 0.8),
        ("aic", 6, 138, 0.8),
        ("aic", 7, 150, 0.5),
        ("bdeu", 5, 8, 0.8),
        ("bdeu", 7, 66, 0.8),
    ],
)
def test_a_move_to_a_new_best_is_made_even_if_it_undoes_a_recent_one(
    random_data, name, size, seed, density
):
    """Here an edge added early turns useless soon after; to be tabu must not keep it in."""
    data, cards = random_data(seed, size, density=density)
    assert improvement(data, cards, hill_climb(data, cards, score=name), name) < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_constraints_are_respected_and_the_result_is_optimal_within_them(random_data, seed):
    data, cards = random_data(seed, 6, density=0.8)
    limits = {"max_parents": 2, "forbidden": [(0, 1), (1, 0), (2, 3)], "required": [(5, 4), (4, 0)]}
    dag = hill_climb(data, cards, **limits)
    edges = set(dag.edges)
    assert not edges & set(limits["forbidden"])
    assert edges >= set(limits["required"])
    assert max(len(dag.parents(v)) for v in range(6)) <= 2
    assert improvement(data, cards, dag, "bic", **limits) < 1e-6


@every_score
@pytest.mark.parametrize("seed", range(4))
def test_never_below_the_empty_or_the_required_network(random_data, name, seed):
    data, cards = random_data(seed, 5)
    free = network_score(data, cards, hill_climb(data, cards, score=name).edges, name)
    assert free >= network_score(data, cards, [], name)
    required = [(3, 0), (0, 1)]
    bound = hill_climb(data, cards, score=name, required=required)
    assert network_score(data, cards, bound.edges, name) >= network_score(
        data, cards, required, name
    )


def test_two_runs_give_the_same_network(random_data):
    data, cards = random_data(3, 8)
    first = hill_climb(data, cards, restarts=3, seed=5)
    assert hill_climb(data.copy(), list(cards), restarts=3, seed=5) == first


@pytest.mark.parametrize("seed", range(6))
def test_restarts_never_lower_the_score(random_data, seed):
    data, cards = random_data(seed, 7, rows=150)
    scores = [
        network_score(data, cards, hill_climb(data, cards, restarts=restarts).edges)
        for restarts in (0, 1, 5, 15)
    ]
    assert scores == sorted(scores)


def test_restarts_respect_the_constraints(random_data):
    data, cards = random_data(1, 6, density=0.9)
    for seed in range(5):
        dag = hill_climb(
            data,
            cards,
            max_parents=1,
            forbidden=[(0, 1)],
            required=[(2, 3)],
            restarts=5,
            seed=seed,
        )
        assert (2, 3) in dag.edges
        assert (0, 1) not in dag.edges
        assert max(len(dag.parents(v)) for v in range(6)) <= 1


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_columns_hardly_matters_to_the_score(random_data, seed):
    """Ties are settled by number, so another order may end in another optimum, not in a bad one.

    It is a heuristic: most orders end in the same place, and none far below the best of them.
    """
    data, cards = random_data(seed, 5, rows=500, cardinalities=[2, 3, 2, 4, 3], density=0.4)
    start = network_score(data, cards, [])
    found = []
    for shuffle in range(8):
        order = np.random.default_rng(shuffle).permutation(5)
        moved, sizes = data[:, order], np.array(cards)[order]
        found.append(network_score(moved, sizes, hill_climb(moved, sizes).edges))
    gain = max(found) - start
    assert max(found) - min(found) <= 0.15 * gain + 1e-6
    assert max(found) - np.mean(found) <= 0.05 * gain + 1e-6


def test_equal_gains_go_to_the_smaller_parent():
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 200)
    noisy = np.where(rng.random(200) < 0.1, 1 - cause, cause)
    assert hill_climb(np.stack([cause, noisy], axis=1), [2, 2]).edges == ((0, 1),)
    assert hill_climb(np.stack([noisy, cause], axis=1), [2, 2]).edges == ((0, 1),)


def test_independent_columns_stay_apart():
    data = np.random.default_rng(1).integers(0, 2, (1000, 5))
    assert hill_climb(data, [2] * 5, max_parents=2).edges == ()


def test_constant_columns_stay_apart(random_data):
    data, cards = random_data(2, 4)
    data[:, 1] = 0
    dag = hill_climb(data, cards)
    assert all(1 not in edge for edge in dag.edges)


@pytest.mark.parametrize("seed", range(6))
def test_walking_on_at_a_top_never_lowers_the_score(random_data, seed):
    data, cards = random_data(seed, 7, rows=200, density=0.7)
    scores = [
        network_score(data, cards, hill_climb(data, cards, patience=patience).edges)
        for patience in (0, 1, 10, 40)
    ]
    assert scores == sorted(scores)


@pytest.mark.parametrize(("size", "patience"), [(3, 5), (6, 9), (8, 16)])
def test_patience_grows_with_the_number_of_variables(random_data, size, patience):
    data, cards = random_data(1, size)
    assert hill_climb(data, cards) == hill_climb(data, cards, patience=patience)


@pytest.mark.parametrize("size", [0, 1])
def test_too_few_variables_for_an_edge(size):
    dag = hill_climb(np.zeros((5, size), dtype=int), np.full(size, 2))
    assert dag == DAG(size)


def test_no_parents_allowed_leaves_no_edge(random_data):
    data, cards = random_data(0, 4)
    assert hill_climb(data, cards, max_parents=0, restarts=2) == DAG(4)


def test_everything_forbidden_leaves_the_required_edges(random_data):
    data, cards = random_data(0, 4)
    every = set(permutations(range(4), 2)) - {(2, 1)}
    dag = hill_climb(data, cards, forbidden=every, required=[(2, 1)], restarts=2)
    assert dag.edges == ((2, 1),)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"forbidden": [(0, 1)], "required": [(0, 1)]}, "both required and forbidden"),
        ({"required": [(0, 1), (1, 0)]}, "cycle"),
        ({"required": [(0, 2), (1, 2)], "max_parents": 1}, "max_parents is 1"),
        ({"required": [(0, 9)]}, "9"),
        ({"max_parents": -1}, "max_parents"),
        ({"max_parents": 1.5}, "max_parents"),
        ({"tabu_length": -1}, "tabu_length"),
        ({"patience": -1}, "patience"),
        ({"restarts": -1}, "restarts"),
        ({"max_steps": 0}, "max_steps"),
        ({"restarts": 2**64}, "restarts must be at most 10,000"),
        ({"max_steps": 2**64}, "max_steps must be at most 1,000,000"),
        ({"patience": 2**64}, "patience must be at most 1,000,000"),
        ({"seed": "a"}, "seed"),
        ({"score": "k2"}, "k2"),
    ],
)
def test_impossible_options_are_refused(random_data, limits, says):
    data, cards = random_data(0, 4)
    with pytest.raises(InputError, match=says):
        hill_climb(data, cards, **limits)
