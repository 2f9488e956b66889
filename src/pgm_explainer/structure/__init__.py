"""Step 3, structure learning: scores and searches of each family, the no-child construction."""

from .dag import DAG, add_leaf
from .decomposable import decomposable_score, decomposable_search
from .equivalence import CPDAG, cpdag, equivalent, structural_distance
from .exact import exact_search
from .families import bic_score, network_score
from .ges import ges
from .graph_searches import Decomposable, Neighbourhood
from .hill_climb import hill_climb
from .local import local_search
from .mmhc import mmhc
from .neighbourhood import neighbourhood_search
from .order import order_search
from .pc import pc
from .scores import (
    SCORES,
    BDeuScore,
    BDsScore,
    FNMLScore,
    HeldOutScore,
    PenalisedLikelihood,
    QNMLScore,
    Score,
    as_score,
    family_score,
)
from .search import (
    SEARCHES,
    BootstrapSearch,
    GESSearch,
    MMHCSearch,
    OrderSearch,
    PCSearch,
    as_search,
    search,
)
from .undirected import UndirectedGraph

__all__ = [
    "CPDAG",
    "DAG",
    "SCORES",
    "SEARCHES",
    "BDeuScore",
    "BDsScore",
    "BootstrapSearch",
    "Decomposable",
    "FNMLScore",
    "GESSearch",
    "HeldOutScore",
    "MMHCSearch",
    "Neighbourhood",
    "OrderSearch",
    "PCSearch",
    "PenalisedLikelihood",
    "QNMLScore",
    "Score",
    "UndirectedGraph",
    "add_leaf",
    "as_score",
    "as_search",
    "bic_score",
    "cpdag",
    "decomposable_score",
    "decomposable_search",
    "equivalent",
    "exact_search",
    "family_score",
    "ges",
    "hill_climb",
    "local_search",
    "mmhc",
    "neighbourhood_search",
    "network_score",
    "order_search",
    "pc",
    "search",
    "structural_distance",
]
