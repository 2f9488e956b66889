"""Targets that need the same part of the graph share samples; others do not."""

import numpy as np
from job_models import explainer

from pgm_explainer import PGMExplainer
from pgm_explainer.dataset import grouping
from pgm_explainer.dataset.grouping import groups as places_of_groups


def groups(made, targets):
    return [[targets[place] for place in places] for places in places_of_groups(made, targets)]


def ring_explainer(size, model=lambda x, edge_index: x):
    nodes = np.arange(size)
    beside = np.stack((nodes, (nodes + 1) % size))
    edges = np.concatenate((beside, beside[::-1]), axis=1)
    return PGMExplainer(model, np.ones((size, 2)), edges, num_layers=2)


def test_neighbours_are_together_and_strangers_are_not(monkeypatch):
    monkeypatch.setattr(grouping, "_SMALL", 0)
    made = ring_explainer(1000)
    assert groups(made, [1, 2, 3, 500, 501, 900]) == [[1, 2, 3], [500, 501], [900]]


def test_a_stranger_in_between_does_not_part_neighbours(monkeypatch):
    monkeypatch.setattr(grouping, "_SMALL", 0)
    made = ring_explainer(1000)
    assert groups(made, [1, 500, 2, 501, 3]) == [[1, 2, 3], [500, 501]]


def test_only_the_last_groups_can_be_joined(monkeypatch):
    monkeypatch.setattr(grouping, "_SMALL", 0)
    monkeypatch.setattr(grouping, "_OPEN", 2)
    made = ring_explainer(1000)
    assert groups(made, [1, 300, 2, 600, 3, 301]) == [[1, 2], [300], [600], [3], [301]]


def test_small_neighbourhoods_always_form_one_group():
    assert groups(ring_explainer(10_000), [1, 5000, 9000]) == [[1, 5000, 9000]]


def test_a_model_of_the_whole_graph_shares_all(monkeypatch):
    monkeypatch.setattr(grouping, "_SMALL", 0)
    whole = ring_explainer(1000, model=lambda x: x)
    assert groups(whole, [1, 500]) == [[1, 500]]


def test_memory_bounds_a_group(monkeypatch):
    monkeypatch.setattr(grouping, "_CANDIDATES_AT_ONCE", 8)  # four candidates each
    assert groups(ring_explainer(100), [1, 2, 3, 4, 5]) == [[1, 2], [3, 4], [5]]


def test_a_target_that_does_not_exist_is_no_trouble_here():
    assert groups(explainer(), [1, -1, 1000]) == [[1, -1, 1000]]
