"""Queries to the model: the inputs, the subgraph, the outputs and the kind of scores."""

from .graph_model import GraphModel, Query
from .inputs import read_inputs
from .names import NodeNames
from .scores import SCORE_KINDS
from .subgraph_model import SubgraphModel
from .targets import listed
from .tasks import TASKS

__all__ = [
    "SCORE_KINDS",
    "TASKS",
    "GraphModel",
    "NodeNames",
    "Query",
    "SubgraphModel",
    "listed",
    "read_inputs",
]
