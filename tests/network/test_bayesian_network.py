"""The network: tables, questions, samples and what it refuses."""

from itertools import combinations

import numpy as np
import pytest

from pgm_explainer import InputError, QueryError
from pgm_explainer.network import BayesianNetwork, ConditionalTable, cpdag
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import DAG, SCORES, network_score

A, B, C = Variable("a", False, 2), Variable("b", False, 3), Variable("c", False, 2)
CODES = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]])


def chain(smoothing=0.0, score="bic"):
    """a -> b -> c from six samples."""
    return BayesianNetwork.fit([A, B, C], DAG(3, [(0, 1), (1, 2)]), CODES, smoothing, score)


# --- tables


def test_tables_hold_shares_of_counts_with_the_variable_on_the_last_axis():
    table = chain().cpt("b")
    assert table.counts.tolist() == [[2, 2, 0], [0, 2, 0]]
    assert table.values.tolist() == [[0.5, 0.5, 0], [0, 1, 0]]
    assert table.parents == (A,)
    assert table.variable == B


def test_without_parents_a_table_has_one_axis():
    table = chain().cpt("a")
    assert table.counts.tolist() == [4, 2]
    np.testing.assert_allclose(table.values, [2 / 3, 1 / 3])


def test_unseen_configurations_leave_every_state_as_likely():
    table = chain().cpt("c")  # b was never 2
    assert table.counts[2].tolist() == [0, 0]
    assert table.values[2].tolist() == [0.5, 0.5]


def test_smoothing_is_added_to_every_count():
    table = chain(smoothing=1.0).cpt("b")
    np.testing.assert_allclose(table.values[0], [3 / 7, 3 / 7, 1 / 7])
    np.testing.assert_allclose(table.values[1], [1 / 5, 3 / 5, 1 / 5])
    assert table.counts.tolist() == [[2, 2, 0], [0, 2, 0]]


def test_parents_axes_come_in_the_order_of_the_columns():
    network = BayesianNetwork.fit([A, B, C], DAG(3, [(2, 1), (0, 1)]), CODES)
    table = network.cpt("b")
    assert table.values.shape == (2, 2, 3)
    assert table.counts[0, 1].tolist() == [0, 2, 0]  # a = 0 and c = 1


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_every_row_adds_up_to_one(random_network, smoothing):
    truth = random_network(0, 6)
    network = BayesianNetwork.fit(truth.variables, truth.dag, truth.sample(50), smoothing)
    for node in network.nodes:
        table = network.cpt(node)
        np.testing.assert_allclose(table.values.sum(axis=-1), 1)
        assert table.counts.sum() == 50


def test_much_data_give_the_tables_they_came_from(random_network):
    truth = random_network(1, 4, density=0.6)
    network = BayesianNetwork.fit(truth.variables, truth.dag, truth.sample(200_000, seed=1))
    for node in truth.nodes:
        seen = network.cpt(node).counts.sum(axis=-1, keepdims=True)
        error = np.abs(network.cpt(node).values - truth.cpt(node).values) * np.sqrt(seen)
        assert error.max() < 3  # standard errors are at most 1/2


@pytest.mark.parametrize("name", list(SCORES))
def test_the_score_is_that_of_the_structure(name):
    expected = network_score(CODES, [2, 3, 2], [(0, 1), (1, 2)], name)
    assert chain(score=name).score == pytest.approx(expected)


# --- description


def test_relatives_are_given_by_id():
    network = chain()
    assert network.nodes == ["a", "b", "c"]
    assert network.edges == [("a", "b"), ("b", "c")]
    assert network.parents("b") == ["a"]
    assert network.children("b") == ["c"]
    assert network.markov_blanket("a") == ["b"]
    assert network.variable("b") is B


def test_the_factorisation_puts_parents_first():
    assert chain().factorisation == "P(a) P(b | a) P(c | b)"
    network = BayesianNetwork.fit([A, B, C], DAG(3, [(2, 0), (1, 0)]), CODES)
    assert network.factorisation == "P(b) P(c) P(a | b, c)"
    assert repr(network) == "BayesianNetwork(P(b) P(c) P(a | b, c))"


def test_the_equivalence_class_is_that_of_its_graph():
    assert chain().equivalence_class == cpdag(DAG(3, [(0, 1), (1, 2)]))


def test_equal_networks_are_equal():
    assert chain() == chain()
    assert chain() != chain(smoothing=1.0)
    assert chain().cpt("a") == chain().cpt("a")
    assert chain().cpt("a") != chain().cpt("b")


# --- questions


def slow_query(joint, keep, evidence):
    for axis, matches in evidence.items():
        shape = [-1 if at == axis else 1 for at in range(joint.ndim)]
        joint = joint * matches.reshape(shape)
    summed = joint.sum(axis=tuple(set(range(joint.ndim)) - set(keep)))
    return summed.transpose(np.argsort(np.argsort(keep))) / joint.sum(), joint.sum()


@pytest.mark.parametrize("seed", range(15))
def test_queries_equal_summing_the_joint(random_network, joint_of, seed):
    network = random_network(seed, 5)
    joint, rng = joint_of(network), np.random.default_rng(seed)
    assert joint.sum() == pytest.approx(1)
    for _ in range(6):
        order = rng.permutation(5).tolist()
        keep, known = order[: rng.integers(1, 3)], order[2 : 2 + rng.integers(0, 3)]
        evidence = {v: int(rng.integers(network.variables[v].cardinality)) for v in known}
        weights = {v: network.variables[v].matching(s) for v, s in evidence.items()}
        expected, total = slow_query(joint, keep, weights)
        np.testing.assert_allclose(network.query(keep, evidence), expected, atol=1e-12)
        assert network.probability(evidence) == pytest.approx(total)


@pytest.mark.parametrize("seed", range(8))
def test_evidence_on_part_of_a_variable_equals_summing_the_joint(random_network, joint_of, seed):
    """Only s, only I, both, and a graded change."""
    network = random_network(seed, 4, density=0.7, two_part=True)
    joint = joint_of(network)
    says = ["perturbed", "kept", "original, changed", ("perturbed", "kept"), "changed"]
    for one, other in combinations(range(5), 2):
        evidence = {1: says[one], 3: says[other]}
        weights = {v: network.variables[v].matching(word) for v, word in evidence.items()}
        expected, total = slow_query(joint, [0], weights)
        np.testing.assert_allclose(network.query(0, evidence), expected, atol=1e-12)
        assert network.probability(evidence) == pytest.approx(total)


def test_evidence_on_the_query_variable_is_used(random_network):
    network = random_network(3, 3, two_part=True)
    states = network.variable(0).matching("perturbed")
    free, conditional = network.query(0), network.query(0, {0: "perturbed"})
    np.testing.assert_allclose(conditional, np.where(states, free, 0) / free[states].sum())


def test_no_evidence_has_probability_one(random_network):
    assert random_network(4, 5).probability({}) == pytest.approx(1)


def test_the_papers_kind_of_question():
    """How likely is the prediction kept, before and after knowing of a neighbour."""
    neighbour, target = Variable(7, True, 2), Variable("graph", False, 2)
    codes = np.array([[0, 0]] * 40 + [[0, 1]] * 10 + [[2, 0]] * 10 + [[2, 1]] * 40)
    network = BayesianNetwork.fit([neighbour, target], DAG(2, [(0, 1)]), codes)
    assert network.query("graph")[0] == pytest.approx(0.5)
    assert network.query("graph", {7: "original"})[0] == pytest.approx(0.8)
    assert network.query("graph", {7: "perturbed"})[0] == pytest.approx(0.2)


def test_a_network_of_many_variables_can_be_queried():
    variables = [Variable(v, False, 2) for v in range(80)]
    codes = np.random.default_rng(0).integers(0, 2, (50, 80))
    network = BayesianNetwork.fit(variables, DAG(80), codes)
    np.testing.assert_allclose(network.query(3, {5: 1}), network.cpt(3).values)


@pytest.mark.parametrize(
    "ask",
    [
        lambda network: network.query("z"),
        lambda network: network.query("a", {"z": 0}),
        lambda network: network.query("a", {"b": 3}),
        lambda network: network.query("a", {"b": "perturbed"}),
        lambda network: network.query("a", {"b": None}),
        lambda network: network.query(["a", "a"]),
        lambda network: network.query("a", {"b": 2}),  # never seen: impossible
        lambda network: network.parents(9),
        lambda network: network.cpt(["a"]),
        lambda network: network.probability({"z": 0}),
    ],
)
def test_impossible_queries_are_refused(ask):
    with pytest.raises(QueryError):
        ask(chain())


def test_impossible_evidence_has_probability_zero():
    assert chain().probability({"b": 2}) == 0


# --- samples and likelihood


def test_samples_have_the_frequencies_of_the_network(random_network, joint_of):
    network = random_network(5, 4, density=0.6)
    joint, count = joint_of(network), 100_000
    codes = network.sample(count, seed=2)
    seen = np.zeros(joint.shape)
    np.add.at(seen, tuple(codes.T), 1)
    deviation = (seen - count * joint) / np.sqrt(count * joint)
    assert np.square(deviation).sum() < joint.size + 5 * np.sqrt(2 * joint.size)


def test_samples_depend_on_the_seed_alone(random_network):
    network = random_network(6, 5)
    assert (network.sample(100, seed=3) == network.sample(100, seed=3)).all()
    assert (network.sample(100, seed=3) != network.sample(100, seed=4)).any()
    assert network.sample(100).shape == (100, 5)


def test_impossible_states_are_never_drawn():
    codes = chain().sample(5000)
    assert not (codes[:, 1] == 2).any()
    assert (codes[codes[:, 0] == 1, 1] == 1).all()


@pytest.mark.parametrize("bad", [0, -1, 1.5, "many"])
def test_a_senseless_number_of_samples_is_refused(bad):
    with pytest.raises(InputError, match="num_samples"):
        chain().sample(bad)


def test_the_log_likelihood_adds_up_the_joint(random_network, joint_of):
    network = random_network(7, 4)
    codes = network.sample(200)
    expected = np.log(joint_of(network)[tuple(codes.T)]).sum()
    assert network.log_likelihood(codes) == pytest.approx(expected)


def test_maximum_likelihood_is_the_log_likelihood_score():
    network = chain(score="log_likelihood")
    assert network.log_likelihood(CODES) == pytest.approx(network.score)


def test_impossible_data_have_log_likelihood_minus_infinity():
    assert chain().log_likelihood(np.array([[1, 0, 0]])) == -np.inf


# --- what it refuses


def test_variables_tables_and_graph_must_fit():
    tables = [chain().cpt(node) for node in "abc"]
    dag = DAG(3, [(0, 1), (1, 2)])
    with pytest.raises(InputError):
        BayesianNetwork([A, B], dag, tables)
    with pytest.raises(InputError):
        BayesianNetwork([A, A, C], dag, tables)
    with pytest.raises(InputError):
        BayesianNetwork([A, B, C], dag, tables[:2])
    with pytest.raises(InputError, match="parents"):
        BayesianNetwork([A, B, C], DAG(3, [(0, 1), (0, 2)]), tables)
    with pytest.raises(InputError):
        BayesianNetwork([A, B, C], dag, [tables[1], tables[0], tables[2]])


@pytest.mark.parametrize(
    "codes",
    [
        [[2, 0, 0]],  # a has states 0 and 1
        [[-1, 0, 0]],
        [[0, 0]],
        np.zeros((0, 3), dtype=int),
        [[0.5, 0, 0]],
    ],
)
def test_data_that_do_not_fit_are_refused(codes):
    with pytest.raises(InputError):
        BayesianNetwork.fit([A, B, C], DAG(3), np.array(codes))


def test_a_table_can_be_fitted_alone():
    table = ConditionalTable.fit(B, [A], CODES[:, :2], 0.0)
    assert table == chain().cpt("b")
    assert repr(table) == "P(b | a) (2, 3)"


@pytest.mark.parametrize("nodes", [None, [None], 1.5, np.array(1), "a", [[0]], int], ids=repr)
def test_an_unknown_variable_is_refused(nodes, random_network):
    with pytest.raises(QueryError, match="is not in the network; its nodes are 0, 1, 2"):
        random_network(0, 3).query(nodes)


@pytest.mark.parametrize("evidence", [[], 3, "kept", {1}, np.zeros(2)], ids=repr)
def test_evidence_is_a_mapping(evidence, random_network):
    network = random_network(0, 3)
    for ask in (network.probability, lambda known: network.query(0, known)):
        with pytest.raises(QueryError, match="evidence must be a mapping from variables"):
            ask(evidence)


@pytest.mark.parametrize("data", [[[0]], [0, 0, 0], None, [["a", "b", "c"]], [[0, 0, 9]]], ids=repr)
def test_the_likelihood_of_data_that_do_not_fit_is_refused(data, random_network):
    with pytest.raises(InputError, match="data"):
        random_network(0, 3).log_likelihood(data)


@pytest.mark.parametrize(
    "change",
    [
        {"variables": None},
        {"variables": "abc"},
        {"variables": [0, 1, 2]},
        {"dag": None},
        {"dag": DAG(2)},
        {"dag": [(0, 1)]},
        {"smoothing": None},
        {"smoothing": "1"},
        {"smoothing": float("nan")},
        {"score": 3},
    ],
    ids=str,
)
def test_what_cannot_be_fitted_is_refused(change):
    variables = [Variable(each, False, 2) for each in range(3)]
    given = {"variables": variables, "dag": DAG(3), "codes": np.zeros((5, 3), int), **change}
    with pytest.raises(InputError):
        BayesianNetwork.fit(**given)


def test_new_names_are_a_mapping_to_names(random_network):
    network = random_network(0, 3)
    for names in (None, ["a"], {0: ["a"]}):
        with pytest.raises(InputError, match=r"names must be a mapping|an integer, a string"):
            network.renamed(names)
