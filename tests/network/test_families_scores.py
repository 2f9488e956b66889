"""Scores that are defined for Bayesian networks only are refused by the other families."""

import numpy as np
import pytest

from pgm_explainer import DependencyNetwork, InputError, MarkovNetwork, PGMExplainer
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import UndirectedGraph

VARIABLES = [Variable(at, True, 1) for at in range(3)]
CODES = np.random.default_rng(0).integers(2, size=(50, 3))


@pytest.mark.parametrize("score", ["bds", "qnml", "fnml", "held_out"])
@pytest.mark.parametrize("family", ["markov", "dependency"])
def test_an_explainer_refuses_them(family, score):
    with pytest.raises(InputError, match="applies to Bayesian networks only; use 'bic'"):
        PGMExplainer(lambda x: x, np.eye(2), [[0], [1]], family=family, score=score)


@pytest.mark.parametrize("score", ["bds", "qnml", "fnml", "held_out"])
def test_so_do_the_networks(score):
    with pytest.raises(InputError, match="applies to Bayesian networks only"):
        DependencyNetwork.learn(VARIABLES, CODES, score=score)
    with pytest.raises(InputError, match="applies to Bayesian networks only"):
        MarkovNetwork.fit(VARIABLES, UndirectedGraph(3, ((0, 1),)), CODES, score=score)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "log_likelihood"])
def test_the_others_work(score):
    assert DependencyNetwork.learn(VARIABLES, CODES, score=score, form="tree").score < 0
    graph = UndirectedGraph(3, ((0, 1),))
    assert MarkovNetwork.fit(VARIABLES, graph, CODES, score=score).score < 0
