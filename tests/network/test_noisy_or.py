"""The noisy-or: fitted to samples, and queried as part of a network."""

import time
from itertools import product

import numpy as np
import pytest
from scipy import optimize

from pgm_explainer import QueryError
from pgm_explainer.network import BayesianNetwork, ConditionalTable, NoisyOr
from pgm_explainer.network.noisy_or import NoisyOrData
from pgm_explainer.sampling import Variable
from pgm_explainer.structure import DAG, SCORES

TARGET = Variable("t", True, 2)
PERTURBED = np.array([False, False, True, True])
CHANGED = np.array([False, True, False, True])


def parents(count):
    return [Variable(v, True, 2) for v in range(count)]


def draw(rng, num_samples, chances, leak, own, probability=0.1):
    """States of four-state parents whose perturbations change the target, and its states last."""
    count = len(chances)
    perturbed = rng.random((num_samples, count + 1)) < probability
    holds = (1 - leak) * np.prod(1 - perturbed * np.array([*chances, own]), axis=1)
    moved = rng.random((num_samples, count)) < 0.2
    changed = np.column_stack((moved, rng.random(num_samples) >= holds))
    return (2 * perturbed + changed).astype(np.uint8)


def fit(codes, smoothing=0.0, active=None):
    count = codes.shape[1] - 1
    active = [PERTURBED] * count if active is None else active
    return NoisyOr.fit(TARGET, parents(count), codes, active, smoothing)


def dense(table):
    """The same distribution as a full table."""
    counts = np.zeros(table.values.shape, dtype=np.int64)
    return ConditionalTable(table.variable, table.parents, table.values, counts)


def random_pair(seed, size=5, perturbable=True):
    """A network whose last variable has a noisy-or, and the same one with a full table."""
    rng = np.random.default_rng(seed)
    variables = [Variable(v, True, int(rng.integers(1, 4))) for v in range(size)]
    target = Variable(size, perturbable, 2)
    edges = [(u, v) for v in range(size) for u in range(v) if rng.random() < 0.4]
    causes = sorted(rng.choice(size, rng.integers(1, size + 1), replace=False).tolist())
    dag = DAG(size + 1, [*edges, *((cause, size) for cause in causes)])
    tables = []
    for at, variable in enumerate(variables):
        before = [variables[parent] for parent in dag.parents(at)]
        shape = tuple(each.cardinality for each in (*before, variable))
        values = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        tables.append(ConditionalTable(variable, tuple(before), values, np.zeros(shape, int)))
    leaf = NoisyOr(
        target,
        tuple(variables[cause] for cause in causes),
        0.1 if perturbable else None,
        0.07,
        0.4 if perturbable else 0.0,
        tuple(rng.random(variables[cause].cardinality).round(3) for cause in causes),
    )
    every = [*variables, target]
    return (
        BayesianNetwork(every, dag, [*tables, leaf]),
        BayesianNetwork(every, dag, [*tables, dense(leaf)]),
    )


# --- learning


def test_known_chances_are_found():
    chances, leak, own = [0.7, 0.3, 0.1, 0.0], 0.05, 0.5
    table = fit(draw(np.random.default_rng(0), 20_000, chances, leak, own))
    assert table.leak == pytest.approx(leak, abs=0.01)
    assert table.own == pytest.approx(own, abs=0.05)
    assert table.perturbed == pytest.approx(0.1, abs=0.01)
    for found, chance in zip(table.chances, chances, strict=True):
        assert found.tolist() == [0, 0, found[2], found[2]]
        assert found[2] == pytest.approx(chance, abs=0.05)


def test_a_target_that_cannot_be_perturbed_has_no_own_chance():
    codes = draw(np.random.default_rng(1), 2000, [0.5], 0.1, 0.0)
    codes[:, -1] %= 2
    graph = Variable("graph", False, 2)
    table = NoisyOr.fit(graph, parents(1), codes, [PERTURBED])
    assert (table.perturbed, table.own) == (None, 0.0)
    assert table.values.shape == (4, 2)
    assert table.chances[0][2] == pytest.approx(0.5, abs=0.1)


def test_without_parents_the_leak_is_the_share_of_changes():
    codes = draw(np.random.default_rng(2), 1000, [], 0.2, 0.0)
    codes[:, 0] %= 2
    table = NoisyOr.fit(Variable("graph", False, 2), [], codes, [])
    assert table.leak == pytest.approx(codes.mean(), abs=1e-6)
    np.testing.assert_allclose(table.values, [1 - codes.mean(), codes.mean()], atol=1e-6)


def loss(weights, design, changed):
    """Minus the log-likelihood, and its gradient."""
    exponent = np.maximum(design @ weights, 1e-9)
    value = np.where(changed, np.log(-np.expm1(-exponent)), -exponent).sum()
    return -value, -np.where(changed, 1 / np.expm1(exponent), -1.0) @ design


def problem(seed):
    """Few or many samples and parents, equal columns, and changes from none to all."""
    rng = np.random.default_rng(seed)
    count, samples = int(rng.integers(0, 8)), int(rng.choice([20, 60, 300, 1000]))
    chances = rng.random(count) * rng.choice([0.01, 0.3, 1.0], count)
    codes = draw(rng, samples, chances, rng.choice([0, 0.01, 0.3]), 0.5, rng.choice([0.1, 0.5]))
    if seed % 3 == 0 and count > 1:
        codes[:, 1] = codes[:, 0]
    if seed % 4 == 0:
        share = rng.choice([0, 0.005, 0.05, 1])
        codes[:, -1] = codes[:, -1] // 2 * 2 + (rng.random(samples) < share)
    return codes


@pytest.mark.parametrize("block", range(4))
def test_the_likelihood_is_never_below_what_scipy_finds(block):
    """Where few samples changed, the fit once stayed where it began."""
    for seed in range(20 * block, 20 * block + 20):
        codes = problem(seed)
        own, changed = np.divmod(codes[:, -1], 2)
        design = np.column_stack((np.ones(len(codes)), codes[:, :-1] // 2, own))
        found = optimize.minimize(
            loss,
            np.full(design.shape[1], 0.1),
            args=(design, changed > 0),
            jac=True,
            method="L-BFGS-B",
            bounds=[(1e-9, 14)] * design.shape[1],
        )
        table = fit(codes)
        share = own.mean()
        coins = len(own) * sum(s * np.log(s) for s in (share, 1 - share) if s > 0)
        assert table.log_likelihood - coins >= -found.fun - 1e-4, seed


@pytest.mark.parametrize("changed", [1, 3, 20])
def test_a_few_changes_are_attributed_to_perturbed_parents(changed):
    codes = np.zeros((1000, 2), dtype=np.uint8)
    codes[:100, 0] = 2
    codes[:changed, 1] = 1
    table = fit(codes)
    assert table.leak == pytest.approx(0, abs=1e-5)
    assert table.chances[0][2] == pytest.approx(changed / 100, abs=1e-4)


def test_a_stabilising_parent_acts_when_it_is_original():
    """Fewer changes where it is perturbed: its other states are those that change the target."""
    rng = np.random.default_rng(3)
    perturbed = rng.random(5000) < 0.5
    changed = rng.random(5000) < np.where(perturbed, 0.1, 0.4)
    codes = np.column_stack((2 * perturbed, changed)).astype(np.uint8)
    table = fit(codes, active=[~PERTURBED])
    np.testing.assert_allclose(table.rows(np.array([[0], [2]]))[:, 1], [0.4, 0.1], atol=0.03)
    wrong = fit(codes, active=[PERTURBED])
    assert wrong.log_likelihood < table.log_likelihood - 100


def test_smoothing_pulls_towards_a_half_and_the_likelihood_stays_that_of_the_samples():
    codes = draw(np.random.default_rng(4), 300, [0.9, 0.0], 0.0, 0.0)
    plain, smooth = fit(codes), fit(codes, smoothing=2.0)
    assert plain.leak < smooth.leak
    assert smooth.chances[0][2] < plain.chances[0][2]
    assert smooth.log_likelihood < plain.log_likelihood
    for table in (plain, smooth):
        rows = table.rows(codes[:, :-1])
        log_likelihood = np.log(np.maximum(rows[np.arange(300), codes[:, -1]], 1e-300)).sum()
        assert table.log_likelihood == pytest.approx(log_likelihood, abs=1e-3)


@pytest.mark.parametrize(("name", "price"), [("bic", np.log(500) / 2), ("aic", 1.0)])
def test_a_score_pays_for_every_number(name, price):
    table = fit(draw(np.random.default_rng(5), 500, [0.5, 0.2], 0.1, 0.3))
    assert table.num_parameters == 5  # leak, own, two parents and the target's own coin
    assert table.score(SCORES[name]) == pytest.approx(table.log_likelihood - 5 * price)
    assert table.score(SCORES["bdeu"]) == table.score(SCORES["bic"])


# --- queries


def test_the_full_table_is_the_product_of_the_causes():
    table = fit(draw(np.random.default_rng(6), 400, [0.6, 0.2], 0.1, 0.3))
    values = table.values
    assert values.shape == (4, 4, 4)
    np.testing.assert_allclose(values.sum(axis=-1), 1)
    for a, b in product(range(4), repeat=2):
        holds = (1 - table.leak) * (1 - table.chances[0][a]) * (1 - table.chances[1][b])
        coin = np.array([1 - table.perturbed, table.perturbed])
        kept = coin * holds * np.array([1, 1 - table.own])
        np.testing.assert_allclose(values[a, b], np.column_stack((kept, coin - kept)).ravel())
        np.testing.assert_allclose(table.rows(np.array([[a, b]]))[0], values[a, b])
    np.testing.assert_array_equal(np.asarray(table), values)


@pytest.mark.parametrize("seed", range(12))
def test_inference_is_that_of_the_full_table(seed):
    sparse, full = random_pair(seed, perturbable=seed % 3 > 0)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        wanted, known = rng.permutation(6)[:2].tolist(), rng.permutation(6)[:3].tolist()
        evidence = {node: int(rng.integers(0, sparse.variable(node).cardinality)) for node in known}
        np.testing.assert_allclose(
            sparse.query(wanted, evidence), full.query(wanted, evidence), rtol=0, atol=1e-12
        )
        assert sparse.probability(evidence) == pytest.approx(full.probability(evidence), abs=1e-12)
    codes = full.sample(500, seed)
    np.testing.assert_array_equal(sparse.sample(500, seed), codes)
    assert sparse.log_likelihood(codes) == pytest.approx(full.log_likelihood(codes), abs=1e-9)


def test_samples_have_the_frequencies_of_the_network():
    network, _ = random_pair(3)
    drawn = network.sample(40_000, 1)[:, -1]
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    np.testing.assert_allclose(shares, network.query(5), atol=0.01)


@pytest.mark.parametrize("seed", range(40))
def test_what_cannot_happen_is_refused_as_with_a_full_table(seed):
    """Two products are subtracted; what rounding leaves of nothing is no answer."""
    rng = np.random.default_rng(seed)
    causes = parents(4)
    before = [[], [causes[0]], [causes[0], causes[1]], [causes[2]]]
    dag = DAG(5, [(0, 1), (0, 2), (1, 2), (2, 3), *((v, 4) for v in range(4))])
    tables = []
    for cause, its in zip(causes, before, strict=True):
        shape = (4,) * (len(its) + 1)
        values = rng.dirichlet(np.ones(4), size=shape[:-1])
        tables.append(ConditionalTable(cause, tuple(its), values, np.zeros(shape, int)))
    chances = tuple(np.where(PERTURBED, rng.random(), 0.0) for _ in causes)
    leaf = NoisyOr(TARGET, tuple(causes), 0.1, 0.0, 0.3, chances)
    network = BayesianNetwork([*causes, TARGET], dag, [*tables, leaf])
    impossible = {"t": "original, changed", **dict.fromkeys(range(4), "original")}
    assert network.probability(impossible) == 0
    with pytest.raises(QueryError, match="probability 0"):
        network.query(0, impossible)


def test_thirty_parents_are_fitted_and_queried_fast():
    rng = np.random.default_rng(7)
    chances = rng.random(30) * 0.5
    codes = draw(rng, 1000, chances, 0.02, 0.3)
    variables = [*parents(30), TARGET]
    start = time.thread_time()
    table = fit(codes)
    dag = DAG(31, [(v, 30) for v in range(30)])
    network = BayesianNetwork.fit(variables, dag, codes, known={30: table})
    kept = network.query("t", {0: "perturbed", 29: "original"})
    network.sample(1000)
    network.log_likelihood(codes)
    assert time.thread_time() - start < 1
    assert kept.sum() == pytest.approx(1)
    with pytest.raises(QueryError, match="would have"):
        _ = table.values


def test_names_and_equality():
    table = fit(draw(np.random.default_rng(8), 200, [0.5], 0.1, 0.3))
    other = table.renamed(Variable("new", True, 2), [Variable("seven", True, 2)])
    assert other.variable.id == "new"
    assert "seven" in repr(other)
    assert table == fit(draw(np.random.default_rng(8), 200, [0.5], 0.1, 0.3))
    assert table != other
    assert table != dense(table)


def test_fits_of_many_give_the_same_bits_as_each_alone():
    rng = np.random.default_rng(7)
    data = []
    for size in (1, 1, 2, 3, 3, 5, 12):
        parents = [Variable(at, True, 2) for at in range(size)]
        codes = rng.integers(0, 4, (300, size + 1)).astype(np.uint8)
        states = np.array([False, False, True, True])
        data.append(NoisyOrData(Variable("t", True, 2), parents, codes, [states] * size))
    together = NoisyOr.fit_many(data, 0.5)
    assert together == [NoisyOr.fit_many([each], 0.5)[0] for each in data]
    assert together == NoisyOr.fit_many(data[::-1], 0.5)[::-1]
