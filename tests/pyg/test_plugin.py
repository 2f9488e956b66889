"""PyTorch Geometric's own Explainer, thresholds, subgraphs, plots and metrics on our algorithm."""

import numpy as np
import pytest
import torch
from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import (
    characterization_score,
    fidelity,
    unfaithfulness,
)
from torch_geometric.nn import GraphConv, Sequential, global_add_pool

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.pyg import PGMExplainerAlgorithm

NODES = 12


class Planted(torch.nn.Module):
    """Node v is of class 1 if what its in-neighbours carry in feature 0 adds up to much."""

    def __init__(self, level="node"):
        super().__init__()
        self.conv = GraphConv(3, 1)
        self.level = level
        with torch.no_grad():
            self.conv.lin_rel.weight.copy_(torch.tensor([[6.0, 0.0, 0.0]]))
            self.conv.lin_rel.bias.fill_(-6.0)
            self.conv.lin_root.weight.zero_()

    def forward(self, x, edge_index, batch=None):
        score = self.conv(x, edge_index)
        if self.level == "graph":
            if batch is None:
                batch = torch.zeros(len(x), dtype=torch.long)
            score = (global_add_pool(score + 6, batch) - 18) / 4
        return torch.cat([-score, score], dim=-1)


@pytest.fixture
def graph():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand((NODES, 3), generator=generator)
    # Nodes 1 and 2 send to 0 and to 5; the rest is a ring that carries little.
    edges = [(1, 0), (2, 0), (1, 5), (2, 5), *((v, v + 1) for v in range(6, 11))]
    x[:, 0] = 0.05
    x[1:3, 0] = 1.0
    return x, torch.tensor(edges).T


def explainer(model=None, *, level="node", kind="model", mask="object", **options):
    return Explainer(
        model or Planted(level),
        algorithm=PGMExplainerAlgorithm(num_samples=300, **options),
        explanation_type=kind,
        node_mask_type=mask,
        model_config={
            "mode": "multiclass_classification",
            "task_level": level,
            "return_type": "raw",
        },
    )


def marked(explanation):
    return set(explanation.node_mask.sum(dim=1).nonzero().flatten().tolist())


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
def test_the_nodes_that_decide_are_marked(graph, kind):
    target = {"target": torch.ones(NODES, dtype=torch.long)} if kind == "phenomenon" else {}
    explanation = explainer(kind=kind)(*graph, index=0, **target)
    assert marked(explanation) == {0, 1, 2}
    assert explanation.node_mask.shape == (NODES, 1)
    assert explanation.validate(raise_on_error=True)


def test_a_phenomenon_is_about_the_class_that_is_given(graph):
    target = torch.zeros(NODES, dtype=torch.long)  # not what the model predicts for node 0
    explanation = explainer(kind="phenomenon", change="flip")(*graph, index=0, target=target)
    ours = explanation.pgm[0]
    assert (ours.explained_class, ours.predicted_class) == (0, 1)
    assert ours.held < 1  # the model sometimes predicts class 0


def test_the_full_explanation_is_attached(graph):
    x, edge_index = graph
    model = Planted()
    explanation = explainer(model)(x, edge_index, index=0)
    direct = PGMExplainer(
        model, x, edge_index, num_samples=300, explained_class=model(x, edge_index).argmax(-1)
    )
    assert explanation.pgm[0] == direct.explain(0)
    assert "explanations of 0" in repr(explanation)


@pytest.mark.parametrize(
    "index", [torch.tensor([0, 5]), torch.tensor([True] + [False] * 4 + [True] + [False] * 6)]
)
def test_many_nodes_are_explained_at_once(graph, index):
    explanation = explainer()(*graph, index=index)
    assert list(explanation.pgm) == [0, 5]
    assert marked(explanation) == {0, 1, 2, 5}


def test_features_have_their_own_mask(graph):
    explanation = explainer(mask="attributes")(*graph, index=0)
    assert explanation.node_mask.shape == (NODES, 3)
    assert (explanation.node_mask[1:3].argmax(dim=1) == 0).all()  # only feature 0 is ever read
    assert (explanation.node_mask[1:3, 0] > 3 * explanation.node_mask[1:3, 1:].max()).all()


def test_a_graphs_prediction_is_explained(graph):
    x, edge_index = graph
    explanation = explainer(level="graph")(
        x, edge_index, batch=torch.zeros(NODES, dtype=torch.long)
    )
    assert {1, 2} <= marked(explanation)
    assert explanation.pgm["graph"].nodes[:2] in ([1, 2], [2, 1])


def test_thresholds_subgraphs_and_plots_of_pyg_work(graph, tmp_path):
    made = explainer()
    made.threshold_config = None
    explanation = made(*graph, index=0).threshold("topk", 3)
    assert marked(explanation) == {0, 1, 2}
    assert len(explanation.get_explanation_subgraph().x) == 3
    assert len(explanation.get_complement_subgraph().x) == NODES - 3
    by_feature = explainer(mask="attributes")(*graph, index=0)
    by_feature.visualize_feature_importance(str(tmp_path / "features.png"), top_k=3)
    assert (tmp_path / "features.png").stat().st_size > 0


def test_metrics_of_pyg_work(graph):
    made = explainer(kind="model")
    explanation = made(*graph, index=torch.tensor([0, 5]))
    plus, minus = fidelity(made, explanation)
    assert plus == 1.0  # without the marked nodes the prediction changes
    assert minus == 0.0  # with them alone it does not
    assert characterization_score(plus, minus) == 1.0
    assert 0 <= unfaithfulness(made, explanation) <= 0.5


def test_options_known_from_the_explainer_are_refused():
    with pytest.raises(InputError, match="task"):
        PGMExplainerAlgorithm(task="node")


def test_a_misspelt_option_is_refused_at_once():
    with pytest.raises(InputError, match="num_sample"):
        PGMExplainerAlgorithm(num_sample=200)


def test_edge_masks_are_not_supported(graph):
    with pytest.raises(ValueError, match="does not support"):
        Explainer(
            Planted(),
            algorithm=PGMExplainerAlgorithm(),
            explanation_type="model",
            edge_mask_type="object",
            model_config={
                "mode": "multiclass_classification",
                "task_level": "node",
                "return_type": "raw",
            },
        )


def test_several_graphs_in_one_batch_are_refused(graph):
    x, edge_index = graph
    batch = torch.tensor([0] * 6 + [1] * 6)
    with pytest.raises(InputError, match="2 graphs"):
        explainer(level="graph")(x, edge_index, batch=batch)


def test_inputs_that_are_no_tensors_reach_the_model_too(graph):
    class Scaled(Planted):
        def forward(self, x, edge_index, scale=0.0):
            return scale * super().forward(x, edge_index)

    assert marked(explainer(Scaled())(*graph, index=0, scale=1.0)) == {0, 1, 2}


def test_the_mask_holds_the_strengths_of_significant_effects():
    """It orders nodes as the effects do, where the dependence would order them otherwise."""
    torch.manual_seed(0)
    edges = torch.randint(0, 40, (2, 120))
    x, layers = torch.randn(40, 3), [GraphConv(3, 8), GraphConv(8, 8), GraphConv(8, 3)]
    model = Sequential("x, edge_index", [(each, "x, edge_index -> x") for each in layers])
    differs = 0
    for target in range(8):
        found = explainer(model)(x, edges, index=target)
        effects, ranking = found.pgm[target].effects, found.pgm[target].ranking
        mask = found.node_mask[:, 0].numpy()
        assert mask[target] == 1
        others = effects.nodes != target
        expected = np.where(effects.significant, effects.strength, 0)[others]
        np.testing.assert_allclose(mask[effects.nodes[others]], expected, rtol=1e-6)
        assert (np.diff(mask[effects.nodes[others & effects.significant]]) <= 0).all()
        assert mask.sum() == pytest.approx(1 + expected.sum(), rel=1e-5)
        along = ranking.significant & ~np.isin(ranking.nodes, effects.nodes[effects.significant])
        assert not mask[ranking.nodes[along]].any()
        differs += (np.diff(mask[ranking.nodes[ranking.significant]]) > 0).any()
    assert differs, "or this test could not fail"


def test_a_constant_prediction_marks_only_the_target():
    class Constant(torch.nn.Module):
        """Node 0 has always the same score; the others depend on their neighbours."""

        def forward(self, x, edge_index):
            total = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
            total[0] = 1
            return torch.stack((total[:, 0], 1 - total[:, 0]), dim=1)

    others = torch.arange(1, 6)
    edges = torch.cat((torch.stack((0 * others, others)), torch.stack((others, 0 * others))), dim=1)
    found = explainer(Constant())(torch.rand((6, 3)), edges, index=0)
    assert found.pgm[0].held == 1
    assert marked(found) == {0}
