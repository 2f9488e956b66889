"""The names of nodes and features: as the user gives them, or as tables and data objects do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arrays import as_list
from ..errors import InputError
from ..feature_names import FeatureNames, check_feature_names
from ..limits import brief
from ..node_names import NodeNames
from ..variables import VariableId

__all__ = [
    "own_feature_names",
    "own_names",
    "own_title",
    "read_graph_names",
    "read_node_names",
    "read_typed_feature_names",
    "read_typed_names",
]


def own_names(data: Any, count: int) -> list[Any] | None:
    """Return the names of nodes that a data object has as ``node_names`` or ``names``, if any."""
    for attribute in ("node_names", "names"):
        found = _own_list(data, attribute, count)
        if found is not None:
            return found
    return None


def own_title(graph: Any) -> str:
    """Return the ``name``, ``title`` or ``smiles`` of a data object; empty if it has none."""
    found = (getattr(graph, each, None) for each in ("name", "title", "smiles"))
    return next((each for each in found if isinstance(each, str)), "")


def own_feature_names(data: Any, width: int) -> list[Any] | None:
    """Return the names of features that a data object has as ``feature_names``, if any."""
    return _own_list(data, "feature_names", width)


def _own_list(data: Any, attribute: str, count: int) -> list[Any] | None:
    """Return an attribute if it is a list of unique strings, as many as needed; else None."""
    found = getattr(data, attribute, None)
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, str) for each in found):
        return None
    return list(found) if len(set(found)) == len(found) == count else None


def read_node_names(given: Any, count: int, of: str = "") -> NodeNames:
    """Return the names of ``count`` nodes; the indices of nodes do not count as names.

    Args:
        given: a name for each node; a mapping from indices to names; or None.
        of: what the nodes belong to, for errors, such as ``" of type 'paper'"``.

    Raises:
        InputError: a name is missing, has a wrong type or is not unique.
    """
    if given is None:
        return NodeNames()
    try:
        labels = dict(given) if isinstance(given, Mapping) else _listed(given)
    except InputError:
        raise
    except Exception as error:  # a collection of the caller may raise anything
        raise InputError(f"names cannot be read: {type(error).__name__}: {error}") from None
    unknown = (
        [key for key in labels if not _is_node(key, count)] if isinstance(labels, dict) else []
    )
    if unknown:
        raise InputError(
            f"names has {brief(unknown[0])}, but the nodes{of} are 0 to {count - 1}; a mapping "
            f"goes from node indices to names"
        )
    if isinstance(labels, list) and len(labels) != count:
        raise InputError(f"names has {len(labels)} names, but there are {count} nodes{of}")
    names = NodeNames.read(labels, range(count))
    plain = all(at == name for at, name in enumerate(names.of(range(count))))
    return NodeNames() if plain else names


def read_graph_names(given: Any, graphs: Any, sizes: Sequence[int]) -> NodeNames:
    """Return the names of the nodes of many graphs, each of which has its own names.

    Nodes of different graphs may have the same name, so nodes cannot be looked up by name.

    Args:
        given: for each graph, what :func:`read_node_names` reads; None for the names that the data
            objects have.
        graphs: the graphs.
        sizes: the number of nodes of each.

    Raises:
        InputError: there is not one entry for each graph, or the names of a graph are invalid.
    """
    if given is None:
        each = [own_names(graphs[at], size) for at, size in enumerate(sizes)]
    else:
        listed = None if isinstance(given, (str, Mapping)) else as_list(given)
        if listed is None or len(listed) != len(sizes) or any(isinstance(i, str) for i in listed):
            count = "" if listed is None else f"; it has {len(listed)} items"
            raise InputError(
                f"names of many graphs must be a list with the names of the nodes of each of the "
                f"{len(sizes)} graphs (a list, a mapping from node indices to names, or None), not "
                f"{brief(given)}{count}"
            )
        each = listed
    if all(names is None for names in each):
        return NodeNames()
    found = enumerate(zip(each, sizes, strict=True))
    return NodeNames([name for at, its in found for name in _of_graph(at, *its)])


def _of_graph(at: int, names: Any, size: int) -> list[VariableId]:
    try:
        return read_node_names(names, size).of(range(size))
    except InputError as error:
        raise InputError(f"graph {at}: {error}") from None


def _listed(given: Any) -> list[Any]:
    listed = None if isinstance(given, str) else as_list(given)
    if listed is None:
        raise InputError(
            f"names must be a list with a name for each node, or a mapping from node indices to "
            f"names, not {brief(given)}"
        )
    return [_plain(name) for name in listed]


def _plain(name: Any) -> Any:
    """Return a NumPy number as a Python number, which can be compared and saved."""
    return name.item() if hasattr(name, "item") and getattr(name, "shape", None) == () else name


def _is_node(key: Any, count: int) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and 0 <= key < count


def read_typed_names(given: Any, sizes: Mapping[str, int]) -> tuple[NodeNames, ...]:
    """Return the names of the nodes of each type; empty if no type has any.

    Args:
        given: a mapping from node types to names, which are read as by :func:`read_node_names`.
        sizes: the number of nodes of each type.
    """
    by_type = _by_type(given, sizes, "names")
    found = tuple(
        read_node_names(by_type.get(kind), size, f" of type {kind!r}")
        for kind, size in sizes.items()
    )
    return found if any(found) else ()


def read_typed_feature_names(given: Any, widths: Mapping[str, int]) -> FeatureNames:
    """Return the names of the feature columns of each type; empty if no type has any."""
    by_type = _by_type(given, widths, "feature_names")
    found = {
        kind: check_feature_names(by_type.get(kind), width, f" of type {kind!r}")
        for kind, width in widths.items()
    }
    return found if any(found.values()) else ()


def _by_type(given: Any, types: Mapping[str, int], what: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            f"{what} of a HeteroData graph must be a mapping from node types to lists of names, "
            f"not {brief(given)}"
        )
    unknown = [kind for kind in given if not isinstance(kind, str) or kind not in types]
    if unknown:
        raise InputError(
            f"{what} has the unknown node type {brief(unknown[0])}; the types are "
            f"{', '.join(types)}"
        )
    return given
