"""Graphs, tables and matrices of other packages give the same explanation as arrays."""

from typing import ClassVar

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pgm_explainer import InputError, PGMExplainer
from pgm_explainer.errors import PGMExplainerWarning

torch = pytest.importorskip("torch")

NAMES = [f"n{number}" for number in range(16)]
COLUMNS = ["age", "income", "debt"]


def explained(toy, x=None, edge_index=None, model=None, **options):
    chosen = {"num_layers": 2, "num_samples": 200, **options}
    x = toy.x if x is None else x
    return PGMExplainer(model or toy.part, x, edge_index, **chosen)


def edges_of(explainer):
    return sorted(map(tuple, explainer.graph.edge_index.T.tolist()))


@pytest.fixture(scope="module")
def edges(toy):
    """The edges of the toy without repetitions, which a matrix cannot have."""
    return np.unique(toy.edge_index, axis=1)


@pytest.mark.filterwarnings("ignore:Sparse")  # in beta, says PyTorch
@pytest.mark.parametrize(
    "make",
    [
        sp.coo_array,
        sp.csr_array,
        sp.csc_matrix,
        lambda matrix: torch.tensor(matrix).to_sparse_coo(),
        lambda matrix: torch.tensor(matrix).to_sparse_csr(),
    ],
    ids=["coo", "csr", "csc", "torch coo", "torch csr"],
)
def test_a_sparse_adjacency_goes_from_row_to_column(toy, edges, make):
    matrix = np.zeros((16, 16))
    matrix[tuple(edges)] = 1.0
    found = explained(toy, edge_index=make(matrix))
    assert edges_of(found) == sorted(map(tuple, edges.T.tolist()))
    assert edges_of(found) != sorted(map(tuple, edges[::-1].T.tolist())), "or it could not fail"


class Weighted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, x, edge_index, edge_weight=None):
        weight = torch.ones(edge_index.shape[1]) if edge_weight is None else edge_weight
        sums = torch.zeros(x.shape[0], 2).index_add(
            0, edge_index[1], weight[:, None] * x[edge_index[0], :2]
        )
        return self.scale * sums


def test_the_weights_of_a_matrix_are_passed_to_a_module(toy, edges):
    weights = np.random.default_rng(0).random(edges.shape[1])
    matrix = sp.coo_array((weights, tuple(edges)), shape=(16, 16)).tocsr()
    got = explained(toy, edge_index=matrix, model=Weighted())
    order = got.graph.edge_index
    expected = explained(
        toy,
        edge_index=order,
        model=Weighted(),
        inputs={"edge_weight": np.asarray(matrix.todense())[tuple(order)]},
    )
    assert got.explain(14) == expected.explain(14)
    plain = explained(toy, edge_index=order, model=Weighted())
    assert got.predict(14) != plain.predict(14)
    with pytest.warns(PGMExplainerWarning, match="takes no argument edge_weight"):
        explained(toy, edge_index=matrix)


def test_zeros_are_no_edges_and_a_wrong_shape_is_refused(toy):
    stored = sp.coo_array(([0.0, 1.0], ([0, 1], [2, 3])), shape=(16, 16))
    assert edges_of(explained(toy, edge_index=stored)) == [(1, 3)]
    with pytest.raises(InputError, match=r"adjacency matrix \[nodes, nodes\].*\(9, 9\).*16 rows"):
        explained(toy, edge_index=sp.coo_array(np.eye(9)))
    with pytest.raises(InputError, match="as a sparse one"):
        explained(toy, edge_index=np.zeros((16, 16), dtype=int))


def test_sparse_features_are_read(toy):
    found = explained(toy, sp.csr_array(toy.x), toy.edge_index)
    np.testing.assert_array_equal(found.population.x, toy.x)


def test_data_frames_have_names(toy):
    frame = pd.DataFrame(toy.x, index=NAMES, columns=COLUMNS)
    source, target = (np.array(NAMES)[row] for row in toy.edge_index)
    table = pd.DataFrame({"from": source, "to": target, "note": "x"})
    one = explained(toy, frame, table)
    assert one.explain("n14") == explained(toy, None, toy.edge_index, names=NAMES).explain(14)
    assert one.explain("n14").feature_names == tuple(COLUMNS)
    np.testing.assert_array_equal(one.graph.edge_index, toy.edge_index)
    plain = explained(toy, pd.DataFrame(toy.x), pd.DataFrame(toy.edge_index.T))
    assert plain.explain(14) == explained(toy, None, toy.edge_index).explain(14)
    assert (plain.names.labels, plain.feature_names) == (None, ())
    mine = explained(toy, frame, toy.edge_index, feature_names=list("abc"))
    assert mine.feature_names == ("a", "b", "c")


def test_what_a_data_frame_lacks_is_said(toy):
    frame = pd.DataFrame(toy.x, index=NAMES, columns=COLUMNS)
    with pytest.raises(InputError, match=r"the columns 'city' of x are not numeric.*get_dummies$"):
        explained(toy, frame.assign(city="Oslo"), toy.edge_index)
    with pytest.raises(InputError, match=r"; x.set_index\('id'\) makes it the names of nodes$"):
        explained(toy, frame.assign(city="Oslo", id=NAMES), toy.edge_index)
    with pytest.raises(InputError, match=r"the columns 'tags' of x are not numeric"):
        explained(toy, frame.assign(tags=[["a"]] * len(frame)), toy.edge_index)
    with pytest.raises(InputError, match="the edges: no node is called 'n99'"):
        explained(toy, frame, pd.DataFrame({"u": ["n99"], "v": ["n1"]}))
    with pytest.raises(InputError, match="needs the columns source and target, not"):
        explained(toy, frame, pd.DataFrame({"u": ["n1"]}))


def test_a_directed_networkx_graph(toy, edges):
    graph = nx.DiGraph()
    for name, row in zip(NAMES, toy.x, strict=True):
        graph.add_node(name, **dict(zip(COLUMNS, row, strict=True)), city="Oslo")
    graph.add_edges_from((NAMES[u], NAMES[v]) for u, v in edges.T)
    one = PGMExplainer(toy.part, graph, num_layers=2, num_samples=200)
    expected = explained(toy, edge_index=edges, names=NAMES, feature_names=COLUMNS)
    assert edges_of(one) == edges_of(expected)
    assert one.feature_names == tuple(COLUMNS)
    assert one.predict("n14") == expected.predict("n14")
    shuffled = pd.DataFrame(toy.x, index=NAMES).iloc[::-1]
    by_name = PGMExplainer(toy.part, shuffled, graph, num_layers=2)
    np.testing.assert_allclose(by_name.predict("n14"), expected.predict("n14"))


def test_an_undirected_networkx_graph_has_both_directions_and_weights():
    graph = nx.Graph()
    graph.add_nodes_from((number, {"x": [float(number), 1.0]}) for number in range(3))
    graph.add_edge(0, 1, weight=0.5, kind="friend")
    graph.add_edge(1, 1, weight=2.0, kind="self")
    graph.add_edge(1, 2, weight=3.0, kind="friend")
    one = PGMExplainer(Weighted(), graph, num_layers=1)
    assert edges_of(one) == [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)]
    weights = dict(
        zip(
            map(tuple, one.graph.edge_index.T.tolist()),
            one.predictor.inputs["edge_weight"].tolist(),
            strict=True,
        )
    )
    assert weights == {(0, 1): 0.5, (1, 0): 0.5, (1, 1): 2.0, (1, 2): 3.0, (2, 1): 3.0}
    assert not one.names, "indices are no names"


def test_rows_of_nodes_that_are_numbered_in_another_order(toy, edges):
    graph = nx.DiGraph()
    graph.add_nodes_from(reversed(range(len(toy.x))))
    graph.add_edges_from(edges.T.tolist())
    options = {"num_layers": 2, "num_samples": 100}
    expected = PGMExplainer(toy.part, toy.x, edges, **options)
    found = PGMExplainer(toy.part, pd.DataFrame(toy.x), graph, **options)
    assert found.predict(3) == pytest.approx(expected.predict(3))
    with pytest.warns(PGMExplainerWarning, match="another order .*row 0 of x is used for node 15"):
        PGMExplainer(toy.part, toy.x, graph, **options)


def test_a_networkx_graph_without_features_is_refused():
    with pytest.raises(InputError, match=r"no numeric attributes \(only 'club'\)"):
        PGMExplainer(Weighted(), nx.relabel_nodes(club(), str))
    with pytest.raises(InputError, match="x has 3 rows, but the graph has 2 nodes"):
        PGMExplainer(Weighted(), np.ones((3, 2)), club())


def club():
    graph = nx.Graph()
    graph.add_node(0, club="a")
    graph.add_node(1, club="b")
    return graph


@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_data_object_has_names_and_a_transposed_matrix(toy, edges):
    data_module = pytest.importorskip("torch_geometric.data")
    x = torch.tensor(toy.x, dtype=torch.float32)
    data = data_module.Data(x=x, edge_index=torch.tensor(edges))
    data.node_names, data.feature_names = NAMES, COLUMNS
    one = PGMExplainer(Weighted(), data, num_layers=1)
    assert one.names[3] == "n3"
    assert one.feature_names == tuple(COLUMNS)
    data.node_names = NAMES[:2]  # means something else
    assert not PGMExplainer(Weighted(), data, num_layers=1).names
    matrix = torch.zeros(16, 16)
    matrix[edges[1], edges[0]] = 1.0
    transposed = data_module.Data(x=x, adj_t=matrix.to_sparse_csr())
    assert edges_of(PGMExplainer(Weighted(), transposed, num_layers=1)) == edges_of(one)


def test_a_module_that_calls_its_edges_adj_t_gets_them_once(toy):
    """As in examples of PyTorch Geometric with ``ToSparseTensor``."""
    geometric = pytest.importorskip("torch_geometric")
    data = geometric.data.Data(x=torch.tensor(toy.x), edge_index=torch.tensor(toy.edge_index))
    torch.manual_seed(0)
    layer = geometric.nn.GCNConv(data.x.shape[1], 2)

    class Transposed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x, adj_t):
            return self.layer(x, adj_t)

    plain = PGMExplainer(layer, data, num_samples=100, seed=0).explain(3)
    matrix = geometric.transforms.ToSparseTensor()(data)
    assert matrix.edge_index is None
    found = PGMExplainer(Transposed(), matrix, num_samples=100, seed=0).explain(3)
    assert found.effects.parts == plain.effects.parts
    assert found.effects[0].effect == pytest.approx(plain.effects[0].effect, rel=1e-5)


def test_the_nodes_of_each_type_of_a_data_object_have_names():
    data_module = pytest.importorskip("torch_geometric.data")
    data = data_module.HeteroData()
    data["author"].x, data["paper"].x = torch.rand(2, 1), torch.rand(3, 2)
    data["author"].names, data["paper"].feature_names = ["Ada", "Bob"], ["year", "pages"]
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])

    class Papers(torch.nn.Module):
        def forward(self, x_dict, edge_index_dict):
            source, target = edge_index_dict["author", "writes", "paper"]
            x = x_dict["paper"].clone()
            return x.index_add(0, target, x_dict["author"][source].expand(-1, 2))

    one = PGMExplainer(Papers(), data, target_type="paper", num_layers=1, num_samples=50)
    assert one.names[1] == ("author", "Bob")
    assert one.feature_names == {"author": (), "paper": ("year", "pages")}


def test_a_graph_of_dgl_is_read(toy):
    class DglGraph:
        ntypes = ("_N",)
        ndata: ClassVar = {"label": torch.zeros(16), "feat": torch.tensor(toy.x)}
        edata: ClassVar = {}

        def num_nodes(self):
            return 16

        def edges(self):
            return tuple(torch.tensor(toy.edge_index))

    one = PGMExplainer(toy.part, DglGraph(), num_layers=2)
    np.testing.assert_array_equal(one.graph.edge_index, toy.edge_index)
    np.testing.assert_array_equal(one.population.x, toy.x)
    assert explained(toy, toy.x[:, ::-1].copy(), DglGraph()).population.x[0, 0] == toy.x[0, 2]
    DglGraph.ndata = {"label": torch.zeros(16), "year": torch.zeros(16)}
    with pytest.raises(InputError, match="the node data 'label', 'year', and none is called"):
        PGMExplainer(toy.part, DglGraph(), num_layers=2)


def test_a_data_frame_may_mix_kinds_of_numbers(toy):
    frame = pd.DataFrame({"a": toy.x[:, 0], "b": np.arange(16), "c": toy.x[:, 0] > 0})
    one = explained(toy, frame, toy.edge_index)
    assert one.population.x.dtype == np.float64
    np.testing.assert_array_equal(one.population.x[:, 1:], frame[["b", "c"]].to_numpy(float))
    whole = pd.DataFrame({"a": np.arange(16), "b": np.arange(16, dtype=np.int8)})
    assert explained(toy, whole, toy.edge_index, model=lambda x: x).population.x.dtype == np.int64
    gaps = pd.DataFrame({"a": pd.array([1, None] * 8, dtype="Int64")})
    with pytest.raises(InputError, match="fill in missing values"):
        explained(toy, gaps, toy.edge_index)
