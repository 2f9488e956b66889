"""Data with structure, every DAG of a few variables, and scores by their definitions."""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb, lgamma, log, prod

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer.structure import DAG


def _random_data(seed, size, rows=300, cardinalities=None, density=0.5):
    """Rows of a random network in a random order of columns, with their cardinalities."""
    rng = np.random.default_rng(seed)
    cards = np.array(rng.integers(2, 5, size) if cardinalities is None else cardinalities)
    data = np.zeros((rows, size), dtype=np.int64)
    order = rng.permutation(size)
    for at, child in enumerate(order):
        parents = [p for p in order[:at] if rng.random() < density][:3]
        configurations = np.zeros(rows, dtype=np.int64)
        for parent in parents:
            configurations = configurations * cards[parent] + data[:, parent]
        tables = rng.dirichlet(np.full(cards[child], 0.5), size=prod(cards[parents]))
        edges = tables[configurations].cumsum(axis=1)[:, :-1]
        data[:, child] = (rng.random((rows, 1)) >= edges).sum(axis=1)
    return data, cards.tolist()


def _all_dags(size):
    """Every DAG, by choosing for each pair of variables: no edge, one way or the other."""
    pairs = list(combinations(range(size), 2))
    dags = []
    for choice in product((0, 1, 2), repeat=len(pairs)):
        edges = [
            (u, v) if way == 1 else (v, u) for (u, v), way in zip(pairs, choice, strict=True) if way
        ]
        try:
            dags.append(DAG(size, edges))
        except InputError:
            continue
    return dags


@lru_cache
def _log_regret(samples, states):
    """log C(n, K): C(n, 2) by its definition, exactly; then the published recurrence."""
    if states == 1 or samples == 0:
        return 0.0
    more = sum(
        Fraction(comb(samples, k) * k**k * (samples - k) ** (samples - k), samples**samples)
        for k in range(samples + 1)
    )
    fewer, more = 1.0, float(more)
    shift = 0.0
    for each in range(1, states - 1):
        fewer, more = more, more + samples / each * fewer
        if more > 1e200:
            fewer, more, shift = fewer / more, 1.0, shift + log(more)
    return log(more) + shift


def _held_out(data, cardinalities, child, parents, folds=10, equivalent_samples=10.0):
    """Predict every row from the rows of the other parts, one row at a time."""
    configurations = prod(cardinalities[p] for p in parents)
    part, total = np.arange(len(data)) % folds, 0.0
    for at, row in enumerate(data):
        same = (data[:, list(parents)] == row[list(parents)]).all(axis=1) & (part != part[at])
        match = same & (data[:, child] == row[child])
        prior = equivalent_samples / configurations
        total += log((match.sum() + prior / cardinalities[child]) / (same.sum() + prior))
    return total


def _slow_family(data, cardinalities, child, parents, name, equivalent_samples=10.0):
    """A family's score from its definition, one configuration of the parents at a time."""
    if name == "held_out":
        return _held_out(data, cardinalities, child, parents)
    states, configurations = cardinalities[child], prod(cardinalities[p] for p in parents)
    total = 0.0
    if name == "qnml":
        size = len(data)
        total -= _log_regret(size, states * configurations) - _log_regret(size, configurations)
    seen = len(np.unique(data[:, list(parents)], axis=0)) if parents else 1
    for configuration in product(*(range(cardinalities[p]) for p in parents)):
        rows = data[(data[:, list(parents)] == configuration).all(axis=1)]
        counts = [int((rows[:, child] == state).sum()) for state in range(states)]
        if name == "bds":
            prior = equivalent_samples / seen if len(rows) else 1.0
            total += lgamma(prior) - lgamma(prior + len(rows))
            total += sum(lgamma(prior / states + c) - lgamma(prior / states) for c in counts)
            continue
        if name == "fnml":
            total -= _log_regret(len(rows), states)
        if name == "bdeu":
            prior = equivalent_samples / configurations
            total += lgamma(prior) - lgamma(prior + len(rows))
            total += sum(lgamma(prior / states + c) - lgamma(prior / states) for c in counts)
        else:
            total += sum(c * log(c / len(rows)) for c in counts if c)
    price = {"bic": log(len(data)) / 2, "aic": 1.0}.get(name, 0.0)
    return total - price * configurations * (states - 1)


@pytest.fixture(scope="session")
def random_data():
    return _random_data


@pytest.fixture(scope="session")
def four_variable_dags():
    return _all_dags(4)


@pytest.fixture(scope="session")
def slow_family():
    return _slow_family


@pytest.fixture(scope="session")
def slow_score():
    def score(data, cardinalities, dag, name):
        return sum(
            _slow_family(data, cardinalities, child, dag.parents(child), name)
            for child in range(dag.num_variables)
        )

    return score


@pytest.fixture(scope="session")
def best_by_brute_force():
    """The best score among some DAGs, families scored by definition and remembered."""

    def best(data, cardinalities, name, dags):
        known = {}

        def family(child, parents):
            key = (child, parents)
            if key not in known:
                known[key] = _slow_family(data, cardinalities, child, parents, name)
            return known[key]

        return max(
            sum(family(child, dag.parents(child)) for child in range(dag.num_variables))
            for dag in dags
        )

    return best
