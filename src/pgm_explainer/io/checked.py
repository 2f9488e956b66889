"""Plain values from outside, believed only after a look; what fails says where it stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, InputError
from ..sampling import VariableId

__all__ = ["Checked", "plain_name"]

Read = TypeVar("Read")

_BEYOND_JSON = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
_LARGEST = 2**63 - 1
_DEEPEST_NAME = 8
_SHOWN = 60


@dataclass(frozen=True)
class Checked:
    """A value as JSON knows it, and where in the document it stands.

    Every method returns the value as what it should be, or raises a FileError.

    Examples:
        >>> document = Checked({"nodes": [3, 5]}, "the document")
        >>> [node.whole_number() for node in document.fields("nodes")["nodes"].items()]
        [3, 5]
    """

    value: Any
    place: str

    def refuse(self, expected: str) -> NoReturn:
        """Say what should have been here instead."""
        shown = repr(self.value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        raise FileError(f"{self.place} should be {expected}, but it is {shown}")

    def fields(self, *names: str) -> dict[str, Checked]:
        """The fields of an object that has exactly these."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for name in names:
            if name not in self.value:
                raise FileError(f"{self.place} has no field {name!r}: the file is not complete")
        for name in self.value:
            if name not in names:
                raise FileError(
                    f"{self.place} has a field {name!r:.{_SHOWN}}, which this version does not know"
                )
        return dict(self.entries())

    def entries(self) -> Iterator[tuple[str, Checked]]:
        """The fields of an object that may have any."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for name, value in self.value.items():
            yield name, Checked(value, f"{self.place}.{name:.{_SHOWN}}")

    def items(self, length: int | None = None) -> list[Checked]:
        """The items of a list, of a certain length if one is given."""
        if not isinstance(self.value, list):
            self.refuse("a list")
        if length is not None and len(self.value) != length:
            raise FileError(f"{self.place} should have {length} items, not {len(self.value)}")
        return [Checked(item, f"{self.place}[{at}]") for at, item in enumerate(self.value)]

    def or_none(self, read: Callable[[Checked], Read]) -> Read | None:
        """What ``read`` makes of it; None stays None."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.refuse("a text")
        return str(self.value)

    def one_of(self, known: Collection[str]) -> str:
        """A text that is one of some."""
        if not isinstance(self.value, str) or self.value not in known:
            self.refuse(f"one of {', '.join(known)}")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return bool(self.value)

    def whole_number(self, at_least: int = 0) -> int:
        if type(self.value) is not int or not at_least <= self.value <= _LARGEST:
            self.refuse(f"a whole number of at least {at_least}")
        return int(self.value)

    def number(self) -> float:
        """A number; the three that JSON has no sign for are texts, such as ``"-inf"``."""
        if isinstance(self.value, str) and self.value in _BEYOND_JSON:
            return _BEYOND_JSON[self.value]
        return self._finite()

    def fraction(self) -> float:
        """A number from 0 to 1."""
        number = self._finite()
        if not 0 <= number <= 1:
            self.refuse("from 0 to 1")
        return number

    def name(self, depth: int = 0) -> VariableId:
        """What a variable is called: a whole number, a text, or a list of such, read as a tuple."""
        if isinstance(self.value, list) and self.value and depth < _DEEPEST_NAME:
            return tuple(part.name(depth + 1) for part in self.items())
        if isinstance(self.value, str):
            return self.value
        if type(self.value) is not int:
            self.refuse("a name: a whole number, a text, or a list of these")
        return int(self.value)

    def plain(self) -> Any:
        """Any value made of numbers, texts, lists, true, false and null."""
        if isinstance(self.value, list):
            return [item.plain() for item in self.items()]
        if self.value is None or isinstance(self.value, (bool, str)):
            return self.value
        return self.value if type(self.value) is int else self._finite()

    def array(
        self, shape: tuple[int, ...], read: Callable[[Checked], Any], dtype: Any
    ) -> NDArray[Any]:
        """Lists within lists, of a known shape, whose innermost items ``read`` reads."""
        cells = [self]
        for length in shape:
            cells = [item for cell in cells for item in cell.items(length)]
        return np.array([read(cell) for cell in cells], dtype=dtype).reshape(shape)

    def _finite(self) -> float:
        if type(self.value) not in (int, float):
            self.refuse("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = np.inf
        if not isfinite(number):
            self.refuse("a number that a float can hold")
        return number


def plain_name(name: Any) -> Any:
    """Return a name as JSON holds it, a tuple as a list; :meth:`Checked.name` takes it back."""
    if isinstance(name, tuple):
        return [plain_name(part) for part in name]
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        return int(name)
    if isinstance(name, str):
        return str(name)
    raise InputError(f"{name!r} cannot be saved as a name; use whole numbers, texts or tuples")
