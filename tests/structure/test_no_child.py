"""The last step of Algorithm 2: the target joins as a leaf."""

import pytest

from pgm_explainer import InputError
from pgm_explainer.structure import DAG, add_leaf


def test_the_leaf_is_last_has_the_given_parents_and_no_child():
    dag = add_leaf(DAG(3, [(2, 0), (0, 1)]), [1, 2])
    assert dag.num_variables == 4
    assert dag.parents(3) == (1, 2)
    assert dag.children(3) == ()


def test_the_other_arrows_stay():
    others = DAG(3, [(2, 0), (0, 1)])
    dag = add_leaf(others, [0])
    assert dag.edges == ((0, 1), (0, 3), (2, 0))
    assert others.edges == ((0, 1), (2, 0))


def test_the_leafs_blanket_is_its_parents():
    assert add_leaf(DAG(3, [(0, 1)]), [0, 2]).markov_blanket(3) == (0, 2)


def test_a_leaf_may_stand_alone():
    assert add_leaf(DAG(2, [(0, 1)]), []).edges == ((0, 1),)
    assert add_leaf(DAG(0), []) == DAG(1)


@pytest.mark.parametrize("parents", [[2], [3], [-1]])
def test_parents_must_be_among_the_others(parents):
    with pytest.raises(InputError):
        add_leaf(DAG(2), parents)
