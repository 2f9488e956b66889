"""Graphs from two CSV files: nodes with their features, and edges."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arrays import FloatArray, IntArray
from ..errors import FileError
from ..limits import brief
from ..report.names import shorten
from ..sampling import VariableId
from ..storage.files import as_text, read_file
from .inputs import GraphInput
from .names import suggestion, whole_number

__all__ = ["Columns", "delimiter_of", "read_csv_graph"]

_ENDS = (
    ("source", "src", "from", "sender", "payer", "start"),
    ("target", "dst", "to", "receiver", "payee", "end", "destination"),
)
"""Accepted names of the source and target columns."""
_LONGEST = 200
Line = tuple[int, list[str]]
"""The number of a line, and its cells."""


@dataclass(frozen=True)
class Columns:
    """Which columns are read: all, all but some or, of the nodes, some in a given order.

    Attributes:
        drop: columns of either table that are left out.
        use: the columns of the table of nodes that are features, in order.
    """

    drop: tuple[str, ...] = ()
    use: tuple[str, ...] = ()

    def check(self, nodes: Sequence[str], edges: Sequence[str]) -> None:
        """Check the names, given the first lines of both tables.

        Raises:
            FileError: there is no such column, or no feature is left.
        """
        if (self.drop or self.use) and not nodes:
            raise FileError("columns are chosen by name, but the first line is not a header")
        for names, known in ((self.drop, [*nodes, *edges]), (self.use, nodes)):
            for name in names:
                if name not in known:
                    raise FileError(f"there is no column {brief(name)}; {suggestion(name, known)}")
        for name in self.use:
            if name in self.drop:
                raise FileError(f"{brief(name)} is both in --use-columns and in --drop-columns")
        if self.drop and set(self.drop) >= set(nodes):
            raise FileError("no feature is left: --drop-columns names every column")

    def of_nodes(self, header: Sequence[str]) -> list[int]:
        """Return the places of the features among the columns after the name."""
        if self.use:
            return [header.index(name) for name in dict.fromkeys(self.use)]
        return [at for at, name in enumerate(header) if name not in self.drop]


def read_csv_graph(
    edges: Path, features: Path, undirected: bool, columns: Columns | None = None
) -> GraphInput:
    """Read a table of nodes (name, features …) and a table of edges (source, target, …).

    A first line that does not match the others is a header, which names the features. Source and
    target are found by their names in the header, or are the first two columns. Additional
    columns of the edges need a header that names the model input of each. If ``undirected``, each
    edge is added in both directions.
    """
    chosen = Columns() if columns is None else columns
    nodes, links = read_file(features, _lines), read_file(edges, _lines)
    with _about(features):
        header = None if _are_numbers(nodes[0][1][1:]) else nodes[0][1][1:]
        chosen.check(header or [], links[0][1])
        names, x, titles = _features(nodes, header, chosen)
    numbers = {str(name): at for at, name in enumerate(names)}
    with _about(edges):
        edge_index, more = _edges(links, numbers, chosen)
    if undirected:
        one_way = edge_index[0] != edge_index[1]  # self-loops are not duplicated
        edge_index = np.concatenate((edge_index, edge_index[::-1, one_way]), axis=1)
        more = {name: np.concatenate((each, each[one_way])) for name, each in more.items()}
    plain = names == list(range(len(names)))
    return GraphInput(x, edge_index, None if plain else names, more, titles)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Name the file in errors about it."""
    try:
        yield
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def _features(
    lines: list[Line], header: list[str] | None, columns: Columns
) -> tuple[list[VariableId], FloatArray, list[str] | None]:
    """Return the names of the nodes, their features and, from a header, the names of these."""
    titles = header
    if header is not None:
        lines, places = lines[1:], columns.of_nodes(header)
        titles = [header[at] for at in places]
        if titles != header:
            lines = [(line, [cells[0], *(cells[1 + at] for at in places)]) for line, cells in lines]
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


def _edges(
    lines: list[Line], numbers: Mapping[str, int], columns: Columns
) -> tuple[IntArray, dict[str, FloatArray]]:
    header: list[str] = []
    if not any(cell in numbers or cell.isdecimal() for cell in lines[0][1][:2]):
        order = _source_first([cell.lower() for cell in lines[0][1]])
        order = [at for at in order if at in order[:2] or lines[0][1][at] not in columns.drop]
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
    others = np.array([_numbers(cells[2:], line, header[2:], 3) for line, cells in lines]).T
    more = dict(zip(header[2:], others.astype(np.float32), strict=True)) if lines else {}
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T, more


def _source_first(header: Sequence[str]) -> list[int]:
    """Return the order of columns in which the source and the target of an edge come first.

    They are found by their names, and are the first two columns if they have other names.
    """
    ends = [[at for at, cell in enumerate(header) if cell in names] for names in _ENDS]
    first = [found[0] for found in ends] if all(len(found) == 1 for found in ends) else []
    return [*first, *(at for at in range(len(header)) if at not in first)]


def _lines(document: bytes) -> list[Line]:
    """Return the non-empty lines with their numbers; all must have the same number of cells."""
    try:
        text = as_text(document)
    except FileError as error:  # a spreadsheet, or a table in another encoding
        raise FileError(f"{error}; save the table as CSV in UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
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


def delimiter_of(text: str) -> str:
    """Return what separates the cells of a table, from its first line.

    Each line has at least two cells, so a line without a tab or a comma is separated by semicolons,
    as spreadsheets do where the comma is the decimal mark.
    """
    first = text.partition("\n")[0]
    return next((mark for mark in "\t,;" if mark in first), ",")


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
            f"line {line}, column {column}: {what}; {_hint(cells, at, titles)}"
        ) from None
    return found


def _hint(cells: Sequence[str], at: int, titles: Sequence[str] | None) -> str:
    """Return what to do about a cell that is not a number."""
    if _is_number(cells[at].replace(",", ".", 1)):
        return "write decimals with a point"
    wrong = [name for name, cell in zip(titles or (), cells, strict=False) if not _is_number(cell)]
    drop = f" (--drop-columns {shorten(','.join(wrong), _LONGEST)})" if wrong else ""
    return f"leave the column out{drop}, or encode it (a column of 0 and 1 for each category)"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
