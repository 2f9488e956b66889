"""The same answers as pgmpy: inference and scores; hill climbing no worse than its own."""

import logging
import warnings
from math import prod

import numpy as np
import pytest

from pgm_explainer.network import BayesianNetwork, NoisyOr
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import DAG, add_leaf, hill_climb, network_score

pandas = pytest.importorskip("pandas")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pgmpy emits a FutureWarning on import
    pytest.importorskip("pgmpy")
    from pgmpy.estimators import HillClimbSearch
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.structure_score import AIC, BIC, BDeu, BDs, LogLikelihood

logging.getLogger("pgmpy").setLevel(logging.ERROR)
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")


def as_pgmpy(network):
    model = DiscreteBayesianNetwork(network.edges)
    model.add_nodes_from(network.nodes)
    for node in network.nodes:
        table = network.cpt(node)
        cards = [parent.cardinality for parent in table.parents]
        values = table.values.reshape(prod(cards), -1).T
        parents = [parent.id for parent in table.parents]
        model.add_cpds(TabularCPD(node, table.variable.cardinality, values, parents, cards))
    return model


def frame(data, cards):
    """Columns with all their states, including those that never occur."""
    return pandas.DataFrame(
        {v: pandas.Categorical(data[:, v], categories=range(c)) for v, c in enumerate(cards)}
    )


def as_graph(dag):
    graph = DiscreteBayesianNetwork(dag.edges)
    graph.add_nodes_from(range(dag.num_variables))
    return graph


@pytest.mark.parametrize("block", range(10))
def test_inference_agrees_on_200_random_networks(random_network, random_query, block):
    several = 0
    for seed in range(20 * block, 20 * (block + 1)):
        network = random_network(seed, 2 + seed % 7)
        wanted, evidence = random_query(network, np.random.default_rng(seed))
        several += len(evidence) > 1
        answer = VariableElimination(as_pgmpy(network)).query(
            wanted, evidence=evidence, show_progress=False
        )
        order = [answer.variables.index(node) for node in wanted]
        expected = answer.values.transpose(order)
        np.testing.assert_allclose(network.query(wanted, evidence), expected, rtol=0, atol=1e-9)
    assert several >= 3


@pytest.mark.parametrize("seed", range(8))
def test_inference_with_a_noisy_or_agrees_on_its_full_table(random_network, random_query, seed):
    network = random_network(seed, 4)
    rng = np.random.default_rng(seed)
    target = Variable(4, True, 2)
    chances = tuple(rng.random(each.cardinality) for each in network.variables)
    leaf = NoisyOr(target, network.variables, 0.1, 0.05, 0.4, chances)
    larger = BayesianNetwork(
        [*network.variables, target],
        add_leaf(network.dag, list(range(4))),
        [*(network.cpt(node) for node in network.nodes), leaf],
    )
    for _ in range(5):
        wanted, evidence = random_query(larger, rng)
        answer = VariableElimination(as_pgmpy(larger)).query(
            wanted, evidence=evidence, show_progress=False
        )
        expected = answer.values.transpose([answer.variables.index(node) for node in wanted])
        np.testing.assert_allclose(larger.query(wanted, evidence), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("bic", BIC),
        ("aic", AIC),
        ("bdeu", lambda data, **names: BDeu(data, equivalent_sample_size=10, **names)),
        ("bds", lambda data, **names: BDs(data, equivalent_sample_size=10, **names)),
        ("log_likelihood", LogLikelihood),
    ],
)
def test_scores_agree(random_network, name, peer, seed):
    """All states occur here: pgmpy's likelihoods do not price states that were never seen."""
    truth = random_network(seed, 5, max_parents=2)
    cards = [variable.cardinality for variable in truth.variables]
    data = truth.sample(3000, seed=seed)
    dag = random_network(seed + 100, 5, max_parents=2).dag
    names = {v: list(range(c)) for v, c in enumerate(cards)}
    scorer = peer(pandas.DataFrame(data), state_names=names)
    # Without the prior of structures that pgmpy adds to BDs.
    theirs = sum(scorer.local_score(v, tuple(dag.parents(v))) for v in range(5))
    ours = network_score(data, cards, dag.edges, name)
    assert ours == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("size", [5, 10, 20])
@pytest.mark.parametrize("seed", [0, 1])
def test_hill_climbing_finds_a_bic_no_worse(random_network, size, seed):
    truth = random_network(seed, size, states=4, density=3 / size, max_parents=2, sharpness=2)
    data, cards = truth.sample(800, seed=seed), [4] * size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = HillClimbSearch(frame(data, cards)).estimate(
            scoring_method="bic-d", show_progress=False
        )
    found = DAG(size, [(int(u), int(v)) for u, v in theirs.edges()])
    ours = hill_climb(data, cards)
    best = network_score(data, cards, ours.edges)
    assert best >= network_score(data, cards, found.edges) - 1e-6
    assert best > network_score(data, cards, [])
