"""Ranking by log p-value, and the Benjamini-Hochberg correction."""

import math

import numpy as np
import pytest
from scipy import stats

from pgm_explainer import InputError
from pgm_explainer.selection.independence import PairwiseTests
from pgm_explainer.selection.ranking import CORRECTIONS, critical_log_p, rank, significant


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


def test_evidence_counts_in_proportion_to_reach():
    assert ranked([-10, -19], reach=[1, 0.5]).nodes.tolist() == [0, 1]
    assert ranked([-10, -21], reach=[1, 0.5]).nodes.tolist() == [1, 0]


def test_the_significant_go_before_the_others_however_near_those_are():
    passed = [False, True, False, True]
    ranking = ranked([-9, -20, -8, -30], reach=[1, 0.01, 1, 0.01], passed=passed)
    assert ranking.nodes.tolist() == [3, 1, 0, 2]


def weighted_step_up(p, weights, level):
    """Benjamini and Hochberg's procedure on p-values divided by their weights, as it is written.

    A p-value that is not below the level counts as one that cannot pass.
    """
    weighed = [each / w if each < level else math.inf for each, w in zip(p, weights, strict=True)]
    order = sorted(range(len(p)), key=lambda at: weighed[at])
    steps = [rank * level / len(p) for rank in range(1, len(p) + 1)]
    passed = [rank for rank, at in enumerate(order) if weighed[at] <= steps[rank]]
    return {order[rank] for rank in range(max(passed, default=-1) + 1)}


def test_false_discoveries_are_shared_out_by_reach():
    rng = np.random.default_rng(3)
    for _ in range(50):
        p = rng.random(40) ** 4
        reach = np.maximum(rng.random(40) ** 6, 0.01)
        passed = significant(np.log(p), 0.05, "benjamini_hochberg", reach)
        expected = weighted_step_up(p.tolist(), (reach / reach.mean()).tolist(), 0.05)
        assert set(np.flatnonzero(passed).tolist()) == expected
        assert (significant(np.log(p), 0.05, "none", reach) == (p < 0.05)).all()


def test_no_reach_makes_significant_what_is_above_the_level():
    """Most far ones pass, so the near one may have a large share of what the level allows for."""
    p = np.array([0.18, 0.04, *[1e-9] * 98])
    reach = np.array([1.0, 1.0, *[0.01] * 98])
    passed = significant(np.log(p), 0.05, "benjamini_hochberg", reach)
    assert passed.tolist() == [False, *[True] * 99]
    assert p[0] / (reach[0] / reach.mean()) < 0.05  # as it would otherwise


def test_equal_reach_changes_nothing():
    p = np.random.default_rng(4).random(60) ** 3
    one, other = (significant(np.log(p), 0.1, "benjamini_hochberg", r) for r in (None, p * 0 + 0.3))
    assert one.any()
    assert (one == other).all()


def test_the_share_of_false_discoveries_is_held_whoever_has_the_reach():
    """Of 200 candidates, 10 near and 10 far ones are true; nearness says nothing of the others."""
    rng = np.random.default_rng(5)
    reach = np.where(np.arange(200) < 30, 1.0, 0.01)
    true = np.isin(np.arange(200), [*range(10), *range(190, 200)])
    shares = []
    for _ in range(2000):
        p = np.where(true, rng.random(200) * 1e-4, rng.random(200))
        passed = significant(np.log(p), 0.1, "benjamini_hochberg", reach)
        shares.append((passed & ~true).sum() / max(1, passed.sum()))
    assert 0.05 < np.mean(shares) < 0.1


def test_what_is_critical_separates_those_that_passed():
    rng = np.random.default_rng(6)
    reach = np.where(rng.random(80) < 0.2, 1.0, 0.02)
    log_p = np.log(rng.random(80) ** 5)
    for correction in CORRECTIONS:
        passed = significant(log_p, 0.05, correction, reach)
        ranking = ranked(log_p, reach=reach, passed=passed)
        line = critical_log_p(ranking, 0.05, correction)
        assert ((ranking.log_p < line) == ranking.significant).all()
        assert ranking.significant.any()


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


def test_the_first_and_the_selected_stay_of_a_ranking():
    ranking = ranked([-5.0, -4.0, -3.0, -2.0], eligible=[True, False, False, True])
    kept = ranking.first(2)
    assert kept.nodes.tolist() == [0, 1, 3]
    assert kept.log_p.tolist() == [-5, -4, -2]
    assert (len(kept), kept.left_out, kept.num_candidates) == (3, 1, 4)
    assert kept.first(1).nodes.tolist() == [0, 3]
    assert kept.first(1).num_candidates == 4
    assert ranking.first(9) == ranking
    assert ranking.first(9).left_out == 0


def test_with_none_significant_everything_else_stays():
    ranking = ranked([-1.0, -2.0])
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
