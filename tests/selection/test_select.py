"""S(t) and U(t), against one slow test at a time."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pgm_explainer.sampling import SampleTable, Variable
from pgm_explainer.selection import (
    Neighbourhood,
    SelectionConfig,
    as_test,
    select,
    select_variables,
)
from pgm_explainer.significance import SignificanceConfig

LEVEL = 0.05


def plan(test="chi_square", no_child=True, correction="none"):
    return (
        SelectionConfig(test=as_test(test), no_child=no_child),
        SignificanceConfig(significance=LEVEL, correction=correction),
    )


def make_table(codes, levels=None):
    """A table of the columns of ``codes``; column v is node v."""
    size = codes.shape[1]
    levels = [2] * size if levels is None else levels
    table = SampleTable([Variable(v, True, levels[v]) for v in range(size)], len(codes))
    table.write(0, codes.astype(np.uint8))
    return table


def chains(seed, rows=400, size=12):
    """Four-state variables in chains of three, so that S(t) and U(t) differ; 11 is constant."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (rows, size))
    for v in range(size):
        if v % 3:
            codes[:, v] = np.where(rng.random(rows) < 0.25, codes[:, v - 1], codes[:, v])
    codes[:, -1] = 2
    return codes


def everyone_but(target, size):
    return Neighbourhood(target, np.array([v for v in range(size) if v != target]))


def dependent(one, other):
    table = np.zeros((4, 4))
    np.add.at(table, (one, other), 1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return False
    return stats.chi2_contingency(table, correction=False).pvalue < LEVEL


def slow_s(codes, v):
    return {w for w in range(codes.shape[1]) if dependent(codes[:, v], codes[:, w])}


def slow_u(codes, target):
    return set().union(*(slow_s(codes, v) for v in slow_s(codes, target)))


def selected(dependents):
    return set(dependents.related.tolist())


def significant(dependents):
    return set(dependents.ranking.nodes[dependents.ranking.significant].tolist())


def told(dependents):
    """All that was found, to compare."""
    return [(each.ranking, each.related.tolist()) for each in dependents]


@pytest.mark.parametrize("seed", range(4))
def test_u_of_theorem_2_is_what_depends_on_the_target(seed):
    codes = chains(seed)
    near = [everyone_but(t, 12) for t in range(12)]
    for each, found in zip(near, select_variables(make_table(codes), near, *plan()), strict=True):
        expected = slow_s(codes, each.target) - {each.target}
        assert selected(found) == expected
        assert significant(found) == expected


@pytest.mark.parametrize("seed", range(4))
def test_u_of_theorem_1_is_what_depends_on_a_dependent(seed):
    codes = chains(seed)
    near = [everyone_but(t, 12) for t in range(12)]
    all_found = select_variables(make_table(codes), near, *plan(no_child=False))
    wider = 0
    for each, found in zip(near, all_found, strict=True):
        assert selected(found) == slow_u(codes, each.target) - {each.target}
        wider += selected(found) > significant(found)
    assert wider > 3  # the theorems' sets do differ here


def test_only_candidates_are_looked_at():
    codes = chains(0)
    codes[:, 1] = codes[:, 2] = codes[:, 0]
    (found,) = select_variables(
        make_table(codes), [Neighbourhood(0, np.array([2, 7]))], *plan(no_child=False)
    )
    assert sorted(found.ranking.nodes.tolist()) == [2, 7]
    assert 2 in selected(found)


def test_every_candidate_is_ranked_and_dependents_are_in_the_same_order():
    codes = chains(1)
    (found,) = select_variables(make_table(codes), [everyone_but(4, 12)], *plan(no_child=False))
    assert len(found.ranking) == 11
    assert not found.ranking.selected.any()
    in_order = [node for node in found.ranking.nodes.tolist() if node in selected(found)]
    assert found.related.tolist() == in_order
    assert len(in_order) > 1


def test_a_target_that_never_varies_has_no_dependents():
    (found,) = select_variables(
        make_table(chains(2)), [everyone_but(11, 12)], *plan(no_child=False)
    )
    assert selected(found) == set()
    assert (found.ranking.log_p == 0).all()


@pytest.mark.parametrize("no_child", [True, False])
def test_a_target_without_candidates_has_an_empty_ranking(no_child):
    lonely = Neighbourhood(0, np.zeros(0, dtype=np.int64))
    (found,) = select_variables(make_table(chains(3)), [lonely], *plan(no_child=no_child))
    assert len(found.ranking) == len(found.related) == 0


@pytest.mark.parametrize("no_child", [True, False])
def test_a_target_without_candidates_does_not_affect_others(no_child):
    table, choices = make_table(chains(3)), plan(no_child=no_child)
    lonely = Neighbourhood(0, np.zeros(0, dtype=np.int64))
    near = [lonely, everyone_but(1, 12), lonely]
    first, second, third = select_variables(table, near, *choices)
    assert len(first.ranking) == len(third.ranking) == 0
    assert told([second]) == told(select_variables(table, [everyone_but(1, 12)], *choices))


@pytest.mark.parametrize("correction", ["none", "benjamini_hochberg"])
@pytest.mark.parametrize("no_child", [True, False])
@pytest.mark.parametrize("name", ["chi_square", "g"])
def test_blocks_change_no_bit_of_the_answer(monkeypatch, name, no_child, correction):
    rng = np.random.default_rng(5)
    table = make_table(np.concatenate([chains(5), chains(6)], axis=1))
    choices = plan(test=name, no_child=no_child, correction=correction)
    near = [
        Neighbourhood(t, np.setdiff1d(rng.choice(24, rng.integers(1, 20), replace=False), [t]))
        for t in range(24)
    ]
    together = told(select_variables(table, near, *choices))
    alone = [told(select_variables(table, [each], *choices))[0] for each in near]
    for cells, shared in product([1, 4000, 100_000], [1.0, 3.0, 1e9]):
        monkeypatch.setattr(select, "_SHARED", shared)
        split = told(select_variables(table, near, *choices, cells))
        assert split == together == alone


def test_benjamini_hochberg_selects_no_more_than_no_correction():
    codes = np.random.default_rng(8).integers(0, 4, (200, 120))
    near = [everyone_but(t, 120) for t in range(10)]
    table = make_table(codes)
    plainly = list(select_variables(table, near, *plan()))
    carefully = list(select_variables(table, near, *plan(correction="benjamini_hochberg")))
    assert sum(len(selected(each)) for each in plainly) > 20  # false discoveries, about 5 %
    assert sum(len(selected(each)) for each in carefully) < 5
    for more, fewer in zip(plainly, carefully, strict=True):
        assert selected(fewer) <= selected(more)


def test_mixed_cardinalities_are_tested_with_their_own_degrees_of_freedom():
    rng = np.random.default_rng(9)
    codes = np.stack([rng.integers(0, c, 500) for c in (2, 4, 6)], axis=1)
    table = make_table(codes, levels=[1, 2, 3])
    ((ranking, _),) = told(select_variables(table, [everyone_but(0, 3)], *plan()))
    assert dict(zip(ranking.nodes.tolist(), ranking.dof.tolist(), strict=True)) == {1: 3, 2: 5}
