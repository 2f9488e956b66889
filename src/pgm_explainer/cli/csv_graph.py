"""Graphs from two CSV files: nodes with their features, and edges."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..arrays import FloatArray, IntArray
from ..errors import FileError
from ..limits import brief
from ..sampling import VariableId
from ..storage.files import as_text, read_file
from .inputs import GraphInput
from .names import whole_number

__all__ = ["read_csv_graph"]

_ENDS = (
    ("source", "src", "from", "sender", "payer", "start"),
    ("target", "dst", "to", "receiver", "payee", "end", "destination"),
)
"""Accepted names of the source and target columns."""


def read_csv_graph(edges: Path, features: Path, undirected: bool) -> GraphInput:
    """Read a table of nodes (name, features …) and a table of edges (source, target, …).

    A first line that does not match the others is a header, which names the features. Source and
    target are found by their names in the header, or are the first two columns. Additional
    columns of the edges need a header that names the model input of each. If ``undirected``, each
    edge is added in both directions.
    """
    names, x, titles = read_file(features, _features)
    numbers = {str(name): at for at, name in enumerate(names)}
    edge_index, more = read_file(edges, lambda document: _edges(document, numbers))
    if undirected:
        one_way = edge_index[0] != edge_index[1]  # self-loops are not duplicated
        edge_index = np.concatenate((edge_index, edge_index[::-1, one_way]), axis=1)
        more = {name: np.concatenate((each, each[one_way])) for name, each in more.items()}
    plain = names == list(range(len(names)))
    return GraphInput(x, edge_index, None if plain else names, more, titles)


def _features(document: bytes) -> tuple[list[VariableId], FloatArray, list[str] | None]:
    """Return the names of the nodes, their features and, from a header, the names of these."""
    lines, titles = _lines(document), None
    if not _are_numbers(lines[0][1][1:]):
        titles, lines = lines[0][1][1:], lines[1:]
    if not lines or len(lines[0][1]) < 2:
        raise FileError("each line must have a node's name and its features")
    x = np.array([_numbers(cells[1:], line, titles, 2) for line, cells in lines])
    names = [cells[0] for _, cells in lines]
    seen: set[str] = set()
    for line, cells in lines:
        if cells[0] in seen:
            raise FileError(f"line {line}: duplicate node {brief(cells[0])}")
        seen.add(cells[0])
    # "007" is a name, 7 a number.
    numbers = [number for each in names if (number := whole_number(each)) is not None]
    if titles is not None and (len(set(titles)) < len(titles) or "" in titles):
        raise FileError(f"line 1: every feature needs a different name, not {', '.join(titles)}")
    return list(numbers if list(map(str, numbers)) == names else names), x, titles


def _edges(document: bytes, numbers: Mapping[str, int]) -> tuple[IntArray, dict[str, FloatArray]]:
    lines = _lines(document)
    header: list[str] = []
    if not any(cell in numbers or cell.isdecimal() for cell in lines[0][1][:2]):
        order = _source_first([cell.lower() for cell in lines[0][1]])
        lines = [(line, [cells[at] for at in order]) for line, cells in lines]
        header, lines = lines[0][1], lines[1:]
    if lines and len(lines[0][1]) < 2:
        raise FileError("each line must have a source and a target")
    if lines and len(lines[0][1]) > 2 and not header:
        raise FileError("columns after source and target need a header, such as edge_weight")
    for line, cells in lines:
        unknown = [cell for cell in cells[:2] if cell not in numbers]
        if unknown:
            raise FileError(f"line {line}: the node {brief(unknown[0])} has no features")
    pairs = [[numbers[source], numbers[target]] for _, (source, target, *_rest) in lines]
    columns = np.array([_numbers(cells[2:], line, header[2:], 3) for line, cells in lines]).T
    more = dict(zip(header[2:], columns.astype(np.float32), strict=True)) if lines else {}
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T, more


def _source_first(header: Sequence[str]) -> list[int]:
    """Return the order of columns in which the source and the target of an edge come first.

    They are found by their names, and are the first two columns if they have other names.
    """
    ends = [[at for at, cell in enumerate(header) if cell in names] for names in _ENDS]
    first = [found[0] for found in ends] if all(len(found) == 1 for found in ends) else []
    return [*first, *(at for at in range(len(header)) if at not in first)]


def _lines(document: bytes) -> list[tuple[int, list[str]]]:
    """Return the non-empty lines with their numbers; all must have the same number of cells."""
    text = as_text(document)
    tabs = "\t" in text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if tabs else ",")
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if cells]
    except csv.Error as error:
        raise FileError(f"line {reader.line_num}: {error}") from error
    if not lines:
        raise FileError("the file is empty")
    for line, cells in lines:
        if len(cells) != len(lines[0][1]):
            raise FileError(f"line {line} has {len(cells)} cells, the first {len(lines[0][1])}")
    return lines


def _are_numbers(cells: Sequence[str]) -> bool:
    try:
        _numbers(cells, 0, None, 0)
    except FileError:
        return False
    return True


def _numbers(
    cells: Sequence[str], line: int, titles: Sequence[str] | None, first: int
) -> list[float]:
    """Return cells as numbers; ``first`` is the number of their first column, from 1."""
    found: list[float] = []
    try:
        found.extend(map(float, cells))
    except ValueError:  # the cells before it were read
        at = len(found)
        column = f"{titles[at]!r:.60}" if titles else f"{first + at}"
        what = f"{cells[at]!r:.60} is not a number" if cells[at] else "the cell is empty"
        raise FileError(
            f"line {line}, column {column}: {what}; leave the column out, or encode it (a column "
            f"of 0 and 1 for each category)"
        ) from None
    return found
