"""Choices such as a change indicator or a test: objects that can describe themselves.

Text and JSON are made from a :class:`Description` in ``explanation/formats`` and ``report`` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, cast

__all__ = ["Choice", "Described", "Description", "Recorded", "UserDefined", "as_recorded"]

Chosen = TypeVar("Chosen", bound="Choice")


@dataclass(frozen=True)
class Description:
    """What a choice is.

    Attributes:
        name: what it is called.
        parameters: its parameters by name, as plain values.
        own: whether it is a function or an object of the user's own, which its name alone does
            not give back.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False


class Choice(Protocol):
    """Anything that can describe itself."""

    def describe(self) -> Description: ...


class Described:
    """Base of dataclasses that are described by a name and their other fields."""

    name: str

    def describe(self) -> Description:
        """Return the name and the parameters, from which the same object can be made again."""
        own: Any = self
        parameters = [each.name for each in fields(own) if each.init and each.name != "name"]
        return Description(self.name, {each: getattr(own, each) for each in parameters})


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class UserDefined:
    """Base of functions and objects of the user's, which are described by their names only."""

    def describe(self: _Named) -> Description:
        """Return the name, from which the object cannot be made again."""
        return Description(self.name, own=True)


@dataclass(frozen=True)
class Recorded(UserDefined):
    """A choice of the user's own of which only the name is known, as in a file.

    It stands where the function or object was, and cannot be used.
    """

    name: str


def as_recorded(choice: Chosen) -> Chosen:
    """Return a choice as an explanation keeps it: one of the user's own by its name only.

    So an explanation can be pickled and saved, and keeps nothing of the user's alive.
    """
    description = choice.describe()
    return cast(Chosen, Recorded(description.name)) if description.own else choice
