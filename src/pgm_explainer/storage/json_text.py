"""JSON from outside: as the standard has it, and no deeper than Python can follow."""

from __future__ import annotations

import json
from typing import Any

from ..errors import FileError

__all__ = ["parse_json"]


def parse_json(text: str, way_out: str) -> Any:
    """Return what a JSON text holds; a field that is there twice, NaN and Infinity are refused.

    Raises:
        FileError: it is no JSON; says why, and then the way out.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except RecursionError:
        reason = "lists within lists within lists, too deep"
    except ValueError as error:
        reason = str(error)
    raise FileError(f"this is not JSON, or was cut short: {reason}; {way_out}")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field is there twice in one object")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
