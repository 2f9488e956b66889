"""Engines that run jobs: in this process, in several processes, or on a Ray cluster.

Examples:
    >>> from pgm_explainer.engines import LocalEngine, Prepare
    >>> def prepare():  # a Prepare: called once in each worker, returns what is called on each task
    ...     return lambda task: task**2
    >>> sorted(LocalEngine().map(prepare, [2, 3]))
    [4, 9]
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..arrays import resolve
from ..errors import InputError
from ..limits import brief
from .base import Engine, Lost, Prepare
from .local import LocalEngine
from .processes import ProcessEngine
from .ray import RayEngine

__all__ = [
    "Engine",
    "LocalEngine",
    "Lost",
    "Prepare",
    "ProcessEngine",
    "RayEngine",
    "as_engine",
]

ENGINES: dict[str, Callable[[], Engine]] = {
    "local": LocalEngine,
    "processes": ProcessEngine,
    "ray": RayEngine,
}


def as_engine(choice: Any) -> Engine:
    """Return an engine by name; an engine object is returned unchanged.

    Examples:
        >>> as_engine("processes")
        ProcessEngine(workers=None)
    """
    make = resolve(choice, "engine", ENGINES)
    if make is not None:
        return make()
    # A method ``map`` is not enough: collections such as data frames may have one, too.
    if isinstance(choice, (type, Collection)) or not hasattr(choice, "map"):
        raise InputError(
            f"engine must be a name ({', '.join(ENGINES)}) or an engine, not {brief(choice)}"
        )
    return choice
