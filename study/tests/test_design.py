"""Orders are balanced, seeded and the same at any time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from pgm_explainer_study.design import plan


def ratings(study, slot):
    return [trial for trial in plan(study, slot) if trial.kind == "rating"]


@pytest.mark.parametrize("per_item", [1, 2, 3, 4])
def test_each_item_is_rated_in_each_arm_equally_often_in_every_block_of_slots(per_item, make_study):
    study = make_study(8, arms_per_item=per_item)
    for block in (0, 4, 20):
        counts = Counter(
            (trial.item.id, trial.arm, trial.round)
            for slot in range(block, block + 4)
            for trial in ratings(study, slot)
        )
        assert len(counts) == 8 * 4 * per_item
        assert set(counts.values()) == {1}


def test_each_rater_has_each_arm_equally_often_in_each_round(make_study):
    study = make_study(8, arms_per_item=3)
    for slot in range(6):
        counts = Counter((trial.arm, trial.round) for trial in ratings(study, slot))
        assert set(counts.values()) == {2}


def test_a_rater_never_rates_an_explanation_twice_except_in_repeats(make_study):
    study = make_study(8, arms_per_item=4, repeats=5)
    shown = [(trial.item.id, trial.arm) for trial in ratings(study, 2)]
    assert len(set(shown)) == len(shown) == 32
    trials = plan(study, 2)
    repeats = [at for at, trial in enumerate(trials) if trial.kind == "repeat"]
    assert len(repeats) == 5
    for at in repeats:
        first = [(t.kind, t.item, t.arm) for t in trials].index(
            ("rating", trials[at].item, trials[at].arm)
        )
        assert at - first > 5


def test_forecasts_show_each_item_once_with_all_arms_in_balance(make_study):
    study = make_study(5)
    arms = {arm.id for arm in study.arms}
    for slot in range(7):
        shown = [trial for trial in plan(study, slot) if trial.kind == "forecast"]
        assert sorted(trial.item.id for trial in shown) == [item.id for item in study.items]
        assert {trial.arm for trial in shown} == arms
    counts = Counter(
        (t.item.id, t.arm) for s in range(5) for t in plan(study, s) if t.kind == "forecast"
    )
    assert len(counts) == 25


def test_ratings_are_never_without_an_explanation(study):
    assert all(
        t.arm != "none" for slot in range(9) for t in plan(study, slot) if t.kind != "forecast"
    )


def test_checks_come_first_and_forecasts_before_ratings(study):
    kinds = [trial.kind for trial in plan(study, 0)]
    assert kinds[:2] == ["check", "check"]
    assert set(kinds[2:6]) == {"forecast"}
    assert not {"check", "forecast"} & set(kinds[6:])


def test_the_same_item_never_follows_itself_among_ratings(make_study):
    study = make_study(5, arms_per_item=4, repeats=0, attention=0)
    for slot in range(40):
        items = [trial.item.id for trial in ratings(study, slot)]
        assert all(a != b for a, b in pairwise(items))


def test_orders_depend_on_seed_and_slot_only(study):
    assert plan(study, 5) == plan(study, 5)
    assert plan(study, 5) != plan(study, 6)
    assert plan(replace(study, seed=99), 5) != plan(study, 5)


def test_the_order_of_arms_is_not_the_same_in_every_block(make_study):
    study = make_study(8, arms_per_item=4)
    orders = set()
    for slot in range(0, 40, 4):
        shown = [trial.arm for trial in ratings(study, slot) if trial.item.id == "item-0"]
        start = shown.index("pgm")
        orders.add(tuple(shown[start:] + shown[:start]))
    assert len(orders) > 2


def test_the_papers_design_has_nothing_but_its_ratings(make_study):
    study = make_study(6, design="paper", repeats=None, attention=None)
    assert [arm.id for arm in study.arms] == ["pgm", "shap", "grad"]
    trials = plan(study, 0)
    assert {trial.kind for trial in trials} == {"rating"}
    assert len(trials) == 18
