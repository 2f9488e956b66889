"""On constant features, as in the paper's sets, only perturbing shows how far a model sees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, GPSConv, SAGEConv

from pgm_explainer import PGMExplainer, PGMExplainerWarning

NODES, FEATURES = 80, 4
NOTE = "receptive field is larger than num_layers"
TARGETS = list(range(0, NODES, 8))


def ring():
    nodes = torch.arange(NODES)
    one_way = torch.stack((nodes, (nodes + 1) % NODES))
    return torch.cat((one_way, one_way.flip(0)), dim=1)


class VirtualNode(nn.Module):
    """Every node depends on the mean of all."""

    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(FEATURES, 8), SAGEConv(8, 3)

    def forward(self, x, edge_index):
        x = self.first(x, edge_index).relu()
        return 9 * self.second(x + 3 * x.mean(-2, keepdim=True), edge_index)


class Attention(nn.Module):
    """Every node attends to all."""

    def __init__(self):
        super().__init__()
        self.before, self.after = nn.Linear(FEATURES, 8), nn.Linear(8, 3)
        self.layer = GPSConv(8, SAGEConv(8, 8), heads=2, norm=None)

    def forward(self, x, edge_index):
        return 9 * self.after(self.layer(self.before(x), edge_index))


class Thrice(nn.Module):
    """One layer, used three times."""

    def __init__(self):
        super().__init__()
        self.layer = SAGEConv(FEATURES, FEATURES)

    def forward(self, x, edge_index):
        for _ in range(3):
            x = self.layer(x, edge_index).tanh()
        return 9 * x


class Honest(nn.Module):
    """Sees as far as it has layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, 8), GCNConv(8, 3)

    def forward(self, x, edge_index):
        return 9 * self.second(self.first(x, edge_index).relu(), edge_index)


@pytest.fixture(params=[VirtualNode, Attention, Thrice])
def model(request):
    torch.manual_seed(1)
    return request.param().eval()


def explainer(model, **options):
    settings = {"num_samples": 200, "perturb_probability": 0.3, **options}
    return PGMExplainer(model, torch.ones(NODES, FEATURES), ring(), **settings)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_single_and_joint_explanations_are_equal_and_both_warn(model):
    made = explainer(model)
    together = made.explain_many(TARGETS)
    for target, explanation in zip(TARGETS, together, strict=True):
        alone = made.explain(target)
        assert alone == explanation
        assert alone.warnings == explanation.warnings
        assert NOTE in alone.warnings[0]


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_it_equals_the_explanation_from_the_whole_graph(model, slowly):
    whole = PGMExplainer(
        slowly(model, ring()),
        np.ones((NODES, FEATURES), dtype=np.float32),
        ring(),
        num_samples=200,
        perturb_probability=0.3,
        num_layers=explainer(model).num_layers,
    )
    for target in (0, 40):
        assert explainer(model).explain(target) == whole.explain(target)


def test_it_is_detected_with_few_perturbed_nodes(model):
    """The few samples that are looked at leave most nodes alone, but none outside of the part."""
    with pytest.warns(PGMExplainerWarning, match=NOTE):
        explainer(model, perturb_probability=0.01).explain(0)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
@pytest.mark.parametrize("perturbation", ["auto", "zero", "random"])
def test_a_model_that_does_not_see_further_has_no_note(perturbation):
    torch.manual_seed(1)
    made = explainer(Honest(), perturbation=perturbation)
    for explanation in (made.explain(0), *made.explain_many(TARGETS)):
        assert not any(NOTE in text for text in explanation.warnings)


@pytest.mark.filterwarnings("ignore::pgm_explainer.PGMExplainerWarning")
def test_it_is_detected_among_many_small_components():
    """The first nodes of middling degree are in triangles, where any model sees everything."""
    torch.manual_seed(1)
    corners = torch.arange(60).reshape(20, 3)
    sides = torch.stack((corners, corners.roll(1, dims=1))).flatten(1)
    edges = torch.cat((sides, sides.flip(0), ring() + 60), dim=1)
    x = torch.ones(60 + NODES, FEATURES)
    made = PGMExplainer(Thrice(), x, edges, num_samples=200, perturb_probability=0.3)
    alone, together = made.explain(100), made.explain_many([0, 100, *range(90, 110)])[1]
    assert alone == together
    assert alone.warnings == together.warnings
    assert NOTE in alone.warnings[0]
    assert NOTE in made.explain(0).warnings[0]  # what a model is like does not depend on the place
