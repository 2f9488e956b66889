"""Splitting targets into shards: nearby targets go together, so that they can share samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import IntArray, as_array, as_list
from ..errors import InputError
from ..explainer import PGMExplainer
from ..graph import Graph
from ..limits import brief
from ..querying import listed, numbered
from ..sampling import VariableId

__all__ = ["locality", "plan_shards", "read_names", "read_targets"]


def read_targets(explainer: PGMExplainer, targets: Iterable[Any] | None) -> IntArray:
    """Return targets as numbers ``[T]`` or pairs ``[T, 2]`` without duplicates; None for all.

    One of many graphs is given by its position.

    Raises:
        InputError: the targets do not fit the task.
    """
    task = explainer.settings.model.task
    count = _count(explainer)
    if count is None:
        raise InputError(
            "a graph task has a single target; call explain() instead, or pass a list of graphs to "
            "the explainer"
        )
    if targets is None and task == "edge":
        raise InputError("an edge task needs a list of pairs as targets")
    if targets is None:
        return np.arange(count)
    if isinstance(targets, str):
        raise InputError(f"targets must be a list of targets, not {brief(targets)}")
    array = _as_numbers(listed(targets, count, task), explainer)
    width = (2,) if task == "edge" else ()
    if array.dtype.kind not in "iu" or array.shape[1:] != width or array.ndim != 1 + len(width):
        wanted = "pairs of nodes, [T, 2]" if width else f"{task} numbers, [T]"
        raise InputError(
            f"the targets of this task are {wanted}; these are {array.dtype} of shape {array.shape}"
        )
    if not len(array):
        raise InputError("there are no targets to explain")
    return np.unique(array.astype(np.int64), axis=0)


def _count(explainer: PGMExplainer) -> int | None:
    """Return the number of nodes, or graphs, that can be explained; None for a single graph."""
    if explainer.settings.model.task != "graph":
        return len(explainer.predicted)
    return None if explainer.offsets is None else len(explainer.offsets) - 1


def _as_numbers(targets: list[Any], explainer: PGMExplainer) -> NDArray[Any]:
    if explainer.types is not None:  # a target may then be given with its type: ("author", 5)
        targets = [
            explainer.types.number(each) - explainer.predicted.start
            if isinstance(each, (str, tuple))
            else each
            for each in targets
        ]
    elif explainer.names:
        task = explainer.settings.model.task
        targets = [numbered(each, task, explainer.names, None) for each in targets]
    return as_array(targets if targets else np.empty(0, np.int64), "targets")


def read_names(explainer: PGMExplainer, names: Sequence[VariableId]) -> list[str | int]:
    """Return the names of all nodes as plain values.

    Raises:
        InputError: there is not one for each node, or they are not unique strings or integers.
    """
    if explainer.types is not None:
        raise InputError(
            "names are not supported in a heterogeneous graph, whose nodes are (type, number)"
        )
    if explainer.offsets is not None:
        raise InputError("names are not supported for many graphs, whose nodes have numbers")
    count = explainer.graph.num_nodes
    plain = as_list(names)
    if plain is not None and len(plain) == count and hasattr(names, "dtype"):
        try:
            plain = np.asarray(names).tolist()
        except (TypeError, RuntimeError):  # a tensor that has no NumPy array
            plain = None
    if not isinstance(plain, list):
        raise InputError(f"names must be a list of names, not {brief(names)}")
    if len(plain) != count:
        raise InputError(f"there are {len(plain)} names for {count} nodes")
    strange = [name for name in plain if type(name) not in (str, int) or not _is_unicode(name)]
    if strange:
        raise InputError(
            f"names in a data set must be strings or integers, not {brief(strange[0])}"
        )
    if len(set(plain)) != count:
        twice = Counter(plain).most_common(1)[0][0]
        raise InputError(f"names must be unique, but several nodes are called {brief(twice)}")
    return plain


def _is_unicode(name: str | int) -> bool:
    """Return whether a name is valid Unicode; half a surrogate pair is not."""
    try:
        str(name).encode()
    except UnicodeEncodeError:
        return False
    return True


def locality(graph: Graph) -> IntArray:
    """Return the position of each node in an order in which neighbours are close together.

    This is the reverse Cuthill–McKee order, a breadth-first order along the incoming edges.
    """
    offsets, sources = graph.in_neighbours
    unused = np.broadcast_to(np.int8(1), sources.shape)
    adjacency = scipy.sparse.csr_array((unused, sources, offsets), shape=(graph.num_nodes,) * 2)
    order = scipy.sparse.csgraph.reverse_cuthill_mckee(adjacency, symmetric_mode=True)
    places = np.empty(graph.num_nodes, dtype=np.int64)
    places[order] = np.arange(graph.num_nodes)
    return places


def plan_shards(explainer: PGMExplainer, targets: IntArray, shard_size: int) -> list[IntArray]:
    """Split targets into shards of at most ``shard_size``, nearby ones together, deterministically.

    Separate graphs keep their order.
    """
    if len(targets) > shard_size and explainer.offsets is None:
        first = targets if targets.ndim == 1 else targets[:, 0]
        numbers = explainer.predicted.start + first
        known = (numbers >= 0) & (numbers < explainer.graph.num_nodes)
        # Targets outside the graph come last; the job records their errors.
        places = np.full(len(targets), explainer.graph.num_nodes)
        places[known] = locality(explainer.graph)[numbers[known]]
        targets = targets[np.argsort(places, kind="stable")]
    return [targets[at : at + shard_size] for at in range(0, len(targets), shard_size)]
