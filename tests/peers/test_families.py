"""Networks as objects of pgmpy and pyAgrum, and back."""

import numpy as np
import pytest

from pgm_explainer.errors import FileError, InputError
from pgm_explainer.network import BayesianNetwork, CliqueTable, MarkovNetwork
from pgm_explainer.structure import UndirectedGraph
from pgm_explainer.variables import Variable

pytest.importorskip("pgmpy")
pytest.importorskip("pyagrum")


def random_network(rng):
    variables = [Variable(at, bool(at % 2), 2 + (at == 2)) for at in range(5)]
    graph = UndirectedGraph(5, [(0, 1), (1, 2), (2, 3), (0, 3)])  # a cycle, and one alone
    tables = []
    for clique in graph.cliques:
        scope = [variables[at] for at in rng.permutation(clique)]
        tables.append(CliqueTable.of(scope, rng.gamma(1, size=[v.cardinality for v in scope])))
    return MarkovNetwork(variables, tables)


def test_markov_networks_convert_both_ways():
    from pgmpy.inference import VariableElimination

    rng = np.random.default_rng(0)
    for _ in range(3):
        network = random_network(rng)
        joint = network.query(network.nodes)
        for found in (
            MarkovNetwork.from_pgmpy(network.to_pgmpy()),
            MarkovNetwork.from_pyagrum(network.to_pyagrum()),
        ):
            assert found.variables == network.variables
            np.testing.assert_allclose(found.query(found.nodes), joint, atol=1e-12)
        theirs = VariableElimination(network.to_pgmpy())
        last = theirs.query(["node_3"], {"node_0": "kept"}, show_progress=False)
        ours = network.query(3, {0: "kept"})
        np.testing.assert_allclose(last.values / last.values.sum(), ours, atol=1e-9)
    with pytest.raises(InputError, match="needs a DiscreteMarkovNetwork"):
        MarkovNetwork.from_pgmpy("x")


def test_pgmpy_reads_our_uai_files_and_those_of_pyagrum_are_refused(tmp_path):
    """pgmpy follows the specification; pyAgrum has an order of its own."""
    import pyagrum as gum
    from pgmpy.readwrite import UAIReader

    network = random_network(np.random.default_rng(3))
    gum.saveMRF(network.to_pyagrum(), str(tmp_path / "theirs.uai"))
    with pytest.raises(FileError, match="pyAgrum wrote this file"):
        MarkovNetwork.load(tmp_path / "theirs.uai")
    joined = MarkovNetwork(network.variables[:4], network.tables[:-1])  # pgmpy fails on one alone
    joined.save(tmp_path / "ours.uai")
    theirs = UAIReader(str(tmp_path / "ours.uai")).get_model()
    joint = np.ones([2, 4, 3, 4])
    for factor in theirs.get_factors():
        names = [int(name.removeprefix("var_")) for name in factor.variables]
        order = np.argsort(names)
        along = [size if at in names else 1 for at, size in enumerate(joint.shape)]
        joint = joint * factor.values.transpose(order).reshape(along)
    np.testing.assert_allclose(joint / joint.sum(), joined.query([0, 1, 2, 3]), atol=1e-9)


def test_pyagrum_infers_the_same():
    import pyagrum as gum

    network = random_network(np.random.default_rng(1))
    inference = gum.ShaferShenoyMRFInference(network.to_pyagrum())
    inference.makeInference()
    theirs = inference.posterior("node_3").toarray()
    np.testing.assert_allclose(theirs, network.query(3), atol=1e-9)


def test_bayesian_networks_convert_back():
    bayesian = random_network(np.random.default_rng(2)).to_bayesian()
    for found in (
        BayesianNetwork.from_pgmpy(bayesian.to_pgmpy()),
        BayesianNetwork.from_pyagrum(bayesian.to_pyagrum()),
    ):
        assert set(found.edges) == set(bayesian.edges)
        nodes = bayesian.nodes
        np.testing.assert_allclose(found.query(nodes), bayesian.query(nodes), atol=1e-9)
    with pytest.raises(InputError, match="needs a BayesNet"):
        BayesianNetwork.from_pyagrum(5)
