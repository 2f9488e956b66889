"""User-defined options that other processes must recognise."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from functools import partial

import numpy as np

from pgm_explainer.dataset.identity import identity
from pgm_explainer.structure import DAG, as_search


def above(before, after, t=0.1):
    """A change: the probability of the predicted class fell by more than ``t``."""
    classes = before.argmax(axis=-1)
    at = np.arange(len(classes))
    return (before[at, classes] - after[:, at, classes] > t).astype(int)


def no_edges(data, cardinalities, note=""):
    return DAG(len(cardinalities))


class Threshold:
    """A callable object that holds a value."""

    def __init__(self, t):
        self._t = t

    def __call__(self, before, after):
        return above(before, after, self._t)


@dataclass(frozen=True)
class Search:
    note: str

    def __call__(self, data, cardinalities):
        return no_edges(data, cardinalities)


class Locked:
    """Has a lock, which cannot be described."""

    def __init__(self, name=None):
        self.lock = threading.Lock()
        if name is not None:
            self.name = name

    def __call__(self, data, cardinalities):
        return no_edges(data, cardinalities)


def closure(t):
    def inner(before, after):
        return above(before, after, t) if t in {"a", "b", "c", 0.1, 0.2} else 0

    return inner


def recursive():
    def inner(n):
        return inner(n - 1) if n else 0

    return inner


OPTIONS = {
    "function": above,
    "partial": partial(above, t=0.2),
    "object": Threshold(0.2),
    "method": Threshold(0.2).__call__,
    "dataclass": Search("a"),
    "lambda": lambda before, after: above(before, after, 0.2),
    "closure": closure(0.2),
    "recursive": recursive(),
    "array": partial(above, t=np.array([0.2])),
    "number of NumPy": partial(above, t=np.float64(0.2)),
    "set": partial(no_edges, note={"a", "b", "c", "d", "e"}),
    "ufunc": np.add,
    "builtin": max,
    "method of a list": [1, 2].append,
    "class": Threshold,
    "named": Locked("mine"),
    "generator": partial(above, t=np.random.default_rng(0)),
}

if __name__ == "__main__":
    for name, option in OPTIONS.items():
        described = as_search(option).describe().name
        sys.stdout.write(f"{name}|{identity(option)}|{described}\n")
