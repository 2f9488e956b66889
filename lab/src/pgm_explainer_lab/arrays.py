"""Array types, and checks of arguments that data sets share."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pgm_explainer import InputError

__all__ = ["FloatArray", "IntArray", "choose", "seeded"]

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]
Chosen = TypeVar("Chosen")


def seeded(seed: Any) -> np.random.Generator:
    """Return a generator of random numbers.

    Raises:
        InputError: the seed is not a whole number of at least 0.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        raise InputError(f"seed must be a whole number, not {seed!r}") from None
    if isinstance(seed, bool) or number < 0:
        raise InputError(f"seed must be a whole number of at least 0, not {seed!r}")
    return np.random.default_rng(number)


def choose(name: Any, what: str, known: Mapping[str, Chosen]) -> Chosen:
    """Return the entry with a name.

    Raises:
        InputError: there is none; the error lists the valid names.

    Examples:
        >>> choose("b", "letter", {"a": 1, "b": 2})
        2
    """
    if not isinstance(name, str) or name not in known:
        raise InputError(f"unknown {what} {name!r}; choose one of: {', '.join(known)}")
    return known[name]
