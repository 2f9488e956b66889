"""Images as graphs of superpixels, checked by brute force, and the model for them."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
import torch

from pgm_explainer_lab.checkpoints import load_author_superpixel_gcn
from pgm_explainer_lab.superpixel_gnn import SuperpixelGCN
from pgm_explainer_lab.superpixel_training import (
    _factor,
    right_share,
    train_superpixel_gcn,
)
from pgm_explainer_lab.superpixels import (
    SuperpixelGraph,
    digit_graphs,
    mnist_graphs,
    mnist_images,
)

needs_data = pytest.mark.skipif(
    not os.environ.get("PGM_EXPLAINER_DATA"),
    reason="PGM_EXPLAINER_DATA does not name a folder with MNIST",
)
SHOWN = range(0, 60, 3)


@pytest.fixture(scope="module")
def digits():
    return digit_graphs()


@pytest.fixture(scope="module")
def mnist():
    return mnist_graphs("test", numbers=SHOWN)


def assert_features_by_brute_force(graph):
    height, width = graph.image.shape
    for node, (intensity, row, column) in enumerate(graph.x.tolist()):
        pixels = [at for at in np.ndindex(height, width) if graph.segments[at] == node]
        assert pixels
        assert intensity == pytest.approx(np.mean([graph.image[at] for at in pixels]), abs=1e-5)
        assert row == pytest.approx(np.mean([at[0] for at in pixels]) / height, abs=1e-5)
        assert column == pytest.approx(np.mean([at[1] for at in pixels]) / width, abs=1e-5)


def assert_each_speaks_to_eight(graph):
    source, target = graph.edge_index
    np.testing.assert_array_equal(np.bincount(source, minlength=len(graph.x)), 8)
    assert (source != target).all()
    assert len(set(zip(source.tolist(), target.tolist(), strict=True))) == len(source)


def test_the_bundled_digits_need_no_data(digits):
    assert len(digits) == 1797
    assert {each.label for each in digits} == set(range(10))
    for graph in digits[:20]:
        assert_each_speaks_to_eight(graph)
    assert_features_by_brute_force(digits[0])
    np.testing.assert_allclose(digits[0].x[:, 0], digits[0].image.ravel())


@needs_data
def test_both_parts_of_mnist_have_the_published_sizes():
    for part, size in (("train", 60000), ("test", 10000)):
        images, labels = mnist_images(part)
        assert images.shape == (size, 28, 28)
        assert set(labels.tolist()) == set(range(10))


@needs_data
def test_an_image_has_at_most_75_superpixels_with_eight_edges_each(mnist):
    labels = mnist_images("test")[1]
    assert [each.label for each in mnist] == labels[list(SHOWN)].tolist()
    for graph in mnist:
        assert 50 < len(graph.x) <= 75
        assert graph.image.min() == 0
        assert 0.9 < graph.image.max() <= 1
        assert_each_speaks_to_eight(graph)


@needs_data
def test_superpixel_features_come_from_their_pixels(mnist):
    assert_features_by_brute_force(mnist[0])


@needs_data
def test_superpixels_have_edges_to_the_nearest(mnist):
    """Computed from the formula for each pair."""
    places = mnist[0].x[:, 1:].astype(np.float64)
    apart = np.array([[np.linalg.norm(a - b) for b in places] for a in places])
    scale = [sum(sorted(row)[1:9]) / 8 + 1e-8 for row in apart]

    def near(at, other):
        return sum(np.exp(-((apart[at, other] / scale[end]) ** 2)) for end in (at, other))

    source, target = mnist[0].edge_index
    for node in range(len(places)):
        nearness = {other: near(node, other) for other in range(len(places)) if other != node}
        told = set(target[source == node].tolist())
        least = min(nearness[other] for other in told)
        assert all(nearness[other] <= least + 1e-4 for other in nearness.keys() - told)


@needs_data
def test_the_authors_network_is_accurate_on_our_graphs():
    """Trained on the authors' graphs; 92 % accuracy on ours if edges have the same direction."""
    model = load_author_superpixel_gcn()
    graphs = mnist_graphs("test", numbers=range(300))
    assert right_share(model, graphs) > 0.89
    turned = [replace(each, edge_index=each.edge_index[::-1].copy()) for each in graphs]
    assert right_share(model, turned) < 0.89


@needs_data
def test_more_workers_give_the_same_graphs(mnist):
    for one, other in zip(mnist[:4], mnist_graphs("test", None, SHOWN[:4], 2), strict=True):
        np.testing.assert_array_equal(one.segments, other.segments)
        np.testing.assert_array_equal(one.edge_index, other.edge_index)


def test_the_model_has_the_published_number_of_parameters():
    assert sum(each.numel() for each in SuperpixelGCN().parameters()) == 101_365


def test_batched_graphs_match_single_graphs(digits):
    torch.manual_seed(0)
    model = SuperpixelGCN().eval()
    three = digits[:3]
    with torch.no_grad():
        alone = [model(torch.tensor(each.x), torch.tensor(each.edge_index)) for each in three]
        together = model(
            torch.tensor(np.concatenate([each.x for each in three])),
            torch.tensor(np.concatenate([g.edge_index + 64 * at for at, g in enumerate(three)], 1)),
            torch.arange(3).repeat_interleave(64),
        )
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=1e-4)
    right = np.mean(
        [int(each.argmax()) == graph.label for each, graph in zip(alone, three, strict=True)]
    )
    assert right_share(model, three) == pytest.approx(right)


def test_learning_rates_warm_up_and_decay_to_zero():
    assert [_factor(done) for done in (0, 0.05, 0.1)] == [0, 0.5, 1]
    assert _factor(0.55) == pytest.approx(0.5)
    assert _factor(1) == 0


def rings(rng, count):
    """Rings of six nodes, bright or dark; the label is which."""
    edges = np.stack((np.roll(np.arange(6), 1), np.arange(6)))
    empty = np.zeros((2, 2), dtype=np.float32)
    for label in rng.integers(2, size=count).tolist():
        x = rng.uniform(0, 0.4, (6, 3)).astype(np.float32)
        x[:, 0] += 0.5 * label
        yield SuperpixelGraph(empty, empty.astype(int), x, edges, label)


def test_training_improves_accuracy():
    """Black graphs carry no information."""
    rng = np.random.default_rng(0)
    learnt, held_out = list(rings(rng, 128)), list(rings(rng, 100))
    black = [replace(each, x=0 * each.x) for each in learnt]

    def share(graphs):
        model = train_superpixel_gcn(graphs, held_out, epochs=20)
        assert not model.training
        return right_share(model, held_out)

    assert share(black) < 0.7
    assert share(learnt) > 0.9
