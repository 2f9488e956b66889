"""Structure searches by name, with their parameters, and custom searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import (
    as_array,
    call_own,
    check_name,
    check_whole_number,
    is_number,
    own_name,
    resolve,
)
from ..choices import Choice, Described, UserDefined
from ..errors import InputError
from ..independence import TESTS
from ..limits import REPETITIONS, brief
from .bootstrap import averaged_dag, edge_weights, resampled_rows
from .dag import DAG
from .exact import exact_search, exact_search_many
from .families import are_few
from .ges import ges
from .hill_climb import hill_climb
from .mmhc import mmhc
from .order import order_search
from .pc import pc
from .scores import as_score, check_data
from .skeleton import TestOptions

__all__ = [
    "SEARCHES",
    "BootstrapSearch",
    "CustomSearch",
    "GESSearch",
    "MMHCSearch",
    "NamedSearch",
    "OrderSearch",
    "PCSearch",
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
    score: Any = "bic",
    max_parents: int | None = None,
) -> DAG:
    """Search exactly for a few variables, where this is fast, and by hill climbing for more.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: a name in :data:`SCORES` or an object like those.
        max_parents: the maximum number of parents of a variable; None for no limit.

    Examples:
        >>> from pgm_explainer.structure import search
        >>> search([[0, 0], [1, 1]] * 50, [2, 2]).edges
        ((0, 1),)
    """
    sizes = as_array(cardinalities, "cardinalities")
    few = sizes.ndim == 1 and sizes.dtype.kind in "iu" and are_few(sizes)
    how = exact_search if few else hill_climb  # both validate the data
    return how(data, cardinalities, score=score, max_parents=max_parents)


class StructureSearch(Choice, Protocol):
    """A search for the structure of a network."""

    @property
    def name(self) -> str: ...

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> Any:
        """Return a :class:`DAG`; the caller validates the result of a custom function."""
        ...


_PLAIN: dict[str, Callable[..., DAG]] = {
    "auto": search,
    "hill_climb": hill_climb,
    "exact": exact_search,
}


@dataclass(frozen=True)
class NamedSearch(Described):
    """A search without parameters: ``auto``, ``hill_climb`` or ``exact``."""

    name: str

    def __post_init__(self) -> None:
        check_name(self.name, "structure", _PLAIN)

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> DAG:
        return _PLAIN[self.name](data, cardinalities, score=score, max_parents=max_parents)


@dataclass(frozen=True)
class GESSearch(Described):
    """Greedy search over equivalence classes, :func:`ges`.

    Examples:
        >>> from pgm_explainer import GESSearch
        >>> GESSearch()([[0, 0], [1, 1]] * 50, [2, 2]).edges
        ((0, 1),)
    """

    name: str = field(default="ges", init=False)
    limits_parents: ClassVar[bool] = False

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> DAG:
        _refuse_limit(self.name, max_parents)
        return ges(data, cardinalities, score=score)


@dataclass(frozen=True)
class PCSearch(Described):
    """The PC algorithm, :func:`pc`; it uses tests and no score.

    Attributes:
        test: the independence test, ``g`` or ``chi_square``.
        significance: the significance level.
        max_condition: the largest number of variables that a test conditions on.

    Examples:
        >>> from pgm_explainer import PCSearch
        >>> rows = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]] * 50  # 1 is the AND of 0 and 2
        >>> PCSearch(significance=0.01)(rows, [2, 2, 2]).edges
        ((0, 1), (2, 1))
    """

    test: str = "g"
    significance: float = 0.05
    max_condition: int = 3
    name: str = field(default="pc", init=False)
    limits_parents: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_tests(self)

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> DAG:
        _refuse_limit(self.name, max_parents)
        return pc(
            data,
            cardinalities,
            test=self.test,
            significance=self.significance,
            max_condition=self.max_condition,
        )


@dataclass(frozen=True)
class MMHCSearch(Described):
    """Max-min hill climbing, :func:`mmhc`.

    Attributes:
        test, significance, max_condition: as in :class:`pgm_explainer.PCSearch`.

    Examples:
        >>> from pgm_explainer import MMHCSearch
        >>> MMHCSearch(test="chi_square")([[0, 0], [1, 1]] * 50, [2, 2]).edges
        ((0, 1),)
    """

    test: str = "g"
    significance: float = 0.05
    max_condition: int = 3
    name: str = field(default="mmhc", init=False)

    def __post_init__(self) -> None:
        _check_tests(self)

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> DAG:
        return mmhc(
            data,
            cardinalities,
            score=score,
            max_parents=max_parents,
            test=self.test,
            significance=self.significance,
            max_condition=self.max_condition,
        )


@dataclass(frozen=True)
class OrderSearch(Described):
    """Order-based search, :func:`order_search`.

    Attributes:
        beam: how many sets of parents of each size are extended.
        restarts: the number of random orders to start from.
        seed: seed of these orders.

    Examples:
        >>> from pgm_explainer import OrderSearch
        >>> OrderSearch(restarts=2)([[0, 0], [1, 1]] * 50, [2, 2]).edges
        ((0, 1),)
    """

    beam: int = 10
    restarts: int = 5
    seed: int = 0
    name: str = field(default="order", init=False)

    def __post_init__(self) -> None:
        _check_whole(self, beam=1, restarts=0, seed=0)

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> DAG:
        how = {"beam": self.beam, "restarts": self.restarts, "seed": self.seed}
        return order_search(data, cardinalities, score=score, max_parents=max_parents, **how)


@dataclass(frozen=True)
class BootstrapSearch(Described):
    """The network of the edges that another search finds in most resamples of the rows.

    Friedman, Goldszmidt and Wyner, *Data analysis with Bayesian networks: a bootstrap approach*,
    1999.

    Attributes:
        search: the name of the search.
        resamples: how often the rows are resampled.
        threshold: edges found in a larger share of the resamples are kept.
        seed: seed of the resampling.

    Examples:
        >>> from pgm_explainer import BootstrapSearch
        >>> BootstrapSearch("hill_climb", resamples=20)([[0, 0], [1, 1]] * 50, [2, 2]).edges
        ((0, 1),)
    """

    search: str = "auto"
    resamples: int = 100
    threshold: float = 0.5
    seed: int = 0
    name: str = field(default="bootstrap", init=False)

    def __post_init__(self) -> None:
        known = [name for name in SEARCHES if name != self.name] or list(_PLAIN)
        check_name(self.search, "search", known)
        _check_whole(self, resamples=1, seed=0)
        if not is_number(self.threshold) or not 0 <= self.threshold < 1:
            raise InputError(
                f"threshold must be a number from 0 to below 1, not {brief(self.threshold)}"
            )

    @property
    def limits_parents(self) -> bool:
        """Whether the search that is repeated has a limit on the number of parents."""
        return getattr(SEARCHES[self.search], "limits_parents", True)

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> DAG:
        codes, sizes = check_data(data, cardinalities)
        if len(sizes) < 2:
            return DAG(len(sizes))
        rows = resampled_rows(len(codes), self.resamples, self.seed)
        problems = [(codes[each], sizes) for each in rows]
        dags = search_many(SEARCHES[self.search], problems, as_score(score), max_parents)
        return averaged_dag(edge_weights(dags), self.threshold, max_parents)


@dataclass(frozen=True)
class CustomSearch(UserDefined):
    """A custom ``function(data [n, variables], cardinalities) -> DAG``.

    Examples:
        >>> star = CustomSearch(lambda data, cardinalities: DAG(3, [(0, 1), (0, 2)]))
        >>> star([[0, 1, 0], [1, 1, 0]], [2, 2, 2]).edges
        ((0, 1), (0, 2))
    """

    function: Callable[..., Any]
    limits_parents: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return own_name(self.function, SEARCHES)

    def __call__(
        self, data: Any, cardinalities: Any, score: Any = "bic", max_parents: int | None = None
    ) -> Any:
        usage = "(data [n, variables], cardinalities) -> DAG"
        what = "the structure search"
        return call_own(self.function, data, cardinalities, what=what, usage=usage)


def _check_tests(options: PCSearch | MMHCSearch) -> None:
    check_name(options.test, "test", TESTS)
    TestOptions(options.test, options.significance, options.max_condition)


def _check_whole(options: Any, **at_least: int) -> None:
    for name, least in at_least.items():
        most = None if name == "seed" else REPETITIONS
        value = check_whole_number(getattr(options, name), name, at_least=least, at_most=most)
        object.__setattr__(options, name, value)


def _refuse_limit(name: str, max_parents: int | None) -> None:
    if max_parents is not None:
        raise InputError(
            f"max_parents={max_parents} does not apply to structure={name!r}, which finds a class "
            f"of networks with different parents; leave it out, or use 'hill_climb' or 'order'"
        )


SEARCHES: dict[str, Any] = {}
"""The searches by name; each is called as ``(data, cardinalities, score=…, max_parents=…)``."""
for _each in (
    *map(NamedSearch, _PLAIN),
    *(GESSearch(), PCSearch(), MMHCSearch(), OrderSearch(), BootstrapSearch()),
):
    SEARCHES[_each.name] = _each


def as_search(choice: Any) -> StructureSearch:
    """Return the search for a name, an instance or a custom function.

    Examples:
        >>> from pgm_explainer.structure import SEARCHES, as_search
        >>> as_search("hill_climb") is SEARCHES["hill_climb"]
        True
        >>> list(SEARCHES)
        ['auto', 'hill_climb', 'exact', 'ges', 'pc', 'mmhc', 'order', 'bootstrap']
    """
    named: StructureSearch | None = resolve(choice, "structure", SEARCHES)
    if named is not None:
        return named
    known = (*map(type, SEARCHES.values()), CustomSearch)
    if not callable(choice) or choice in known:
        raise InputError(
            f"structure must be a name ({', '.join(SEARCHES)}), an object such as "
            f"PCSearch(significance=0.01), or a function (data, cardinalities) -> DAG, "
            f"not {brief(choice)}"
        )
    found: StructureSearch = choice if type(choice) in known else CustomSearch(choice)
    return found


def search_many(
    how: StructureSearch, problems: Sequence[Problem], score: Any, max_parents: int | None = None
) -> list[Any]:
    """Return the result of the search for each problem.

    Small problems of the search ``auto`` are solved together, which is faster.

    Args:
        how: the search.
        problems: data and cardinalities, as in :func:`search`.
        score, max_parents: as in :func:`search`.
    """
    found: dict[int, Any] = {}
    by_size: dict[tuple[int, ...], list[int]] = {}
    for at, (data, cardinalities) in enumerate(problems):
        if how.name == "auto" and are_few(cardinalities):
            by_size.setdefault((len(data), *cardinalities), []).append(at)
        else:
            found[at] = how(data, np.array(cardinalities), score, max_parents)
    for (_, *sizes), same in by_size.items():
        data_sets = [problems[at][0] for at in same]
        dags = exact_search_many(data_sets, tuple(sizes), score=score, max_parents=max_parents)
        found.update(zip(same, dags, strict=True))
    return [found[at] for at in range(len(problems))]
