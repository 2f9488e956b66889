"""A network in layers: arrows downward, beside what they pass, nothing on anything else."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pgm_explainer.network import BayesianNetwork
from pgm_explainer.report.layers import layer_dag, place_network
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import DAG


@st.composite
def dags(draw):
    size = draw(st.integers(1, 14))
    pairs = list(combinations(range(size), 2))
    return DAG(size, draw(st.lists(st.sampled_from(pairs), max_size=20)) if pairs else [])


@given(dags())
def test_edges_point_down_and_nothing_overlaps(dag):
    found = layer_dag(dag)
    for parent, child in dag.edges:
        assert found.layer[parent] < found.layer[child]
        assert len(found.bends[parent, child]) == found.layer[child] - found.layer[parent] - 1
    for layer in set(found.layer):
        xs = np.sort([x for x, at in zip(found.x, found.layer, strict=True) if at == layer])
        assert (np.diff(xs) >= 1 - 1e-9).all()
        assert len(xs) <= 6
    assert set(found.layer) == set(range(max(found.layer) + 1))
    for (parent, _), bends in found.bends.items():
        for level, bend in enumerate(bends, start=found.layer[parent] + 1):
            for x, layer in zip(found.x, found.layer, strict=True):
                if layer == level:
                    assert abs(x - bend) > 0.5


def test_variables_without_arrows_come_last():
    found = layer_dag(DAG(7, [(0, 1), (1, 2)]))
    assert found.layer[:3] == [0, 1, 2]
    assert found.layer[3:] == [3, 3, 3, 4]


def test_a_network_is_placed_by_the_names_of_its_variables():
    variables = [Variable(name, False, 2) for name in "abc"]
    dag = DAG(3, [(0, 1), (1, 2), (0, 2)])
    network = BayesianNetwork.fit(variables, dag, np.zeros((4, 3), dtype=np.uint8))
    at, routes = place_network(network)
    assert [at[name][1] for name in "abc"] == [0, -1, -2]
    straight, bent = sorted(each.points for each in routes if each.points[0] == at["a"])
    assert sorted(map(len, (straight, bent))) == [2, 3]
    assert {route.points[-1] for route in routes} == {at["b"], at["c"]}
