"""Random networks for comparison with other packages."""

from math import prod

import numpy as np
import pytest

from pgm_explainer.network import BayesianNetwork, ConditionalTable
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import DAG


def _random_network(seed, size, *, states=None, density=0.4, max_parents=4, sharpness=1.0):
    """A network with random tables; ``states`` None for two to four states, mixed."""
    rng = np.random.default_rng(seed)
    variables = [Variable(v, False, states or int(rng.integers(2, 5))) for v in range(size)]
    names = rng.permutation(size)
    edges = []
    for at in range(size):
        parents = [names[u] for u in range(at) if rng.random() < density]
        chosen = rng.permutation(parents)[:max_parents]
        edges += [(int(parent), int(names[at])) for parent in chosen]
    dag = DAG(size, edges)
    tables = []
    for v in range(size):
        parents = tuple(variables[p] for p in dag.parents(v))
        shape = tuple(each.cardinality for each in (*parents, variables[v]))
        alpha = np.full(shape[-1], 1 / sharpness)
        values = rng.dirichlet(alpha, size=prod(shape[:-1])).reshape(shape)
        tables.append(ConditionalTable(variables[v], parents, values, np.zeros(shape, np.int64)))
    return BayesianNetwork(variables, dag, tables)


def _random_query(network, rng):
    """One or two query variables, and states of none to all of the others."""
    size = len(network.variables)
    order = rng.permutation(size).tolist()
    variables = order[: 1 + int(size > 2 and rng.random() < 0.3)]
    known = order[len(variables) :][: rng.integers(0, size)]
    evidence = {v: int(rng.integers(network.variables[v].cardinality)) for v in known}
    return variables, evidence


@pytest.fixture(scope="session")
def random_network():
    return _random_network


@pytest.fixture(scope="session")
def random_query():
    return _random_query
