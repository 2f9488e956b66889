"""The same posteriors and scores as pyAgrum's."""

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its compiled part warns while it is imported
    gum = pytest.importorskip("pyagrum")


def as_pyagrum(network):
    model = gum.BayesNet()
    for node in network.nodes:
        model.add(gum.LabelizedVariable(f"v{node}", "", network.variable(node).cardinality))
    for parent, child in network.edges:
        model.addArc(f"v{parent}", f"v{child}")
    for node in network.nodes:
        table = network.cpt(node)
        parents = [parent.id for parent in table.parents]
        for index in np.ndindex(*table.values.shape[:-1]):
            known = {f"v{p}": int(state) for p, state in zip(parents, index, strict=True)}
            model.cpt(f"v{node}")[known if known else slice(None)] = table.values[index].tolist()
    return model


@pytest.mark.parametrize("seed", range(20))
def test_posteriors_agree(random_network, random_query, seed):
    network = random_network(1000 + seed, 3 + seed % 6)
    _, evidence = random_query(network, np.random.default_rng(seed))
    engine = gum.LazyPropagation(as_pyagrum(network))
    engine.setEvidence({f"v{node}": state for node, state in evidence.items()})
    engine.makeInference()
    for node in network.nodes:
        expected = engine.posterior(f"v{node}").tolist()
        np.testing.assert_allclose(network.query(node, evidence), expected, rtol=0, atol=1e-9)
    assert network.probability(evidence) == pytest.approx(engine.evidenceProbability(), rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_equivalence_classes_agree(random_network, seed):
    network = random_network(2000 + seed, 7, density=0.5)
    model = as_pyagrum(network)
    essential = gum.EssentialGraph(model)
    names = {model.idFromName(f"v{node}"): node for node in network.nodes}
    ours = network.equivalence_class
    assert set(ours.directed) == {(names[u], names[v]) for u, v in essential.arcs()}
    theirs = {tuple(sorted((names[u], names[v]))) for u, v in essential.edges()}
    assert set(ours.undirected) == theirs
