"""CPDAGs, against listing every network of every class."""

from collections import defaultdict

import numpy as np
import pytest

from pgm_explainer.network import cpdag, equivalent
from pgm_explainer.structure import DAG


def skeleton_and_colliders(dag):
    """What decides I-equivalence (Verma and Pearl)."""
    skeleton = frozenset(frozenset(edge) for edge in dag.edges)
    colliders = frozenset(
        (a, v, b)
        for v in range(dag.num_variables)
        for a in dag.parents(v)
        for b in dag.parents(v)
        if a < b and frozenset((a, b)) not in skeleton
    )
    return skeleton, colliders


def classes_of(dags):
    classes = defaultdict(list)
    for dag in dags:
        classes[skeleton_and_colliders(dag)].append(dag)
    return list(classes.values())


@pytest.mark.parametrize(("size", "many"), [(0, 1), (1, 1), (2, 2), (3, 11), (4, 185)])
def test_there_are_as_many_classes_as_known(all_dags, size, many):
    dags = all_dags(size)
    assert len({cpdag(dag) for dag in dags}) == many


def test_an_arrow_is_directed_if_and_only_if_the_whole_class_has_it(all_dags):
    for members in classes_of(all_dags(4)):
        shared = set.intersection(*(set(dag.edges) for dag in members))
        every = set.union(*(set(dag.edges) for dag in members))
        free = {(min(edge), max(edge)) for edge in every if edge[::-1] in every}
        for dag in members:
            found = cpdag(dag)
            assert set(found.directed) == shared
            assert set(found.undirected) == free
            assert list(found.directed) == sorted(found.directed)
            assert list(found.undirected) == sorted(found.undirected)


def test_five_variables_need_every_rule():
    """Random networks of five variables, each against its class found by reversing arrows."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        names = rng.permutation(5)
        start = DAG(
            5, [(names[u], names[v]) for v in range(5) for u in range(v) if rng.random() < 0.6]
        )
        # Classes are connected by reversals of covered edges (Chickering).
        members, frontier = {start}, [start]
        while frontier:
            dag = frontier.pop()
            for u, v in dag.edges:
                if set(dag.parents(v)) == {*dag.parents(u), u}:
                    other = DAG(5, (set(dag.edges) - {(u, v)}) | {(v, u)})
                    if other not in members:
                        members.add(other)
                        frontier.append(other)
        shared = set.intersection(*(set(dag.edges) for dag in members))
        assert all(set(cpdag(dag).directed) == shared for dag in members)


def test_equivalent_says_what_verma_and_pearl_say(all_dags):
    dags = all_dags(3)
    for one in dags:
        for other in dags:
            same = skeleton_and_colliders(one) == skeleton_and_colliders(other)
            assert equivalent(one, other) == same


def test_networks_of_different_sizes_are_not_equivalent():
    assert not equivalent(DAG(2, [(0, 1)]), DAG(3, [(0, 1)]))
