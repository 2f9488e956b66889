"""Independence tests, against SciPy, a slow loop and their own promise on independent data."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pgm_explainer import InputError
from pgm_explainer.independence import (
    MIN_PER_CELL,
    conditional_tests,
    pair_counts,
    pairwise_tests,
    stratified_counts,
)
from pgm_explainer.selection import TESTS, ChiSquareTest, GTest, as_test

LAMBDA = {"chi_square": "pearson", "g": "log-likelihood"}
both_tests = pytest.mark.parametrize("name", list(TESTS))


def occupied(table):
    """The table without states that never occur."""
    return table[table.any(axis=1)][:, table.any(axis=0)]


def random_tables(seed, many, states):
    """Tables with few and many samples, weak and strong dependence, empty rows and columns."""
    rng = np.random.default_rng(seed)
    for _ in range(many):
        shape = rng.gamma(0.5, size=(states, states)) * rng.choice([0.1, 1, 50])
        table = rng.poisson(shape * rng.choice([1, 20, 500])).astype(float)
        table[rng.random(states) < 0.2] = 0
        table[:, rng.random(states) < 0.2] = 0
        yield table


def codes(seed, rows, columns, states):
    return np.random.default_rng(seed).integers(0, states, (rows, columns)).astype(np.uint8)


@both_tests
@pytest.mark.parametrize("states", [2, 3, 4, 6])
def test_agrees_with_scipy_on_tables_with_and_without_empty_lines(name, states):
    tables = np.array(list(random_tables(states, 150, states)))
    answer = pairwise_tests(tables, TESTS[name])
    checked = 0
    for at, table in enumerate(map(occupied, tables)):
        if min(table.shape) < 2:
            assert (answer.statistic[at], answer.dof[at], answer.log_p[at]) == (0, 0, 0)
            continue
        with np.errstate(divide="ignore"):
            expected = stats.chi2_contingency(table, correction=False, lambda_=LAMBDA[name])
        assert answer.dof[at] == expected.dof
        assert answer.statistic[at] == pytest.approx(expected.statistic, rel=1e-9, abs=1e-8)
        if expected.pvalue > 1e-250:
            assert answer.log_p[at] == pytest.approx(np.log(expected.pvalue), rel=1e-7, abs=1e-8)
        checked += 1
    assert checked > 30


@both_tests
def test_effect_is_cramers_v_whatever_the_test(name):
    tables = np.array(list(random_tables(99, 200, 4)))
    effect = pairwise_tests(tables, TESTS[name]).effect_size
    for at, table in enumerate(map(occupied, tables)):
        expected = 0.0
        if min(table.shape) > 1:
            expected = stats.contingency.association(table.astype(int), method="cramer")
        assert effect[at] == pytest.approx(expected, abs=1e-9)
    assert (effect <= 1 + 1e-12).all()


@both_tests
def test_a_variable_determines_itself(name):
    table = np.diag([7.0, 0.0, 11.0, 2.0])
    answer = pairwise_tests(table, TESTS[name])
    assert float(answer.effect_size) == pytest.approx(1)
    assert int(answer.dof) == 4


@both_tests
def test_a_constant_variable_is_independent_of_everything(name):
    left, right = np.zeros((50, 1), dtype=np.uint8), codes(0, 50, 3, 4)
    answer = pairwise_tests(pair_counts(left, right, 4), TESTS[name])
    assert answer.dof.tolist() == [[0, 0, 0]]
    assert answer.log_p.tolist() == [[0, 0, 0]]
    assert answer.effect_size.tolist() == [[0, 0, 0]]


@both_tests
def test_an_empty_table_tests_nothing(name):
    answer = pairwise_tests(np.zeros((2, 3, 3)), TESTS[name])
    assert answer.log_p.tolist() == [0, 0]
    assert answer.effect_size.tolist() == [0, 0]


@both_tests
def test_a_pair_tested_alone_gives_the_same_bits_as_among_many(name):
    left, right = codes(1, 300, 7, 4), codes(2, 300, 40, 4)
    together = pairwise_tests(pair_counts(left, right, 4), TESTS[name])
    for i in range(7):
        for j in (0, 13, 39):
            alone = pairwise_tests(pair_counts(left[:, [i]], right[:, [j]], 4), TESTS[name])
            assert alone.statistic[0, 0] == together.statistic[i, j]
            assert alone.log_p[0, 0] == together.log_p[i, j]
            assert alone.effect_size[0, 0] == together.effect_size[i, j]


@both_tests
def test_unused_extra_states_change_no_bit_of_dof_and_little_else(name):
    left, right = codes(3, 200, 3, 2), codes(4, 200, 3, 2)
    tight = pairwise_tests(pair_counts(left, right, 2), TESTS[name])
    loose = pairwise_tests(pair_counts(left, right, 6), TESTS[name])
    assert (tight.dof == loose.dof).all()
    np.testing.assert_allclose(tight.log_p, loose.log_p, rtol=1e-9)


def test_an_index_gives_one_variables_results():
    answer = pairwise_tests(pair_counts(codes(5, 80, 3, 2), codes(6, 80, 4, 2), 2), GTest())
    assert (answer.at(2).statistic == answer.statistic[2]).all()
    assert (answer.at(2).log_p == answer.log_p[2]).all()
    assert (answer.at(2).effect_size == answer.effect_size[2]).all()
    assert (answer.at(2).dof == answer.dof[2]).all()


@both_tests
@pytest.mark.parametrize("states", [2, 3, 4])
def test_false_positives_come_at_the_level(name, states):
    """Independent, uneven columns: about 5 % of 4,000 tests fall below 0.05."""
    rng = np.random.default_rng(states)
    odds = np.linspace(1, 2, states)
    draws = rng.choice(states, (2000, 100), p=odds / odds.sum()).astype(np.uint8)
    answer = pairwise_tests(pair_counts(draws[:, :50], draws[:, 50:], states), TESTS[name])
    assert (answer.log_p < np.log(0.05)).mean() == pytest.approx(0.05, abs=0.015)


# --- conditional tests


def slow_conditional(tables, name):
    """Sum SciPy's statistic and degrees of freedom over strata with samples enough."""
    statistic, dof = 0.0, 0
    for table in map(occupied, tables):
        if min(table.shape) < 2 or table.sum() < MIN_PER_CELL * table.size:
            continue
        with np.errstate(divide="ignore"):
            part = stats.chi2_contingency(table, correction=False, lambda_=LAMBDA[name])
        statistic, dof = statistic + part.statistic, dof + part.dof
    return stats.chi2.logsf(statistic, dof) if dof else 0.0


@both_tests
@pytest.mark.parametrize("conditions", [0, 1, 2, 3, 5])
def test_conditional_tests_equal_a_slow_loop(name, conditions):
    rng = np.random.default_rng(conditions)
    tables = []
    for _ in range(8):
        data = rng.choice(4, (600, conditions + 2), p=[0.5, 0.3, 0.15, 0.05]).astype(np.uint8)
        data[:, 0] = np.where(rng.random(600) < 0.1, data[:, -1], data[:, 0])
        tables.append(stratified_counts(data[:, 0], data[:, 1], data[:, 2:], 4))
    expected = [slow_conditional(table, name) for table in tables]
    answer = conditional_tests(tables, TESTS[name])
    np.testing.assert_allclose(answer, expected, rtol=1e-8, atol=1e-12)


@both_tests
def test_one_stratum_is_the_pairwise_test(name):
    counts = pair_counts(codes(7, 400, 1, 3), codes(8, 400, 1, 3), 3)[0]
    answer = conditional_tests([counts], TESTS[name])
    assert answer[0] == pytest.approx(float(pairwise_tests(counts[0], TESTS[name]).log_p))


@both_tests
def test_a_stratum_below_five_per_cell_is_left_out(name):
    enough = np.array([[[9.0, 1.0], [1.0, 9.0]]])  # 20 samples, 4 cells
    too_few = np.array([[[9.0, 0.0], [1.0, 9.0]]])  # 19
    alone, neither = conditional_tests([enough, too_few], TESTS[name])
    assert alone < np.log(0.01)
    assert neither == 0
    joined = conditional_tests([np.concatenate([enough, too_few])], TESTS[name])
    assert joined[0] == alone


@both_tests
def test_cells_are_those_of_states_that_occur_in_the_stratum(name):
    table = np.zeros((1, 4, 4))
    table[0, [0, 0, 2, 2], [1, 3, 1, 3]] = [9, 1, 1, 9]  # a 2 by 2 table among 16 cells
    small = np.array([[[9.0, 1.0], [1.0, 9.0]]])
    assert conditional_tests([table], TESTS[name]) == pytest.approx(
        conditional_tests([small], TESTS[name])
    )


@both_tests
def test_strata_where_one_side_is_constant_add_nothing(name):
    real = np.array([[[20.0, 5.0], [5.0, 20.0]]])
    constant = np.array([[[30.0, 30.0], [0.0, 0.0]]])
    with_it, without = conditional_tests([np.concatenate([real, constant]), real], TESTS[name])
    assert with_it == without


@both_tests
def test_opposite_dependences_in_two_strata_are_found(name):
    """Together the strata look independent; apart each is strongly dependent."""
    one = np.array([[40.0, 10.0], [10.0, 40.0]])
    strata = np.stack([one, one[::-1]])
    assert float(pairwise_tests(strata.sum(axis=0), TESTS[name]).log_p) == 0
    assert conditional_tests([strata], TESTS[name])[0] < np.log(1e-10)


@both_tests
def test_a_common_cause_is_conditioned_away(name):
    rng = np.random.default_rng(12)
    cause = rng.integers(0, 2, 5000)
    left, right = (np.where(rng.random(5000) < 0.2, 1 - cause, cause) for _ in range(2))
    left, right, given = (each.astype(np.uint8) for each in (left, right, cause[:, None]))
    assert pairwise_tests(pair_counts(left[:, None], right[:, None], 2), TESTS[name]).log_p < -100
    assert conditional_tests([stratified_counts(left, right, given, 2)], TESTS[name])[0] > -3


@pytest.mark.parametrize(("name", "most"), [("chi_square", 0.075), ("g", 0.13)])
def test_conditional_false_positives_come_near_the_level(name, most):
    """The sparse-strata rule, on four-state data at the paper's sample size.

    G rejects too often if there are few cells; chi-square keeps its level.
    """
    rng = np.random.default_rng(13)
    tables = []
    for _ in range(1500):
        data = rng.choice(4, (800, 3), p=[0.55, 0.2, 0.15, 0.1]).astype(np.uint8)
        tables.append(stratified_counts(data[:, 0], data[:, 1], data[:, 2:], 4))
    rate = (conditional_tests(tables, TESTS[name]) < np.log(0.05)).mean()
    assert 0.02 < rate < most


def default_like(rate, share_of_own):
    """The states of a node: perturbed in one of ten samples, changed at a rate.

    Of the changes, a share happens in samples in which the node itself is perturbed.
    """
    perturbed, other = min(0.9, share_of_own * rate / 0.1), (1 - share_of_own) * rate / 0.9
    return np.array([0.9 * (1 - other), 0.9 * other, 0.1 * (1 - perturbed), 0.1 * perturbed])


@pytest.mark.parametrize("samples", [500, 1000])
@pytest.mark.parametrize("share_of_own", [0.1, 0.5, 1.0])
def test_g_holds_its_level_on_tables_as_sparse_as_the_defaults_make_them(samples, share_of_own):
    """Pearson's test rejects up to a hundred times too often far out."""
    rng, worst = np.random.default_rng(14), 0.0
    for one, other in product((0.01, 0.05, 0.2), repeat=2):
        cells = np.outer(default_like(one, share_of_own), default_like(other, share_of_own))
        counts = rng.multinomial(samples, cells.ravel(), size=8_000).reshape(-1, 4, 4)
        log_p = pairwise_tests(counts, TESTS["g"]).log_p
        for level in (0.05, 0.005, 0.0005):
            noise = 3 * np.sqrt(level / len(log_p))
            assert (log_p < np.log(level)).mean() <= 1.5 * level + noise
        pearson = pairwise_tests(counts, TESTS["chi_square"]).log_p
        worst = max(worst, (pearson < np.log(0.0005)).mean())
    assert worst > 10 * 0.0005  # which is why it is not the default


# --- choosing a test


def test_tests_are_chosen_by_name_or_instance():
    assert as_test("chi_square") == ChiSquareTest()
    assert as_test("g") == GTest()
    mine = GTest(name="mine")
    assert as_test(mine) is mine


@pytest.mark.parametrize("bad", ["pearson", "", 3, None])
def test_an_unknown_test_is_refused_by_name(bad):
    with pytest.raises(InputError, match=repr(bad)):
        as_test(bad)
