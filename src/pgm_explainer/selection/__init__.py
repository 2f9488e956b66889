"""Step 2, variable selection: independence tests, S(t), U(t), ranking and shrinking."""

from ..independence import TESTS, ChiSquareTest, GTest, IndependenceTest, as_test
from .config import SelectionConfig
from .ranking import RankedNode, Ranking
from .select import Neighbourhood, causes, select_variables

__all__ = [
    "TESTS",
    "ChiSquareTest",
    "GTest",
    "IndependenceTest",
    "Neighbourhood",
    "RankedNode",
    "Ranking",
    "SelectionConfig",
    "as_test",
    "causes",
    "select_variables",
]
