"""Step 3, structure learning: scores, hill climbing, exact search, the no-child construction."""

from .dag import DAG, add_leaf
from .exact import MAX_EXACT_VARIABLES, exact_search
from .families import bic_score, network_score
from .hill_climb import hill_climb
from .scores import (
    SCORES,
    BDeuScore,
    PenalisedLikelihood,
    Score,
    as_score,
    check_data,
    family_score,
)
from .search import (
    SEARCHES,
    CustomSearch,
    NamedSearch,
    StructureSearch,
    as_search,
    search,
    search_many,
)

__all__ = [
    "DAG",
    "MAX_EXACT_VARIABLES",
    "SCORES",
    "SEARCHES",
    "BDeuScore",
    "CustomSearch",
    "NamedSearch",
    "PenalisedLikelihood",
    "Score",
    "StructureSearch",
    "add_leaf",
    "as_score",
    "as_search",
    "bic_score",
    "check_data",
    "exact_search",
    "family_score",
    "hill_climb",
    "network_score",
    "search",
    "search_many",
]
