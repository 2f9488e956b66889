"""Objects of other packages hold what the explanation holds."""

import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

OF_NODES = ("node", "selected")


@pytest.mark.parametrize("kind", ["node", "named", "pair", "graph"])
def test_effects_and_dependence_as_a_data_frame(explanations, kind):
    pandas = pytest.importorskip("pandas")
    explanation = explanations[kind]
    frame = explanation.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    names = ["node", "effect", "low", "high", "strength", "log_p", "significant"]
    assert frame[names].to_dict("records") == [asdict(each) for each in explanation.effects]
    ranked = {each.node: (at, each) for at, each in enumerate(explanation.ranking, start=1)}
    for row in frame.to_dict("records"):
        if row["node"] not in ranked:
            assert row["node"] == explanation.target
            assert all(pandas.isna(row[name]) for name in row if name.startswith("dependence_"))
            assert not row["selected"]
            continue
        rank, each = ranked[row["node"]]
        found = {name: row[f"dependence_{name}"] for name in asdict(each) if name not in OF_NODES}
        assert found == {name: getattr(each, name) for name in found}
        assert (row["dependence_rank"], row["selected"]) == (rank, each.selected)
    assert (frame["dependence_significant"].dtype, frame["selected"].dtype) == ("boolean", bool)
    assert len(frame) == len(explanation.ranking) + (explanation.task == "node")


def test_tables_as_data_frames(explanations):
    pytest.importorskip("pandas")
    network = explanations["named"].network
    for node in network.nodes:
        table = network.cpt(node)
        frame = table.to_pandas()
        assert tuple(frame.columns) == table.variable.states
        for index, value in np.ndenumerate(table.values):
            row = tuple(p.states[s] for p, s in zip(table.parents, index, strict=False))
            found = frame.loc[row if len(row) > 1 else row[0]] if row else frame.iloc[0]
            assert found[table.variable.states[index[-1]]] == value
        assert [name for name in frame.index.names if name is not None] == network.parents(node)


def test_a_networkx_graph_has_the_tables(explanations):
    nx = pytest.importorskip("networkx")
    network = explanations["named"].network
    graph = network.to_networkx()
    assert list(graph) == network.nodes
    assert list(graph.edges) == sorted(network.edges, key=lambda edge: network.nodes.index(edge[0]))
    assert nx.is_directed_acyclic_graph(graph)
    for node in graph:
        assert np.array_equal(graph.nodes[node]["probabilities"], network.cpt(node).values)
        if hasattr(network.cpt(node), "counts"):
            assert np.array_equal(graph.nodes[node]["counts"], network.cpt(node).counts)
        assert list(graph.nodes[node]["parents"]) == network.parents(node)
        assert graph.nodes[node]["states"] == network.variable(node).states
    graph.nodes[node]["probabilities"][:] = 0
    assert network.cpt(node).values.any()


def test_another_parser_reads_the_dot_text(explanations, mixed_network):
    pydot = pytest.importorskip("pydot")
    for network in (mixed_network, explanations["named"].network, explanations["graph"].network):
        [graph] = pydot.graph_from_dot_data(network.to_dot())
        label = {node.get_name(): node.get("label") for node in graph.get_nodes()}
        expected = [str(node).replace("\\", "\\\\").replace('"', '\\"') for node in network.nodes]
        assert list(label.values()) == [f'"{each}"' for each in expected]
        name = dict(zip(label, network.nodes, strict=True))
        arrows = [(name[e.get_source()], name[e.get_destination()]) for e in graph.get_edges()]
        assert arrows == network.edges


def test_reading_files_imports_nothing_heavy():
    heavy = ("torch", "pandas", "networkx", "matplotlib", "pgmpy", "pyagrum")
    code = f"import sys, pgm_explainer.io; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert answer.stdout.split() == [b"[]"]
