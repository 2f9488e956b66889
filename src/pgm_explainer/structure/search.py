"""Structure searches by name, and custom searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import as_array, call_own, own_name, resolve
from ..choices import Choice, Described, UserDefined
from ..errors import InputError
from ..limits import brief
from .dag import DAG
from .exact import exact_search, exact_search_many
from .families import are_few
from .hill_climb import hill_climb
from .scores import Score

__all__ = [
    "SEARCHES",
    "CustomSearch",
    "NamedSearch",
    "StructureSearch",
    "as_search",
    "search",
    "search_many",
]

Problem = tuple[NDArray[np.integer[Any]], tuple[int, ...]]
"""Data ``[n, variables]`` and the cardinalities of the variables."""


def search(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: str | Score = "bic",
    max_parents: int | None = None,
) -> DAG:
    """Search exactly for a few variables, where this is fast, and by hill climbing for more."""
    sizes = as_array(cardinalities, "cardinalities")
    few = sizes.ndim == 1 and sizes.dtype.kind in "iu" and are_few(sizes)
    how = exact_search if few else hill_climb  # both validate the data
    return how(data, cardinalities, score=score, max_parents=max_parents)


SEARCHES: dict[str, Callable[..., DAG]] = {
    "auto": search,
    "hill_climb": hill_climb,
    "exact": exact_search,
}
"""The searches by name; each takes ``(data, cardinalities, score=…, max_parents=…)``."""


class StructureSearch(Choice, Protocol):
    """A search for the structure of a network."""

    @property
    def name(self) -> str: ...

    def __call__(self, data: Any, cardinalities: Any, score: Score, max_parents: int | None) -> Any:
        """Return a :class:`DAG`; the caller validates the result of a custom function."""
        ...


@dataclass(frozen=True)
class NamedSearch(Described):
    """One of :data:`SEARCHES`."""

    name: str

    def __call__(self, data: Any, cardinalities: Any, score: Score, max_parents: int | None) -> DAG:
        return SEARCHES[self.name](data, cardinalities, score=score, max_parents=max_parents)


@dataclass(frozen=True)
class CustomSearch(UserDefined):
    """A custom ``function(data [n, variables], cardinalities) -> DAG``."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return own_name(self.function, SEARCHES)

    def __call__(self, data: Any, cardinalities: Any, score: Score, max_parents: int | None) -> Any:
        usage = "(data [n, variables], cardinalities) -> DAG"
        what = "the structure search"
        return call_own(self.function, data, cardinalities, what=what, usage=usage)


_NAMED: dict[str, StructureSearch] = {name: NamedSearch(name) for name in SEARCHES}


def as_search(choice: Any) -> StructureSearch:
    """Return the search for a name or a custom function."""
    named = resolve(choice, "structure", _NAMED)
    if named is not None:
        return named
    if not callable(choice):
        raise InputError(
            f"structure must be a name ({', '.join(SEARCHES)}) or a function "
            f"(data, cardinalities) -> DAG, not {brief(choice)}"
        )
    return choice if isinstance(choice, (NamedSearch, CustomSearch)) else CustomSearch(choice)


def search_many(
    how: StructureSearch, problems: Sequence[Problem], score: Score, max_parents: int | None = None
) -> list[Any]:
    """Return the result of the search for each problem.

    Small problems of the search ``auto`` are solved together, which is faster.
    """
    found: dict[int, Any] = {}
    alike: dict[tuple[int, ...], list[int]] = {}
    for at, (data, cardinalities) in enumerate(problems):
        if how.name == "auto" and are_few(cardinalities):
            alike.setdefault((len(data), *cardinalities), []).append(at)
        else:
            found[at] = how(data, np.array(cardinalities), score, max_parents)
    for (_, *sizes), members in alike.items():
        data_sets = [problems[at][0] for at in members]
        dags = exact_search_many(data_sets, tuple(sizes), score=score, max_parents=max_parents)
        found.update(zip(members, dags, strict=True))
    return [found[at] for at in range(len(problems))]
