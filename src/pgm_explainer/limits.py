"""Every limit on what comes from outside; ``SECURITY.md`` says what each of them is for.

Files, answers of servers and typed text may come from anyone. What exceeds a limit is refused with
an error that names it, before memory is taken for it. The limits are far above what this package
writes and what people type.
"""

from __future__ import annotations

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
    "SHARD_BYTES",
    "SHARD_ROWS",
    "SHOWN",
    "as_size",
]

_MB, _GB = 1 << 20, 1 << 30

DOCUMENT_BYTES = _GB
"""Of a file that is read whole: JSON, CSV, a list of targets, the journal of a data set."""

NETWORK_BYTES = 8 * _MB
"""Of a network in BIF or XMLBIF."""

NETWORK_VARIABLES = 10_000
"""In a network in BIF or XMLBIF."""

LISTED = 10_000_000
"""Items of a list or an iterator: targets, names, edges. An array may hold more."""

NESTING = 8
"""Of lists in a name or a setting, and of elements in XMLBIF."""

SHARD_BYTES = 2 * _GB
"""Of one Parquet file of a data set."""

SHARD_ROWS = 1_000_000
"""In one Parquet file of a data set."""

EXPANSION = 100
"""How much larger the content of a compressed file may be than the file, beyond EXPANDED_BYTES."""

EXPANDED_BYTES = 256 * _MB
"""What any compressed file or repeated tensor may expand to, however small it is."""

ARRAYS_SHARE_OF_MEMORY = 0.5
"""Of the memory that is free, what the arrays of one file may take."""

ANSWER_BYTES = _GB
"""Of one answer of a model behind HTTP, unless the caller allows more."""

DIGITS = 600
"""Of a number that is typed; Python itself refuses to read some thousands."""

SHOWN = 60
"""Characters of a wrong value that an error repeats."""


def as_size(count: float) -> str:
    """Return a number of bytes in words.

    Examples:
        >>> as_size(3 * 2**30), as_size(2.5 * 2**20), as_size(12)
        ('3 GB', '2.5 MB', '12 bytes')
    """
    for unit, size in (("GB", _GB), ("MB", _MB), ("kB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"
