"""Options that are objects, such as a change indicator or a test, and their descriptions.

A :class:`Description` is converted to text and JSON in ``explanation/formats`` and ``report`` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

__all__ = ["Choice", "Described", "Description", "Recorded", "UserDefined"]


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
    """Base class of custom functions and objects, which are described by their name only."""

    def describe(self: _Named) -> Description:
        """Return the name, from which the object cannot be restored."""
        return Description(self.name, own=True)


@dataclass(frozen=True)
class Recorded(UserDefined):
    """A placeholder for a custom function or object of which only the name was saved."""

    name: str
