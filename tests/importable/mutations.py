"""Changes to files, by a seed: bytes, pieces, numbers, members of archives."""

from __future__ import annotations

import io
import random
import re
import zipfile

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


def _flip(document, chance, others):
    if not document:
        return b"\0"
    at = chance.randrange(len(document))
    return document[:at] + bytes([document[at] ^ (1 << chance.randrange(8))]) + document[at + 1 :]


def _put(document, chance, others):
    start, stop = _place(document, chance)
    return document[:start] + chance.choice(TOKENS) + document[stop:]


def _noise(document, chance, others):
    start, stop = _place(document, chance)
    return document[:start] + chance.randbytes(chance.choice([1, 4, 8])) + document[stop:]


def _remove(document, chance, others):
    start, stop = _place(document, chance)
    return document[:start] + document[stop:]


def _double(document, chance, others):
    start, stop = _place(document, chance)
    return document[:stop] + document[start:stop] * chance.choice([1, 2, 30]) + document[stop:]


def _splice(document, chance, others):
    other = chance.choice(others)
    return document[: chance.randint(0, len(document))] + other[chance.randint(0, len(other)) :]


def _number(document, chance, others):
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
