"""Step 3, structure learning: scores, hill climbing, exact search, the no-child construction."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from ..arrays import as_array
from .dag import DAG
from .exact import MAX_EXACT_VARIABLES, exact_search
from .families import are_few, bic_score, network_score
from .hill_climb import hill_climb
from .no_child import add_leaf
from .scores import (
    SCORES,
    BDeuScore,
    PenalisedLikelihood,
    Score,
    as_score,
    check_data,
    family_score,
)


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

__all__ = [
    "DAG",
    "MAX_EXACT_VARIABLES",
    "SCORES",
    "SEARCHES",
    "BDeuScore",
    "PenalisedLikelihood",
    "Score",
    "add_leaf",
    "as_score",
    "bic_score",
    "check_data",
    "exact_search",
    "family_score",
    "hill_climb",
    "network_score",
    "search",
]
