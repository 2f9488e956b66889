"""Networks as graphs: DOT text for Graphviz, and networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import PGMExplainerError
from ...variables import VariableId
from ..bayesian_network import BayesianNetwork
from ..conditional_table import ConditionalTable
from ..dependency_network import DependencyNetwork
from ..graphical_model import GraphicalModel
from ..markov_network import MarkovNetwork
from .naming import words_for

if TYPE_CHECKING:
    from networkx import DiGraph, Graph

__all__ = ["network_to_dot", "network_to_networkx"]


def network_to_dot(network: GraphicalModel) -> str:
    r"""Return the variables and edges of a network in the DOT language.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import Variable
        >>> from pgm_explainer.structure import DAG
        >>> one, other = Variable(1, False, 2), Variable('"x"', False, 2)
        >>> codes = np.array([[0, 0], [1, 1]])
        >>> print(BayesianNetwork.fit([one, other], DAG(2, [(0, 1)]), codes).to_dot(), end="")
        digraph {
          "node_1" [label="1"];
          "_x22_x_x22_" [label="\"x\""];
          "node_1" -> "_x22_x_x22_";
        }
    """
    # Quoted, because ``graph`` is a keyword of DOT.
    words = {name: f'"{word}"' for name, word in words_for(network.nodes).items()}
    lines = [f"{words[node]} [label={_quoted(node)}];" for node in network.nodes]
    kind, joint = ("graph", "--") if isinstance(network, MarkovNetwork) else ("digraph", "->")
    lines += [f"{words[parent]} {joint} {words[child]};" for parent, child in network.edges]
    return "\n".join([f"{kind} {{", *(f"  {line}" for line in lines), "}", ""])


def _quoted(name: VariableId) -> str:
    text = str(name).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def network_to_networkx(network: GraphicalModel) -> DiGraph | Graph:
    """Return the edges of a network, with its tables as attributes.

    Nodes have ``states``, ``parents``, ``probabilities`` and ``counts``. The graph of a Markov
    network is undirected and has ``cliques``, with the probabilities of their joint states.
    """
    try:
        import networkx as nx
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise PGMExplainerError(f"this needs networkx: pip install networkx ({error})") from error
    if isinstance(network, MarkovNetwork):
        undirected = nx.Graph(cliques={each: network.query(list(each)) for each in network.cliques})
        for variable in network.variables:
            undirected.add_node(variable.id, states=variable.states)
        undirected.add_edges_from(network.edges)
        return undirected
    assert isinstance(network, (BayesianNetwork, DependencyNetwork))
    graph = nx.DiGraph()
    for variable in network.variables:
        table = network.cpt(variable.id)
        # A noisy-or has a few probabilities instead of counts for every combination.
        counted = {"counts": table.counts.copy()} if isinstance(table, ConditionalTable) else {}
        graph.add_node(
            variable.id,
            states=variable.states,
            parents=tuple(network.parents(variable.id)),
            probabilities=table.values.copy(),
            **counted,
        )
    graph.add_edges_from(network.edges)
    return graph
