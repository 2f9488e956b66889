"""Scores of networks, against their definitions."""

from itertools import product

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.network import cpdag
from pgm_explainer.structure import (
    DAG,
    SCORES,
    BDeuScore,
    BDsScore,
    HeldOutScore,
    as_score,
    bic_score,
    family_score,
    network_score,
)
from pgm_explainer.structure.families import (
    FewFamilies,
    ManyByConfiguration,
    ManyFamilies,
    family_scores,
)
from pgm_explainer.structure.scores import check_data
from pgm_explainer.structure.scores.nml import log_regret, log_regrets

every_score = pytest.mark.parametrize("name", list(SCORES))
both_ways = pytest.mark.parametrize("form", [FewFamilies, ManyFamilies])


def families_of(form, data, cards, name):
    score = as_score(name)
    if form is ManyFamilies and hasattr(score, "configuration_terms"):
        form = ManyByConfiguration
    return form(*check_data(data, cards), score)


def close(value):
    return pytest.approx(value, rel=1e-10, abs=1e-8)


@every_score
@pytest.mark.parametrize("seed", range(5))
def test_a_networks_score_follows_from_the_definition(random_data, slow_score, name, seed):
    data, cards = random_data(seed, 5)
    dag = DAG(5, [(0, 2), (1, 2), (3, 2), (2, 4), (0, 4)])
    assert network_score(data, cards, dag.edges, name) == close(slow_score(data, cards, dag, name))


@every_score
def test_many_parents_of_which_few_states_are_seen(random_data, slow_family, name):
    data, cards = random_data(9, 7, rows=40, cardinalities=[4, 3, 4, 2, 4, 3, 2])
    families = family_scores(data, cards, name)
    for parents in [(0, 1, 2, 3), (0, 1, 2, 3, 4, 5)]:
        expected = slow_family(data, cards, 6, parents, name)
        assert families.family(6, parents) == close(expected)


@both_ways
@every_score
def test_a_score_is_the_sum_of_its_families(random_data, name, form):
    data, cards = random_data(1, 6)
    dag = DAG(6, [(5, 0), (5, 1), (0, 1), (1, 3), (2, 3)])
    families = families_of(form, data, cards, name)
    total = sum(families.family(v, dag.parents(v)) for v in range(6))
    assert network_score(data, cards, dag.edges, name) == close(total)


@both_ways
@every_score
def test_one_more_edge_changes_only_its_childs_family(random_data, name, form):
    data, cards = random_data(2, 4)
    families = families_of(form, data, cards, name)
    gain = families.family(3, (0, 1)) - families.family(3, (0,))
    before = network_score(data, cards, [(0, 3), (1, 2)], name)
    assert network_score(data, cards, [(0, 3), (1, 2), (1, 3)], name) == close(before + gain)


@pytest.mark.parametrize("name", [name for name in SCORES if name not in ("bds", "fnml")])
def test_i_equivalent_networks_score_the_same(random_data, name):
    data, cards = random_data(3, 4)
    chain = network_score(data, cards, [(0, 1), (1, 2), (2, 3)], name)
    assert network_score(data, cards, [(3, 2), (2, 1), (1, 0)], name) == close(chain)
    assert network_score(data, cards, [(1, 0), (1, 2), (2, 3)], name) == close(chain)
    collider = network_score(data, cards, [(0, 1), (2, 1), (2, 3)], name)
    assert abs(collider - chain) > 1e-3


@every_score
def test_renaming_columns_changes_nothing(random_data, name):
    data, cards = random_data(4, 5)
    edges = [(0, 2), (1, 2), (2, 4)]
    order = np.random.default_rng(0).permutation(5)
    where = np.argsort(order)
    renamed = [(where[u], where[v]) for u, v in edges]
    moved = network_score(data[:, order], np.array(cards)[order], renamed, name)
    assert moved == close(network_score(data, cards, edges, name))


@both_ways
@every_score
@pytest.mark.parametrize("seed", range(4))
def test_scores_from_bulk_counts_are_those_counted_one_by_one(
    random_data, slow_family, name, seed, form
):
    data, cards = random_data(seed, 5, rows=60)
    families = families_of(form, data, cards, name)
    for child, parents in [(0, ()), (3, (1,)), (4, (0, 2)), (1, (0, 2, 3))]:
        toggled = families.toggled(child, parents)
        for other in set(range(5)) - {child}:
            others = tuple(sorted(set(parents) ^ {other}))
            assert toggled[other] == close(slow_family(data, cards, child, others, name))


@both_ways
@every_score
def test_families_may_be_requested_in_any_order(random_data, slow_family, name, form):
    data, cards = random_data(5, 4)
    families = families_of(form, data, cards, name)
    families.toggled(0, ())
    assert families.family(1, ()) == close(slow_family(data, cards, 1, (), name))


@both_ways
@every_score
def test_counting_ahead_changes_no_value(random_data, slow_family, name, form):
    data, cards = random_data(6, 5)
    families = families_of(form, data, cards, name)
    families.count_ahead([(), (0,), (1, 2), (0, 1, 2), (0, 3, 4), (0, 1, 2, 3, 4)])
    for child, parents in [(0, (1, 2)), (3, (0, 4)), (2, ()), (4, (0, 1, 2, 3))]:
        expected = slow_family(data, cards, child, parents, name)
        assert families.family(child, parents) == close(expected)


@pytest.mark.parametrize("name", [name for name in SCORES if name != "held_out"])
def test_a_familys_counts_give_its_score(slow_family, name):
    rng = np.random.default_rng(7)
    cards = [3, 2, 4]
    data = np.stack([rng.integers(0, c, 90) for c in cards], axis=1)
    counts = np.zeros(cards, dtype=np.int64)
    np.add.at(counts, tuple(data.T), 1)
    expected = slow_family(data, cards, 2, (0, 1), name)
    assert family_score(counts, as_score(name)) == close(expected)


@both_ways
def test_bdeu_takes_its_equivalent_sample_size(random_data, slow_family, form):
    data, cards = random_data(8, 3)
    families = families_of(form, data, cards, BDeuScore(equivalent_samples=3.0))
    expected = slow_family(data, cards, 2, (0, 1), "bdeu", equivalent_samples=3.0)
    assert families.family(2, (0, 1)) == close(expected)


@pytest.mark.parametrize("name", ["bds", "bdeu", "held_out"])
def test_scores_take_their_parameters(random_data, slow_family, name):
    data, cards = random_data(8, 3)
    of_size_3 = type(SCORES[name])(equivalent_samples=3.0)
    found = families_of(FewFamilies, data, cards, of_size_3).family(2, (0, 1))
    if name != "held_out":
        assert found == close(slow_family(data, cards, 2, (0, 1), name, equivalent_samples=3.0))
    assert found != close(families_of(FewFamilies, data, cards, name).family(2, (0, 1)))


@every_score
def test_every_network_of_four_variables_scores_by_the_definition(
    random_data, slow_family, four_variable_dags, name
):
    """Some configurations of the parents never occur, and one variable is constant."""
    data, cards = random_data(11, 4, rows=40, cardinalities=[3, 2, 4, 2])
    data[:, 3] = 0
    families = family_scores(data, cards, name)
    known = {}
    for dag in four_variable_dags:
        for child in range(4):
            key = (child, dag.parents(child))
            if key not in known:
                known[key] = slow_family(data, cards, *key, name)
        expected = sum(known[child, dag.parents(child)] for child in range(4))
        assert families.network(dag) == close(expected)


@pytest.mark.parametrize("name", ["bic", "aic", "bdeu", "qnml", "held_out", "log_likelihood"])
def test_networks_of_a_class_score_the_same(random_data, four_variable_dags, name):
    data, cards = random_data(12, 4)
    families = family_scores(data, cards, name)
    by_class = {}
    for dag in four_variable_dags:
        by_class.setdefault(cpdag(dag), []).append(families.network(dag))
    assert len(by_class) == 185  # Gillispie and Perlman, 2001
    for scores in by_class.values():
        assert scores == close([scores[0]] * len(scores))


@pytest.mark.parametrize("name", ["bds", "fnml"])
def test_these_scores_are_not_equivalent(random_data, name):
    data, cards = random_data(3, 4, rows=30)
    scores = {round(network_score(data, cards, [edge], name), 6) for edge in [(0, 1), (1, 0)]}
    dense = [[(0, 1), (0, 2), (1, 2)], [(2, 1), (2, 0), (1, 0)]]
    scores |= {round(network_score(data, cards, edges, name), 6) for edges in dense}
    assert len(scores) > 2


def test_bds_is_bdeu_if_every_configuration_occurs():
    data = np.array([[a, b, (a + b) % 3] for a in range(2) for b in range(3)] * 3)
    for edges in [[], [(0, 2), (1, 2)], [(0, 1)]]:
        bds = network_score(data, [2, 3, 3], edges, "bds")
        assert bds == close(network_score(data, [2, 3, 3], edges, "bdeu"))


def test_the_regret_is_the_sum_of_maximum_likelihoods():
    """Over all sequences: every sample of up to 7 rows and 4 states."""
    for samples, states in [(1, 2), (5, 2), (7, 3), (6, 4)]:
        total = 0.0
        for rows in product(range(states), repeat=samples):
            counts = np.bincount(rows, minlength=states)
            total += np.prod((counts / samples) ** counts)
        assert log_regret(samples, states) == close(np.log(total))
        assert log_regrets(samples, states)[samples] == close(np.log(total))


def test_the_approximate_regret_continues_the_exact_one():
    for samples in (50, 1000, 20_000):
        exact, beyond = log_regret(samples, [4096, 4097])
        assert 0 < beyond - exact < 2e-4 * exact


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        (BDsScore, {"equivalent_samples": 0}, "above 0"),
        (HeldOutScore, {"folds": 1}, "folds"),
        (HeldOutScore, {"equivalent_samples": -1.0}, "above 0"),
    ],
)
def test_unusable_parameters_are_refused(kind, options, says):
    with pytest.raises(InputError, match=says):
        kind(**options)


def test_a_held_out_score_needs_the_rows():
    with pytest.raises(InputError, match="rows"):
        family_score(np.ones((2, 2), dtype=np.int64), as_score("held_out"))


def test_states_that_never_occur_cost_bic_all_the_same():
    data = np.array([[0, 0], [1, 1]] * 8)
    small, large = bic_score(data, [2, 2], [(0, 1)]), bic_score(data, [2, 4], [(0, 1)])
    assert small - large == close(np.log(16) / 2 * 2 * (3 - 1))


def test_constants_have_likelihood_one():
    data = np.zeros((10, 2), dtype=int)
    assert network_score(data, [1, 1], [(0, 1)], "log_likelihood") == 0
    assert bic_score(data, [1, 1], [(0, 1)]) == 0
    assert bic_score(data, [2, 1]) == close(-np.log(10) / 2)


def test_one_sample_is_enough_for_a_score():
    assert bic_score([[0, 1]], [2, 2], [(0, 1)]) == 0


def test_many_samples_are_counted_without_overflow():
    data = np.zeros((70_000, 1), dtype=np.uint8)
    data[:35_000] = 1
    assert network_score(data, [2], [], "log_likelihood") == close(70_000 * np.log(0.5))


def test_the_data_are_not_changed(random_data):
    data, cards = random_data(0, 3)
    data.flags.writeable = False
    bic_score(data, cards, [(0, 1)])


@pytest.mark.parametrize(
    ("data", "cards", "says"),
    [
        ([[0, 2]], [2, 2], r"data\[0, 1\] is 2"),
        ([[0, -1]], [2, 2], r"data\[0, 1\] is -1"),
        ([[0.5, 0.5]], [2, 2], "small integers"),
        ([0, 1], [2, 2], "matrix"),
        (np.zeros((0, 2), dtype=int), [2, 2], "matrix"),
        ([[0, 1]], [2], "cardinalities"),
        ([[0, 1]], [2, 0], "cardinalities"),
        ([[0, 1]], [2.0, 2.0], "cardinalities"),
        ([["a", "b"]], [2, 2], "data"),
    ],
)
def test_unusable_data_are_refused_with_what_is_wrong(data, cards, says):
    with pytest.raises(InputError, match=says):
        bic_score(data, cards)


@pytest.mark.parametrize("bad", ["k2", "", None, 7])
def test_unknown_scores_are_refused(bad):
    with pytest.raises(InputError, match=repr(bad)):
        as_score(bad)


@pytest.mark.parametrize("seed", range(3))
@every_score
def test_both_forms_agree_on_every_family(random_data, name, seed):
    data, cards = random_data(seed, 4)
    few, many = (families_of(form, data, cards, name) for form in (FewFamilies, ManyFamilies))
    for child in range(4):
        for mask in range(16):
            parents = tuple(v for v in range(4) if mask >> v & 1 and v != child)
            assert few.family(child, parents) == close(many.family(child, parents))


def test_the_form_suits_the_size(random_data):
    assert isinstance(family_scores(*random_data(0, 4)), FewFamilies)
    assert isinstance(family_scores(*random_data(0, 12)), ManyFamilies)
