"""Structures of many targets found together are those found one at a time."""

import numpy as np
import pytest

from pgm_explainer.network.bayesian_network import BayesianNetwork, NetworkData
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import SCORES, as_search
from pgm_explainer.structure.search import search_many


def random_problems(count=40, seed=0):
    """Dependent data of two to five variables with two to four states."""
    rng = np.random.default_rng(seed)
    problems = []
    for _ in range(count):
        sizes = tuple(int(size) for size in rng.choice([2, 4], size=rng.integers(2, 6)))
        hidden = rng.integers(0, 4, size=(120, 1))
        noise = rng.integers(0, 4, size=(120, len(sizes)))
        states = np.where(rng.random((120, len(sizes))) < 0.6, hidden, noise) % np.array(sizes)
        problems.append((states.astype(np.uint8), sizes))
    return problems


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("max_parents", [None, 1])
@pytest.mark.parametrize("name", ["auto", "hill_climb"])
def test_structures_found_together_are_those_found_alone(name, score, max_parents):
    how, problems = as_search(name), random_problems()
    together = search_many(how, problems, score, max_parents)
    alone = [how(data, np.array(sizes), score, max_parents) for data, sizes in problems]
    assert together == alone
    assert any(dag.edges for dag in alone)


def test_tables_fitted_together_are_those_fitted_alone():
    problems = random_problems()
    dags = search_many(as_search("auto"), problems, SCORES["bic"])
    data = [
        NetworkData([Variable(at, False, size) for at, size in enumerate(sizes)], dag, codes, {})
        for (codes, sizes), dag in zip(problems, dags, strict=True)
    ]
    together = BayesianNetwork.fit_many(data, 0.5)
    for each, network in zip(data, together, strict=True):
        alone = BayesianNetwork.fit(each.variables, each.dag, each.codes, 0.5)
        assert network.score == alone.score
        assert all(network.cpt(node) == alone.cpt(node) for node in network.nodes)
