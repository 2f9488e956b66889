"""The identity of user-defined functions and objects, the same in every process.

A resumed job must detect whether an option has changed. A function is identified by its location,
its code and its bound values; an object by its class and its state, as pickle would store it.
Anything without such an identity is refused, because changes to it could not be detected.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable, Mapping, Set
from enum import Enum
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from ..arrays import without_address

__all__ = ["NoIdentityError", "digest", "identity"]

_DEEPEST, _MOST = 40, 1_000_000


class NoIdentityError(Exception):
    """Raised for a value without an identity; the message describes the value."""


def identity(value: Any) -> str:
    """Return a checksum of a value's identity, the same in every process.

    Raises:
        NoIdentityError: the value has no identity.

    Examples:
        >>> def above(x, t): ...
        >>> identity(partial(above, t=0.2)) == identity(partial(above, t=0.2))
        True
        >>> identity(partial(above, t=0.2)) == identity(partial(above, t=0.3))
        False
    """
    return hashlib.sha256(repr(_Traversal().identify(value)).encode()).hexdigest()


def digest(parts: Iterable[tuple[str, Any]]) -> str:
    """Return a checksum of named arrays, tensors and plain values."""
    known = hashlib.sha256()
    for name, value in parts:
        array = _as_array(value)
        if array is None:
            known.update(f"{name}: {without_address(repr(value))}\n".encode())
            continue
        known.update(f"{name}: {array.dtype.str} {array.shape}\n".encode())
        known.update(np.ascontiguousarray(array).data)
    return known.hexdigest()


def _as_array(value: Any) -> np.ndarray[Any, Any] | None:
    if hasattr(value, "detach"):  # a tensor
        value = value.detach().cpu()
        value = value.float().numpy() if "bfloat16" in str(value.dtype) else value.numpy()
    return value if isinstance(value, np.ndarray) else None


class _Traversal:
    """Traverses a value and everything it contains."""

    def __init__(self) -> None:
        self._ancestors: list[int] = []
        self._visited = 0

    def identify(self, value: Any) -> Any:
        """Return a value's identity as strings, numbers and tuples, which have a stable repr."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, type(...))):
            return type(value).__name__, value
        if id(value) in self._ancestors:  # such as a recursive function
            return "above", len(self._ancestors) - self._ancestors.index(id(value))
        self._visited += 1
        if len(self._ancestors) > _DEEPEST or self._visited > _MOST:
            raise NoIdentityError(f"a {type(value).__name__} that contains too much")
        self._ancestors.append(id(value))
        try:
            return self._by_type(value)
        finally:
            self._ancestors.pop()

    def identify_all(self, *values: Any) -> tuple[Any, ...]:
        return tuple(self.identify(value) for value in values)

    def _by_type(self, value: Any) -> Any:
        match value:
            case Enum() | PurePath() | np.dtype():
                return type(value).__qualname__, str(value)
            case types.CodeType():
                names = (value.co_names, value.co_varnames, value.co_freevars)
                return ("code", value.co_code, *names, *self.identify_all(*value.co_consts))
            case types.FunctionType():
                return (
                    "function",
                    _place(value),
                    *self.identify_all(*_bound(value), value.__code__),
                )
            case types.MethodType():
                return ("method", *self.identify_all(value.__func__, value.__self__))
            case partial():
                return ("partial", *self.identify_all(value.func, value.args, value.keywords))
            case Mapping():
                items = [self.identify_all(key, each) for key, each in value.items()]
                return ("mapping", _place(type(value)), *sorted(items, key=repr))
            case Set():
                return ("set", *sorted(self.identify_all(*value), key=repr))
            case list() | tuple():
                return (type(value).__name__, *self.identify_all(*value))
            case types.BuiltinFunctionType() if value.__self__ is not None and not isinstance(
                value.__self__, types.ModuleType
            ):
                return ("method", value.__name__, self.identify(value.__self__))
            case type() | types.BuiltinFunctionType() | np.ufunc():
                return "named", _place(value)
        return self._by_state(value)

    def _by_state(self, value: Any) -> Any:
        """Return an object's identity from its array, its weights, its state or its name."""
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            array = _as_array(value)
            return "array", digest([("", np.asarray(value) if array is None else array)])
        if callable(getattr(value, "state_dict", None)):
            return "module", _place(type(value)), digest(value.state_dict().items())
        try:
            return ("object", *self.identify_all(*_state(value)))
        except NoIdentityError:
            name = getattr(value, "name", None)
            if isinstance(name, str):
                return "called", _place(type(value)), name
            raise


def _bound(function: types.FunctionType) -> tuple[Any, ...]:
    """Return the values bound to a function: argument defaults and closure."""
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError as error:
        raise NoIdentityError(
            f"{function.__name__}, which uses a variable without a value"
        ) from error
    return function.__defaults__, function.__kwdefaults__, cells


def _state(value: Any) -> list[Any]:
    """Return what pickle would store: constructor, arguments and state."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception as error:  # the object's method may raise anything
        raise NoIdentityError(f"{type(value).__name__} ({error})") from error
    if isinstance(reduced, str):
        return [type(value), reduced]
    items = [list(each) if each is not None else None for each in reduced[3:5]]
    return [*reduced[:3], *items]


def _place(named: Any) -> str:
    name = getattr(named, "__qualname__", None) or getattr(named, "__name__", None)
    if name is None:
        raise NoIdentityError(type(named).__name__)
    return f"{getattr(named, '__module__', None)}:{name}"
