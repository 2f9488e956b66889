"""Untrusted JSON: parsed strictly, within limits, with errors that name the location."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pgm_explainer import FileError

__all__ = ["MOST_BYTES", "Checked", "parse", "read_json"]

Read = TypeVar("Read")
MOST_BYTES = 64 << 20
"""Size of a study file, and of a file of answers."""
_LARGEST = 2**53
"""Beyond it, the numbers of JavaScript are not exact."""


def read_json(path: Path, what: str) -> Checked:
    """Return the contents of a JSON file.

    Raises:
        FileError: it cannot be read, is too large or is not JSON.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FileError(f"{path} has more than {MOST_BYTES >> 20} MB, too many for {what}")
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); it should be {what}") from error
    return Checked(parse(data, str(path)), path.name)


def parse(data: bytes, origin: str) -> Any:
    """Parse JSON; duplicate fields, NaN and Infinity are refused."""
    try:
        return json.loads(data, object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{origin:.80} is not JSON: {error!s:.120}") from error


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has a duplicate field")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class Checked:
    """A JSON value and its location. Each method returns the expected type or raises FileError.

    Examples:
        >>> Checked({"seed": -1}, "study").fields("seed")["seed"].whole()
        Traceback (most recent call last):
        pgm_explainer.errors.FileError: study.seed should be a whole number from 0 to 9007199254740992, but it is -1
    """  # noqa: E501

    def __init__(self, value: Any, place: str) -> None:
        self.value = value
        self.place = place

    def refuse(self, expected: str) -> NoReturn:
        """Raise an error about what was expected here."""
        raise FileError(f"{self.place} should be {expected}, but it is {reprlib.repr(self.value)}")

    def fields(self, *names: str) -> dict[str, Checked]:
        """The fields of an object that has exactly these."""
        found = dict(self.entries())
        for name in names:
            if name not in found:
                raise FileError(f"{self.place} has no field {name!r}: the file is incomplete")
        for name in found:
            if name not in names:
                raise FileError(
                    f"{self.place} has a field {name!r:.60}, which this version does not know"
                )
        return found

    def entries(self) -> Iterator[tuple[str, Checked]]:
        """The fields of an object with arbitrary fields."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for name, value in self.value.items():
            yield name, Checked(value, f"{self.place}.{name:.60}")

    def items(self, most: int, least: int = 0) -> list[Checked]:
        """The items of a list of a limited length."""
        if not isinstance(self.value, list) or not least <= len(self.value) <= most:
            self.refuse(f"a list of {least} to {most} items")
        return [Checked(item, f"{self.place}[{at}]") for at, item in enumerate(self.value)]

    def text(self, most: int = 200, least: int = 0) -> str:
        """A string of a limited length."""
        if not isinstance(self.value, str) or not least <= len(self.value) <= most:
            self.refuse(f"a string of {least} to {most} characters")
        try:
            self.value.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which no page can show
            self.refuse("valid Unicode text")
        return str(self.value)

    def identifier(self) -> str:
        """A short name of letters, digits, ``_`` and ``-``."""
        text = self.text(40, 1)
        if not (text.isascii() and text.replace("_", "a").replace("-", "a").isalnum()):
            self.refuse("a short name of letters, digits, _ and -")
        return text

    def one_of(self, *known: str) -> str:
        """One of the known strings."""
        if self.value not in known or not isinstance(self.value, str):
            self.refuse(f"one of {', '.join(known)}")
        return self.value

    def whole(self, least: int = 0, most: int = _LARGEST) -> int:
        """An integer in a range."""
        if type(self.value) is not int or not least <= self.value <= most:
            self.refuse(f"a whole number from {least} to {most}")
        return int(self.value)

    def number(self, least: float = 0.0, most: float = 1.0) -> float:
        """A number in a range."""
        if type(self.value) not in (int, float) or not least <= self.value <= most:
            self.refuse(f"a number from {least} to {most}")
        return float(self.value)

    def or_none(self, read: Callable[[Checked], Read]) -> Read | None:
        """The value as ``read`` returns it; null stays None."""
        return None if self.value is None else read(self)
