from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from pgm_explainer import scratch
from pgm_explainer.execution import ExecutionConfig
from pgm_explainer.graph import Graph
from pgm_explainer.predictors import Predictor, as_predictor
from pgm_explainer.querying import Query, SubgraphModel
from pgm_explainer.querying.tasks import GraphOutput, NodeOutputs, PairOutputs
from pgm_explainer.sampling import (
    GRAPH,
    PERTURBATIONS,
    CustomPerturbation,
    Fall,
    Levels,
    Population,
    SamplingConfig,
    TopFraction,
)
from pgm_explainer.sampling.generate import batch_size, draw_samples
from pgm_explainer.sampling.parts import nodes as node_parts
from pgm_explainer.sampling.randomness import Draws

NUM_SAMPLES, PROBABILITY, SEED = 60, 0.3, 11


def plan(perturbation="permute", change=None, columns=(0, 1, 2), **options):
    given = {
        "num_samples": NUM_SAMPLES,
        "perturb_probability": PROBABILITY,
        "perturbation": PERTURBATIONS[perturbation],
        "features": columns,
        "change": change or Fall(0.1),
        "seed": SEED,
    }
    working = {"max_memory": 2**30, "samples_per_call": 7}
    working |= {name: options.pop(name) for name in working if name in options}
    return SamplingConfig(**{**given, **options}), ExecutionConfig(**working)


def size_of(how, model, x):
    config, execution = how
    return batch_size(model, x, config.num_samples, execution)


def sampled(model, x, edge_index, recorded, how, outputs=None, names=None, classes=None):
    part = Graph(edge_index, len(x)).whole
    outputs = NodeOutputs(recorded) if outputs is None else outputs
    names = recorded.tolist() if names is None else names
    local = SubgraphModel.observe(as_predictor(model), part, x, outputs)
    classes = local.before.argmax(axis=-1) if classes is None else np.array(classes)
    return draw_samples(Query(local, recorded, names, classes), Population(x), *how)


def recorded_codes(*arguments, **options):
    table = sampled(*arguments, **options).table
    return table.codes(range(len(table.variables))), table


def slow_samples(model, x, perturbation, columns):
    """Perturb one sample at a time, node by node, and call the model on it."""
    for sample in range(NUM_SAMPLES):
        draws = Draws.grid(SEED, np.array([sample]), np.arange(len(x)))
        perturbed = draws.coins("perturbed", PROBABILITY)[0]
        new = np.broadcast_to(PERTURBATIONS[perturbation](Population(x), draws), (1, *x.shape))[0]
        features = x.copy()
        for node in range(len(x)):
            if perturbed[node]:
                for column in columns:
                    features[node, column] = new[node, column]
        yield perturbed, softmax(model(features[None])[0], axis=-1)


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("columns", [(0, 1, 2), (1,)])
def test_the_node_table_is_what_a_slow_loop_records(toy, perturbation, columns):
    recorded = np.array([2, 3, 5, 11])
    before = softmax(toy.whole(toy.x[None])[0], axis=-1)
    best = before.argmax(axis=-1)
    expected = [
        [2 * perturbed[v] + (before[v, best[v]] - after[v, best[v]] > 0.1) for v in recorded]
        for perturbed, after in slow_samples(toy.whole, toy.x, perturbation, columns)
    ]
    codes, table = recorded_codes(
        toy.whole, toy.x, toy.edge_index, recorded, plan(perturbation, columns=columns)
    )
    np.testing.assert_array_equal(codes, expected)
    assert [variable.id for variable in table.variables] == recorded.tolist()


def test_the_graph_table_is_what_a_slow_loop_records(toy):
    before = softmax(toy.graph_level(toy.x[None])[0])
    samples = list(slow_samples(toy.graph_level, toy.x, "zero", (0, 1, 2)))
    falls = [before.max() - after[before.argmax()] for _, after in samples]
    border = sorted(falls)[-NUM_SAMPLES // 4]
    expected = [
        [*perturbed, fall >= border] for (perturbed, _), fall in zip(samples, falls, strict=True)
    ]
    codes, table = recorded_codes(
        toy.graph_level,
        toy.x,
        toy.edge_index,
        np.arange(16),
        plan("zero", TopFraction(0.25)),
        GraphOutput(),
        [GRAPH],
    )
    np.testing.assert_array_equal(codes, np.array(expected, dtype=np.uint8))
    assert table.variables[-1].id == GRAPH
    assert table.cardinalities.tolist() == [2] * 17


PAIRS = np.array([[2, 5, 2], [3, 2, 9]])


def test_the_table_of_pairs_is_what_a_slow_loop_records(toy):
    def scores(x, pairs):
        nodes = toy.whole(x)
        return nodes[:, pairs[0]] - nodes[:, pairs[1]]

    def of_three(x):
        return scores(x, PAIRS)

    before = softmax(of_three(toy.x[None])[0], axis=-1)
    best = before.argmax(axis=-1)
    expected = [
        [*perturbed, *(before[at, best[at]] - after[at, best[at]] > 0.1 for at in range(3))]
        for perturbed, after in slow_samples(of_three, toy.x, "permute", (0, 1, 2))
    ]
    names = [tuple(pair) for pair in PAIRS.T.tolist()]
    codes, table = recorded_codes(
        scores, toy.x, toy.edge_index, np.arange(16), plan(), PairOutputs(PAIRS), names
    )
    np.testing.assert_array_equal(codes, np.array(expected, dtype=np.uint8))
    assert [variable.id for variable in table.variables] == [*range(16), *names]
    assert table.cardinalities.tolist() == [2] * 19


def test_the_table_is_about_the_explained_classes(toy):
    recorded, classes = np.array([2, 3, 5, 11]), [2, 0, 1, 1]
    before = softmax(toy.whole(toy.x[None])[0], axis=-1)
    expected = [
        [
            2 * perturbed[node] + (before[node, used] - after[node, used] > 0.1)
            for node, used in zip(recorded, classes, strict=True)
        ]
        for perturbed, after in slow_samples(toy.whole, toy.x, "permute", (0, 1, 2))
    ]
    arguments = (toy.whole, toy.x, toy.edge_index, recorded, plan())
    codes, _ = recorded_codes(*arguments, classes=classes)
    np.testing.assert_array_equal(codes, expected)
    assert (codes != recorded_codes(*arguments)[0]).any()


@pytest.mark.parametrize("change", [Fall(0.1), Levels((0.05, 0.2, 0.4)), TopFraction(0.25)])
@pytest.mark.parametrize("samples_per_call", [1, 8, 59, 60, 1000, None])
@pytest.mark.parametrize("in_files", [False, True])
def test_the_table_does_not_depend_on_the_batches_nor_on_where_it_is_kept(
    toy, change, samples_per_call, in_files, monkeypatch
):
    recorded = np.arange(16)
    arguments = (toy.whole, toy.x, toy.edge_index, recorded)
    codes, _ = recorded_codes(*arguments, plan(change=change))
    if in_files:
        monkeypatch.setattr(scratch, "_SMALL", 0)
        monkeypatch.setattr(scratch, "_CELLS_AT_ONCE", 3 * NUM_SAMPLES)  # tiles of three columns
    max_memory = 4 if in_files else 2**30
    how = plan(change=change, samples_per_call=samples_per_call, max_memory=max_memory)
    again, table = recorded_codes(*arguments, how)
    assert table.in_file == in_files
    np.testing.assert_array_equal(again, codes)
    assert 0 < (codes % change.levels > 0).mean() < 1


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("columns", [(0, 1, 2), (1,)])
def test_new_features_are_the_same_made_a_few_at_a_time(toy, perturbation, columns, monkeypatch):
    arguments = (toy.whole, toy.x, toy.edge_index, np.arange(16))
    codes, _ = recorded_codes(*arguments, plan(perturbation, columns=columns))
    monkeypatch.setattr(node_parts, "_FLOATS_AT_ONCE", 7)
    again, _ = recorded_codes(*arguments, plan(perturbation, columns=columns))
    np.testing.assert_array_equal(again, codes)


def test_a_users_own_perturbation_is_called_once_a_sample(toy, monkeypatch):
    monkeypatch.setattr(node_parts, "_FLOATS_AT_ONCE", 1)
    called = []

    def shifted(x, rng):
        called.append(x.shape)
        return x + rng.normal(size=x.shape)

    config, execution = plan(perturb_probability=0.9)
    how = replace(config, perturbation=CustomPerturbation(shifted)), execution
    recorded_codes(toy.whole, toy.x, toy.edge_index, np.arange(16), how)
    assert len(called) == NUM_SAMPLES + 16  # and to see how often it changes anything


def test_features_that_are_not_chosen_are_left_alone(toy):
    seen = []

    def watched(x):
        seen.append(x.copy())
        return toy.whole(x)

    recorded_codes(watched, toy.x, toy.edge_index, np.arange(16), plan("random", columns=(1,)))
    used = np.concatenate(seen)[-NUM_SAMPLES:]  # earlier checks use other features too
    assert (used[..., [0, 2]] == toy.x[:, [0, 2]]).all()
    assert (used[..., 1] != toy.x[:, 1]).any()


def test_each_sample_is_computed_once_in_batches_of_the_given_size(toy):
    sizes = []

    def watched(x):
        sizes.append(len(x))
        return toy.whole(x)

    recorded_codes(watched, toy.x, toy.edge_index, np.arange(16), plan(samples_per_call=25))
    assert sizes[-3:] == [25, 25, 10]


def observed(nodes, edges, features, classes=2, outputs=None):
    x = np.zeros((nodes, features))
    part = Graph(np.zeros((2, edges), dtype=np.int64), nodes).whole
    model = as_predictor(lambda x: np.zeros((*x.shape[:2], classes)))
    return SubgraphModel.observe(model, part, x, outputs or NodeOutputs(np.arange(nodes))), x


ONE_SAMPLE = ((6 * 10 + 3 * 4) * 64 + 4 * 10 * 2) * 8


@pytest.mark.parametrize(
    ("max_memory", "size"), [(1, 1), (2 * ONE_SAMPLE * 5, 5), (2**40, NUM_SAMPLES)]
)
def test_half_of_the_memory_bound_is_for_the_samples_in_flight(max_memory, size):
    how = plan(max_memory=max_memory, samples_per_call=None)
    assert size_of(how, *observed(nodes=10, edges=4, features=3)) == size


def test_many_features_and_many_classes_count():
    how = plan(max_memory=2**28, samples_per_call=None, num_samples=1000)
    narrow = size_of(how, *observed(nodes=100, edges=0, features=3))
    wide = size_of(how, *observed(nodes=100, edges=0, features=640))
    scored = size_of(how, *observed(nodes=100, edges=0, features=3, classes=640))
    assert narrow >= 9 * wide
    assert wide >= 1.5 * scored  # scores are copied when they are converted to probabilities


def test_a_sample_larger_than_the_memory_limit_is_reported(caplog):
    how = plan(max_memory=1, samples_per_call=None)
    with caplog.at_level("INFO", "pgm_explainer"):
        assert size_of(how, *observed(nodes=10, edges=4, features=3)) == 1
    assert "a single sample (10 nodes, 4 messages, 3 features, 2 classes)" in caplog.text


def test_earlier_outputs_are_kept(toy):
    recorded = np.array([4, 9])
    samples = sampled(toy.whole, toy.x, toy.edge_index, recorded, plan())
    np.testing.assert_allclose(
        samples.before, softmax(toy.whole(toy.x[None])[0, recorded], axis=-1)
    )
    assert samples.changed_share.tolist() == [1.0, 1.0]


def test_a_prediction_is_found_by_its_variable(toy):
    classes = [1, 2]
    samples = sampled(toy.whole, toy.x, toy.edge_index, np.array([4, 9]), plan(), classes=classes)
    expected = softmax(toy.whole(toy.x[None])[0], axis=-1)
    for node, explained in zip([4, 9], classes, strict=True):
        before, its_class = samples.prediction(node)
        np.testing.assert_allclose(before, expected[node])
        assert its_class == explained
    of_graph = sampled(
        toy.graph_level, toy.x, toy.edge_index, np.arange(16), plan(), GraphOutput(), [GRAPH]
    )
    np.testing.assert_allclose(
        of_graph.prediction(GRAPH)[0], softmax(toy.graph_level(toy.x[None])[0])
    )
    of_pairs = sampled(
        lambda x, pairs: toy.whole(x)[:, pairs[0]],
        toy.x,
        toy.edge_index,
        np.arange(16),
        plan(),
        PairOutputs(PAIRS),
        ["first", "second", "third"],
        [0, 1, 2],
    )
    before, explained = of_pairs.prediction("second")
    np.testing.assert_allclose(before, expected[5])
    assert explained == 1


@pytest.mark.parametrize("perturbation", ["mean", "random", "permute", "uniform"])
def test_sampling_stays_near_the_memory_bound(perturbation):
    x = np.ones((40_000, 40)) * np.arange(40_000)[:, None]  # 13 MB per sample
    recorded = np.arange(len(x))
    part = Graph(np.zeros((2, 0), dtype=np.int64), len(x)).whole
    outputs = NodeOutputs(recorded)
    local = SubgraphModel.observe(as_predictor(lambda x: x[..., :2]), part, x, outputs)
    query = Query(local, recorded, recorded.tolist(), local.before.argmax(axis=-1))
    how = plan(perturbation, num_samples=20, samples_per_call=1, columns=range(40))
    tracemalloc.start()
    draw_samples(query, Population(x), *how)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * len(x) * 64 * x.itemsize  # what one sample is assumed to take


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_next_samples_are_drawn_while_a_model_works_elsewhere(toy, elsewhere):
    drawn, ahead = [], []

    def shifted(x, rng):  # called once for each sample
        drawn.append(None)
        return x + rng.normal(size=x.shape)

    class Remote(Predictor):
        works_elsewhere = elsewhere

        def __call__(self, x, part, pairs=None):
            if len(x) == 20:  # a batch of samples, not a check of the model
                stop, wanted = time.monotonic() + 5 * elsewhere, 20 * (len(ahead) + 2)
                while len(drawn) < wanted and time.monotonic() < stop:
                    time.sleep(0.001)
                ahead.append(len(drawn) >= wanted)
            return toy.whole(x)

    config, execution = plan(perturb_probability=0.9, samples_per_call=20)
    how = replace(config, perturbation=CustomPerturbation(shifted)), execution
    arguments = (toy.x, toy.edge_index, np.arange(16), how)
    found, _ = recorded_codes(Remote(), *arguments)
    assert ahead == [elsewhere, elsewhere, False]  # nothing comes after the last batch
    np.testing.assert_array_equal(found, recorded_codes(toy.whole, *arguments)[0])
