"""Random networks that are perfect maps of their distribution, and large samples of them.

The theorems assume a perfect map. This is ensured: from the exact joint distribution of each
candidate, every conditional mutual information I(u; v | S) is computed, over all pairs and all sets
S of others. A network is accepted only if

* I(u; v | S) is at least WEAKEST wherever u and v are d-connected given S (faithful, with a
  margin that the samples can show), and
* at least WEAKEST_EDGE between neighbours, whatever S is.

Where they are d-separated it is 0 by construction. Seeds are counted up from 0 and none is left
out; each seed draws until it has such a network.
"""

from itertools import chain, combinations
from math import prod

import networkx as nx
import numpy as np
import pytest

from pgm_explainer.network import BayesianNetwork, ConditionalTable
from pgm_explainer.sampling import SampleTable, Variable
from pgm_explainer.selection import (
    Neighbourhood,
    SelectionConfig,
    as_test,
    select_variables,
)
from pgm_explainer.significance import SignificanceConfig
from pgm_explainer.structure import DAG

WEAKEST, WEAKEST_EDGE = 5e-4, 1e-2
SAMPLES = 40_000
SIGNIFICANCE = 1e-4
is_separated = getattr(nx, "is_d_separator", None) or nx.d_separated  # its name before 3.3


def _draw_network(rng, size):
    variables = [Variable(v, False, int(rng.integers(2, 4))) for v in range(size)]
    names = rng.permutation(size)
    edges = []
    for at in range(1, size):
        parents = rng.permutation(names[:at])[: rng.choice([0, 1, 2, 2])]
        edges += [(int(parent), int(names[at])) for parent in parents]
    dag = DAG(size, edges)
    tables = []
    for v in range(size):
        parents = tuple(variables[p] for p in dag.parents(v))
        shape = tuple(each.cardinality for each in (*parents, variables[v]))
        values = rng.dirichlet(np.full(shape[-1], 0.5), size=prod(shape[:-1])).reshape(shape)
        values = 0.05 / shape[-1] + 0.95 * values  # nothing is impossible
        tables.append(ConditionalTable(variables[v], parents, values, np.zeros(shape, np.int64)))
    return BayesianNetwork(variables, dag, tables)


def _joint(network):
    shape = [variable.cardinality for variable in network.variables]
    joint = np.ones(shape)
    for at, variable in enumerate(network.variables):
        scope = (*network.dag.parents(at), at)
        values = network.cpt(variable.id).values.transpose(np.argsort(scope))
        joint = joint * values.reshape([shape[v] if v in scope else 1 for v in range(len(shape))])
    return joint


def _subsets(items):
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


def _is_faithful_with_margin(network):
    size, joint = len(network.variables), _joint(network)
    graph = nx.DiGraph(network.dag.edges)
    graph.add_nodes_from(range(size))
    entropy = {}
    for kept in _subsets(range(size)):
        p = joint.sum(axis=tuple(set(range(size)) - set(kept)))
        entropy[frozenset(kept)] = float(-(p * np.log(p)).sum())
    for u, v in combinations(range(size), 2):
        adjacent = graph.has_edge(u, v) or graph.has_edge(v, u)
        for given in map(frozenset, _subsets(set(range(size)) - {u, v})):
            information = (
                entropy[given | {u}]
                + entropy[given | {v}]
                - entropy[given | {u, v}]
                - entropy[given]
            )
            if information >= (WEAKEST_EDGE if adjacent else WEAKEST):
                continue
            if adjacent or not is_separated(graph, {u}, {v}, set(given)):
                return False
    return True


def _faithful_network(seed, size):
    rng = np.random.default_rng([seed, size])
    while True:
        network = _draw_network(rng, size)
        if _is_faithful_with_margin(network):
            return network


@pytest.fixture(scope="session")
def faithful_network():
    known = {}

    def network(seed, size):
        if (seed, size) not in known:
            known[seed, size] = _faithful_network(seed, size)
        return known[seed, size]

    return network


@pytest.fixture(scope="session")
def table_of():
    """Samples of a network, with two variables more that have nothing to do with the others."""

    def draw(network, seed):
        size = len(network.variables)
        table = SampleTable(
            [*network.variables, Variable(size, False, 2), Variable(size + 1, False, 3)], SAMPLES
        )
        rng = np.random.default_rng(seed)
        strangers = np.stack([rng.integers(0, c, SAMPLES) for c in (2, 3)], axis=1)
        table.write(
            0, np.concatenate([network.sample(SAMPLES, seed), strangers.astype(np.uint8)], axis=1)
        )
        return table

    return draw


@pytest.fixture(scope="session")
def dependents_of():
    """U(t) of one target, with all other variables of the table as candidates."""

    def select(table, target, no_child):
        everyone = np.arange(len(table.variables))
        config = SelectionConfig(test=as_test("chi_square"), no_child=no_child)
        level = SignificanceConfig(significance=SIGNIFICANCE, correction="none")
        near = Neighbourhood(target, everyone[everyone != target])
        (found,) = select_variables(table, [near], config, level)
        return set(found.related.tolist())

    return select


@pytest.fixture(scope="session")
def significance():
    return SIGNIFICANCE
