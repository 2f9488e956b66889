"""Graphs, tables and matrices of other packages, read as arrays.

pandas, networkx, DGL, SciPy and PyTorch are recognised by the attributes of their objects, so that
none of them is imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import as_array, as_label, has_attributes, is_number
from ..errors import InputError, PGMExplainerWarning
from ..node_names import NodeNames

__all__ = ["Source", "has_graph", "is_sparse", "read_source"]

_FEATURE_KEYS = ("feat", "x", "features", "attr")
_WEIGHT = "edge_weight"


@dataclass(frozen=True)
class Source:
    """A graph as arrays, with the names and edge values that it came with.

    Attributes:
        x: node features.
        edge_index: edges ``[2, E]``.
        names: a name for each node, if they have names; None if not.
        feature_names: a name for each feature, if they have names; None if not.
        inputs: further values of each edge by name, which a model may take.
    """

    x: Any
    edge_index: Any
    names: Sequence[Any] | None = None
    feature_names: Sequence[str] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)


def read_source(x: Any, edge_index: Any, names: Any = None) -> Source:
    """Return features and edges as arrays, with the names and edge values that they come with.

    Args:
        x: an array, a data frame (its columns name the features, its index names the nodes), or a
            graph of networkx or DGL that also has the edges.
        edge_index: an array ``[2, E]``, a sparse adjacency matrix, a data frame of edges, a graph
            of networkx or DGL; or None if ``x`` is a graph.
        names: the names of the nodes that the user gives.

    Raises:
        InputError: something cannot be read.
    """
    if edge_index is None and has_graph(x):
        x, edge_index, found = None, x, Source(None, None)
    else:
        found = _table(x) if _is_frame(x) else Source(x, None)
    known = found.names if names is None else names
    if _is_networkx(edge_index):
        return _networkx(edge_index, found, by_label=_is_frame(x))
    if _is_dgl(edge_index):
        return _dgl(edge_index, found)
    if is_sparse(edge_index):
        ends, weights = _matrix(edge_index, _rows(found.x))
        return replace(found, edge_index=ends, inputs={_WEIGHT: weights})
    if _is_frame(edge_index):
        ends, further = _edge_table(edge_index, known, _rows(found.x) or 0)
        return replace(found, edge_index=ends, inputs=further)
    return replace(found, edge_index=edge_index)


def has_graph(x: Any) -> bool:
    """Return whether this is a graph of networkx or DGL."""
    return _is_networkx(x) or _is_dgl(x)


def is_sparse(value: Any) -> bool:
    """Return whether this is a sparse matrix of SciPy or PyTorch, or a ``SparseTensor``."""
    if has_attributes(value, "tocoo", "shape") or has_attributes(value, "coo", "sparse_sizes"):
        return True
    return has_attributes(value, "layout", "detach") and "sparse" in str(value.layout)


def _rows(x: Any) -> int | None:
    """Return the number of rows of features; None if it is not known yet."""
    try:
        return int(x.shape[0]) if hasattr(x, "shape") else len(x)
    except Exception:  # not features at all, which is checked later
        return None


def _is_frame(value: Any) -> bool:
    return has_attributes(value, "columns", "index", "to_numpy")


def _is_networkx(value: Any) -> bool:
    return has_attributes(value, "nodes", "edges", "is_directed", "adjacency")


def _is_dgl(value: Any) -> bool:
    return has_attributes(value, "ndata", "edata", "num_nodes", "edges")


def _table(frame: Any) -> Source:
    """Return a data frame of nodes: its values, and the names of its rows and columns."""
    columns = [_title(each) for each in frame.columns]
    wrong = [at for at in range(len(columns)) if frame.dtypes.iloc[at].kind not in "biuf"]
    if wrong:
        named = ", ".join(repr(columns[at]) for at in wrong[:5])
        unique = next((columns[at] for at in wrong if _is_unique(frame.iloc[:, at])), None)
        index = "" if unique is None else f"; x.set_index({unique!r}) makes it the names of nodes"
        raise InputError(
            f"the columns {named} of x are not numeric; leave them out, or encode them, for "
            f"example with pandas.get_dummies{index}"
        )
    plain_columns = _are_counted(list(frame.columns))
    rows = frame.index.tolist()
    plain_rows = _are_counted(rows)
    return Source(
        _values(frame),
        None,
        None if plain_rows else [_name(each) for each in rows],
        None if plain_columns else columns,
    )


def _is_unique(column: Any) -> bool:
    try:
        return bool(column.is_unique)
    except Exception:  # values that cannot be hashed
        return False


def _are_counted(labels: Sequence[Any]) -> bool:
    """Return whether labels are 0, 1, 2 and so on."""
    return all(is_number(label) and label == at for at, label in enumerate(labels))


def _values(frame: Any) -> NDArray[Any]:
    """Return the values of a data frame: integers if all columns are, else floats."""
    kinds = {dtype.kind for dtype in frame.dtypes}
    single = kinds == {"f"} and all(dtype.itemsize <= 4 for dtype in frame.dtypes)
    wanted: Any = np.int64 if kinds <= set("iu") else np.float32 if single else np.float64
    try:
        values: NDArray[Any] = frame.to_numpy(dtype=wanted)
    except Exception as error:  # missing values have no integer
        raise InputError(f"x cannot be read as numbers: {error}; fill in missing values") from error
    return values


def _title(column: Any) -> str:
    return " ".join(map(as_label, column)) if isinstance(column, tuple) else as_label(column)


def _name(node: Any) -> Any:
    """Return the name of a node: an integer or a tuple as it is, anything else as text."""
    if isinstance(node, (int, np.integer)) and not isinstance(node, (bool, np.timedelta64)):
        return int(node)
    return node if isinstance(node, tuple) else as_label(node)


def _edge_table(frame: Any, names: Any, count: int) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Return the edges of a data frame, and its further columns by name.

    The first two columns are the source and the target of each edge, as names or indices.
    """
    if frame.shape[1] < 2:
        raise InputError(
            f"a data frame of edges needs the columns source and target, not "
            f"{list(map(str, frame.columns))}"
        )
    ends = [frame.iloc[:, at].tolist() for at in (0, 1)]
    if names is not None:
        known = NodeNames.read(names, range(count))
        try:
            ends = [[known.number(_name(each)) for each in column] for column in ends]
        except InputError as error:
            raise InputError(f"the edges: {error}") from None
    further = {
        str(name): np.asarray(frame.iloc[:, 2 + at])
        for at, name in enumerate(frame.columns[2:])
        if frame.dtypes.iloc[2 + at].kind in "biuf"
    }
    return as_array(ends, "edge_index"), further


def _matrix(matrix: Any, count: int | None) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
    """Return the edges of a sparse adjacency matrix, from row to column, and their weights.

    Entries that are 0 are not edges. Weights are None if they are all 1.
    """
    if has_attributes(matrix, "sparse_sizes"):
        row, column, value = matrix.coo()
        shape = tuple(matrix.sparse_sizes())
    elif has_attributes(matrix, "tocoo"):
        stored = matrix.tocoo()
        row, column, value, shape = stored.row, stored.col, stored.data, matrix.shape
    else:
        stored = matrix.detach().cpu().to_sparse_coo().coalesce()
        (row, column), value, shape = stored.indices(), stored.values(), tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1] or count not in (None, shape[0]):
        raise InputError(
            f"a sparse edge_index is an adjacency matrix [nodes, nodes], but its shape is "
            f"{tuple(shape)} and x has {count} rows"
        )
    ends = np.stack((as_array(row, "edge_index"), as_array(column, "edge_index")))
    ends = ends.astype(np.int64)
    if value is None:  # a SparseTensor without values
        return ends, None
    weights = as_array(value, "the adjacency matrix")
    there = weights != 0 if weights.ndim == 1 else np.ones(len(weights), dtype=bool)
    ends, weights = ends[:, there], weights[there]
    if weights.ndim == 1 and (weights == 1).all():
        return ends, None
    return ends, weights if weights.dtype.kind == "f" else weights.astype(np.float32)


def _networkx(graph: Any, found: Source, by_label: bool) -> Source:
    """Return a graph of networkx; edges of an undirected one go in both directions.

    Args:
        by_label: whether the row of node 3 is row 3, if the nodes are numbered from 0.
    """
    labels = list(graph.nodes)
    called = [_name(each) for each in labels]
    if found.x is not None and found.names is None and _in_another_order(called):
        if by_label:
            found = replace(found, names=list(range(len(found.x))))
        else:
            warnings.warn(
                f"the nodes of the graph are numbered from 0, but in another order "
                f"({', '.join(map(str, called[:3]))}, …), and row 0 of x is used for node "
                f"{called[0]}; sort the nodes of the graph, or pass x as a data frame, whose rows "
                f"are matched by their labels",
                PGMExplainerWarning,
                stacklevel=5,
            )
    if found.x is None:
        matrix, titles = _attributes([data for _, data in graph.nodes(data=True)])
        found = replace(found, x=matrix, feature_names=titles)
    at = {label: number for number, label in enumerate(labels)}
    if found.names is not None:  # the rows of x have names: match by these
        known = NodeNames.read(found.names, range(len(found.x)))
        try:
            at = {label: known.index(_name(label)) for label in labels}
        except InputError as error:
            raise InputError(f"the graph has a node without a row in x: {error}") from None
    elif len(found.x) != len(labels):
        raise InputError(f"x has {len(found.x)} rows, but the graph has {len(labels)} nodes")
    listed = list(graph.edges(data=True))
    ends = np.array([[at[u], at[v]] for u, v, _ in listed], dtype=np.int64).reshape(-1, 2).T
    further = _edge_values([data for *_, data in listed])
    if not graph.is_directed():
        one_way = ends[0] != ends[1]  # self-loops are not repeated
        ends = np.concatenate((ends, ends[::-1, one_way]), axis=1)
        further = {key: np.concatenate((each, each[one_way])) for key, each in further.items()}
    if "weight" in further:
        further.setdefault(_WEIGHT, further["weight"])
    own = found.names if found.names is not None else called
    return replace(found, edge_index=ends, names=own, inputs=further)


def _in_another_order(names: Sequence[Any]) -> bool:
    """Return whether nodes are numbered from 0, but not in this order."""
    numbers = list(range(len(names)))
    numbered = all(isinstance(each, int) for each in names)
    return numbered and names != numbers and sorted(names) == numbers


def _attributes(nodes: Sequence[Mapping[str, Any]]) -> tuple[NDArray[Any], list[str] | None]:
    """Return the features of nodes from their attributes.

    That is the attribute ``x``, a vector, or all attributes that are numbers.
    """
    if nodes and all("x" in data and _is_vector(data["x"]) for data in nodes):
        return as_array([data["x"] for data in nodes], "x"), None
    first = nodes[0] if nodes else {}
    keys = [key for key in first if all(_is_value(data.get(key)) for data in nodes)]
    if not keys:
        raise InputError(
            f"the nodes of the graph have no numeric attributes (only "
            f"{', '.join(map(repr, first)) or 'none'}); pass the features as x and the graph as "
            f"edge_index"
        )
    return as_array([[data[key] for key in keys] for data in nodes], "x"), list(map(str, keys))


def _edge_values(edges: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Return the attributes that are numbers or vectors and that every edge has."""
    found = {}
    for key in edges[0] if edges else ():
        values: list[Any] = [data.get(key) for data in edges]
        if all(_is_value(value) or _is_vector(value) for value in values):
            try:
                array = as_array(values, str(key))
            except InputError:
                continue  # strings, or vectors of different lengths
            found[str(key)] = array if array.dtype.kind in "iu" else array.astype(np.float32)
    return found


def _is_value(value: Any) -> bool:
    return is_number(value) or isinstance(value, (bool, np.bool_))


def _is_vector(value: Any) -> bool:
    try:
        return np.ndim(value) == 1
    except Exception:  # nested too deeply, or an object of any type
        return False


def _dgl(graph: Any, found: Source) -> Source:
    """Return a homogeneous graph of DGL, with the features that it has or that are given."""
    if len(getattr(graph, "ntypes", [0])) > 1:
        raise InputError("a DGL graph must have one node type; this one has several")
    if found.x is None:
        held = list(graph.ndata.keys())
        key = next((each for each in _FEATURE_KEYS if each in held), None)
        key = held[0] if key is None and len(held) == 1 else key
        if key is None:
            raise InputError(
                f"the DGL graph has the node data {', '.join(map(repr, held)) or 'none'}, and none "
                f"is called {' or '.join(map(repr, _FEATURE_KEYS))}; pass the features as x and "
                f"the graph as edge_index"
            )
        found = replace(found, x=graph.ndata[key])
    source, target = graph.edges()
    ends = np.stack((as_array(source, "edge_index"), as_array(target, "edge_index")))
    return replace(found, edge_index=ends)
