"""Ranking by log p-value, and the Benjamini-Hochberg correction."""

import numpy as np
import pytest
from scipy import stats

from pgm_explainer import InputError
from pgm_explainer.independence import PairwiseTests
from pgm_explainer.selection.ranking import critical_log_p, rank
from pgm_explainer.significance import CORRECTIONS, SignificanceConfig, benjamini_hochberg


def significant(log_p, level, correction):
    return SignificanceConfig(significance=level, correction=correction).passed(log_p)


def evidence(log_p, statistic=None):
    log_p = np.array(log_p, dtype=float)
    statistic = -log_p if statistic is None else np.array(statistic, dtype=float)
    return PairwiseTests(statistic, np.ones(len(log_p), dtype=np.int64), log_p, statistic / 100)


def ranked(log_p, statistic=None, *, nodes=None, passed=None, selected=()):
    size = len(log_p)
    ranking = rank(
        np.arange(size) if nodes is None else np.array(nodes),
        evidence(log_p, statistic),
        np.ones(size, dtype=bool) if passed is None else np.array(passed),
    )
    return ranking.with_selected(np.array(selected, dtype=np.int64))


@pytest.mark.parametrize("size", [1, 2, 5, 50])
def test_benjamini_hochberg_adjusts_as_scipy_does(size):
    rng = np.random.default_rng(size)
    for _ in range(40):
        p = rng.random(size) ** rng.choice([1, 4, 20])
        p[rng.random(size) < 0.3] = p[0]  # ties
        adjusted = benjamini_hochberg(np.log(p))
        np.testing.assert_allclose(np.exp(adjusted), stats.false_discovery_control(p), rtol=1e-12)


def test_benjamini_hochberg_passes_what_scipy_passes():
    rng = np.random.default_rng(7)
    for level in (0.01, 0.05, 0.2):
        p = rng.random(60) ** 3
        expected = stats.false_discovery_control(p) < level
        assert expected.any()
        assert not expected.all()
        assert (significant(np.log(p), level, "benjamini_hochberg") == expected).all()


def test_the_correction_keeps_underflowing_p_values_apart():
    adjusted = benjamini_hochberg(np.array([-5000.0, -0.1, -6000.0]))
    assert adjusted[2] < adjusted[0] < adjusted[1] <= 0
    assert adjusted[2] == pytest.approx(-6000 + np.log(3))


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_no_p_values_pass_nothing(correction):
    assert significant(np.zeros(0), 0.05, correction).shape == (0,)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_p_of_one_never_passes(correction):
    assert not significant(np.zeros(4), 0.999, correction).any()


def test_an_unknown_correction_is_refused():
    with pytest.raises(InputError, match="bonferroni"):
        significant(np.zeros(2), 0.05, "bonferroni")


def test_significant_nodes_come_first():
    passed = [False, True, False, True]
    ranking = ranked([-40, -20, -8, -30], passed=passed)
    assert ranking.nodes.tolist() == [3, 1, 0, 2]


def test_the_share_of_false_discoveries_is_held():
    """Of 200 candidates, 20 are true."""
    rng = np.random.default_rng(5)
    true = np.arange(200) < 20
    shares = []
    for _ in range(1000):
        p = np.where(true, rng.random(200) * 1e-4, rng.random(200))
        passed = significant(np.log(p), 0.1, "benjamini_hochberg")
        shares.append((passed & ~true).sum() / max(1, passed.sum()))
    assert 0.07 < np.mean(shares) < 0.1


def test_the_critical_value_separates_significant_nodes():
    log_p = np.log(np.random.default_rng(6).random(80) ** 5)
    for correction in CORRECTIONS:
        passed = significant(log_p, 0.05, correction)
        ranking = ranked(log_p, passed=passed)
        line = critical_log_p(ranking, 0.05, correction)
        assert ((ranking.log_p < line) == ranking.significant).all()
        assert ranking.significant.any()


def test_most_dependent_comes_first():
    assert ranked([-1.0, -9.0, -3.0]).nodes.tolist() == [1, 2, 0]


def test_p_values_that_underflow_are_still_in_order():
    ranking = ranked([-2000.0, -5000.0, -900.0])
    assert ranking.nodes.tolist() == [1, 0, 2]
    assert [each.p for each in ranking] == [0, 0, 0]


def test_equal_p_values_go_by_statistic_then_by_node():
    ranking = ranked([0.0, 0.0, 0.0, 0.0], [1, 3, 1, 3], nodes=[9, 4, 2, 7])
    assert ranking.nodes.tolist() == [4, 7, 2, 9]


def test_order_of_the_candidates_does_not_matter():
    log_p, statistic, nodes = [-4.0, 0.0, -4.0, -7.0, 0.0], [4, 2, 4, 7, 1], [5, 1, 3, 2, 8]
    expected = ranked(log_p, statistic, nodes=nodes)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(5)
        shuffled = [[values[at] for at in order] for values in (log_p, statistic, nodes)]
        assert ranked(shuffled[0], shuffled[1], nodes=shuffled[2]) == expected


def test_selection_follows_the_order():
    ranking = ranked([-3.0, -5.0, -4.0, -2.0], selected=[3, 0])
    assert ranking.selected.tolist() == [False, False, True, True]
    assert ranking.selected_nodes.tolist() == [0, 3]


def test_every_column_follows_the_order():
    ranking = ranked([-1.0, -2.0], [10, 20], nodes=[3, 8], passed=[False, True])
    first = ranking[0]
    assert (first.node, first.statistic, first.log_p) == (8, 20, -2)
    assert first.effect_size == 0.2
    assert first.significant
    assert not ranking[1].significant
    assert first.p == pytest.approx(np.exp(-2))


def test_a_ranking_is_a_sequence():
    ranking = ranked([-1.0, -2.0, -3.0])
    assert len(ranking) == 3
    assert [each.node for each in ranking] == [2, 1, 0]
    assert [each.node for each in ranking[:2]] == [2, 1]
    assert ranking[-1] == ranking[2]
    assert repr(ranking).startswith("Ranking of 3 parts, 0 selected\n")
    with pytest.raises(IndexError):
        ranking[3]


def test_some_and_the_selected_stay_of_a_ranking():
    ranking = ranked([-5.0, -4.0, -3.0, -2.0], selected=[0, 3])
    kept = ranking.keeping(np.array([0, 1]))
    assert kept.nodes.tolist() == [0, 1, 3]
    assert kept.log_p.tolist() == [-5, -4, -2]
    assert (len(kept), kept.left_out, kept.num_candidates) == (3, 1, 4)
    less = kept.keeping(np.array([0]))
    assert less.nodes.tolist() == [0, 3]
    assert less.num_candidates == 4
    assert ranking.keeping(np.arange(4)) == ranking
    assert ranking.keeping(np.arange(4)).left_out == 0


def test_with_none_significant_everything_else_stays():
    ranking = ranked([-1.0, -2.0], selected=[0, 1])
    none = ranking.with_none_significant()
    assert not none.selected.any()
    assert not none.significant.any()
    assert ranking.selected.all()
    assert none.nodes.tolist() == ranking.nodes.tolist()
    assert none != ranking


def test_columns_make_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ranked([-1.0, -2.0]).columns)
    assert frame["node"].tolist() == [1, 0]
    assert set(frame) >= {"statistic", "dof", "log_p", "effect_size", "significant", "selected"}
