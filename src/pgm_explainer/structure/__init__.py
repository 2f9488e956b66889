"""Step 3, structure learning: scores and searches of each family, the no-child construction."""

from .bootstrap import averaged_dag, edge_weights, resampled_rows
from .dag import DAG, add_leaf
from .decomposable import decomposable_score, decomposable_search
from .equivalence import CPDAG, cpdag, equivalent, structural_distance
from .exact import MAX_EXACT_VARIABLES, exact_search
from .families import bic_score, family_scores, network_score
from .ges import ges
from .graph_searches import (
    DEPENDENCY_SEARCHES,
    MARKOV_SEARCHES,
    Decomposable,
    LocalTables,
    Neighbourhood,
    as_dependency_search,
    as_markov_search,
)
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
    ConfigurationScore,
    FNMLScore,
    HeldOutScore,
    PenalisedLikelihood,
    QNMLScore,
    Score,
    as_plain_score,
    as_score,
    check_data,
    family_score,
    num_folds,
)
from .search import (
    SEARCHES,
    BootstrapSearch,
    CustomSearch,
    GESSearch,
    MMHCSearch,
    NamedSearch,
    OrderSearch,
    PCSearch,
    StructureSearch,
    as_search,
    search,
    search_many,
)
from .undirected import UndirectedGraph

__all__ = [
    "CPDAG",
    "DAG",
    "DEPENDENCY_SEARCHES",
    "MARKOV_SEARCHES",
    "MAX_EXACT_VARIABLES",
    "SCORES",
    "SEARCHES",
    "BDeuScore",
    "BDsScore",
    "BootstrapSearch",
    "ConfigurationScore",
    "CustomSearch",
    "Decomposable",
    "FNMLScore",
    "GESSearch",
    "HeldOutScore",
    "LocalTables",
    "MMHCSearch",
    "NamedSearch",
    "Neighbourhood",
    "OrderSearch",
    "PCSearch",
    "PenalisedLikelihood",
    "QNMLScore",
    "Score",
    "StructureSearch",
    "UndirectedGraph",
    "add_leaf",
    "as_dependency_search",
    "as_markov_search",
    "as_plain_score",
    "as_score",
    "as_search",
    "averaged_dag",
    "bic_score",
    "check_data",
    "cpdag",
    "decomposable_score",
    "decomposable_search",
    "edge_weights",
    "equivalent",
    "exact_search",
    "family_score",
    "family_scores",
    "ges",
    "hill_climb",
    "local_search",
    "mmhc",
    "neighbourhood_search",
    "network_score",
    "num_folds",
    "order_search",
    "pc",
    "resampled_rows",
    "search",
    "search_many",
    "structural_distance",
]
