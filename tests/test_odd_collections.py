"""Lists without end, names that are none, and objects that cannot be read: found by attack."""

from itertools import count

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch

from pgm_explainer import BayesianNetwork, InputError, PGMExplainer, explain_dataset
from pgm_explainer.arrays import as_list
from pgm_explainer.io import explanation_to_dict
from pgm_explainer.report.plots import plot_explanation, plot_superpixels
from pgm_explainer.sampling import Levels, Variable
from pgm_explainer.structure import DAG, add_leaf, hill_climb

X = np.random.default_rng(0).normal(size=(8, 2))
RING = np.stack((np.arange(8), np.roll(np.arange(8), -1)))
QUICK = {"num_samples": 60, "num_layers": 1, "perturb_probability": 0.4}


def model(x, edge_index):
    total = x.copy()
    np.add.at(total, (slice(None), edge_index[1]), x[:, edge_index[0]])
    return 3 * total


@pytest.fixture(scope="module")
def explainer():
    return PGMExplainer(model, X, RING, **QUICK)


@pytest.fixture(scope="module")
def explanation():
    return PGMExplainer(model, X, RING, only_significant=False, **QUICK).explain(3)


def failing():
    yield 1
    raise OSError("the disk is gone")


ENDLESS = [count, lambda: range(10**12), lambda: (1 for _ in count())]


@pytest.mark.parametrize("make", ENDLESS, ids=["count", "range", "generator"])
def test_an_infinite_list_is_refused(explainer, make, tmp_path):
    """Before, it took all memory of the machine."""
    for attempt in (
        lambda: explainer.explain_many(make()),
        lambda: explain_dataset(explainer, make(), tmp_path / "new"),
        lambda: explain_dataset(explainer, [1], tmp_path / "new", names=make()),
    ):
        with pytest.raises(InputError, match="more than 10,000,000 items"):
            attempt()
    assert not (tmp_path / "new").exists()


def test_a_range_is_not_made_an_array_of_any_size():
    with pytest.raises(InputError, match="cannot be read as an array"):
        PGMExplainer(model, X, RING, change=lambda before, after: range(10**12), **QUICK).explain(3)


def test_thresholds_are_counted_before_they_are_read():
    with pytest.raises(InputError, match="at most 7 thresholds, not 1,000,000,000,000"):
        Levels(range(10**12))


def test_a_list_that_fails_is_reported_with_its_cause(explainer):
    with pytest.raises(InputError, match="OSError: the disk is gone"):
        explainer.explain_many(failing())


def test_an_object_that_is_not_a_collection_is_refused():
    assert as_list(3) is None
    assert as_list(np.array(3)) is None
    assert as_list(iter([1, 2])) == [1, 2]


class Unreadable:
    def __array__(self, *_, **__):
        raise OSError("the disk is gone")


def test_an_object_that_is_not_an_array_is_an_error():
    with pytest.raises(InputError, match="x cannot be read as an array: the disk is gone"):
        PGMExplainer(model, Unreadable(), RING)


class Two:
    """A whole number of another type."""

    def __index__(self):
        return 2


@pytest.mark.parametrize("option", ["samples_per_call", "num_layers", "hops", "max_nodes", "seed"])
def test_whole_numbers_may_be_of_any_type(option):
    options = [{**QUICK, option: value} for value in (2, Two(), np.uint64(2))]
    found = [PGMExplainer(model, X, RING, **each).explain(3) for each in options]
    assert found[0] == found[1] == found[2]
    assert found[0].settings == found[1].settings == found[2].settings


NO_NAMES = [torch.ones(2, 2), None, 1.5, True, np.array([1]), {"a": 1}, ("a", None)]


@pytest.mark.parametrize("name", NO_NAMES, ids=lambda name: type(name).__name__)
def test_an_invalid_name_is_refused(explanation, name):
    with pytest.raises(InputError):
        explanation.named({3: name})
    with pytest.raises(InputError):
        Variable(name, perturbable=True, levels=2)
    with pytest.raises(InputError):
        explanation.network.renamed({3: name})


@pytest.mark.parametrize("number", [9, -1, 1.0, "one", np.ones(2)], ids=str)
def test_a_class_that_is_none_has_no_name(number):
    found = PGMExplainer(model, X, RING, class_names=["no", "yes"], **QUICK).explain(3)
    assert found.class_name(1) == "yes"
    with pytest.raises(InputError):
        found.class_name(number)


DATA = np.random.default_rng(0).integers(0, 2, (30, 3))


@pytest.mark.parametrize(
    "attempt",
    [
        lambda e: explanation_to_dict("no explanation"),
        lambda e: plot_explanation("no explanation"),
        lambda e: plot_superpixels(np.eye(4), np.eye(4), "no mapping"),
        lambda e: plot_superpixels(np.eye(4), np.eye(4), {"a": "no list"}),
        lambda e: plot_superpixels(np.eye(4), np.eye(4), {"a": ["no node"]}),
        lambda e: add_leaf("no network", [0]),
        lambda e: add_leaf(DAG(2), 0),
        lambda e: hill_climb(DATA, [2, 2, 2], forbidden=1),
        lambda e: DAG(3, [(0, 2)]).parents(-1),
        lambda e: DAG(3, [(0, 2)]).children(-3),
        lambda e: e.named(Batch()),
        lambda e: e.effects.keeping("one"),
        lambda e: e.ranking.keeping("one"),
        lambda e: e.ranking.with_selected("one"),
        lambda e: BayesianNetwork.fit(Unreadable(), DAG(1), DATA),
    ],
)
def test_an_unusable_object_is_refused(explanation, attempt):
    with pytest.raises(InputError):
        attempt(explanation)


def test_effects_agree_with_effects_only(explanation):
    assert explanation.effects.agrees(explanation.effects)
    assert not explanation.effects.agrees([1, 2])


@pytest.mark.parametrize("progress", ["yes", 1, torch.tensor([])], ids=repr)
def test_a_job_accepts_progress_as_an_explainer_does(explainer, tmp_path, progress):
    with pytest.raises(InputError, match="progress must be True, False or None"):
        explain_dataset(explainer, [1], tmp_path / "new", progress=progress)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("columns", [np.array(0), np.zeros((2, 2)), [["target"]], [1]], ids=repr)
def test_columns_that_are_none_are_named(explainer, tmp_path, columns):
    data = explain_dataset(explainer, [1], tmp_path)
    with pytest.raises(InputError, match="column"):
        list(data.rows(columns))


def test_a_threshold_beyond_any_number_is_named():
    with pytest.raises(InputError, match="change, the threshold of a fall, must be"):
        PGMExplainer(model, X, RING, change=10**400, **QUICK)


def test_a_frame_is_an_input_like_an_array():
    """Before, torch read its columns as if they were rows."""
    pandas = pytest.importorskip("pandas")
    from torch_geometric.nn import GCNConv

    torch.manual_seed(0)
    layer, weights = GCNConv(2, 2), np.linspace(0.1, 1, 8)
    found = [
        PGMExplainer(layer, X, RING, inputs={"edge_weight": value}, **QUICK).explain(3)
        for value in (weights, pandas.Series(weights, index=range(1, 9)))
    ]
    assert found[0] == found[1]


def test_numbers_of_variables_may_be_of_any_type():
    dag = DAG(3, [(0, 2), (1, 2)])
    assert dag.markov_blanket(np.array(0)) == (1, 2)
    assert dag.markov_blanket(Two()) == (0, 1)


def test_a_network_of_too_many_variables_is_refused_at_once():
    with pytest.raises(InputError, match="at most 1,000,000 variables"):
        DAG(2**64)


def test_a_tabu_list_may_be_longer_than_any_search():
    options = {"cardinalities": [2, 2, 2], "max_steps": 50}
    assert hill_climb(DATA, tabu_length=2**63, **options) == hill_climb(
        DATA, tabu_length=50, **options
    )


def test_an_unknown_target_of_a_data_set_is_named(explainer, tmp_path):
    data = explain_dataset(explainer, [1], tmp_path, names=list("abcdefgh"))
    nested = []
    nested.append(nested)
    assert [data.called(each) for each in (1, "x", -1, 99)] == ["b", "x", -1, 99]
    assert data.called(nested)[0] is nested


def test_the_names_of_a_pair_may_be_an_array():
    """Before, a number of NumPy was compared with a pair as if both were arrays."""

    def of_pairs(x, pairs):
        scores = model(x, RING)
        return scores[:, pairs[0]] * scores[:, pairs[1]]

    explainer = PGMExplainer(of_pairs, X, RING, task="edge", only_significant=False, **QUICK)
    found = explainer.explain((0, 1))
    names = np.arange(8)[::-1]
    assert found.named(names) == found.named(names.tolist())
    assert str(found.named(names)) == str(found.named(names.tolist()))
