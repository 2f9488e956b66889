"""Step 2, variable selection: independence tests, S(t), U(t), ranking and shrinking."""

from .attributes import FeatureEffects, feature_effects
from .independence import TESTS, ChiSquareTest, GTest, IndependenceTest, as_test
from .ranking import CORRECTIONS, RANKING_COLUMNS, RankedNode, Ranking, critical_log_p
from .reach import reach_of
from .select import RANKED_BY, Neighbourhood, SelectionPlan, select_variables
from .shrink import shrink, shrink_many

__all__ = [
    "CORRECTIONS",
    "RANKED_BY",
    "RANKING_COLUMNS",
    "TESTS",
    "ChiSquareTest",
    "FeatureEffects",
    "GTest",
    "IndependenceTest",
    "Neighbourhood",
    "RankedNode",
    "Ranking",
    "SelectionPlan",
    "as_test",
    "critical_log_p",
    "feature_effects",
    "reach_of",
    "select_variables",
    "shrink",
    "shrink_many",
]
