"""Limits on untrusted input; see ``SECURITY.md`` for the purpose of each.

Input that exceeds a limit is rejected with an error that names the limit, before memory is
allocated for it. The limits are far above normal use.
"""

from __future__ import annotations

import reprlib

__all__ = [
    "ANSWER_BYTES",
    "ARRAYS_SHARE_OF_MEMORY",
    "DIGITS",
    "DOCUMENT_BYTES",
    "EXPANDED_BYTES",
    "EXPANSION",
    "LISTED",
    "NESTING",
    "NETWORK_BYTES",
    "NETWORK_VARIABLES",
    "REPETITIONS",
    "SHARD_BYTES",
    "SHARD_ROWS",
    "SHOWN",
    "as_size",
    "brief",
]

_MB, _GB = 1 << 20, 1 << 30

DOCUMENT_BYTES = _GB
"""Size of a file that is read at once: JSON, CSV, a list of targets, the journal of a data set."""

NETWORK_BYTES = 8 * _MB
"""Size of a network file in BIF or XMLBIF."""

NETWORK_VARIABLES = 10_000
"""Number of variables of a network in BIF or XMLBIF."""

LISTED = 10_000_000
"""Number of items of a list or iterator (targets, names, edges). An array may have more."""

NESTING = 8
"""Nesting depth of lists in a name or a setting, and of elements in XMLBIF."""

REPETITIONS = 10_000
"""Number of restarts, resamples or beams of a structure search."""

SHARD_BYTES = 2 * _GB
"""Size of a Parquet file of a data set."""

SHARD_ROWS = 1_000_000
"""Number of rows in a Parquet file of a data set."""

EXPANSION = 100
"""Ratio of the uncompressed to the compressed size of a file, above EXPANDED_BYTES."""

EXPANDED_BYTES = 256 * _MB
"""Uncompressed size of a file, or size of an expanded tensor, that is always allowed."""

ARRAYS_SHARE_OF_MEMORY = 0.5
"""Share of the free memory that the arrays of one file may take."""

ANSWER_BYTES = _GB
"""Size of one response of a model behind HTTP, unless the caller allows more."""

DIGITS = 600
"""Number of digits of a number in text; Python itself rejects several thousand."""

SHOWN = 60
"""Number of characters of an invalid value that an error message shows."""


def as_size(count: float) -> str:
    """Return a number of bytes as text.

    Examples:
        >>> as_size(3 * 2**30), as_size(2.5 * 2**20), as_size(12)
        ('3 GB', '2.5 MB', '12 bytes')
    """
    for unit, size in (("GB", _GB), ("MB", _MB), ("kB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


_REPR = reprlib.Repr()  # it reads only the start of a long or deeply nested value
_REPR.maxlevel = NESTING
_REPR.maxlist = _REPR.maxtuple = _REPR.maxset = _REPR.maxdict = _REPR.maxdeque = 20
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = SHOWN


def brief(value: object) -> str:
    """Return any value as text of at most SHOWN characters, for an error message.

    Examples:
        >>> brief("mean"), brief([1, 2]), len(brief("x" * 10**6))
        ("'mean'", '[1, 2]', 60)
    """
    try:
        text = _REPR.repr(value).replace("\n", " ")
    except Exception:  # a value's own methods may raise anything
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
