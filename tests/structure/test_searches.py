"""Searches other than hill climbing and exact search: GES, PC, MMHC, order-based, bootstrap."""

import time

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.structure import (
    DAG,
    SCORES,
    SEARCHES,
    BootstrapSearch,
    MMHCSearch,
    OrderSearch,
    PCSearch,
    as_search,
    cpdag,
    equivalent,
    exact_search,
    ges,
    hill_climb,
    mmhc,
    network_score,
    order_search,
    pc,
    structural_distance,
)
from pgm_explainer.structure.bootstrap import averaged_dag, edge_weights
from pgm_explainer.structure.dag import dag_of_masks
from pgm_explainer.structure.equivalence import Pattern
from pgm_explainer.structure.search import NamedSearch

every_search = pytest.mark.parametrize("name", list(SEARCHES))
SOON = 30
"""Seconds after which a search is taken to hang; each takes well below one."""


def strong_data(seed, size, rows=4000, states=3):
    """A random network with random tables, and its rows."""
    rng = np.random.default_rng(seed)
    data, edges = np.zeros((rows, size), dtype=np.int64), []
    order = rng.permutation(size).tolist()
    for at, child in enumerate(order):
        parents = rng.choice(order[:at], min(at, int(rng.integers(1, 3))), replace=False).tolist()
        configuration = np.zeros(rows, dtype=np.int64)
        for parent in parents:
            configuration = configuration * states + data[:, parent]
        tables = rng.dirichlet(np.full(states, 0.7), states ** len(parents))
        limits = tables[configuration].cumsum(axis=1)[:, :-1]
        data[:, child] = (rng.random((rows, 1)) >= limits).sum(axis=1)
        edges += [(parent, child) for parent in parents]
    return DAG(size, edges), data


def test_ges_and_pc_recover_the_classes_of_networks():
    """The distance from the true class, on data of networks of about 9 edges."""
    problems = [strong_data(seed, 6) for seed in range(20)]
    by_ges = [structural_distance(ges(data, [3] * 6), truth) for truth, data in problems]
    by_pc = [structural_distance(pc(data, [3] * 6), truth) for truth, data in problems]
    assert np.mean(by_ges) <= 2
    assert np.mean(by_pc) <= 2
    assert by_ges.count(0) >= 14
    assert by_pc.count(0) >= 12


def test_with_many_samples_the_class_is_found_exactly():
    found = [
        equivalent(ges(data, [3] * 5), truth)
        for truth, data in (strong_data(seed, 5, rows=20_000) for seed in range(10))
    ]
    assert sum(found) >= 8


@pytest.mark.parametrize("seed", range(6))
def test_ges_is_at_a_local_optimum_over_classes(random_data, seed):
    data, cards = random_data(seed, 5)
    found = ges(data, cards)
    best = network_score(data, cards, exact_search(data, cards).edges)
    score = network_score(data, cards, found.edges)
    assert score <= best + 1e-6
    # No network of the class can be improved by one more edge or one less, or by turning one.
    for u in range(5):
        for v in range(5):
            if u == v:
                continue
            try:
                changed = DAG(5, (set(found.edges) - {(v, u)}) ^ {(u, v)})
            except InputError:
                continue
            assert network_score(data, cards, changed.edges) <= score + 1e-6


def test_ges_turns_edges():
    """Without turning, insertions and deletions end in a class that is worse by 93.59."""
    _, data = strong_data(14, 8, rows=500)
    found = ges(data, [3] * 8).edges
    score = network_score(data, [3] * 8, found)
    assert score > -3444.44  # half the difference above
    for u, v in found:
        try:
            turned = DAG(8, (set(found) - {(u, v)}) | {(v, u)})
        except InputError:  # a cycle
            continue
        assert network_score(data, [3] * 8, turned.edges) <= score + 1e-6


@pytest.mark.parametrize("name", ["bds", "fnml"])
def test_ges_ends_with_scores_that_differ_within_a_class(name):
    """Moves that only seem to improve such a score were made and undone for ever."""
    started = time.monotonic()
    for seed in range(20):
        _, data = strong_data(seed, 5, rows=80, states=2)
        found = ges(data, [2] * 5, score=name).edges
        assert network_score(data, [2] * 5, found, name) >= network_score(data, [2] * 5, [], name)
    assert time.monotonic() - started < SOON


def test_pc_finds_directions_by_the_largest_p_value():
    """With the first separator instead of the best one, 14 of 40 were found."""
    problems = [strong_data(seed, 6, rows=1500) for seed in range(40)]
    found = [equivalent(pc(data, [3] * 6), truth) for truth, data in problems]
    assert sum(found) >= 20


@pytest.mark.parametrize("name", ["bic", "bdeu", "qnml", "held_out", "bds", "fnml", "aic"])
def test_ges_takes_any_score_with_a_penalty(random_data, name):
    data, cards = random_data(3, 5)
    found = network_score(data, cards, ges(data, cards, score=name).edges, name)
    assert found > network_score(data, cards, [], name)


def test_ges_refuses_the_bare_likelihood(random_data):
    with pytest.raises(InputError, match="penalty"):
        ges(*random_data(0, 4), score="log_likelihood")


@pytest.mark.parametrize("seed", range(5))
def test_order_search_is_no_worse_than_hill_climbing(random_data, seed):
    data, cards = random_data(seed, 12, rows=500)
    found = network_score(data, cards, order_search(data, cards).edges)
    assert found >= network_score(data, cards, hill_climb(data, cards).edges) - 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_order_search_finds_the_best_network_of_a_few_variables(random_data, seed):
    data, cards = random_data(seed, 4)
    best = network_score(data, cards, exact_search(data, cards).edges)
    found = order_search(data, cards, beam=100)
    assert network_score(data, cards, found.edges) == pytest.approx(best)


def test_more_than_63_variables_fit_into_an_order():
    rng = np.random.default_rng(0)
    data = rng.integers(0, 2, (200, 70))
    data[:, 69] = data[:, 0]
    found = order_search(data, [2] * 70, restarts=1, beam=3)
    assert (0, 69) in found.edges or (69, 0) in found.edges


@pytest.mark.parametrize("name", [name for name in SEARCHES if name not in ("ges", "pc")])
def test_a_limit_on_parents_holds(random_data, name):
    data, cards = random_data(1, 7, density=1.0)
    found = SEARCHES[name](data, cards, "log_likelihood", 2)
    assert max(len(found.parents(v)) for v in range(7)) == 2


@pytest.mark.parametrize("name", ["ges", "pc"])
def test_a_class_has_no_limit_on_parents(random_data, name):
    with pytest.raises(InputError, match="max_parents=2"):
        SEARCHES[name](*random_data(0, 4), "bic", 2)


@every_search
def test_searches_are_deterministic_and_change_no_data(random_data, name):
    data, cards = random_data(2, 6)
    data.flags.writeable = False
    assert SEARCHES[name](data, cards) == SEARCHES[name](data, cards)


@every_search
@pytest.mark.parametrize(
    "data",
    [
        np.zeros((50, 3), dtype=int),
        np.zeros((50, 1), dtype=int),
        np.array([[0, 1, 2]] * 20),
        np.arange(60).reshape(20, 3) % 3,
        np.repeat(np.arange(40)[:, None] % 4, 5, axis=1),
        np.array([[0, 1]]),
    ],
    ids=["constant", "one variable", "one state each", "few rows", "copies", "one row"],
)
def test_odd_data_have_an_answer(data, name):
    start = time.thread_time()
    found = SEARCHES[name](data, np.full(data.shape[1], 4))
    assert found.num_variables == data.shape[1]
    assert time.thread_time() - start < SOON


@every_search
def test_copies_of_a_variable_are_connected(name):
    data = np.repeat(np.random.default_rng(0).integers(0, 3, (300, 1)), 4, axis=1)
    found = SEARCHES[name](data, [3] * 4)
    assert len(found.edges) >= 3


@pytest.mark.parametrize("kind", ["independent", "copies", "dense"])
@pytest.mark.parametrize("name", ["ges", "pc", "mmhc", "order"])
def test_sixty_variables_do_not_hang(name, kind):
    rng = np.random.default_rng(0)
    data = rng.integers(0, 3, (150, 60))
    if kind == "copies":
        data[:] = data[:, :1]
    if kind == "dense":
        data = (data[:, :4] @ rng.integers(0, 2, (4, 60)) + (rng.random((150, 60)) < 0.1)) % 3
    search = OrderSearch(restarts=1, beam=3) if name == "order" else SEARCHES[name]
    start = time.thread_time()
    search(data, np.full(60, 3))
    assert time.thread_time() - start < SOON


def test_an_exact_search_of_sixty_variables_is_refused():
    with pytest.raises(InputError, match="at most 20 variables"):
        SEARCHES["exact"](np.zeros((5, 60), dtype=int), [2] * 60)


def test_mmhc_connects_only_neighbours():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 2000)
    b = a ^ (rng.random(2000) < 0.1)
    c = b ^ (rng.random(2000) < 0.1)
    found = mmhc(np.stack([a, b, c], axis=1).astype(int), [2, 2, 2])
    assert {frozenset(edge) for edge in found.edges} == {frozenset((0, 1)), frozenset((1, 2))}


def test_pc_takes_its_test_and_level():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.15, a, rng.integers(0, 2, 200))
    data = np.stack([a, b], axis=1)
    levels = [len(pc(data, [2, 2], significance=level).edges) for level in (1e-9, 0.9)]
    assert levels == [0, 1]
    assert pc(data, [2, 2], test="chi_square", significance=0.9).edges == ((0, 1),)


def test_the_extension_of_a_class_is_in_the_class(four_variable_dags):
    for dag in four_variable_dags:
        parents = Pattern.of(dag).extension()
        assert equivalent(dag_of_masks(parents), dag)


def test_a_pattern_that_has_no_network_has_no_extension():
    square = [0b1010, 0b0101, 0b1010, 0b0101]
    assert Pattern([0] * 4, square).extension() is None


def test_the_distance_counts_pairs_that_differ(four_variable_dags):
    rng = np.random.default_rng(0)
    for one, other in rng.choice(len(four_variable_dags), (50, 2)):
        first, second = four_variable_dags[one], four_variable_dags[other]
        kinds = []
        for dag in (first, second):
            found = cpdag(dag)
            matrix = np.zeros((4, 4))
            for u, v in found.directed:
                matrix[u, v] = 1
            for u, v in found.undirected:
                matrix[u, v] = matrix[v, u] = 2
            kinds.append(matrix)
        differ = (kinds[0] != kinds[1]) | (kinds[0] != kinds[1]).T
        assert structural_distance(first, second) == int(np.triu(differ).sum())


def test_the_average_network_has_the_frequent_edges():
    dags = [DAG(3, [(0, 1)]), DAG(3, [(1, 0), (1, 2)]), DAG(3, [(0, 1), (2, 1)])]
    weights = edge_weights(dags)
    assert weights[0, 1] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert weights[0, 1] + weights[1, 0] == pytest.approx(1)
    assert weights[1, 2] + weights[2, 1] == pytest.approx(2 / 3)
    assert averaged_dag(weights, 0.7).edges == ((0, 1),)
    assert averaged_dag(weights, 0.5).edges == ((0, 1), (2, 1))
    assert averaged_dag(weights, 0.5, max_parents=1).edges == ((0, 1), (1, 2))


def test_the_edges_of_a_leaf_do_not_direct_others():
    collider = DAG(3, [(0, 2), (1, 2)])
    chain = DAG(3, [(0, 1), (0, 2), (1, 2)])
    assert edge_weights([chain], leaf=True)[0, 1] == 0.5
    assert edge_weights([collider], leaf=True)[0, 2] == 1
    assert edge_weights([collider])[0, 2] == 1


def test_an_average_never_has_a_cycle():
    weights = np.zeros((3, 3))
    weights[0, 1], weights[1, 2], weights[2, 0] = 0.9, 0.8, 0.7
    assert averaged_dag(weights, 0.5).edges == ((0, 1), (0, 2), (1, 2))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: as_search("simulated_annealing"), "ges"),
        (lambda: PCSearch(test="t"), "chi_square"),
        (lambda: PCSearch(significance=1.5), "between 0 and 1"),
        (lambda: MMHCSearch(max_condition=-1), "max_condition"),
        (lambda: OrderSearch(beam=0), "beam"),
        (lambda: BootstrapSearch(search="bootstrap"), "hill_climb"),
        (lambda: BootstrapSearch(resamples=0), "resamples"),
        (lambda: BootstrapSearch(threshold=1.0), "threshold"),
        (lambda: NamedSearch("ges"), "exact"),
        (lambda: as_search(PCSearch), "name"),
    ],
)
def test_unusable_searches_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_a_bootstrap_of_any_score_and_search(random_data):
    data, cards = random_data(4, 4)
    for search, score in [("ges", "bic"), ("pc", "bic"), ("hill_climb", "held_out")]:
        found = BootstrapSearch(search, resamples=8)(data, cards, SCORES[score])
        assert found.num_variables == 4
