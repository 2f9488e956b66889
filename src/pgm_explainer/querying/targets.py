"""What is asked about: targets, the class of each that is explained, or an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..arrays import FloatArray, IntArray, as_array, as_list
from ..errors import InputError
from ..explanation import Explanation
from ..graph import Graph
from ..settings import Settings
from ..variables import VariableId

__all__ = ["check_is_of", "explained_classes", "listed"]


def explained_classes(
    settings: Settings, names: Sequence[VariableId], before: FloatArray, num_nodes: int
) -> IntArray:
    """Return the class to explain of each prediction: the predicted one, or the one asked.

    Args:
        settings: of the explainer.
        names: the predictions, as variables.
        before: their probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        num_nodes: of the whole graph.
    """
    chosen = settings.explained_class
    if chosen is None or settings.scores == "values":
        return before.argmax(axis=-1)
    classes = as_array(chosen, "explained_class")
    if classes.ndim == 0:
        classes = np.full(len(names), classes)
    elif settings.task == "node" and classes.shape == (num_nodes,):
        classes = classes[np.array(names, dtype=np.int64)]
    else:
        raise InputError(
            f"explained_class must be one class, or in a node task one for each of the "
            f"{num_nodes} nodes; its shape is {classes.shape}"
        )
    if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= before.shape[1]:
        raise InputError(
            f"explained_class must be in 0 to {before.shape[1] - 1}, but it is {chosen!r}"
        )
    return classes.astype(np.int64)


def listed(targets: Iterable[Any], num_nodes: int) -> list[Any]:
    """The targets as a list; tensors and arrays are read as arrays first, and masks as such."""
    if hasattr(targets, "shape"):
        array = as_array(targets, "targets")
        if array.ndim == 0:
            raise InputError(
                f"targets must be a list of targets, not {array}; call explain() for one"
            )
        is_mask = array.dtype == bool and array.shape == (num_nodes,)
        return list(np.flatnonzero(array) if is_mask else array)
    found = as_list(targets)
    if found is None:
        raise InputError(f"targets must be a list of targets, not {targets!r}")
    return found


def check_is_of(explanation: Any, graph: Graph, task: str) -> None:
    """Refuse what is no explanation, or one of another graph or task."""
    if not isinstance(explanation, Explanation):
        raise InputError(f"this takes an explanation, not {explanation!r}")
    nodes = np.append(explanation.ranking.nodes, explanation.ends)
    its = explanation.graph
    size = its.num_nodes if isinstance(its, Graph) else its and its.whole_nodes
    other = size not in (None, graph.num_nodes)
    if other or (nodes >= graph.num_nodes).any() or explanation.task != task:
        raise InputError("the explanation is of another graph, or of another task")
