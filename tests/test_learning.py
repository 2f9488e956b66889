"""Step 3: which parents a target gets, and what its distribution looks like."""

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer, QueryError
from pgm_explainer.learning import Problem, learn_networks
from pgm_explainer.network import ConditionalTable, NetworkConfig, NoisyOr
from pgm_explainer.sampling import SampleTable, Variable
from pgm_explainer.selection import SelectionConfig
from pgm_explainer.significance import SignificanceConfig

TARGET = 9


def configs(no_child=True, **choices):
    network = NetworkConfig(**{"structure": "hill_climb", **choices})
    return network, SelectionConfig(no_child=no_child), SignificanceConfig()


def samples(seed, changed_by, num_samples=2000, levels=2):
    """Nodes 0 to 3 and a target; ``changed_by`` is the probability that a sample's target changes.

    Node 3 is perturbed like the others, and its prediction depends on the target's.
    """
    rng = np.random.default_rng(seed)
    perturbed = rng.random((num_samples, 5)) < 0.2
    moved = rng.random((num_samples, 5)) < 0.1
    moved[:, 4] = rng.random(num_samples) < changed_by(perturbed)
    moved[:, 3] = moved[:, 4] ^ (rng.random(num_samples) < 0.05)
    variables = [Variable(v, True, levels) for v in (0, 1, 2, 3, TARGET)]
    table = SampleTable(variables, num_samples)
    table.write(0, (levels * perturbed + moved).astype(np.uint8))
    return table


def two_causes(perturbed):
    return 1 - 0.98 * (1 - 0.6 * perturbed[:, 0]) * (1 - 0.3 * perturbed[:, 1])


def learn(table, nodes, causes, **choices):
    (network,) = learn_networks(
        table, [Problem(TARGET, nodes, frozenset(causes))], *configs(**choices)
    )
    return network


def test_causes_are_parents_by_their_perturbation():
    network = learn(samples(0, two_causes), [0, 1, 2], [0, 1])
    table = network.cpt(TARGET)
    assert isinstance(table, NoisyOr)
    assert network.parents(TARGET) == [0, 1]
    assert network.children(TARGET) == []
    for found, chance in zip(table.chances, (0.6, 0.3), strict=True):
        assert found.tolist() == [0, 0, found[2], found[2]]
        assert found[2] == pytest.approx(chance, abs=0.07)
    assert table.leak == pytest.approx(0.02, abs=0.01)
    kept = network.query(TARGET, {0: "perturbed"})[[0, 2]].sum()
    assert kept == pytest.approx(0.98 * 0.4 * (1 - 0.2 * 0.3), abs=0.05)


def test_a_dependent_is_a_parent_if_its_prediction_improves_the_score():
    table = samples(1, two_causes)
    network = learn(table, [0, 1, 2, 3], [0, 1])
    assert 3 in network.parents(TARGET)
    assert 2 not in network.parents(TARGET)
    along = network.cpt(TARGET).chances[network.parents(TARGET).index(3)]
    assert along.tolist() == [0, along[1], 0, along[1]]
    assert along[1] > 0.5


def test_a_stabilising_node_acts_when_it_is_original():
    def steadier(perturbed):
        return np.where(perturbed[:, 0], 0.1, 0.5)

    network = learn(samples(2, steadier), [0], [0])
    (chances,) = network.cpt(TARGET).chances
    assert chances[0] == chances[1] > 0.3
    assert chances[2] == chances[3] == 0
    alone, perturbed = (
        network.query(TARGET, {0: word})[[0, 2]].sum() for word in ("original", "perturbed")
    )
    assert (alone, perturbed) == (pytest.approx(0.5, abs=0.05), pytest.approx(0.9, abs=0.04))


def test_a_cause_that_never_changes_the_prediction_is_no_parent():
    """An effect may be too small to count as a change."""
    table = samples(3, lambda perturbed: 0.8 * perturbed[:, 0])
    codes = table.codes(np.arange(5))
    codes[:, 4] = codes[:, 4] // 2 * 2 + (codes[:, 0] >= 2)  # by node 0 alone
    table.write(0, codes)
    network = learn(table, [0, 1], [0, 1])
    assert network.parents(TARGET) == [0]


@pytest.mark.parametrize(
    "choices", [{"target_table": "full"}, {"no_child": False}, {"levels": 3}], ids=str
)
def test_the_table_is_full_if_a_noisy_or_is_impossible_or_disabled(choices):
    levels = choices.pop("levels", 2)
    network = learn(samples(4, two_causes, levels=levels), [0, 1], [0, 1], **choices)
    assert isinstance(network.cpt(TARGET), ConditionalTable)


def test_algorithm_2_drops_nodes_that_others_explain():
    network = learn(samples(5, two_causes), [0, 1, 2], [0, 1], target_table="full")
    assert network.parents(TARGET) == [0, 1]


@pytest.mark.parametrize("target_table", ["noisy_or", "full"])
def test_max_parents_bounds_the_target_too(target_table):
    table, nodes = samples(1, two_causes), [0, 1, 2, 3]
    found = learn(table, nodes, [0, 1], target_table=target_table)
    assert len(found.parents(TARGET)) > 2
    for most in (1, 2):
        bounded = learn(table, nodes, [0, 1], target_table=target_table, max_parents=most)
        assert 1 <= len(bounded.parents(TARGET)) <= most
        assert all(len(bounded.parents(node)) <= most for node in bounded.nodes)
    assert learn(table, nodes, [0, 1], target_table=target_table, max_parents=4) == found


def test_the_bound_keeps_the_strongest_parents():
    table = samples(5, two_causes)
    bounded = learn(table, [0, 1, 2], [0, 1], target_table="full", max_parents=1)
    assert bounded.parents(TARGET) == [0]
    assert learn(table, [0, 1], [0, 1], max_parents=1).parents(TARGET) == [0]
    assert learn(table, [1, 0], [0, 1], max_parents=1).parents(TARGET) == [1]


def test_networks_come_in_order_whatever_tables_they_have():
    table = samples(6, two_causes)
    problems = [Problem(TARGET, [0]), Problem(0, [1, 2]), Problem(TARGET, [1, 0], frozenset([1]))]
    together = list(learn_networks(table, problems, *configs()))
    alone = [next(learn_networks(table, [each], *configs())) for each in problems]
    assert together == alone
    assert [network.nodes[-1] for network in together] == [TARGET, 0, TARGET]


@pytest.mark.parametrize("target_table", ["auto", "noisy_or", "full"])
def test_a_network_forecasts_the_model(target_table):
    """Of ten causes, a full table has seen few combinations; a noisy-or covers them all."""

    def reads_ten(x):
        score = 2 - 3 * x[..., :10, 0].sum(axis=-1)
        return np.stack((-score, score), axis=-1)

    explainer = PGMExplainer(
        reads_ten,
        np.zeros((12, 1)),
        np.zeros((2, 0), dtype=int),
        task="graph",
        perturbation=lambda x, rng: x + 1,
        change="flip",
        max_nodes=None,
        target_table=target_table,
    )
    explanation = explainer.explain()
    everyone = dict.fromkeys(range(10), "original")
    assert explanation.query(everyone) > 0.95
    unseen = explanation.query({**everyone, **dict.fromkeys((1, 4, 6, 9), "perturbed")})
    if target_table == "full":
        assert unseen == 0.5
        return
    assert unseen < 0.01
    assert sorted(explanation.network.parents("graph")) == list(range(10))
    for node in range(10):
        assert explanation.query({**everyone, node: "perturbed"}) < 0.05


def star(size, **options):
    edges = np.stack((np.arange(1, size), np.zeros(size - 1, dtype=int)))

    def model(x, edge_index):
        total = x[..., 0].copy()
        np.add.at(total.T, edge_index[1], x[:, edge_index[0], 0].T)
        return np.stack([0 * total, total], axis=-1)

    x = np.random.default_rng(0).normal(size=(size, 1))
    settings = {"num_samples": 100, "max_nodes": size - 1, "only_significant": False}
    return PGMExplainer(model, x, edges, num_layers=1, **settings, **options).explain(0)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_tables_that_would_not_fit_into_memory_are_refused():
    with pytest.raises(InputError, match="set max_parents"):
        star(40, score="log_likelihood", structure="hill_climb")
    network = star(40, structure="hill_climb").network
    with pytest.raises(QueryError, match="query fewer variables"):
        network.query(network.nodes)
