"""Options that are objects, such as a change indicator or a test, and their descriptions.

A :class:`Description` is converted to text and JSON in ``explanation/formats`` and ``report`` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, cast

__all__ = ["Choice", "Described", "Description", "Recorded", "UserDefined", "as_recorded"]

Chosen = TypeVar("Chosen", bound="Choice")


@dataclass(frozen=True)
class Description:
    """The name and parameters of a choice.

    Attributes:
        name: the name of the choice.
        parameters: its parameters by name, as plain values.
        own: whether it is a custom function or object, which cannot be restored from its name.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False


class Choice(Protocol):
    """An object with a ``describe()`` method."""

    def describe(self) -> Description: ...


class Described:
    """Base class of dataclasses whose description is their name and their other fields."""

    name: str

    def describe(self) -> Description:
        """Return the name and the parameters, from which the object can be restored."""
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
    """A placeholder for a custom function or object of which only the name was saved."""

    name: str


def as_recorded(choice: Chosen) -> Chosen:
    """Return a choice as stored in an explanation: custom functions by name only.

    So an explanation can be pickled and saved, and holds no references to objects of the caller.
    """
    description = choice.describe()
    return cast(Chosen, Recorded(description.name)) if description.own else choice
