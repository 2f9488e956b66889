"""Ranking by log p-value, and the Benjamini-Hochberg correction."""

import numpy as np
import pytest
from scipy import stats

from pgm_explainer import InputError
from pgm_explainer.selection.independence import PairwiseTests
from pgm_explainer.selection.ranking import CORRECTIONS, rank, significant


def evidence(log_p, statistic=None):
    log_p = np.array(log_p, dtype=float)
    statistic = -log_p if statistic is None else np.array(statistic, dtype=float)
    return PairwiseTests(statistic, np.ones(len(log_p), dtype=np.int64), log_p, statistic / 100)


def ranked(
    log_p, statistic=None, *, nodes=None, reach=None, passed=None, eligible=None, max_nodes=10
):
    size = len(log_p)
    everyone = np.ones(size, dtype=bool)
    return rank(
        np.arange(size) if nodes is None else np.array(nodes),
        evidence(log_p, statistic),
        np.ones(size) if reach is None else np.array(reach),
        everyone if passed is None else np.array(passed),
        everyone if eligible is None else np.array(eligible),
        max_nodes,
    )


@pytest.mark.parametrize("size", [1, 2, 5, 50])
def test_benjamini_hochberg_adjusts_as_scipy_does(size):
    rng = np.random.default_rng(size)
    for _ in range(40):
        p = rng.random(size) ** rng.choice([1, 4, 20])
        p[rng.random(size) < 0.3] = p[0]  # ties
        adjusted = CORRECTIONS["benjamini_hochberg"](np.log(p))
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
    adjusted = CORRECTIONS["benjamini_hochberg"](np.array([-5000.0, -0.1, -6000.0]))
    assert adjusted[2] < adjusted[0] < adjusted[1] <= 0
    assert adjusted[2] == pytest.approx(-6000 + np.log(3))


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_no_p_values_pass_nothing(correction):
    assert significant(np.zeros(0), 0.05, correction).shape == (0,)


@pytest.mark.parametrize("correction", list(CORRECTIONS))
def test_p_of_one_never_passes(correction):
    assert not significant(np.zeros(4), 0.999, correction).any()


def test_an_unknown_correction_is_refused():
    with pytest.raises(InputError, match="bonferroni"):
        significant(np.zeros(2), 0.05, "bonferroni")


def test_of_equal_evidence_whoever_is_heard_more_comes_first():
    assert ranked([-9, -9, -9], reach=[0.1, 1, 0.5]).nodes.tolist() == [1, 2, 0]


def test_reach_weighs_evidence_like_an_effect_which_is_the_root_of_a_log_p_value():
    """Four times the log p-value makes up for half the reach, and no less does."""
    assert ranked([-10, -39], reach=[1, 0.5]).nodes.tolist() == [0, 1]
    assert ranked([-10, -41], reach=[1, 0.5]).nodes.tolist() == [1, 0]


def test_certainty_goes_before_all_else_however_far():
    assert ranked([-1e6, -np.inf], reach=[1, 1e-9]).nodes.tolist() == [1, 0]


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


def test_the_first_eligible_are_selected_up_to_the_limit():
    ranking = ranked([-5.0, -4.0, -3.0, -2.0], eligible=[True, False, True, True], max_nodes=2)
    assert ranking.selected.tolist() == [True, False, True, False]
    assert ranking.nodes[ranking.selected].tolist() == [0, 2]


def test_fewer_eligible_than_the_limit_select_fewer():
    assert ranked([-5.0, -4.0], eligible=[False, False]).selected.sum() == 0


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
    assert "3 nodes" in repr(ranking)
    with pytest.raises(IndexError):
        ranking[3]


def test_deselecting_keeps_everything_else():
    ranking = ranked([-1.0, -2.0])
    none = ranking.with_none_selected()
    assert not none.selected.any()
    assert ranking.selected.all()
    assert none.nodes.tolist() == ranking.nodes.tolist()
    assert none != ranking


def test_columns_make_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ranked([-1.0, -2.0]).columns)
    assert frame["node"].tolist() == [1, 0]
    assert set(frame) >= {"statistic", "dof", "log_p", "effect_size", "significant", "selected"}
