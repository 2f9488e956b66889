"""Integer features stay integers, so that models with embeddings can be explained."""

import numpy as np
import pytest

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.errors import PerturbationError

torch = pytest.importorskip("torch")
nn = torch.nn

NODES, CODES = 10, 5


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    x = rng.integers(0, CODES, size=(NODES, 2))
    ring = np.arange(NODES)
    return x, np.stack((ring, np.roll(ring, 1)))


class Atoms(nn.Module):
    """As for ZINC and OGB: the features are the indices of embeddings."""

    def __init__(self, per_graph=False):
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(CODES, 4)
        self.head = nn.Linear(8, 3)
        self.per_graph = per_graph

    def forward(self, x, edge_index, edge_weight=None, batch=None):
        assert x.dtype == torch.int64
        h = self.table(x).flatten(-2)
        weight = 1 if edge_weight is None else edge_weight[:, None]
        h = h + torch.zeros_like(h).index_add(-2, edge_index[1], h[..., edge_index[0], :] * weight)
        out = 3 * self.head(h)
        if not self.per_graph:
            return out
        if batch is None:
            return out.sum(-2, keepdim=True)
        return out.new_zeros(int(batch.max()) + 1, 3).index_add(0, batch, out)


def explainer(model, graph, **options):
    return PGMExplainer(model, *graph, num_layers=1, num_samples=100, **options)


@pytest.mark.parametrize("as_given", [np.asarray, torch.tensor, lambda x: x.astype(np.int32)])
def test_an_embedding_gets_integers(graph, as_given):
    x, edge_index = graph
    one = explainer(Atoms(), (as_given(x), edge_index))
    assert one.settings.sampling.perturbation.name == "permute"
    found = one.explain(4)
    with torch.no_grad():
        scores = Atoms()(torch.tensor(x), torch.tensor(edge_index))[4].softmax(-1)
    np.testing.assert_allclose(found.values, scores, atol=1e-5)
    assert {each.node for each in found.effects} == {4, 5}


def test_further_inputs_keep_their_precision(graph):
    weights = torch.rand(NODES)
    found = explainer(Atoms(), graph, inputs={"edge_weight": weights}).explain(4)
    with torch.no_grad():
        x, edge_index = map(torch.tensor, graph)
        scores = Atoms()(x, edge_index, weights)[4].softmax(-1)
    np.testing.assert_allclose(found.values, scores, atol=1e-5)


@pytest.mark.parametrize("parts", ["edges", "features", ["nodes", "edges"]], ids=str)
def test_parts_of_all_kinds_keep_integers(graph, parts):
    assert len(explainer(Atoms(), graph, parts=parts).explain(4).effects)


def test_graph_tasks_substitute_codes_instead_of_their_mean(graph):
    one = explainer(Atoms(per_graph=True), graph, task="graph")
    assert one.settings.sampling.perturbation.name == "substitute"
    assert len(one.explain().effects) == NODES
    many = PGMExplainer(Atoms(per_graph=True), [graph, graph], task="graph", num_samples=50)
    assert len(many.explain_many([0, 1])) == 2


@pytest.mark.parametrize("name", ["mean", "uniform"])
def test_a_perturbation_that_makes_fractions_is_refused(graph, name):
    with pytest.raises(InputError, match=f"{name}' would make fractions of x.*use 'permute'"):
        explainer(Atoms(), graph, perturbation=name)
    x, edge_index = graph
    floats = explainer(lambda x: x, (x.astype(float), edge_index), perturbation=name)
    assert floats.population.x.dtype == float


@pytest.mark.parametrize("name", ["zero", "max", "min", "random", "permute"])
def test_other_perturbations_keep_integers(graph, name):
    assert explainer(Atoms(), graph, perturbation=name).explain(4).target == 4


def test_an_own_perturbation_must_return_whole_numbers(graph):
    def double(x, rng):
        assert x.dtype.kind == "i"
        return (2 * x) % CODES

    assert explainer(Atoms(), graph, perturbation=double).explain(4).target == 4
    with pytest.raises(PerturbationError, match=r"returned 0\.5, but x holds integers"):
        explainer(Atoms(), graph, perturbation=lambda x, rng: 0 * x + 0.5).explain(4)


def test_a_model_that_rejects_integers_gets_floats(graph):
    x, edge_index = graph
    layer = nn.Linear(2, 3)

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x, edge_index):
            h = self.layer(x)
            return h + torch.zeros_like(h).index_add(-2, edge_index[1], h[..., edge_index[0], :])

    found = explainer(Plain(), graph, seed=1).explain(4)
    assert found == explainer(Plain(), (x.astype(np.float32), edge_index), seed=1).explain(4)


def test_an_error_of_the_model_is_about_its_integers(graph):
    def broken(x):
        raise RuntimeError(f"called with {x.dtype}")

    from pgm_explainer import ModelError

    with pytest.raises(ModelError, match="called with int64"):
        explainer(broken, graph).explain(4)


def test_functions_get_integers_too(graph):
    table = np.random.default_rng(1).normal(size=(CODES, 3))

    def lookup(x):
        return 3 * (table[x[..., 0]] + table[np.roll(x[..., 1], -1, axis=1)])

    assert len(explainer(lookup, graph).explain(4).effects) == 2


def test_a_single_score_is_not_tried_out_of_range(graph):
    class Score(Atoms):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index)[..., :1]

    assert explainer(Score(), graph, scores="values").explain(4).target == 4
    assert explainer(Score(), graph).explain(4).target == 4


def test_each_node_type_keeps_its_kind_of_features():
    data_module = pytest.importorskip("torch_geometric.data")
    data = data_module.HeteroData()
    data["atom"].x = torch.randint(CODES, (6, 1))
    data["bond"].x = torch.rand(4, 3)
    data["bond", "of", "atom"].edge_index = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 3]])

    class Typed(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.line = nn.Embedding(CODES, 2), nn.Linear(3, 2)

        def forward(self, x_dict, edge_index_dict):
            assert x_dict["atom"].dtype == torch.int64
            assert x_dict["bond"].dtype == torch.float32
            h = self.table(x_dict["atom"][:, 0])
            source, target = edge_index_dict["bond", "of", "atom"]
            return 5 * h.index_add(0, target, self.line(x_dict["bond"])[source])

    options = {"target_type": "atom", "num_layers": 1, "num_samples": 50}
    assert PGMExplainer(Typed(), data, **options).explain(1).target == ("atom", 1)
    with pytest.raises(InputError, match="would make fractions"):
        PGMExplainer(Typed(), data, perturbation="mean", **options)


def test_masks_of_the_plug_in_are_floats(graph):
    explain = pytest.importorskip("torch_geometric.explain")
    from pgm_explainer.pyg import PGMExplainerAlgorithm

    explainer = explain.Explainer(
        Atoms(),
        PGMExplainerAlgorithm(num_layers=1, num_samples=100),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    found = explainer(*map(torch.tensor, graph), index=4)
    assert found.node_mask.is_floating_point()
    assert 0 < float(found.edge_mask.max()) <= 1
