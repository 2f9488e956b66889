"""Tables with a row per node, which are stored by columns and read by rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from .arrays import IntArray
from .errors import InputError
from .limits import brief
from .node_names import NodeNames
from .printing import aligned, printable
from .variables import VariableId

__all__ = ["NodeTable", "TestedRow"]

Row = TypeVar("Row", covariant=True)

_SHOWN, _LETTERS = 10, 30
"""The maximum numbers of rows in a preview and of characters in a cell."""


class _NoSuchRowError(InputError, IndexError):
    """Also an IndexError, which ends iteration by index."""


class TestedRow:
    """The base class of rows with a test."""

    log_p: float

    @property
    def p(self) -> float:
        """The p-value; 0 if it underflows, unlike ``log_p``."""
        return float(np.exp(self.log_p))


class NodeTable(Sequence[Row]):
    """The base class of tables with a row per node.

    Columns hold node indices. Only rows and :attr:`columns`, which a user reads, hold names.

    Attributes:
        column_names: the columns in the order of the fields of a row; the first is ``nodes``.
        row_type: creates a row from a node's name and the values of the other columns.
    """

    nodes: IntArray
    names: NodeNames
    column_names: ClassVar[Sequence[str]]
    row_type: ClassVar[Callable[..., Any]]

    @property
    def parts(self) -> list[VariableId]:
        """The nodes by name, in the order of the rows."""
        return self.names.of(self.nodes.tolist())

    @property
    def columns(self) -> dict[str, NDArray[np.generic]]:
        """The table as columns by name, for ``pandas.DataFrame``."""
        node: NDArray[np.generic] = self.nodes
        if self.names:
            node = np.empty(len(self), dtype=object)  # a name may be a tuple
            node[:] = self.parts
        return {"node": node, **{name: getattr(self, name) for name in self.column_names[1:]}}

    def _rows(self, kept: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the fields of the table with some of its rows."""
        return {name: getattr(self, name)[kept] for name in self.column_names}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and all(
            np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")
            for mine, theirs in zip(self.columns.values(), other.columns.values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, index: int | str | tuple[Any, ...]) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice | str | tuple[Any, ...]) -> Row | list[Row]:
        if isinstance(index, (str, tuple)):
            return self._row(self._place_of(index))
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        try:
            at = range(len(self))[operator.index(index)]
        except IndexError:
            raise _NoSuchRowError(
                f"there is no row {brief(index)}; there are {len(self)} rows"
            ) from None
        except Exception:  # TypeError, or whatever an object's own conversion raises
            raise InputError(
                f"a row is given by its number, a slice or a name, not {brief(index)}"
            ) from None
        return self._row(at)

    def _place_of(self, name: VariableId) -> int:
        found = [at for at, part in enumerate(self.parts) if part == name]
        if not found:
            raise InputError(f"there is no row about {brief(name)}; see the names in .parts")
        return found[0]

    def _preview(self, title: str, first: str = "node") -> str:
        """Return a title and the first ten rows as text; ``first`` heads the first column."""
        columns = {name: values[:_SHOWN].tolist() for name, values in self.columns.items()}
        cells = [[name, *map(_cell, values)] for name, values in columns.items()]
        cells[0][0] = first
        rows = list(zip(*cells, strict=True))
        more = [f"… and {len(self) - _SHOWN} more rows"] if len(self) > _SHOWN else []
        return "\n".join([title, *(aligned(rows) if len(self) else []), *more])

    def _row(self, at: int) -> Row:
        node, *values = (getattr(self, name)[at].item() for name in self.column_names)
        row: Row = self.row_type(self.names[node], *values)
        return row


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}"
    text = printable(value)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
