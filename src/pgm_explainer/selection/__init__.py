"""Step 2, variable selection: independence tests, S(t), U(t), ranking and shrinking.

Examples:
    >>> from pgm_explainer.selection import RANKING_COLUMNS
    >>> RANKING_COLUMNS[:4]
    ('nodes', 'statistic', 'dof', 'log_p')
"""

from ..independence import TESTS, ChiSquareTest, GTest, IndependenceTest, as_test
from .config import SelectionConfig
from .ranking import RANKING_COLUMNS, RankedNode, Ranking, critical_log_p
from .select import (
    STRONG,
    Dependents,
    Neighbourhood,
    SelectionResult,
    causes,
    choose_nodes,
    select_nodes,
    select_variables,
)
from .shrink import shrink_many

__all__ = [
    "RANKING_COLUMNS",
    "STRONG",
    "TESTS",
    "ChiSquareTest",
    "Dependents",
    "GTest",
    "IndependenceTest",
    "Neighbourhood",
    "RankedNode",
    "Ranking",
    "SelectionConfig",
    "SelectionResult",
    "as_test",
    "causes",
    "choose_nodes",
    "critical_log_p",
    "select_nodes",
    "select_variables",
    "shrink_many",
]
