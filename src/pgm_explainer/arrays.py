"""Validation of user input, and conversion to NumPy arrays.

Arrays are copied only if necessary, and the caller's arrays are never modified.
"""

from __future__ import annotations

import operator
import re
import reprlib
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sized
from functools import partial
from itertools import islice
from math import prod
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .choices import Recorded
from .errors import InputError, PGMExplainerError
from .limits import EXPANDED_BYTES, EXPANSION, LISTED, as_size, brief

__all__ = [
    "FloatArray",
    "IntArray",
    "as_array",
    "as_label",
    "as_list",
    "call_own",
    "check_edge_index",
    "check_features",
    "check_flag",
    "check_fraction",
    "check_name",
    "check_node",
    "check_not_negative",
    "check_optional_flag",
    "check_string",
    "check_whole_number",
    "described",
    "has_attributes",
    "is_number",
    "items_of",
    "own_name",
    "plain_list",
    "resolve",
    "without_address",
]

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]
Chosen = TypeVar("Chosen")

_PER_CHECK = 1 << 22
_LARGEST = 2**31
_MOST_REPEATED = EXPANSION * EXPANDED_BYTES
"""The maximum size of an array that repeats its data, such as one made by ``np.broadcast_to``."""
_SHORT = reprlib.Repr()  # sorts sets, whose order differs between processes
_SHORT.maxother = _SHORT.maxstring = 200


def as_array(value: Any, what: str) -> NDArray[Any]:
    """Return ``value`` as a NumPy array; tensors are detached and moved to the CPU.

    Raises:
        InputError: ``value`` cannot be converted to an array of numbers.

    Examples:
        >>> as_array([[1, 2], [3, 4]], "x").shape
        (2, 2)
    """
    try:
        if hasattr(value, "detach"):  # a torch tensor, recognised without importing torch
            value = value.detach().cpu()
            if "bfloat16" in str(value.dtype):  # not supported by NumPy
                value = value.float()
            value = value.numpy()
        if isinstance(value, range) and len(value) > LISTED:
            raise MemoryError(f"a range of {len(value):,} numbers is too large")
        array = np.asarray(value)
        if 0 in array.strides and array.nbytes > _MOST_REPEATED:
            raise MemoryError(f"it repeats its numbers up to {as_size(array.nbytes)}")
        if array.dtype.kind == "O" and has_attributes(value, "toarray"):
            raise TypeError("it is a sparse matrix; pass its toarray()")
    except Exception as error:  # an object of any type may be passed, and raise anything
        raise InputError(f"{what} cannot be read as an array: {error}") from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what} must hold real numbers, but its type is {array.dtype}")
    return array


def has_attributes(value: Any, *names: str) -> bool:
    """Return whether a value has all these attributes, even if reading one raises an error."""
    try:
        return all(hasattr(value, name) for name in names)
    except Exception:  # a property may raise anything
        return False


def as_list(value: Any) -> list[Any] | None:
    """Return the items of a collection; None for other values and 0-dimensional arrays.

    Raises:
        InputError: it has too many items, or iterating over it fails.
    """
    if not isinstance(value, Iterable):
        return None
    try:
        size = len(value) if isinstance(value, Sized) else 0
        of_all = prod(getattr(value, "shape", ()))  # the rows of an array are arrays too
        fits = size <= LISTED and of_all <= EXPANSION * LISTED
        found = list(islice(value, LISTED + 1)) if fits else []
    except (NotImplementedError, TypeError):  # declares itself iterable, but is not
        return None
    except Exception as error:  # a generator of the caller may raise anything
        raise InputError(
            f"the items of a {type(value).__name__} cannot be read: {type(error).__name__}: {error}"
        ) from error
    if not fits or len(found) > LISTED:
        raise InputError(
            f"a {type(value).__name__} has more than {LISTED:,} items; pass fewer, or an array"
        )
    return found


def plain_list(value: Any) -> list[Any] | None:
    """Return the items as :func:`as_list` does; those of a NumPy vector as Python values."""
    found = as_list(value)
    is_vector = isinstance(value, np.ndarray) and value.ndim == 1
    return value.tolist() if is_vector else found


def items_of(mapping: Mapping[Any, Any], what: str) -> list[tuple[Any, Any]]:
    """Return the items of a mapping, whose own methods may raise anything."""
    try:
        return list(mapping.items())
    except Exception as error:
        raise InputError(f"{what} cannot be read: {type(error).__name__}: {error}") from None


def as_label(value: Any) -> str:
    """Return a name as a plain string; the conversion of an object may raise anything."""
    try:
        return str.__str__(value) if isinstance(value, str) else str(value)
    except Exception:
        raise InputError(f"{brief(value)} cannot be a name") from None


def check_features(x: Any, with_steps: bool = False) -> FloatArray:
    """Return node features as a finite matrix ``[N, F]`` of floats; integers stay integers.

    Args:
        with_steps: whether an array ``[N, T, F]`` with several time steps is valid too.
    """
    array = as_array(_dense(x), "x")
    if array.ndim not in ((2, 3) if with_steps else (2,)) or 0 in array.shape:
        or_steps = ", or an array [nodes, time steps, features]," if with_steps else ""
        raise InputError(
            f"x must be a matrix [nodes, features]{or_steps} with at least one node and one "
            f"feature, but its shape is {array.shape}"
        )
    if array.dtype.kind in "iu":  # such as the indices of an embedding, which must stay integers
        return array.astype(np.int64, copy=False)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float32)
    # In blocks of rows, so that no temporary array is as large as the matrix.
    rows = max(1, _PER_CHECK // prod(array.shape[1:]))
    for start in range(0, len(array), rows):
        finite = np.isfinite(array[start : start + rows])
        if not finite.all():
            row, *others = np.argwhere(~finite)[0].tolist()
            at = (start + row, *others)
            raise InputError(
                f"x[{', '.join(map(str, at))}] is {array[at]}: every feature must be finite; "
                f"clean or impute the features first"
            )
    return array


def _dense(x: Any) -> Any:
    """Return a sparse matrix of SciPy or PyTorch as a dense array, which models need."""
    is_sparse = has_attributes(x, "toarray") or (
        has_attributes(x, "layout", "to_dense") and "sparse" in str(x.layout)
    )
    if not is_sparse:
        return x
    try:
        size = 8 * prod(x.shape)
        if size > _MOST_REPEATED:
            raise MemoryError(f"it would take {as_size(size)}")
        return x.toarray() if hasattr(x, "toarray") else x.to_dense()
    except Exception as error:  # too large, or an object of any other type
        raise InputError(f"x cannot be made a dense matrix: {error}") from error


def check_edge_index(edge_index: Any, num_nodes: int) -> IntArray:
    """Return edges as integers ``[2, E]``, the source row first."""
    array = as_array(edge_index, "edge_index")
    if array.size == 0 and array.shape in ((0,), (2, 0), (0, 2)):
        return np.zeros((2, 0), dtype=np.int64)
    if array.ndim != 2 or array.shape[0] != 2:
        hint = "; pass its transpose" if array.ndim == 2 and array.shape[1] == 2 else ""
        if array.shape == (num_nodes, num_nodes):
            hint = "; pass an adjacency matrix as a sparse one, scipy.sparse.coo_array(adjacency)"
        raise InputError(f"edge_index must have shape [2, edges], not {array.shape}{hint}")
    if array.dtype.kind not in "iu":
        raise InputError(f"edge_index must hold integers, but its type is {array.dtype}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= num_nodes:
        bad = low if low < 0 else high
        raise InputError(
            f"edge_index contains node {bad}, but x has rows for nodes 0 to {num_nodes - 1} only"
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def check_whole_number(value: Any, what: str, at_least: int, at_most: int | None = None) -> int:
    """Return ``value`` as an int within these limits; bools and fractions are errors."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except Exception:  # TypeError, or whatever an object's own conversion raises
        raise InputError(f"{what} must be a whole number, not {brief(value)}") from None
    if number < at_least:
        raise InputError(f"{what} must be at least {at_least}, not {number}")
    if at_most is not None and number > at_most:
        raise InputError(f"{what} must be at most {at_most:,}, not {brief(number)}")
    return number


def is_number(value: Any) -> bool:
    """Return whether a value is a real number of any type except bool."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.timedelta64)):
        return False
    try:
        float(value)
    except OverflowError:  # an integer that is too large
        return True
    except Exception:  # an object's own conversion may raise anything
        return False
    return True


def check_fraction(value: Any, what: str) -> None:
    """Raise an InputError unless a value is a number between 0 and 1.

    Examples:
        >>> check_fraction("0.1", "perturb_probability")
        Traceback (most recent call last):
        ...
        pgm_explainer.errors.InputError: perturb_probability must be a number between 0 and 1, ...
    """
    try:
        is_inside = is_number(value) and bool(0 < value < 1)
    except Exception:  # a number of the caller's own type may raise anything when compared
        is_inside = False
    if not is_inside:
        way_out = "; remove the quotes" if isinstance(value, str) else ""
        raise InputError(
            f"{what} must be a number between 0 and 1, such as 0.1 (both excluded), "
            f"not {brief(value)}{way_out}"
        )


def check_name(value: Any, what: str, known: Collection[str]) -> str:
    """Return a name that must be one of the known ones, as a plain string.

    Raises:
        InputError: it is unknown; the error lists the known ones.
    """
    # A string of the caller's own type may raise anything when compared or hashed.
    name = str.__str__(value) if isinstance(value, str) else ""
    if not name or name not in known:
        raise InputError(f"unknown {what} {brief(value)}; choose one of: {', '.join(known)}")
    return name


def check_string(value: Any, what: str) -> None:
    """Raise an InputError unless a value is a string."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {brief(value)}")


def check_flag(value: Any, what: str) -> bool:
    """Return a value that must be True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{what} must be True or False, not {brief(value)}")
    return value


def check_optional_flag(value: Any, what: str) -> bool | None:
    """Return a value that must be True, False or None."""
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{what} must be True, False or None, not {brief(value)}")
    return value


def check_not_negative(value: Any, what: str) -> None:
    """Raise an InputError unless a value is a number of at least 0 and below 2**31."""
    if not is_number(value) or not 0 <= value < _LARGEST:
        raise InputError(f"{what} must be a number of at least 0, not {brief(value)}")


def check_node(node: Any, num_nodes: int, what: str = "target") -> int:
    """Return ``node`` as an index into a graph of ``num_nodes`` nodes."""
    number = check_whole_number(node, what, at_least=0)
    if number >= num_nodes:
        there = "there are graphs" if what == "graph" else "the graph has nodes"
        raise InputError(f"{what} {number} is out of range: {there} 0 to {num_nodes - 1}")
    return number


def call_own(
    function: Callable[..., Any],
    *arguments: Any,
    what: str,
    usage: str,
    error: type[PGMExplainerError] = InputError,
) -> Any:
    """Call a custom function; any exception becomes an error of this package.

    Args:
        function: called with ``arguments``.
        what: the name of the function in the error.
        usage: the signature of the call, such as ``(x, rng) -> x``.
        error: the class of the error.
    """
    try:
        return function(*arguments)
    except PGMExplainerError:
        raise
    except Exception as cause:  # a custom function may raise anything
        raise error(
            f"{what} failed: {type(cause).__name__}: {cause}; it is called as {usage}"
        ) from cause


def own_name(function: Callable[..., Any], known: Container[str]) -> str:
    """Return the name of a custom function, marked if a built-in choice has the same name.

    Examples:
        >>> def zero(x, rng): ...
        >>> own_name(zero, ["mean"]), own_name(zero, ["mean", "zero"])
        ('zero', 'own zero')
    """
    name = described(function)
    return f"own {name}" if name in known else name


def described(value: Any) -> str:
    """Return the name of a custom function or object, the same in every process.

    Examples:
        >>> def zero(x, rng): ...
        >>> described(zero), described(partial(zero, 1, rng=None)), described(object())
        ('zero', 'zero(1, rng=None)', 'object')
    """
    if isinstance(value, partial):
        bound = [*map(_shown, value.args)]
        bound += [f"{name}={_shown(each)}" for name, each in value.keywords.items()]
        return f"{described(value.func)}({', '.join(bound)})"
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return name
    kind: Any = type(value)
    return kind.__name__ if kind.__repr__ is object.__repr__ else _shown(value)


def _shown(value: Any) -> str:
    return without_address(_SHORT.repr(value))


def without_address(text: str) -> str:
    """Return a representation without memory addresses, which differ between processes."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def resolve(choice: Any, what: str, known: Mapping[str, Chosen]) -> Chosen | None:
    """Look up a name; return None if the choice is not a string.

    A :class:`~pgm_explainer.choices.Recorded` is returned unchanged.

    Raises:
        InputError: the name is unknown; the error lists the known ones.
    """
    if isinstance(choice, Recorded):
        return cast(Chosen, choice)
    return known[check_name(choice, what, known)] if isinstance(choice, str) else None
