"""Queries to the model: the inputs, the subgraph, the outputs and the kind of scores."""

from .graph_model import GraphModel, Query
from .graph_set import GraphSetTask, is_graph_set
from .inputs import Inputs, read_inputs
from .node_types import TypedNodes
from .subgraph_model import SCORE_KINDS, SubgraphModel
from .tasks import TASKS, LoneNodeTask, listed, numbered

__all__ = [
    "SCORE_KINDS",
    "TASKS",
    "GraphModel",
    "GraphSetTask",
    "Inputs",
    "LoneNodeTask",
    "Query",
    "SubgraphModel",
    "TypedNodes",
    "is_graph_set",
    "listed",
    "numbered",
    "read_inputs",
]
