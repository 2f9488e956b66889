"""Lists of targets, and their explained classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..arrays import FloatArray, IntArray, as_array, as_list
from ..errors import InputError
from ..node_names import NodeNames
from ..variables import VariableId
from .node_types import TypedNodes

__all__ = ["explained_classes", "listed", "numbered"]


def numbered(target: Any, task: str, names: NodeNames, types: TypedNodes | None) -> Any:
    """Return a target by the indices of its nodes, which may be given by name.

    Raises:
        InputError: no node has such a name.
    """
    if types is not None:
        return types.number(target)
    named = names.labels is not None
    if not named and isinstance(target, str) and task == "node":
        raise InputError(
            f"target must be a whole number, not {target!r:.60}, because nodes have no names; pass "
            f"names= to the explainer to give nodes by name"
        )
    if not named or target is None or task == "graph":
        return target
    if task == "node":
        return names.number(target)
    ends = None if isinstance(target, str) else as_list(target)
    return target if ends is None else tuple(map(names.number, ends))


def explained_classes(
    chosen: Any, names: Sequence[VariableId], before: FloatArray, num_nodes: int | None
) -> IntArray:
    """Return the explained class of each prediction: the predicted one, or the chosen one.

    Args:
        chosen: a class; in a node task, also one for each node; None for the predicted class.
        names: the variables of the predictions.
        before: their probabilities (or values) ``[predictions, C]`` on the unperturbed features.
        num_nodes: the number of nodes in a node task, else None.

    Raises:
        InputError: the class does not exist, or there is not one for each node.
    """
    if chosen is None:
        return before.argmax(axis=-1)
    classes = as_array(chosen, "explained_class")
    if classes.ndim == 0:
        classes = np.full(len(names), classes)
    elif classes.shape == (num_nodes,):
        classes = classes[np.array(names, dtype=np.int64).ravel()]
    else:
        each = "node" if num_nodes is None else f"of the {num_nodes} nodes"
        raise InputError(
            f"explained_class must be one class, or in a node task one for each {each}; its shape "
            f"is {classes.shape}"
        )
    if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= before.shape[1]:
        raise InputError(
            f"explained_class must be from 0 to {before.shape[1] - 1}, "
            f"not {np.asarray(chosen).tolist()}"
        )
    return classes.astype(np.int64)


def listed(targets: Iterable[Any], num_nodes: int, task: str = "node") -> list[Any]:
    """Return targets as a list; a boolean mask of all nodes becomes the indices of its nodes.

    In an edge task, an array or tensor ``[2, P]`` has a pair in each column, as the
    ``edge_label_index`` of PyTorch Geometric; an array ``[P, 2]`` has a pair in each row, unless P
    is 2. A list is always a list of pairs.
    """
    if hasattr(targets, "shape"):
        array = as_array(targets, "targets")
        if array.ndim == 0:
            raise InputError(
                f"targets must be a list of targets, not {array}; call explain() for a single one"
            )
        is_mask = array.dtype == bool and array.shape == (num_nodes,)
        if task == "edge" and array.ndim == 2 and len(array) == 2:
            array = array.T
        return list(np.flatnonzero(array) if is_mask else array)
    found = as_list(targets)
    if found is None:
        raise InputError(f"targets must be a list of targets, not {targets!r}")
    return found
