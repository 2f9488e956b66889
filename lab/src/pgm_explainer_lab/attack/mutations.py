"""Changes to files, by a seed: bytes, pieces, numbers, members of archives."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np

TOKENS = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"<", b">", b"&a;", b"(", b")", b";", b"|", b"/*"),
    *(b"nan", b"NaN", b"Infinity", b"-inf", b"1e999", b"null", b"true", b"\0", b"\xff\xfe", b"\n"),
    *(
        b"-1",
        b"0",
        b"2147483648",
        b"9223372036854775808",
        b"1" * 400,
        b"0.5",
        b"graph",
        b"'",
        b"\\",
    ),
    *(b"(10000000000,)", b"'|O'", b"'<U9'", b"<!ENTITY a 'b'>", b"[" * 50, b'{"a":' * 50),
]
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def mutated(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return a document with one to four things changed."""
    for _ in range(chance.randint(1, 4)):
        document = chance.choice(_WAYS)(document, chance, others)
    return document


def _place(document: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(document))
    length = chance.choice([0, 1, 1, 2, 8, 40, len(document)])
    return start, min(len(document), start + length)


def _flip(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    if not document:
        return b"\0"
    at = chance.randrange(len(document))
    return document[:at] + bytes([document[at] ^ (1 << chance.randrange(8))]) + document[at + 1 :]


def _put(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, stop = _place(document, chance)
    return document[:start] + chance.choice(TOKENS) + document[stop:]


def _noise(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, stop = _place(document, chance)
    return document[:start] + chance.randbytes(chance.choice([1, 4, 8])) + document[stop:]


def _remove(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, stop = _place(document, chance)
    return document[:start] + document[stop:]


def _double(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, stop = _place(document, chance)
    return document[:stop] + document[start:stop] * chance.choice([1, 2, 30]) + document[stop:]


def _splice(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    other = chance.choice(others)
    return document[: chance.randint(0, len(document))] + other[chance.randint(0, len(other)) :]


def _number(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    found = list(_NUMBER.finditer(document))
    if not found:
        return _flip(document, chance, others)
    start, stop = chance.choice(found).span()
    new = chance.choice(
        [b"-1", b"0", b"1", b"2", b"99999", b"1e308", b"0.3", b"9" * 19, b"9" * 400]
    )
    return document[:start] + new + document[stop:]


_WAYS = [_flip, _flip, _put, _put, _noise, _remove, _double, _splice, _number, _number]


def mutated_archive(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return a zip archive with a changed member and updated checksums; or any bytes."""
    if chance.random() < 0.3:
        return mutated(document, chance, others)
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(sorted(members))
    members[name] = mutated(members[name], chance, sorted(members.values()))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for each, data in members.items():
            archive.writestr(each, data)
    return written.getvalue()


def mutated_parquet(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return a Parquet file with bytes of its footer changed, where all sizes are; or any bytes."""
    if chance.random() < 0.5 or len(document) < 12:
        return mutated(document, chance, others)
    changed = bytearray(document)
    footer = len(changed) - 8 - int.from_bytes(changed[-8:-4], "little")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(max(0, footer), len(changed) - 8)
        changed[at] = chance.choice([0, 127, 128, 255, chance.randrange(256)])
    return bytes(changed)


_JSON_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 99, 2**31, 2**63, 10**30, 0.5, -0.5, 1.5, 1e308, 1e-320),
    *(float("nan"), float("inf"), "", "a", "0", "kept", "nodes", "\0", "x" * 5000, "é", "\ud800"),
    *([], [0], [[]], [None], ["a", "a"], {}, {"a": 1}, {"name": "mean"}, [0.5, 0.5], [1, 2, 3]),
)


def mutated_json(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return JSON with one to three values of its tree changed; or any bytes."""
    if chance.random() < 0.3:
        return mutated(document, chance, others)
    try:
        tree = json.loads(document)
    except ValueError:  # several documents, one on each line
        lines = document.split(b"\n")
        at = chance.randrange(len(lines))
        lines[at] = mutated_json(lines[at], chance, others) if lines[at] else b"{}"
        return b"\n".join(lines)
    holder = [tree]
    for _ in range(chance.randint(1, 3)):
        _change_value(holder, chance)
    return json.dumps(holder[0]).encode(errors="surrogatepass")


def _change_value(holder: Any, chance: random.Random) -> None:
    """Change one value somewhere below a list or mapping."""
    place = holder
    key: Any = 0
    while isinstance(place[key], (list, dict)) and place[key] and chance.random() < 0.85:
        place = place[key]
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
    old = place[key]
    way = chance.randrange(6)
    if way == 0 and place is not holder:
        del place[key]
    elif way == 1 and isinstance(place, list) and place is not holder:
        place.insert(key, old)
    elif way == 2 and isinstance(old, (int, float)):
        place[key] = chance.choice((old + 1, -old, old * 1.0, old / 3, str(old), [old]))
    elif way == 3 and isinstance(old, list):
        place[key] = chance.sample(old, len(old)) if len(old) > 1 else old * 2
    else:
        place[key] = deepcopy(chance.choice(_JSON_VALUES))


def mutated_arrays(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return an ``.npz`` archive in which one array has other numbers, shape or type."""
    if chance.random() < 0.5:
        return mutated_archive(document, chance, others)
    with np.load(io.BytesIO(document)) as archive:
        arrays = dict(archive)
    name = chance.choice(sorted(arrays))
    array = arrays[name]
    ways: tuple[Callable[[], Any], ...] = (
        lambda: array.T,
        lambda: array[:-1],
        lambda: array[..., :-1],
        lambda: array[None],
        lambda: array.astype(chance.choice(("f2", "f4", "i1", "u8", "?", "c16", "U4", "O"))),
        lambda: np.array(chance.choice((0, 1, -1, 9, 2**40, np.nan, np.inf, 0.5))),
        lambda: _with_one(array, chance),
    )
    with np.errstate(all="ignore"), suppress(ValueError, TypeError, OverflowError):
        arrays[name] = chance.choice(ways)()
    if chance.random() < 0.2:
        arrays[chance.choice(("y", "batch", "feature_names", "names", "x2"))] = arrays.pop(name)
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def _with_one(array: Any, chance: random.Random) -> Any:
    """Return a copy of an array with one other number."""
    changed = array.astype("f8") if array.dtype.kind in "iub" else array.copy()
    changed.flat[chance.randrange(max(changed.size, 1))] = chance.choice(
        (-1, 99, np.nan, 0.5, 1e30)
    )
    return changed


def mutated_rows(document: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return a Parquet file with one other cell, without a column or a row; or any bytes."""
    if chance.random() < 0.4:
        return mutated_parquet(document, chance, others)
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(document))
    column = chance.choice((*table.column_names, "explanation", "explanation", "target", "error"))
    cells = table[column].to_pylist()
    at = chance.randrange(len(cells))
    way = chance.randrange(6)
    if way == 0:
        table = table.drop([column])
    elif way == 1:
        table = table.slice(0, at)
    elif way == 2:
        table = pa.concat_tables([table, table])
    elif isinstance(cells[at], str):
        cells[at] = mutated_json(cells[at].encode(), chance, [b"{}"]).decode(errors="replace")
        table = table.set_column(table.column_names.index(column), column, pa.array(cells))
    else:
        old = table.schema.field(column).type
        with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            cells[at] = chance.choice((None, 0, -1, 99, 0.5, "a", [], [1], 2**62))
            kind = old if chance.random() < 0.5 else None
            table = table.set_column(
                table.column_names.index(column), column, pa.array(cells, type=kind)
            )
    written = io.BytesIO()
    pq.write_table(table, written)
    return written.getvalue()
