"""Odd values for any argument, and valid ones with something wrong, by a random generator."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData

_NUMBERS = (
    0,
    -1,
    1,
    2,
    3,
    7,
    2**31 + 1,
    -(2**63),
    2**63,
    2**64,
    10**30,
    0.0,
    -0.0,
    0.5,
    1.5,
    1e-320,
)
_MORE_NUMBERS = (1e308, float("nan"), float("inf"), -float("inf"), 1j, Decimal("NaN"), True, False)
_TEXTS = ("", " ", "a", "0", "0.1", "nan", "auto", "nodes", "node", "kept", "changed", "a\0b", "\n")
_MORE_TEXTS = ("\ud800", "‮abc", "{x}", "{0.__class__}", "<script>", "x" * 10_000, "../..", "é")
_DTYPES = ("f8", "f4", "f2", "i8", "u1", "u8", "?", "c16", "U3", "O", "M8[s]", "m8[s]", "S2", "V4")
_TENSOR_TYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)


class _Raising:
    """An object whose own methods fail."""

    def _fail(self, *_: Any, **__: Any) -> Any:
        raise KeyError("of the user's own")

    __len__ = __iter__ = __getitem__ = __float__ = __index__ = __call__ = __array__ = _fail
    __bool__ = __lt__ = __gt__ = __contains__ = _fail

    def __repr__(self) -> str:
        raise ValueError("no name")

    def __eq__(self, other: object) -> bool:
        raise KeyError("not comparable")

    def __hash__(self) -> int:
        raise KeyError("no hash")


class _Endless:
    """An iterable without an end."""

    def __iter__(self) -> Any:
        while True:
            yield 0


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def _raising(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("of the user's own")


def odd_value(chance: random.Random, depth: int = 0) -> Any:
    """Return a value of any kind, made anew, since some can be used only once."""
    kinds = _KINDS if depth < 2 else _KINDS[:4]
    return chance.choice(kinds)(chance, depth)


def _number(chance: random.Random, _: int) -> Any:
    value = chance.choice(_NUMBERS + _MORE_NUMBERS)
    if isinstance(value, float) and 0 <= value < 2 and chance.random() < 0.3:
        return chance.choice((np.float32, np.float16, Fraction, str))(value)
    return value


def _text(chance: random.Random, _: int) -> Any:
    value = chance.choice(_TEXTS + _MORE_TEXTS)
    return value.encode(errors="replace") if chance.random() < 0.1 else value


def _array(chance: random.Random, _: int) -> Any:
    shape = tuple(chance.choice((0, 1, 2, 3, 6)) for _ in range(chance.choice((0, 1, 1, 2, 2, 3))))
    array = np.zeros(shape, dtype=chance.choice(_DTYPES))
    if array.dtype.kind in "fc" and chance.random() < 0.3:
        array[...] = chance.choice((np.nan, np.inf, 1e30))
    if array.dtype.kind == "i" and chance.random() < 0.5:
        array[...] = chance.choice((-1, 1, 5, 2**62))
    return array


def _thing(chance: random.Random, _: int) -> Any:
    things: tuple[Callable[[], Any], ...] = (
        lambda: None,
        object,
        _Raising,
        _Endless,
        _cyclic,
        lambda: _nested(500),
        lambda: iter([1, 2]),
        lambda: range(3),
        lambda: slice(1),
        lambda: ...,
        lambda: NotImplemented,
        lambda: int,
        lambda: print,
        lambda: _raising,
        lambda: lambda x: x,
        lambda: lambda *_: None,
        lambda: Path("no") / "such",
        lambda: Data(),
        lambda: HeteroData(),
        lambda: Data(x=torch.ones(6, 3), edge_index=torch.ones(2, 4)),
        lambda: torch.nn.Linear(3, 2),
        lambda: Exception("e"),
        lambda: np.random.default_rng(0),
        lambda: memoryview(b"abc"),
        lambda: Fraction(1, 3),
        lambda: np.ma.masked_equal([1, 2, 3], 2),
        lambda: np.datetime64("NaT"),
        lambda: np.str_("a"),
        lambda: torch.zeros(chance.choice((0, 2, 6)), dtype=chance.choice(_TENSOR_TYPES)),
        lambda: torch.zeros(3, device="meta"),
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.ones(6, 3, requires_grad=True),
    )
    return chance.choice(things)()


def _collection(chance: random.Random, depth: int) -> Any:
    items = [odd_value(chance, depth + 1) for _ in range(chance.choice((0, 1, 1, 2, 3, 6)))]
    kind = chance.choice(("list", "tuple", "dict", "set", "iterator"))
    if kind == "dict":
        keys = [chance.choice((0, 3, "a", "nodes", None, 1.5, (0, 1))) for _ in items]
        return dict(zip(keys, items, strict=True))
    if kind == "set":
        return {each for each in items if isinstance(each, (int, str, float))}
    return tuple(items) if kind == "tuple" else iter(items) if kind == "iterator" else items


_KINDS: tuple[Callable[[random.Random, int], Any], ...] = (
    *(_number, _text, _array, _thing, _number, _text, _thing, _collection, _collection),
)


def spoiled(value: Any, chance: random.Random) -> Any:
    """Return a valid value with something wrong, or an odd value in its place."""
    if chance.random() < 0.4:
        return odd_value(chance)
    if isinstance(value, np.ndarray) and value.size:
        return _spoiled_array(value, chance)
    if isinstance(value, torch.Tensor):
        return torch.as_tensor(_spoiled_array(value.numpy(), chance, numeric=True))
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice(("", "x", "\0", " ", "9", ",", "=")) + value[at + 1 :]
    if isinstance(value, Mapping) and value:
        return _spoiled_mapping(dict(value), chance)
    if isinstance(value, (list, tuple)) and value:
        changed = list(value)
        at = chance.randrange(len(changed))
        if chance.random() < 0.2:
            return type(value)(changed[:at])
        changed[at] = spoiled(changed[at], chance)
        return changed if isinstance(value, list) else tuple(changed)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        new = chance.choice((-value, value + 0.5, str(value), [value], np.array(value), 2**40))
        return chance.choice((new, np.float64(value), Fraction(value)))
    return odd_value(chance)


def _spoiled_mapping(value: dict[Any, Any], chance: random.Random) -> dict[Any, Any]:
    key = chance.choice(list(value))
    if chance.random() < 0.3:
        value[chance.choice((None, "no such", 99, 1.5, (1,)))] = value.pop(key)
    else:
        value[key] = spoiled(value[key], chance)
    return value


def _spoiled_array(value: Any, chance: random.Random, numeric: bool = False) -> Any:
    ways: list[Callable[[], Any]] = [
        lambda: value.T.copy(),
        lambda: value[:-1],
        lambda: value[None],
        lambda: value.ravel(),
        lambda: value.astype("f8") * chance.choice((np.nan, np.inf, 1e300, -1)),
        lambda: value.astype("f8") + 0.5,
        lambda: -value - 1,
        lambda: value.astype("f8") * 1e17 + 2**62,
        lambda: value[:0],
    ]
    if not numeric:
        ways += [
            lambda: value.astype(object),
            lambda: value.astype(str),
            lambda: value.tolist(),
            lambda: np.ma.masked_equal(value, value.flat[0]),
            lambda: value.astype("c16") * 1j,
        ]
    with np.errstate(all="ignore"):
        return chance.choice(ways)()
