"""The nodes of a network: causes first, then dependent nodes."""

import numpy as np
import pytest

from pgm_explainer.effects import Effects
from pgm_explainer.independence import PairwiseTests
from pgm_explainer.selection import SelectionConfig, causes
from pgm_explainer.selection.ranking import rank
from pgm_explainer.selection.select import Dependents, choose_nodes


def effects(nodes, strength, significant):
    zero = np.zeros(len(nodes))
    return Effects(
        np.array(nodes),
        zero,
        zero,
        zero,
        np.array(strength),
        zero,
        np.array(significant, dtype=bool),
    )


def dependents(log_p, related):
    """Nodes 0, 1, … with these log p-values."""
    log_p = np.array(log_p, dtype=float)
    tests = PairwiseTests(-log_p, np.ones(len(log_p), dtype=np.int64), log_p, -log_p)
    ranking = rank(np.arange(len(log_p)), tests, np.isin(np.arange(len(log_p)), related))
    return Dependents(ranking, ranking.nodes[np.isin(ranking.nodes, related)])


# The target is node 9: among the effects, never among the candidates.
EFFECTS = effects([4, 9, 2, 0, 1, 3, 5], [1, 0.9, 0.5, 0.005, 0.004, 0, 0], [1, 1, 1, 1, 0, 0, 0])
ALONG = dependents([-1, -30, -20, -40, -10, -2], related=[1, 2, 3])


def chosen(max_nodes, only_significant=True, along=ALONG):
    return choose_nodes(
        EFFECTS, along, SelectionConfig(max_nodes=max_nodes, only_significant=only_significant)
    ).tolist()


def test_strong_causes_go_first_then_dependents_then_weak_causes():
    assert chosen(None) == [4, 2, 3, 1, 0]


@pytest.mark.parametrize(("most", "expected"), [(1, [4]), (2, [4, 2]), (4, [4, 2, 3, 1])])
def test_the_limit_drops_weak_causes_and_dependents_first(most, expected):
    assert chosen(most) == expected


def test_others_fill_up_only_on_demand():
    assert chosen(6) == [4, 2, 3, 1, 0]
    assert chosen(6, only_significant=False) == [4, 2, 3, 1, 0, 5]
    assert chosen(None, only_significant=False) == [4, 2, 3, 1, 0, 5]


def test_the_target_is_never_chosen():
    assert 9 not in chosen(None, only_significant=False)


def test_without_dependents_causes_are_chosen_all_the_same():
    assert chosen(5, along=dependents([0] * 6, related=[])) == [4, 2, 0]


def test_without_candidates_nothing_is_chosen():
    nobody = dependents([], related=[])
    assert choose_nodes(EFFECTS, nobody, SelectionConfig(only_significant=False)).tolist() == []


def test_causes_are_significant_and_as_strong_as_wanted():
    assert causes(EFFECTS).tolist() == [4, 9, 2, 0]
    assert causes(EFFECTS, at_least=0.1).tolist() == [4, 9, 2]
    assert causes(EFFECTS, at_least=2).tolist() == []
