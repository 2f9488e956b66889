"""Adapters for plain functions."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..arrays import FloatArray, IntArray, as_array, check_flag, check_name, has_attributes
from ..errors import InputError
from ..graph import SampledEdges, Subgraph
from ..limits import brief
from .base import (
    PREDICTED,
    AdaptedPredictor,
    Predictor,
    PredictorLike,
    check_capabilities,
    is_torch_module,
)
from .wrapped import WrappedPredictor

__all__ = ["OneGraphAtATime", "SubgraphFunction", "WholeGraphFunction", "as_predictor"]

_SUBGRAPH_ARGUMENTS = ("edge_index", "nodes", "edges")


@dataclass(frozen=True)
class WholeGraphFunction(Predictor):
    """A function of the features alone, ``f(x [B, N, F])``, that already knows the graph.

    In an edge task it is called as ``f(x, pairs=pairs)``.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer, WholeGraphFunction
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> model = WholeGraphFunction(lambda x: path @ x)
        >>> model.accepts_subgraph
        False
        >>> PGMExplainer(model, x, np.array(path.nonzero()), num_layers=1).explain(1).target
        1
    """

    function: Callable[..., Any]
    accepts_subgraph: bool = False

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        return self.function(x) if pairs is None else self.function(x, pairs=np.array(pairs))


@dataclass(frozen=True)
class SubgraphFunction(Predictor):
    """A function ``f(x [B, n, F], edge_index [2, e])`` that works on any subgraph.

    It may have further arguments ``nodes`` (the indices of the subgraph's nodes in the whole graph)
    and ``edges`` (the columns of the subgraph's edges in the original ``edge_index``); in an edge
    task it is also passed ``pairs``.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer, SubgraphFunction
        >>> def model(x, edge_index):
        ...     score = np.zeros((*x.shape[:2], 2))
        ...     np.add.at(score[..., 1].T, edge_index[1], x[:, edge_index[0], 0].T)
        ...     return score
        >>> x, edges = np.array([[0.0], [2.0], [0.1]]), np.array([[1, 2], [0, 0]])
        >>> PGMExplainer(SubgraphFunction(model), x, edges, num_layers=1).explain(0).nodes[0]
        1
    """

    function: Callable[..., Any]
    arguments: tuple[str, ...] = ("edge_index",)
    accepts_subgraph: bool = True

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        # Copies, because the function may modify its arguments.
        inputs = {name: np.array(getattr(part, name)) for name in self.arguments}
        if pairs is not None:
            inputs["pairs"] = np.array(pairs)
        return self.function(x, **inputs)

    def has_edge_inputs(self, whole: Subgraph) -> bool:
        return "edges" in self.arguments


class OneGraphAtATime(WrappedPredictor):
    """A predictor for many graphs, which calls a predictor of one graph on each in turn."""

    def __init__(self, predictor: Predictor) -> None:
        super().__init__(predictor)
        self.accepts_subgraph, self.batches_graphs = True, False

    def __call__(self, x: FloatArray, part: Subgraph, pairs: IntArray | None = None) -> Any:
        return as_array(self.predictor(x, part), "the model's output")[:, None]

    def on_edges(
        self, x: FloatArray, part: Subgraph, edges: SampledEdges, pairs: IntArray | None = None
    ) -> Any:
        scores = self.predictor.on_edges(x, part, edges)
        return as_array(scores, "the model's output")[:, None]


def as_predictor(
    model: Any,
    task: str = "node",
    inputs: Mapping[str, Any] | None = None,
    many_graphs: bool = False,
) -> Predictor:
    """Return the predictor for a model; for many graphs it returns scores ``[B, graphs, C]``.

    The model may be a predictor or a PyTorch module. A function with an argument ``edge_index`` is
    called on subgraphs, any other function on the whole graph.

    Args:
        model: the model.
        task: ``node``, ``edge`` or ``graph``.
        inputs: further inputs of a PyTorch module, by name.
        many_graphs: whether several graphs are predicted, each with its own prediction.

    Raises:
        InputError: the model is not callable, or declares an invalid capability; the task is
            unknown.

    Examples:
        >>> from pgm_explainer.predictors import as_predictor
        >>> as_predictor(lambda x: x).accepts_subgraph
        False
        >>> as_predictor(lambda x, edge_index: x).accepts_subgraph
        True
    """
    check_name(task, "task", PREDICTED)
    check_flag(many_graphs, "many_graphs")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise InputError(f"inputs must be a dict of arguments by name, not {brief(inputs)}")
    if is_torch_module(model):
        from .torch_module import TorchModulePredictor

        if many_graphs and not TorchModulePredictor(model, task, inputs).batches_graphs:
            return OneGraphAtATime(TorchModulePredictor(model, task, inputs))
        return TorchModulePredictor(model, task, inputs, many_graphs=many_graphs)
    if inputs:
        names = ", ".join(map(str, inputs))
        raise InputError(
            f"inputs ({names}) are for PyTorch modules only; for a function, bind them before, for "
            f"example with functools.partial"
        )
    is_like = has_attributes(model, "accepts_subgraph") and isinstance(model, PredictorLike)
    if (isinstance(model, Predictor) or is_like) and not isinstance(model, type):
        predictor = model if isinstance(model, Predictor) else AdaptedPredictor(model)
        check_capabilities(predictor)
        if many_graphs and not predictor.accepts_subgraph:
            raise InputError(
                "to explain many graphs, the model must accept any graph, but its accepts_subgraph "
                "is False"
            )
        return OneGraphAtATime(predictor) if many_graphs else predictor
    if not callable(model) or isinstance(model, type):
        raise InputError(
            f"model must be callable, x[B, N, F] -> scores, but it is {_described(model)}"
        )
    parameters = _parameters(model)
    if task == "edge" and parameters and "pairs" not in parameters:
        raise InputError(
            f"in an edge task the model must have an argument 'pairs' for the pairs of nodes to "
            f"score; its arguments are {', '.join(parameters)}"
        )
    if many_graphs and "edge_index" not in parameters:
        raise InputError(
            "to explain many graphs, a function must have an argument edge_index; its arguments "
            f"are {', '.join(parameters)}"
        )
    if "edge_index" not in parameters:
        return WholeGraphFunction(model)
    function = SubgraphFunction(model, tuple(n for n in _SUBGRAPH_ARGUMENTS if n in parameters))
    return OneGraphAtATime(function) if many_graphs else function


def _described(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else reprlib.repr(model)


def _parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments of a function, without those already bound."""
    bound = set(function.keywords) if isinstance(function, partial) else set()
    try:
        return [name for name in inspect.signature(function).parameters if name not in bound]
    except Exception:  # built-ins have no signature, and an object may fail when inspected
        return []
