"""JSON values from files: parsed strictly, and validated with errors that name the location."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Collection, Iterator
from math import isfinite
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, InputError
from ..limits import NESTING, SHOWN, brief
from ..variables import VariableId

__all__ = ["Checked", "parse_json", "plain_name"]

Read = TypeVar("Read")
_BEYOND_JSON = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
_LARGEST = 2**63 - 1


def parse_json(text: str, hint: str) -> Any:
    """Parse a JSON text; duplicate fields, NaN and Infinity are refused.

    Raises:
        FileError: it is not JSON; the message gives the reason and what to do.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except RecursionError:
        reason = "nested too deeply"
    except ValueError as error:
        reason = str(error)
    raise FileError(f"this is not JSON, or is truncated: {reason}; {hint}")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has a duplicate field")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class Checked:
    """A JSON value and its location in the document.

    Every method returns the value as the expected type, or raises a FileError.

    Examples:
        >>> document = Checked({"held": 2}, "here")
        >>> document.fields("held")["held"].fraction()
        Traceback (most recent call last):
        pgm_explainer.errors.FileError: here.held should be from 0 to 1, but it is 2
    """

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, key: str | int, parent: Checked | None = None) -> None:
        self.value = value
        self._key = key
        self._parent = parent

    @property
    def place(self) -> str:
        """The location as text; built only for errors, since nearly all values are valid."""
        if self._parent is None:
            return str(self._key)
        step = f"[{self._key}]" if isinstance(self._key, int) else f".{self._key:.{SHOWN}}"
        return f"{self._parent.place}{step}"

    def refuse(self, expected: str) -> NoReturn:
        """Raise an error that says what was expected here."""
        raise FileError(f"{self.place} should be {expected}, but it is {reprlib.repr(self.value)}")

    def fields(self, *names: str) -> dict[str, Checked]:
        """Return the fields of an object that has exactly these names."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for name in names:
            if name not in self.value:
                raise FileError(f"{self.place} has no field {brief(name)}: the file is incomplete")
        for name in self.value:
            if name not in names:
                raise FileError(
                    f"{self.place} has a field {brief(name)}, which this version does not know"
                )
        return dict(self.entries())

    def entries(self) -> Iterator[tuple[str, Checked]]:
        """Yield the fields of an object, which may have any names."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for name, value in dict.items(self.value):  # the methods of a subclass may raise anything
            yield name, Checked(value, name, self)

    def items(self, length: int | None = None) -> list[Checked]:
        """Return the items of a list, which must have this length if one is given."""
        if type(self.value) is not list:  # the methods of a subclass may raise anything
            self.refuse("a list")
        if length is not None and len(self.value) != length:
            raise FileError(f"{self.place} should have {length} items, not {len(self.value)}")
        return [Checked(item, at, self) for at, item in enumerate(self.value)]

    def or_none(self, read: Callable[[Checked], Read]) -> Read | None:
        """Return what ``read`` returns; None if the value is None."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.refuse("a string")
        return str(self.value)

    def texts(self) -> list[str]:
        return [item.text() for item in self.items()]

    def one_of(self, known: Collection[str]) -> str:
        """Return a string that is one of the known ones."""
        if not isinstance(self.value, str) or self.value not in known:
            self.refuse(f"one of {', '.join(known)}")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return bool(self.value)

    def whole_number(self, at_least: int = 0) -> int:
        """Return an integer that fits into an array."""
        if self.large_number(at_least) > _LARGEST:
            self.refuse(f"a whole number of at least {at_least} and at most {_LARGEST}")
        return int(self.value)

    def large_number(self, at_least: int = 0) -> int:
        """Return an integer of any size, such as a seed."""
        if type(self.value) is not int or self.value < at_least:
            self.refuse(f"a whole number of at least {at_least}")
        return int(self.value)

    def number(self) -> float:
        """Return a number; infinities and NaN, which JSON lacks, are strings such as ``"-inf"``."""
        if isinstance(self.value, str) and self.value in _BEYOND_JSON:
            return _BEYOND_JSON[self.value]
        return self.finite()

    def finite(self) -> float:
        """Return a finite number."""
        if type(self.value) not in (int, float):
            self.refuse("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = np.inf
        if not isfinite(number):
            self.refuse("a number that a float can hold")
        return number

    def fraction(self) -> float:
        """Return a number from 0 to 1."""
        number = self.finite()
        if not 0 <= number <= 1:
            self.refuse("from 0 to 1")
        return number

    def log_probability(self) -> float:
        """Return a number of at most 0, or ``"-inf"``."""
        number = self.number()
        if not number <= 0:
            self.refuse("a number of at most 0")
        return number

    def name(self, depth: int = 0) -> VariableId:
        """Return a name: an integer, a string, or a list of these, which is read as a tuple."""
        if isinstance(self.value, list) and self.value and depth < NESTING:
            return tuple(part.name(depth + 1) for part in self.items())
        if isinstance(self.value, str):
            return self.value
        if type(self.value) is not int:
            self.refuse("a name: a whole number, a string, or a list of these")
        return int(self.value)

    def plain(self, depth: int = 0) -> Any:
        """Return any value made of numbers, strings, lists, true, false and null."""
        if isinstance(self.value, list) and depth < NESTING:
            return [item.plain(depth + 1) for item in self.items()]
        if self.value is None or isinstance(self.value, (bool, str)):
            return self.value
        return self.value if type(self.value) is int else self.finite()

    def array(
        self, shape: tuple[int, ...], read: Callable[[Checked], Any], dtype: Any
    ) -> NDArray[Any]:
        """Return nested lists of a known shape as an array of what ``read`` returns."""
        cells = [self]
        for length in shape:
            cells = [item for cell in cells for item in cell.items(length)]
        return np.array([read(cell) for cell in cells], dtype=dtype).reshape(shape)


def plain_name(name: Any) -> Any:
    """Return a name as a JSON value, with tuples as lists; :meth:`Checked.name` is the inverse."""
    if isinstance(name, tuple):
        return [plain_name(part) for part in name]
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        return int(name)
    if isinstance(name, str):
        return str(name)
    raise InputError(f"{brief(name)} cannot be saved as a name; use integers, strings or tuples")
