"""The searches of Markov and dependency networks by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..arrays import check_flag, check_fraction, check_name, check_whole_number, resolve
from ..choices import Described, Recorded
from ..errors import InputError
from ..limits import brief
from .decomposable import decomposable_search
from .neighbourhood import RULES, neighbourhood_search
from .scores import Score
from .search import CustomSearch
from .undirected import UndirectedGraph

__all__ = [
    "DEPENDENCY_SEARCHES",
    "MARKOV_SEARCHES",
    "Decomposable",
    "LocalTables",
    "Neighbourhood",
    "as_dependency_search",
    "as_markov_search",
]


@dataclass(frozen=True)
class Decomposable(Described):
    """The best chordal graph by score: :func:`~pgm_explainer.structure.decomposable_search`.

    Examples:
        >>> from pgm_explainer import Decomposable
        >>> from pgm_explainer.structure import SCORES
        >>> rows = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]] * 50  # 1 is the AND of 0 and 2
        >>> Decomposable()(rows, [2, 2, 2], SCORES["bic"]).edges
        ((0, 1), (0, 2), (1, 2))
        >>> Decomposable(max_clique=2)(rows, [2, 2, 2], SCORES["bic"]).edges
        ((0, 1), (1, 2))
    """

    max_clique: int | None = None
    name: str = "decomposable"

    def __post_init__(self) -> None:
        if self.max_clique is not None:
            check_whole_number(self.max_clique, "max_clique", at_least=2)

    def __call__(self, data: Any, cardinalities: Any, score: Score) -> UndirectedGraph:
        return decomposable_search(data, cardinalities, score=score, max_clique=self.max_clique)


@dataclass(frozen=True)
class Neighbourhood(Described):
    """The neighbours of each variable by tests: ``pgm_explainer.structure.neighbourhood_search``.

    Attributes:
        significance: the level of each test.
        rule: whether each end of an edge must select the other (``and``), or only one of them
            (``or``).
        pairwise: whether potentials are of pairs only, instead of whole cliques.

    Examples:
        >>> from pgm_explainer import Neighbourhood
        >>> from pgm_explainer.structure import SCORES
        >>> Neighbourhood(significance=0.05)([[0, 0], [1, 1]] * 50, [2, 2], SCORES["bic"]).edges
        ((0, 1),)
    """

    significance: float = 0.01
    rule: str = "and"
    pairwise: bool = False
    name: str = "neighbourhood"

    def __post_init__(self) -> None:
        check_fraction(self.significance, "significance")
        check_name(self.rule, "rule", RULES)
        check_flag(self.pairwise, "pairwise")

    def __call__(self, data: Any, cardinalities: Any, score: Score) -> UndirectedGraph:
        return neighbourhood_search(
            data, cardinalities, significance=self.significance, rule=self.rule
        )


@dataclass(frozen=True)
class LocalTables(Described):
    """The conditional distribution of each variable: a full table, a tree, or the better of both.

    Attributes:
        name: ``table``, ``tree`` or ``auto``.
    """

    name: str


MARKOV_SEARCHES: Mapping[str, Any] = {
    "auto": Decomposable(),
    "decomposable": Decomposable(),
    "neighbourhood": Neighbourhood(),
}
"""The searches for the graph of a Markov network."""

DEPENDENCY_SEARCHES: Mapping[str, Any] = {
    name: LocalTables(name) for name in ("auto", "table", "tree")
}
"""The forms of the conditional distributions of a dependency network."""


def as_markov_search(choice: Any) -> Any:
    """Return the search for a name, an instance or a custom function."""
    named = resolve(choice, "structure of a Markov network", MARKOV_SEARCHES)
    if named is not None:
        return named
    if isinstance(choice, (Decomposable, Neighbourhood, CustomSearch, Recorded)):
        return choice
    if not callable(choice):
        raise InputError(
            f"structure must be a name ({', '.join(MARKOV_SEARCHES)}) or a function "
            f"(data, cardinalities) -> UndirectedGraph, not {brief(choice)}"
        )
    return CustomSearch(choice)


def as_dependency_search(choice: Any) -> Any:
    """Return the form of the conditional distributions for a name or an instance."""
    named = resolve(choice, "structure of a dependency network", DEPENDENCY_SEARCHES)
    if named is None and not isinstance(choice, LocalTables):
        raise InputError(
            f"the structure of a dependency network must be a name "
            f"({', '.join(DEPENDENCY_SEARCHES)}), not {brief(choice)}"
        )
    return choice if named is None else named
