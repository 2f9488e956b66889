"""Edge masks, masks of features, edge level and heterogeneous graphs in the plug-in."""

import pytest
import torch
from torch_geometric.data import HeteroData
from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import fidelity, groundtruth_metrics, unfaithfulness
from torch_geometric.nn import GATConv, GraphConv, HeteroConv, global_add_pool

from pgm_explainer import Edges, InputError, PGMExplainer
from pgm_explainer.pyg import PGMExplainerAlgorithm

NODES = 8
# Nodes 1 and 2 send to 0; the rest is a path that carries little. Every edge has its opposite.
ONE_WAY = [(1, 0), (2, 0), (3, 0), (3, 4), (4, 5), (5, 6), (6, 7)]
EDGES = torch.tensor(ONE_WAY + [(v, u) for u, v in ONE_WAY]).T


class Planted(torch.nn.Module):
    """Node v is of class 1 if the sum of feature 0 over its neighbours exceeds 1."""

    def __init__(self, level="node"):
        super().__init__()
        self.conv, self.level = GraphConv(3, 1), level
        with torch.no_grad():
            self.conv.lin_rel.weight.copy_(torch.tensor([[6.0, 0.0, 0.0]]))
            self.conv.lin_rel.bias.fill_(-6.0)
            self.conv.lin_root.weight.zero_()

    def forward(self, x, edge_index, edge_label_index=None, batch=None):
        score = self.conv(x, edge_index)
        if self.level == "edge":
            score = score[edge_label_index[0]]
        if self.level == "graph":
            batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
            score = global_add_pool(score.relu(), batch) - 3
        return torch.cat([-score, score], dim=-1)


@pytest.fixture
def x():
    x = torch.rand((NODES, 3), generator=torch.Generator().manual_seed(0))
    x[:, 0] = 0.05
    x[1:3, 0] = 1.0
    return x


def explainer(level="node", model=None, node=None, edge=None, **options):
    return Explainer(
        model or Planted(level),
        algorithm=PGMExplainerAlgorithm(num_samples=300, **options),
        explanation_type="model",
        node_mask_type=node,
        edge_mask_type=edge,
        model_config={
            "mode": "multiclass_classification",
            "task_level": level,
            "return_type": "raw",
        },
    )


@pytest.mark.parametrize("level", ["node", "edge", "graph"])
def test_the_edges_that_decide_are_marked_in_both_directions(x, level):
    pairs = {"edge_label_index": torch.tensor([[0], [7]])} if level == "edge" else {}
    found = explainer(level, edge="object")(
        x, EDGES, index=None if level == "graph" else 0, **pairs
    )
    half = len(ONE_WAY)
    assert found.edge_mask.shape == (2 * half,)
    assert (found.edge_mask[:half] == found.edge_mask[half:]).all()
    assert set(found.edge_mask.topk(4).indices.tolist()) == {0, 1, half, half + 1}
    assert found.edge_mask.min() >= 0
    assert found.edge_mask.max() <= 1
    assert found.edge_mask[4:half].max() < 0.1  # too far away, or nothing to carry
    assert "node_mask" not in found
    assert found.pgm_edges[next(iter(found.pgm))].effects.parts[0] in ((0, 1), (0, 2))


def test_two_masks_are_those_that_each_has_alone(x):
    both = explainer(node="object", edge="object", perturbation="zero")(x, EDGES, index=0)
    nodes = explainer(node="object", perturbation="zero")(x, EDGES, index=0)
    edges = explainer(edge="object")(x, EDGES, index=0)
    assert torch.equal(both.node_mask, nodes.node_mask)
    assert torch.equal(both.edge_mask, edges.edge_mask)
    assert both.pgm[0] == nodes.pgm[0]
    assert both.pgm_edges[0] == edges.pgm[0]


def test_common_attributes_mark_the_column_that_is_read(x):
    found = explainer(node="common_attributes")(x, EDGES, index=0)
    assert found.node_mask.shape == (1, 3)
    assert found.node_mask[0, 0] == 1
    assert not found.node_mask[0, 1:].any()
    some = explainer(node="common_attributes", features=[2, 0])(x, EDGES, index=0)
    assert some.node_mask[0].nonzero().flatten().tolist() == [0]


def test_pairs_of_different_classes_are_explained_by_their_own_class(x):
    pairs = torch.tensor([[0, 7, 0], [7, 0, 3]])
    found = explainer("edge", node="object")(x, EDGES, edge_label_index=pairs)
    assert [found.pgm[each].explained_class for each in found.pgm] == [1, 0, 1]
    assert list(found.pgm) == [(0, 7), (7, 0), (0, 3)]
    with pytest.raises(InputError, match="edge_label_index"):
        explainer("edge", node="object").algorithm(
            Planted("edge"), x, EDGES, target=torch.zeros(1), index=None
        )


def test_plots_thresholds_subgraphs_and_metrics_of_pyg_work(x, tmp_path):
    made = explainer(node="attributes", edge="object")
    found = made(x, EDGES, index=0)
    found.visualize_graph(str(tmp_path / "graph.png"), backend="networkx")
    found.visualize_feature_importance(str(tmp_path / "features.png"))
    assert all((tmp_path / name).stat().st_size for name in ("graph.png", "features.png"))
    assert torch.equal(found.threshold("hard", 0.5).edge_mask, (found.edge_mask > 0.5).float())
    for kind in ("topk", "topk_hard"):
        strong = found.threshold(kind, 4)
        assert strong.edge_mask.nonzero().flatten().tolist() == [0, 1, 7, 8]
    sub = explainer(edge="object")(x, EDGES, index=0).threshold("topk", 4)
    assert sub.get_explanation_subgraph().edge_index.shape[1] == 4
    assert sub.get_complement_subgraph().edge_index.shape[1] == EDGES.shape[1] - 4
    made = explainer(edge="object")
    found = made(x, EDGES, index=0)
    assert fidelity(made, found) == (1.0, 0.0)
    assert 0 <= unfaithfulness(made, found) < 0.5


def test_metrics_against_a_truth_work(x):
    pytest.importorskip("torchmetrics")
    found = explainer(edge="object")(x, EDGES, index=0)
    truth = torch.zeros(EDGES.shape[1])
    truth[[0, 1, 7, 8]] = 1
    assert groundtruth_metrics(found.edge_mask, truth, metrics="auroc") == 1.0


def test_refusals_say_why(x):
    with pytest.raises(
        InputError,
        match=r"^perturbation applies to node features, but only an edge mask is requested",
    ):
        explainer(edge="object", perturbation="zero")
    with pytest.raises(InputError, match="parts"):
        PGMExplainerAlgorithm(parts="edges")
    with pytest.raises(InputError, match="Edges"):
        PGMExplainerAlgorithm(edges="rewire")
    with pytest.raises(InputError, match="out of range"):
        explainer(node="object")(x, EDGES, index=NODES)


def test_edges_may_be_perturbed_otherwise(x):
    found = explainer(edge="object", edges=Edges(undirected=False))(x, EDGES, index=0)
    assert found.edge_mask[0] > 0.5
    assert found.edge_mask[len(ONE_WAY)] == 0  # from 0 to 1


def test_names_of_the_contrib_package_are_known(x):
    theirs = PGMExplainerAlgorithm(feature_index=[0], perturbation_mode="randint")
    assert theirs.options == {"features": [0], "perturbation": "random"}
    with pytest.raises(InputError, match="twice"):
        PGMExplainerAlgorithm(features=[0], feature_index=[0])
    found = explainer(node="object", perturbation_mode="min")(x, EDGES, index=0)
    assert found.pgm_stats.shape == (NODES,)
    assert set(found.pgm_stats.topk(2, largest=False).indices.tolist()) == {1, 2}


def test_signs_are_beside_the_masks(x):
    """Nodes 1 and 2 support class 1 of node 0; so do their edges, in both directions."""
    found = explainer(node="object", edge="object")(x, EDGES, index=0)
    assert found.pgm_effects.shape == (NODES,)
    assert found.pgm_edge_effects.shape == (EDGES.shape[1],)
    assert (found.pgm_effects[[1, 2]] < -0.1).all()
    assert found.pgm_edge_effects[0] < -0.1
    assert found.pgm_edge_effects[len(ONE_WAY)] == found.pgm_edge_effects[0]
    effects = found.pgm_edges[0].effects
    assert found.pgm_edge_effects.abs().max() == pytest.approx(abs(effects.effect).max())


# --- heterogeneous graphs -------------------------------------------------------------------

WRITES, BY = ("author", "writes", "paper"), ("paper", "by", "author")


class Papers(torch.nn.Module):
    """A layer with features of edges, and a prediction of papers, pairs or the graph."""

    def __init__(self, level):
        super().__init__()
        torch.manual_seed(0)
        options = {"edge_dim": 2, "add_self_loops": False}
        self.level = level
        self.conv = HeteroConv(
            {WRITES: GATConv((3, 4), 4, **options), BY: GATConv((4, 3), 4, **options)}
        )
        self.last = torch.nn.Linear(4, 2)

    def forward(
        self, x_dict, edge_index_dict, edge_attr_dict, edge_label_index=None, batch_dict=None
    ):
        z = self.conv(x_dict, edge_index_dict, edge_attr_dict=edge_attr_dict)
        if self.level == "edge":
            return self.last(z["author"][edge_label_index[0]] * z["paper"][edge_label_index[1]])
        if self.level == "node":
            return self.last(z["paper"])
        batch = None if batch_dict is None else batch_dict["paper"]
        return self.last(global_add_pool(z["paper"], batch))


@pytest.fixture
def library():
    torch.manual_seed(0)
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.randn(9, 4), 3 * torch.randn(6, 3)
    ends = torch.stack((torch.randint(6, (20,)), torch.randint(9, (20,))))
    ends[1, :4] = 0  # a paper of several authors
    data[WRITES].edge_index, data[BY].edge_index = ends, ends.flip(0)
    data[WRITES].edge_attr, data[BY].edge_attr = torch.randn(20, 2), torch.randn(20, 2)
    return data


@pytest.mark.parametrize("node", ["object", "attributes", "common_attributes"])
@pytest.mark.parametrize("level", ["node", "edge", "graph"])
def test_heterogeneous_graphs_have_masks_of_every_type(library, level, node):
    further = {"edge_label_index": torch.tensor([[2], [5]])} if level == "edge" else {}
    options = {"target_type": ("author", "paper")} if level == "edge" else {}
    made = explainer(level, Papers(level), node=node, edge="object", **options)
    found = made(
        library.x_dict,
        library.edge_index_dict,
        index=None if level == "graph" else 0,
        edge_attr_dict=library.edge_attr_dict,
        **further,
    )
    assert found.validate(raise_on_error=True)
    for kind in ("paper", "author"):
        full = library[kind].x.shape
        shape = {"object": (full[0], 1), "attributes": full, "common_attributes": (1, full[1])}
        mask = found[kind].node_mask
        assert mask.shape == shape[node]
        assert 0 <= mask.min() <= mask.max() <= 1
    masks = [found[kind].edge_mask for kind in (WRITES, BY)]
    assert torch.equal(*masks)
    assert masks[0].max() > 0
    if level == "node" and node == "object":
        assert found["paper"].node_mask[0] == 1
        marked = found.get_explanation_subgraph()
        for kind in ("paper", "author"):
            assert len(marked[kind].x) == (found[kind].node_mask > 0).sum()


@pytest.mark.parametrize("parts", ["nodes", "edges"])
@pytest.mark.parametrize("level", ["node", "edge", "graph"])
def test_batches_of_heterogeneous_graphs_are_exact(library, level, parts):
    target_type, target = {
        "node": ("paper", 0),
        "edge": (("author", "paper"), (2, 5)),
        "graph": (None, None),
    }[level]
    settings = {"task": level, "target_type": target_type, "parts": parts, "num_samples": 100}
    model = Papers(level).eval()
    together = PGMExplainer(model, library, **settings).explain(target)
    alone = PGMExplainer(model, library, samples_per_call=1, **settings).explain(target)
    assert together.effects.agrees(alone.effects)


def test_the_predicted_type_is_given_where_it_is_not_clear(library):
    library["author"].x = torch.randn(9, 3)
    call = library.x_dict, library.edge_index_dict
    with pytest.raises(InputError, match="target_type"):
        explainer(model=Papers("node"), node="object")(
            *call, index=0, edge_attr_dict=library.edge_attr_dict
        )
    found = explainer(model=Papers("node"), node="object", target_type="paper")(
        *call, index=0, edge_attr_dict=library.edge_attr_dict
    )
    assert list(found.pgm) == [("paper", 0)]
