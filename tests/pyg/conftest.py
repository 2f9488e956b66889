"""Small random graphs, a grid of PyTorch Geometric's layers and pools, and models made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import (
    AttentionalAggregation,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    GraphConv,
    PNAConv,
    SAGEConv,
    SAGPooling,
    Set2Set,
    TopKPooling,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)

from pgm_explainer.graph import Graph
from pgm_explainer.predictors.torch_module import TorchModulePredictor

FEATURES, HIDDEN, CLASSES = 3, 6, 3


def pna(inputs: int, outputs: int) -> PNAConv:
    degrees = torch.tensor([1, 4, 6, 4, 2])
    return PNAConv(inputs, outputs, ["mean", "max"], ["identity", "amplification"], deg=degrees)


def gin(inputs: int, outputs: int) -> GINConv:
    return GINConv(nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs)))


@dataclass(frozen=True)
class Layer:
    """A kind of layer, and the way of batching that it allows."""

    name: str
    make: Callable[[int, int], nn.Module]
    way: str


LAYERS = (
    Layer("GCN", GCNConv, "stacked"),
    Layer("SAGE", SAGEConv, "stacked"),
    Layer("GraphConv", GraphConv, "stacked"),
    Layer("GIN", gin, "stacked"),
    Layer("GAT", GATConv, "blocks"),
    Layer("GATv2", GATv2Conv, "blocks"),
    Layer("Transformer", TransformerConv, "blocks"),
    Layer("PNA", pna, "blocks"),
)


class NodeModel(nn.Module):
    """Two layers of one kind."""

    def __init__(self, make: Callable[[int, int], nn.Module], outputs: int = CLASSES) -> None:
        super().__init__()
        self.first, self.second = make(FEATURES, HIDDEN), make(HIDDEN, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


class GraphModel(nn.Module):
    """Two layers, the second after a pooling that drops nodes if there is one, and a readout."""

    def __init__(
        self,
        make: Callable[[int, int], nn.Module],
        readout: Callable[..., Tensor],
        width: int = HIDDEN,
        dropping: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.first, self.second = make(FEATURES, HIDDEN), make(HIDDEN, HIDDEN)
        self.dropping, self.readout = dropping, readout
        self.last = nn.Linear(width, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        x = self.first(x, edge_index).relu()
        if self.dropping is not None:
            x, edge_index, _, batch, *_ = self.dropping(x, edge_index, batch=batch)
        return self.last(self.readout(self.second(x, edge_index).relu(), batch))


@dataclass(frozen=True)
class Pool:
    """A kind of pooling: the arguments of a :class:`GraphModel`, and the ways that it allows."""

    name: str
    make: Callable[[], dict]
    ways: tuple[str, ...]


BOTH = ("stacked", "blocks")
POOLS = (
    Pool("add", lambda: {"readout": global_add_pool}, BOTH),
    Pool("mean", lambda: {"readout": global_mean_pool}, BOTH),
    Pool("max", lambda: {"readout": global_max_pool}, BOTH),
    Pool("attention", lambda: {"readout": AttentionalAggregation(nn.Linear(HIDDEN, 1))}, BOTH),
    Pool("Set2Set", lambda: {"readout": Set2Set(HIDDEN, 2), "width": 2 * HIDDEN}, ("blocks",)),
    Pool(
        "TopK",
        lambda: {"readout": global_mean_pool, "dropping": TopKPooling(HIDDEN, 0.6)},
        ("blocks",),
    ),
    Pool(
        "SAG",
        lambda: {"readout": global_mean_pool, "dropping": SAGPooling(HIDDEN, 0.6)},
        ("blocks",),
    ),
)


@dataclass(frozen=True)
class Example:
    """A graph with features, and a node that others reach."""

    x: Tensor
    edge_index: Tensor
    target: int

    @property
    def graph(self) -> Graph:
        return Graph(self.edge_index.numpy(), len(self.x))

    @property
    def surroundings(self) -> np.ndarray:
        """The nodes whose predictions are recorded for an explanation of a model of two layers."""
        return self.graph.within_hops(np.array([self.target]), 2)


def example(directed: bool, nodes: int = 20, edges: int = 30, seed: int = 0) -> Example:
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(nodes, (2, edges), generator=generator)
    if not directed:
        edge_index = torch.cat((edge_index, edge_index.flip(0)), dim=1)
    x = 2 * torch.randn(nodes, FEATURES, generator=generator)
    # The node that sees most, but not everything.
    graph = Graph(edge_index.numpy(), nodes)
    seen = [len(graph.within_hops(np.array([node]), 2)) for node in range(nodes)]
    return Example(x, edge_index, max(range(nodes), key=lambda node: seen[node] % nodes))


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Tensors this small gain nothing from more, and lose much on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session", params=[layer.name for layer in LAYERS])
def layer(request) -> Layer:
    return next(layer for layer in LAYERS if layer.name == request.param)


@pytest.fixture(scope="session", params=POOLS, ids=lambda pool: pool.name)
def pool(request) -> Pool:
    return request.param


@pytest.fixture(scope="session", params=[True, False], ids=["directed", "undirected"])
def any_graph(request) -> Example:
    return example(request.param)


@pytest.fixture(scope="session")
def a_graph() -> Example:
    return example(directed=True)


@pytest.fixture(scope="session")
def node_model() -> Callable[..., nn.Module]:
    """A two-layer model of one kind of layer, GCN by default, the same one each time."""

    def make(layer: Callable[[int, int], nn.Module] = GCNConv, outputs: int = CLASSES) -> nn.Module:
        torch.manual_seed(0)
        return NodeModel(layer, outputs).eval()

    return make


@pytest.fixture(scope="session")
def graph_model() -> Callable[..., nn.Module]:
    """A graph classifier of one kind of layer and of pooling, the same one each time."""

    def make(layer: Callable[[int, int], nn.Module] = GCNConv, pool: Pool = POOLS[0]) -> nn.Module:
        torch.manual_seed(0)
        return GraphModel(layer, **pool.make()).eval()

    return make


@pytest.fixture(scope="session")
def samples() -> Callable[..., np.ndarray]:
    """Some versions of the features, none like another."""

    def make(x: Tensor, count: int = 6) -> np.ndarray:
        return np.random.default_rng(0).normal(size=(count, *x.shape)).astype(np.float32)

    return make


@pytest.fixture(scope="session")
def one_by_one() -> Callable[..., Tensor]:
    """Return the outputs of a model on the whole graph, one sample at a time."""

    @torch.no_grad()
    def ask(model: nn.Module, samples: np.ndarray, edge_index: Tensor, **inputs: Tensor) -> Tensor:
        return torch.stack([model(each, edge_index, **inputs) for each in torch.tensor(samples)])

    return ask


@pytest.fixture(scope="session")
def slowly(one_by_one) -> Callable[..., Callable]:
    """A model as a function with slow, exact calls: explanations must not differ."""

    def make(model: nn.Module, edge_index: Tensor, **inputs: Tensor) -> Callable:
        return lambda x: one_by_one(model, x, edge_index, **inputs)

    return make


@pytest.fixture(scope="session")
def assert_batches_exactly(samples, one_by_one) -> Callable[..., str]:
    """Check the answers to many samples at once against the slow ones; return the way used."""

    def check(model: nn.Module, example: Example, task: str = "node", **inputs: Tensor) -> str:
        predictor = TorchModulePredictor(model, task, inputs)
        x = samples(example.x)
        truth = one_by_one(model, x, example.edge_index, **inputs)
        found = predictor(x.copy(), example.graph.whole)
        torch.testing.assert_close(found, truth.reshape(found.shape), atol=1e-4, rtol=1e-4)
        return predictor.used

    return check
