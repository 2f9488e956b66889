"""Structure searches behind their names, and searches of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import ArrayLike

from ..arrays import as_array, call_own, own_name, resolve
from ..choices import Choice, Described, UserDefined
from ..errors import InputError
from .dag import DAG
from .exact import exact_search
from .families import are_few
from .hill_climb import hill_climb
from .scores import Score

__all__ = ["SEARCHES", "CustomSearch", "NamedSearch", "StructureSearch", "as_search", "search"]


def search(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: str | Score = "bic",
    max_parents: int | None = None,
) -> DAG:
    """Search exactly where that is the cheaper way, for a few variables, else by hill climbing."""
    sizes = as_array(cardinalities, "cardinalities")
    few = sizes.ndim == 1 and sizes.dtype.kind in "iu" and are_few(sizes)
    how = exact_search if few else hill_climb  # which check the data
    return how(data, cardinalities, score=score, max_parents=max_parents)


SEARCHES: dict[str, Callable[..., DAG]] = {
    "auto": search,
    "hill_climb": hill_climb,
    "exact": exact_search,
}
"""The searches by name; each takes ``(data, cardinalities, score=…, max_parents=…)``."""


class StructureSearch(Choice, Protocol):
    """Finds the structure of a network."""

    @property
    def name(self) -> str: ...

    def __call__(self, data: Any, cardinalities: Any, score: Score, max_parents: int | None) -> Any:
        """Return a :class:`DAG`; what a user's own function returns is checked by the caller."""
        ...


@dataclass(frozen=True)
class NamedSearch(Described):
    """One of :data:`SEARCHES`."""

    name: str

    def __call__(self, data: Any, cardinalities: Any, score: Score, max_parents: int | None) -> DAG:
        return SEARCHES[self.name](data, cardinalities, score=score, max_parents=max_parents)


@dataclass(frozen=True)
class CustomSearch(UserDefined):
    """A user's own ``function(data [n, variables], cardinalities) -> DAG``."""

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
    """Return the search meant by a name or a user's own function."""
    named = resolve(choice, "structure", _NAMED)
    if named is not None:
        return named
    if not callable(choice):
        raise InputError(
            f"structure must be a name ({', '.join(SEARCHES)}) or a function "
            f"(data, cardinalities) -> DAG, not {choice!r}"
        )
    return choice if isinstance(choice, (NamedSearch, CustomSearch)) else CustomSearch(choice)
