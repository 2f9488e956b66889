"""Names of nodes: from index to name and back."""

import pytest

from pgm_explainer import InputError
from pgm_explainer.node_names import NodeNames


def test_without_names_a_node_is_called_by_its_index():
    names = NodeNames()
    assert not names
    assert names[7] == names.index(7) == 7
    with pytest.raises(InputError, match="no node is called 'Ada'"):
        names.index("Ada")


@pytest.mark.parametrize("labels", [["a", "b", ("c", 2)], {0: "a", 2: ("c", 2), 9: "z"}])
def test_names_are_found_both_ways(labels):
    names = NodeNames.read(labels, nodes=[0, 2])
    assert names.of([0, 2]) == ["a", ("c", 2)]
    assert [names.index(name) for name in ("a", ("c", 2))] == [0, 2]
    for other in ("b", "z", 0, ("c", 1), ["a"]):
        with pytest.raises(InputError, match="no node is called"):
            names.index(other)


def test_a_node_without_a_name_keeps_its_index():
    names = NodeNames.read({0: "a"}, nodes=[0, 5])
    assert (names[5], names.index(5)) == (5, 5)


def test_two_nodes_cannot_share_a_name():
    with pytest.raises(InputError, match="more than one node is called 5"):
        NodeNames.read({0: 5}, nodes=[0, 5])
    assert NodeNames.read({0: 5}, nodes=[0, 6])[0] == 5  # no other node of these is called so


@pytest.mark.parametrize("labels", [["a"], 5, {3: None}, [1.5] * 4])
def test_names_that_cannot_be_used_are_refused(labels):
    with pytest.raises(InputError, match="a name for each node"):
        NodeNames.read(labels, nodes=[0, 3])
