"""One explanation of each kind, and a bitwise comparison of two."""

from dataclasses import replace

import numpy as np
import pytest

from pgm_explainer import PGMExplainer
from pgm_explainer.effects import PairEffect
from pgm_explainer.effects.table import EFFECT_COLUMNS
from pgm_explainer.graph import Subgraph
from pgm_explainer.io import explanation_to_dict
from pgm_explainer.network import BayesianNetwork
from pgm_explainer.sampling import Variable
from pgm_explainer.selection.ranking import RANKING_COLUMNS
from pgm_explainer.structure import DAG

NODES = ("a node", 'na"me', "<b>x</b>", "ü€", "\ud800")


class Names(dict):
    """Names of all sorts: texts, tuples, numbers other than the node's own."""

    def __missing__(self, number):
        return [f"{NODES[number % 5]} {number}", ("kind", number), number + 1000][number % 3]


def pair_model(x, pairs):
    """The score of a pair is the sum of its features, against nothing."""
    score = x[:, pairs[0]].sum(axis=-1) * x[:, pairs[1]].sum(axis=-1)
    return np.stack([score, 0 * score], axis=-1)


@pytest.fixture(scope="session")
def explanations(toy):
    """By name; together they hold everything an explanation may hold."""
    node = PGMExplainer(toy.whole, toy.x, toy.edge_index, num_layers=2, num_samples=200)
    graph = PGMExplainer(toy.graph_level, toy.x, toy.edge_index, task="graph", num_samples=200)
    pair = PGMExplainer(pair_model, toy.x, toy.edge_index, task="edge", num_samples=200)
    levels = PGMExplainer(
        *(toy.whole, toy.x, toy.edge_index),
        num_layers=2,
        num_samples=100,
        change=[0.02, 0.1],
        smoothing=0.5,
        features=[0, 1],
        no_child=False,
    )
    values = PGMExplainer(toy.whole, toy.x, toy.edge_index, num_samples=60, scores="values")
    bare = PGMExplainer(toy.whole, toy.x, toy.edge_index, num_samples=60, structure=None)
    one = node.explain(3)
    certain, sure = (
        replace(table, log_p=np.where(np.arange(len(table)) == 0, -np.inf, table.log_p))
        for table in (one.ranking, one.effects)
    )
    both = PairEffect(tuple(one.effects.nodes[:2].tolist()), 0.1 + 0.2, -0.25, -0.5, 5e-324, -9.0)
    return {
        "node": one,
        "features": node.explain(3, with_features=True),
        "graph": graph.explain(),
        "pair": pair.explain((2, 5)),
        "levels": levels.explain(3),
        "regression": values.explain(3),
        "no network": bare.explain(3),
        "never changed": node.explain(15),
        "named": one.named(Names()),
        "no graph": replace(one, graph=None),
        "certain": replace(one, ranking=certain, effects=sure),
        "cut": replace(one, ranking=replace(one.ranking, left_out=7)),
        "pairs": replace(one, effects=replace(one.effects, pairs=(both,), left_out=3)),
        "weak": replace(one, warnings=('a "warning"', "</script>\u2028")),
        "tiny": replace(values.explain(3), values=(5e-324, 0.1 + 0.2, -0.0, np.inf, 1 - 2**-53)),
    }


def _same_arrays(one, other):
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


def _same_columns(one, other, names):
    return one.left_out == other.left_out and all(
        _same_arrays(getattr(one, name), getattr(other, name)) for name in names
    )


def _same_networks(one, other):
    if one is None or other is None:
        return one is other
    tables = zip(map(one.cpt, one.nodes), map(other.cpt, other.nodes), strict=True)
    return one == other and all(
        _same_arrays(a.values, b.values)
        and _same_arrays(getattr(a, "counts", a.values), getattr(b, "counts", b.values))
        for a, b in tables
    )


def _same_parts(one: Subgraph | None, other: Subgraph | None):
    if one is None or other is None:
        return one is other
    return (one.whole_nodes, one.whole_edges) == (other.whole_nodes, other.whole_edges) and all(
        _same_arrays(getattr(one, name), getattr(other, name))
        for name in ("nodes", "edge_index", "edges")
    )


def _identical(one, other):
    """Every part of both is the same, bit for bit, except the graph beyond the neighbourhood."""
    plain = ("target", "explained_class", "probability", "held", "settings", "warnings", "versions")
    return (
        repr([getattr(one, name) for name in plain])
        == repr([getattr(other, name) for name in plain])
        and repr(one.values) == repr(other.values)
        and _same_columns(one.ranking, other.ranking, RANKING_COLUMNS)
        and _same_columns(one.effects, other.effects, EFFECT_COLUMNS)
        and repr(one.effects.pairs) == repr(other.effects.pairs)
        and one.effects.parts == other.effects.parts
        and [each.node for each in one.ranking] == [each.node for each in other.ranking]
        and _same_networks(one.network, other.network)
        and _same_parts(one.neighbourhood, other.neighbourhood)
        and _same_arrays(one.ends, other.ends)
        and explanation_to_dict(one) == explanation_to_dict(other)
    )


@pytest.fixture(scope="session")
def mixed_network():
    """Variables of all sizes and names, in arbitrary order."""
    rng = np.random.default_rng(3)
    names = ["Zoë", ("author", 5), 304, "graph", (2, 5), "Table", "table", ("node", 1), -3]
    variables = [Variable(name, at % 3 > 0, 2 + at % 2) for at, name in enumerate(names)]
    pairs = [(u, v) for v in range(9) for u in range(9) if u < v or (u, v) == (8, 0)]
    edges = [(u, v) for u, v in pairs if rng.random() < 0.3 and u != 0] + [(8, 0)]
    codes = [rng.integers(variable.cardinality, size=300) for variable in variables]
    return BayesianNetwork.fit(variables, DAG(9, edges), np.stack(codes, axis=1), smoothing=0.1)


@pytest.fixture(scope="session")
def identical():
    return _identical
