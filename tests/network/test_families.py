"""Markov and dependency networks against brute force, pgmpy and pyAgrum."""

from fractions import Fraction
from itertools import combinations, product
from math import log, prod

import numpy as np
import pytest

from pgm_explainer.errors import FileError, InputError, QueryError
from pgm_explainer.network import (
    BayesianNetwork,
    CliqueTable,
    ConditionalTable,
    ConditionalTree,
    DependencyNetwork,
    MarkovNetwork,
)
from pgm_explainer.network.conditional_tree import Split
from pgm_explainer.structure import UndirectedGraph, as_score, decomposable_score
from pgm_explainer.variables import Variable

MODELS = 200


def random_variables(rng, most):
    kinds = ((True, 2), (False, 2), (False, 3))
    return [Variable(at, *kinds[rng.integers(3)]) for at in range(rng.integers(1, most))]


def random_markov(rng):
    """A Markov network whose graph may have long cycles, with a few zeros."""
    variables = random_variables(rng, 7)
    pairs = [each for each in combinations(range(len(variables)), 2) if rng.random() < 0.5]
    tables = []
    for clique in UndirectedGraph(len(variables), pairs).cliques:
        scope = [variables[at] for at in rng.permutation(clique)]
        values = rng.gamma(0.5, size=[each.cardinality for each in scope]) + 1e-3
        values[(rng.random(values.shape) < 0.05) & (values < values.max())] = 0
        tables.append(CliqueTable.of(scope, values))
    return MarkovNetwork(variables, tables)


def random_dependency(rng):
    variables = random_variables(rng, 4)
    tables = []
    for at, variable in enumerate(variables):
        parents = [each for each in variables if each.id != at and rng.random() < 0.6]
        values = rng.gamma(0.5, size=[each.cardinality for each in (*parents, variable)]) + 1e-4
        values /= values.sum(axis=-1, keepdims=True)
        counts = np.zeros(values.shape, np.int64)
        tables.append(ConditionalTable(variable, tuple(parents), values, counts))
    return DependencyNetwork(variables, tables)


def joint_of_markov(network):
    shape = [each.cardinality for each in network.variables]
    joint = np.zeros(shape)
    for state in product(*map(range, shape)):
        joint[state] = prod(
            table.values[tuple(state[each.id] for each in table.variables)]
            for table in network.tables
        )
    return joint / joint.sum()


def joint_of_dependency(network):
    """Solve for the stationary distribution of the matrix of a sweep."""
    shape = [each.cardinality for each in network.variables]
    states = list(product(*map(range, shape)))
    step = np.eye(len(states))
    for at, table in enumerate(network.tables):
        one = np.zeros((len(states), len(states)))
        for row, state in enumerate(states):
            chances = table.values[tuple(state[each.id] for each in table.parents)]
            for new, chance in enumerate(chances):
                after = (*state[:at], new, *state[at + 1 :])
                one[row, np.ravel_multi_index(after, shape)] += chance
        step = step @ one
    system = np.vstack([step.T - np.eye(len(states)), np.ones(len(states))])
    right = np.append(np.zeros(len(states)), 1)
    return np.linalg.lstsq(system, right, rcond=None)[0].reshape(shape)


def check_queries(network, joint, rng):
    """Compare a query with evidence about parts of some variables."""
    count = len(network.variables)
    evidence, mask = {}, np.ones(joint.shape)
    for at, variable in enumerate(network.variables):
        if rng.random() < 0.4:
            evidence[at] = str(rng.choice(variable.words))
            along = [-1 if axis == at else 1 for axis in range(count)]
            mask = mask * variable.matching(evidence[at]).reshape(along)
    agreeing = joint * mask
    assert network.probability(evidence) == pytest.approx(agreeing.sum(), abs=1e-9)
    asked = int(rng.integers(count))
    if agreeing.sum() > 1e-6:
        others = tuple(axis for axis in range(count) if axis != asked)
        expected = agreeing.sum(axis=others) / agreeing.sum()
        np.testing.assert_allclose(network.query(asked, evidence), expected, atol=1e-9)
    np.testing.assert_allclose(network.query(list(range(count))), joint, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "joint_of"),
    [(random_markov, joint_of_markov), (random_dependency, joint_of_dependency)],
)
def test_inference_equals_brute_force(make, joint_of):
    rng = np.random.default_rng(0)
    for _ in range(MODELS):
        network = make(rng)
        joint = joint_of(network)
        check_queries(network, joint, rng)
        likely = np.argwhere(joint > 1e-9)
        expected = np.log(joint[tuple(likely.T)]).sum()
        assert network.log_likelihood(likely) == pytest.approx(expected, rel=1e-6)


def test_a_bayesian_network_has_the_distribution_of_a_markov_network():
    rng = np.random.default_rng(1)
    for _ in range(20):
        network = random_markov(rng)
        nodes = network.nodes
        found = network.to_bayesian().query(nodes)
        np.testing.assert_allclose(found, network.query(nodes), atol=1e-12)


def test_samples_have_the_probabilities_of_the_network():
    rng = np.random.default_rng(2)
    for make in (random_markov, random_dependency):
        network = make(rng)
        drawn = network.sample(20_000, seed=1)
        joint = network.query(network.nodes)
        found = np.zeros(joint.shape)
        np.add.at(found, tuple(drawn.T), 1 / len(drawn))
        assert abs(found - joint).max() < 0.02


def observed(rng, sizes, count=300):
    base = rng.integers(0, 6, (count, len(sizes)))
    for at in range(1, len(sizes)):
        base[:, at] = np.where(rng.random(count) < 0.5, base[:, at - 1], base[:, at])
    return base % np.array(sizes)


def fitted_joint(counts, scopes):
    """Maximum likelihood by iterative proportional fitting of the whole table."""
    joint = np.full(counts.shape, 1 / counts.size)
    for _ in range(200):
        for scope in scopes:
            others = tuple(axis for axis in range(counts.ndim) if axis not in scope)
            now = joint.sum(axis=others, keepdims=True)
            wanted = counts.sum(axis=others, keepdims=True) / counts.sum()
            joint = joint * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
    return joint


def test_scores_of_all_graphs_of_four_variables_equal_brute_force():
    """61 of the 64 graphs are chordal; the other three are the cycles of four."""
    rng = np.random.default_rng(3)
    sizes = [2, 3, 2, 3]
    variables = [Variable(at, False, size) for at, size in enumerate(sizes)]
    data = observed(rng, sizes)
    counts = np.zeros(sizes)
    np.add.at(counts, tuple(data.T), 1)
    pairs, chordal = list(combinations(range(4), 2)), 0
    for chosen in range(64):
        edges = [pair for bit, pair in enumerate(pairs) if chosen >> bit & 1]
        graph = UndirectedGraph(4, edges)
        joint = fitted_joint(counts, graph.cliques)
        fit = (counts * np.log(np.where(counts > 0, joint, 1))).sum()
        subsets = {
            some
            for clique in graph.cliques
            for length in range(1, len(clique) + 1)
            for some in combinations(clique, length)
        }
        free = sum(prod(sizes[at] - 1 for at in each) for each in subsets)
        network = MarkovNetwork.fit(variables, graph, data)
        assert network.score == pytest.approx(fit - 0.5 * log(len(data)) * free, abs=1e-6)
        np.testing.assert_allclose(network.query([0, 1, 2, 3]), joint, atol=1e-8)
        assert network.is_decomposable == graph.is_chordal
        if graph.is_chordal:
            chordal += 1
            assert decomposable_score(graph, data, sizes) == pytest.approx(network.score)
    assert chordal == 61


def test_pairwise_potentials_fit_the_frequencies_of_pairs():
    rng = np.random.default_rng(4)
    data = observed(rng, [2, 2, 3], 500)
    variables = [Variable(at, False, size) for at, size in enumerate([2, 2, 3])]
    triangle = UndirectedGraph(3, [(0, 1), (0, 2), (1, 2)])
    network = MarkovNetwork.fit(variables, triangle, data, pairwise=True)
    assert [len(table.variables) for table in network.tables] == [2, 2, 2]
    for u, v in triangle.edges:
        seen = np.zeros((variables[u].levels, variables[v].levels))
        np.add.at(seen, (data[:, u], data[:, v]), 1 / len(data))
        np.testing.assert_allclose(network.query([u, v]), seen, atol=1e-8)


def test_the_distribution_of_the_last_variable_given_all_others_is_its_own_table():
    rng = np.random.default_rng(5)
    network = random_dependency(rng)
    while len(network.variables) < 3:
        network = random_dependency(rng)
    joint = network.query(network.nodes)
    given = joint / joint.sum(axis=-1, keepdims=True)
    table = network.tables[-1]
    along = [each.cardinality if each in table.parents else 1 for each in network.variables[:-1]]
    expected = table.values.reshape(*along, -1)
    np.testing.assert_allclose(given, np.broadcast_to(expected, given.shape), atol=1e-9)
    assert network.markov_blanket(network.nodes[-1]) == [each.id for each in table.parents]


def test_gibbs_sampling_agrees_with_the_exact_distribution(monkeypatch):
    rng = np.random.default_rng(6)
    data = observed(rng, [4, 4, 4, 4], 800)
    variables = [Variable(at, True, 2) for at in range(4)]
    exact = DependencyNetwork.learn(variables, data)
    assert exact.is_exact
    monkeypatch.setattr("pgm_explainer.network.dependency_network.FEW_STATES", 10)
    sampled = DependencyNetwork.learn(variables, data)
    assert not sampled.is_exact
    assert exact.error == 0 < sampled.error <= 0.005
    for evidence in ({}, {0: "kept"}, {0: "perturbed", 2: "changed"}):
        error = sampled.error / max(exact.probability(evidence), 1e-9) ** 0.5
        likelihood = exact.probability(evidence)
        assert sampled.probability(evidence) == pytest.approx(likelihood, abs=5 * sampled.error)
        difference = abs(sampled.query(3, evidence) - exact.query(3, evidence)).max()
        assert difference < 5 * error
    with pytest.raises(QueryError, match="no exact joint distribution"):
        sampled.log_likelihood(data)
    assert np.isfinite(sampled.pseudo_log_likelihood(data))


def test_a_tree_finds_the_condition_that_matters():
    """The last variable changes only if the first is perturbed and the second changed."""
    rng = np.random.default_rng(13)
    variables = [Variable(at, True, 2) for at in range(3)] + [Variable("graph", False, 2)]
    codes = np.column_stack([rng.integers(0, 4, (2000, 3)), np.zeros(2000, dtype=int)])
    codes[:, 3] = (codes[:, 0] >= 2) & (codes[:, 1] % 2 == 1) & (rng.random(2000) < 0.9)
    tree = ConditionalTree.learn_many(variables, codes, as_score("bic"))[-1]
    assert [parent.id for parent in tree.parents] == [0, 1]
    assert len(tree.leaves) == 3
    states = np.array([[0, 1], [2, 1], [3, 3], [2, 2]])
    np.testing.assert_allclose(tree.rows(states)[:, 1], [0, 0.9, 0.9, 0], atol=0.05)
    assert tree.values.shape == (4, 4, 2)
    table = ConditionalTable.fit(variables[-1], variables[:2], codes[:, [0, 1, 3]], 0)
    assert tree.score(as_score("bic")) > table.score(as_score("bic"))


@pytest.mark.parametrize("form", ["auto", "table", "tree"])
def test_odd_data_give_a_dependency_network(form):
    check_odd_data(lambda variables, data: DependencyNetwork.learn(variables, data, form=form))


@pytest.mark.parametrize("name", ["decomposable", "neighbourhood"])
def test_odd_data_give_a_markov_network(name):
    from pgm_explainer.structure.graph_searches import MARKOV_SEARCHES

    def learn(variables, data):
        sizes = [variable.cardinality for variable in variables]
        graph = MARKOV_SEARCHES[name](data, sizes, as_score("bic"))
        return MarkovNetwork.fit(variables, graph, data)

    check_odd_data(learn)


def check_odd_data(learn):
    rng = np.random.default_rng(8)
    base = rng.integers(0, 4, (200, 5))
    data = {
        "one variable": base[:, :1],
        "constant": base * 0,
        "perfectly dependent": np.repeat(base[:, :1], 5, axis=1),
        "states never seen": base % 2,
        "one sample": base[:1],
    }
    for name, codes in data.items():
        variables = [Variable(at, True, 2) for at in range(codes.shape[1])]
        network = learn(variables, codes)
        found = network.query(variables[-1].id, {0: int(codes[0, 0])})
        assert found.sum() == pytest.approx(1), name
        if name == "perfectly dependent" and network.family != "markov":
            assert network.query(4, {0: "original"})[:2].sum() > 0.99


@pytest.mark.parametrize("make", [random_markov, random_dependency])
def test_a_network_survives_its_files(make, tmp_path):
    network = make(np.random.default_rng(9))
    names = {network.nodes[0]: ("author", 5), network.nodes[-1]: "graph"}
    network = network.renamed(names)
    network.save(tmp_path / "it.json")
    assert type(network).load(tmp_path / "it.json") == network
    with pytest.raises(FileError, match="holds a"):
        BayesianNetwork.load(tmp_path / "it.json")
    with pytest.raises(InputError, match=r"save it as \.json"):
        network.save(tmp_path / "it.bif")


def test_a_tree_survives_its_file(tmp_path):
    data = observed(np.random.default_rng(10), [4, 4, 4])
    variables = [Variable(at, True, 2) for at in range(3)]
    network = DependencyNetwork.learn(variables, data, form="tree")
    network.save(tmp_path / "it.json")
    assert DependencyNetwork.load(tmp_path / "it.json") == network


def test_uai_keeps_names_and_other_files_are_numbered(tmp_path):
    network = random_markov(np.random.default_rng(11)).renamed({0: ("author", 5)})
    network.save(tmp_path / "it.uai")
    found = MarkovNetwork.load(tmp_path / "it.uai")
    assert found.variables == network.variables
    np.testing.assert_allclose(found.query(found.nodes), network.query(network.nodes), atol=1e-12)
    text = (tmp_path / "it.uai").read_text()
    (tmp_path / "other.uai").write_text(text[: text.index("#")])
    other = MarkovNetwork.load(tmp_path / "other.uai")
    assert other.nodes == [f"x{at}" for at in range(len(network.nodes))]
    np.testing.assert_allclose(other.query(other.nodes), network.query(network.nodes), atol=1e-12)


UAI = "MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n2\n0.5 0.5\n6\n1 2 3 4 5 6\n"


@pytest.mark.parametrize(
    ("before", "after", "match"),
    [
        ("MARKOV", "BAYES", "should have 'MARKOV'"),
        ("MARKOV\n2", "MARKOV\n99999", "at most 10,000 variables"),
        ("2 3\n", "2 1\n", "a number of states from 2"),
        ("2 0 1", "2 0 7", "a variable from 0 to 1"),
        ("2 0 1", "2 0 0", "has a variable twice|entries of the potential"),
        ("6\n1", "5\n1", "6 entries"),
        ("1 2 3", "1 -2 3", "finite numbers of at least 0"),
        ("1 2 3", "1 nan 3", "finite numbers"),
        ("1 2 3", "1 x 3", "finite numbers"),
        ("0.5 0.5", "0 0", "cannot be normalised"),
        ("5 6", "5", "truncated"),
        ("5 6", "5 6 7", "continues after the last"),
        ("5 6\n", "5 6\n# pgm_explainer [[1, true]]\n", "2 items"),
        ("5 6\n", "5 6\n# pgm_explainer [[1, true, 1], [2, true, 2]]\n", "other numbers of states"),
    ],
)
def test_malformed_uai_is_refused(before, after, match, tmp_path):
    (tmp_path / "good.uai").write_text(UAI)
    assert MarkovNetwork.load(tmp_path / "good.uai").nodes == ["x0", "x1"]
    (tmp_path / "bad.uai").write_text(UAI.replace(before, after))
    with pytest.raises(FileError, match=match):
        MarkovNetwork.load(tmp_path / "bad.uai")


def test_tables_that_do_not_fit_are_refused():
    a, b = Variable("a", False, 2), Variable("b", False, 2)
    pair = CliqueTable.of([a, b], np.ones((2, 2)))
    with pytest.raises(InputError, match="a potential for each"):
        MarkovNetwork([a, b, Variable("c", False, 2)], [pair])
    with pytest.raises(InputError, match="does not have"):
        MarkovNetwork([a], [pair])
    with pytest.raises(InputError, match="finite numbers of at least 0"):
        CliqueTable.of([a], np.array([1.0, -1]))
    with pytest.raises(InputError, match="must have shape"):
        CliqueTable.of([a], np.ones(3))
    own = ConditionalTable.fit(a, [b], np.zeros((1, 2), int), 0)
    with pytest.raises(InputError, match="a table for each variable"):
        DependencyNetwork([a, b], [own])
    with pytest.raises(InputError, match="does not have"):
        DependencyNetwork([a], [own])
    leaves = np.full((2, 2), 0.5)
    with pytest.raises(InputError, match="not a tree"):
        ConditionalTree(a, (b,), (Split(0, (1,), 0, -1),), leaves, np.zeros((2, 2), int))


@pytest.mark.parametrize("wrong", [{"max_parents": [2]}, {"max_parents": 0}, {"form": "forest"}])
def test_options_of_dependency_networks_are_checked(wrong):
    variables = [Variable("a", False, 2), Variable("b", False, 2)]
    with pytest.raises(InputError, match=next(iter(wrong))):
        DependencyNetwork.learn(variables, np.zeros((4, 2), dtype=int), **{"form": "tree"} | wrong)


def test_options_of_markov_networks_are_checked():
    variables = [Variable("a", False, 2), Variable("b", False, 2)]
    codes, graph = np.array([[0, 0], [1, 1], [0, 1]]), UndirectedGraph(2, [(0, 1)])
    with pytest.raises(InputError, match="pairwise must be True or False"):
        MarkovNetwork.fit(variables, graph, codes, pairwise=np.ones(2))
    half = MarkovNetwork.fit(variables, graph, codes, smoothing=Fraction(1, 2))
    assert half == MarkovNetwork.fit(variables, graph, codes, smoothing=0.5)
