"""Random networks of mixed cardinalities, and their joint distribution by multiplication."""

from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.network import BayesianNetwork, ConditionalTable
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import DAG


def _random_network(seed, size, density=0.4, two_part=False):
    """A network with random tables; ``two_part`` variables have s and I, others 2 to 4 states."""
    rng = np.random.default_rng(seed)
    if two_part:
        variables = [Variable(v, True, int(rng.integers(2, 4))) for v in range(size)]
    else:
        variables = [Variable(v, False, int(rng.integers(2, 5))) for v in range(size)]
    names = rng.permutation(size)
    edges = [(names[u], names[v]) for v in range(size) for u in range(v) if rng.random() < density]
    dag = DAG(size, edges)
    tables = []
    for v in range(size):
        parents = tuple(variables[p] for p in dag.parents(v))
        shape = tuple(each.cardinality for each in (*parents, variables[v]))
        values = rng.dirichlet(np.ones(shape[-1]), size=prod(shape[:-1])).reshape(shape)
        tables.append(ConditionalTable(variables[v], parents, values, np.zeros(shape, np.int64)))
    return BayesianNetwork(variables, dag, tables)


def _joint(network):
    """P of every joint state, one axis for each variable, by multiplying the tables."""
    shape = [variable.cardinality for variable in network.variables]
    joint = np.ones(shape)
    for at, variable in enumerate(network.variables):
        scope = (*network.dag.parents(at), at)
        order = np.argsort(scope)
        values = network.cpt(variable.id).values.transpose(order)
        wide = [shape[v] if v in scope else 1 for v in range(len(shape))]
        joint = joint * values.reshape(wide)
    return joint


def _all_dags(size):
    pairs = list(combinations(range(size), 2))
    dags = []
    for choice in product((0, 1, 2), repeat=len(pairs)):
        edges = [
            (u, v) if way == 1 else (v, u) for (u, v), way in zip(pairs, choice, strict=True) if way
        ]
        try:
            dags.append(DAG(size, edges))
        except InputError:
            continue
    return dags


@pytest.fixture(scope="session")
def random_network():
    return _random_network


@pytest.fixture(scope="session")
def joint_of():
    return _joint


@pytest.fixture(scope="session")
def all_dags():
    return _all_dags
