"""Queries to the model: the inputs, the subgraph, the outputs and the kind of scores."""

from .graph_model import GraphModel, Query
from .graph_set import GraphSetTask, is_graph_set
from .inputs import read_inputs
from .node_types import TypedNodes
from .scores import SCORE_KINDS
from .subgraph_model import SubgraphModel
from .targets import listed, numbered
from .tasks import TASKS, LoneNodeTask, PairTask, Task

__all__ = [
    "SCORE_KINDS",
    "TASKS",
    "GraphModel",
    "GraphSetTask",
    "LoneNodeTask",
    "PairTask",
    "Query",
    "SubgraphModel",
    "Task",
    "TypedNodes",
    "is_graph_set",
    "listed",
    "numbered",
    "read_inputs",
]
