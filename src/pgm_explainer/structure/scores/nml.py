"""The regret of the normalised maximum likelihood (NML) of a multinomial distribution."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["log_regret", "log_regrets"]

_EXACT_STATES = 4096
"""Up to this many states the recurrence is used, and an approximation beyond."""


def log_regret(samples: int, states: ArrayLike) -> NDArray[np.float64]:
    """Return log C(n, K): C is the sum of the maximum likelihoods of all sequences of n samples.

    Exact up to 4,096 states (Kontkanen and Myllymäki, 2007); beyond, Szpankowski's and Weinberger's
    approximation (2012), whose relative error is below 1e-5 there.

    Examples:
        >>> log_regret(3, [1, 2]).round(4).tolist()  # C(3, 2) = 1 + 4/9 + 4/9 + 1
        [0.0, 1.0609]
    """
    number = np.asarray(states, dtype=np.float64)
    few = number <= _EXACT_STATES
    exact = _regrets_by_states(samples)[np.where(few, number, 1).astype(np.int64) - 1]
    if few.all():
        return exact
    ratio = number / samples
    root = 0.5 + 0.5 * np.sqrt(1 + 4 / ratio)
    many = samples * (np.log(ratio) + (ratio + 2) * np.log(root) - 1 / root)
    return np.where(few, exact, many - 0.5 * np.log(root + 2 / ratio))


@lru_cache(maxsize=64)
def _regrets_by_states(samples: int) -> NDArray[np.float64]:
    """Return log C(n, K) for K = 1, 2, …; C(n, K + 2) = C(n, K + 1) + (n / K) C(n, K)."""
    logs = np.zeros(_EXACT_STATES)
    logs[1] = np.log(_two_states(np.array([samples]))[0])
    # The ratio of successive values stays moderate, while the values themselves overflow.
    ratio = float(np.exp(logs[1]))
    for states in range(1, _EXACT_STATES - 1):
        ratio = 1 + samples / (states * ratio)
        logs[states + 1] = logs[states] + np.log(ratio)
    return logs


@lru_cache(maxsize=64)
def log_regrets(most: int, states: int) -> NDArray[np.float64]:
    """Return log C(n, K) for n = 0, 1, …, ``most``."""
    samples = np.arange(most + 1)
    logs = np.zeros(most + 1)
    if states == 1:
        return logs
    ratio = _two_states(samples)
    logs += np.log(ratio)
    for fewer in range(1, states - 1):
        ratio = 1 + samples / (fewer * ratio)
        logs += np.log(ratio)
    return logs


def _two_states(samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return C(n, 2) = the sum over k of n! / ((n - k)! n^k); terms fall like exp(-k² / 2n)."""
    total, term = np.ones(len(samples)), np.ones(len(samples))
    size = np.maximum(samples, 1)
    for k in range(1, 10 * isqrt(int(samples.max(initial=0))) + 10):
        term = term * np.maximum(samples - k + 1, 0) / size
        total += term
    return total
