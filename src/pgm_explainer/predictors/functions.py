"""Plain functions as black boxes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..arrays import FloatArray
from ..errors import InputError
from ..graph import Subgraph
from .base import Predictor

__all__ = ["SubgraphFunction", "WholeGraphFunction", "as_predictor"]

_SUBGRAPH_ARGUMENTS = ("edge_index", "nodes", "edges")


@dataclass(frozen=True)
class WholeGraphFunction:
    """A function of features alone, ``f(x [B, N, F])``, that has the graph inside it."""

    function: Callable[[FloatArray], Any]
    accepts_subgraph: bool = False

    def __call__(self, x: FloatArray, part: Subgraph) -> Any:
        return self.function(x)


@dataclass(frozen=True)
class SubgraphFunction:
    """A function ``f(x [B, n, F], edge_index [2, e])`` that works on any part of the graph.

    It may also ask for ``nodes`` (the ids of the part's nodes in the whole graph) and ``edges``
    (the columns of the caller's ``edge_index`` that the part's edges come from) by those names.
    """

    function: Callable[..., Any]
    arguments: tuple[str, ...] = ("edge_index",)
    accepts_subgraph: bool = True

    def __call__(self, x: FloatArray, part: Subgraph) -> Any:
        return self.function(x, **{name: getattr(part, name) for name in self.arguments})


def as_predictor(model: Any) -> Predictor:
    """Return the black box behind what a user passed as a model.

    A predictor is taken as it is. A function with an argument called ``edge_index`` is asked about
    parts of the graph, any other function about the whole.
    """
    if hasattr(model, "accepts_subgraph"):
        return model
    if not callable(model):
        raise InputError(
            f"model must be callable, x[B, N, F] -> scores, but it is a {type(model).__name__}"
        )
    wanted = tuple(name for name in _SUBGRAPH_ARGUMENTS if name in _parameters(model))
    return SubgraphFunction(model, wanted) if wanted else WholeGraphFunction(model)


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # built-ins and C functions do not say
        return []
