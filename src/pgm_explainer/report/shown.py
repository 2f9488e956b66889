"""How the reports recognise an explanation, which is defined a layer above them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["Shown", "is_explanation"]


class Shown:
    """The base class of :class:`~pgm_explainer.Explanation`; it marks what can be reported."""


def is_explanation(value: object) -> TypeGuard[Explanation]:
    """Return whether a value is an explanation."""
    return isinstance(value, Shown)
