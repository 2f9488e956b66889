"""The two trust networks, compared with the authors' list of true explanations."""

from __future__ import annotations

import ast
import csv
import gzip
import os

import numpy as np
import pytest

from pgm_explainer import InputError
from pgm_explainer_lab.bitcoin import BITCOIN, load_bitcoin
from pgm_explainer_lab.data import data_folder

needs_data = pytest.mark.skipif(
    not os.environ.get("PGM_EXPLAINER_DATA"),
    reason="PGM_EXPLAINER_DATA does not name a folder with the trust networks",
)
SIZES = {"alpha": (3783, 28248), "otc": (5881, 42984)}


@pytest.fixture(scope="module", params=BITCOIN)
def trust(request):
    return load_bitcoin(request.param)


@needs_data
def test_a_trust_network_has_the_published_size(trust):
    assert (len(trust.x), trust.edge_index.shape[1]) == SIZES[trust.name]
    assert trust.num_classes == 2
    pairs = set(map(tuple, trust.edge_index.T.tolist()))
    assert len(pairs) == trust.edge_index.shape[1]
    assert all((v, u) in pairs and u != v for u, v in pairs)


@needs_data
def test_features_are_eight_numbers_above_zero(trust):
    assert trust.x.shape[1] == 8
    assert trust.x.dtype == np.float32
    assert trust.x.min() == pytest.approx(0.001)
    assert trust.x.max() <= 1


@needs_data
def test_truth_matches_the_authors_list_for_accounts_with_three_neighbours(trust):
    path = data_folder() / f"bitcoin/bitcoin{trust.name}_author_ground_truth_pos.csv.gz"
    with gzip.open(path, "rt") as lines:
        theirs = {int(node): frozenset(ast.literal_eval(rest)) for node, rest in csv.reader(lines)}
    neighbours = np.bincount(trust.edge_index[1], minlength=len(trust.x))
    assert trust.targets.tolist() == np.flatnonzero(neighbours > 2).tolist()
    assert {node: theirs[node] for node in trust.targets.tolist()} == trust.truth


@needs_data
def test_truth_contains_only_the_account_and_its_neighbours(trust):
    heard = {node: {node} for node in range(len(trust.x))}
    for source, target in trust.edge_index.T.tolist():
        heard[target].add(source)
    assert all(node in named <= heard[node] for node, named in trust.truth.items())
    node = int(trust.targets[0])
    assert set(trust.explanation(node).tolist()) == trust.truth[node]
    without = next(node for node in range(len(trust.x)) if node not in trust.truth)
    with pytest.raises(InputError, match=f"node {without} has no true explanation"):
        trust.explanation(without)


@needs_data
def test_the_seed_only_affects_the_training_split():
    one, other = load_bitcoin("alpha"), load_bitcoin("alpha", seed=1, train_share=0.5)
    assert (one.train.sum(), other.train.sum()) == (round(0.8 * 3783), round(0.5 * 3783))
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.y, other.y)
    np.testing.assert_array_equal(load_bitcoin("alpha").train, one.train)


@pytest.mark.parametrize("name", ["beta", "", None, 3])
def test_an_unknown_name_is_rejected(name):
    with pytest.raises(InputError, match="alpha, otc"):
        load_bitcoin(name)
