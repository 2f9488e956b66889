"""Strict JSON parsing, with a limit on nesting."""

from __future__ import annotations

import json
from typing import Any

from ..errors import FileError

__all__ = ["parse_json"]


def parse_json(text: str, way_out: str) -> Any:
    """Parse a JSON text; duplicate fields, NaN and Infinity are refused.

    Raises:
        FileError: it is not JSON; the message gives the reason and the way out.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except RecursionError:
        reason = "nested too deeply"
    except ValueError as error:
        reason = str(error)
    raise FileError(f"this is not JSON, or is truncated: {reason}; {way_out}")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has a duplicate field")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
