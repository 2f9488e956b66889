"""Step 1, data generation: perturbations, change indicators and the table of samples.

Examples:
    >>> from pgm_explainer.sampling import CHANGES, PERTURBATIONS, Fall
    >>> sorted(PERTURBATIONS)
    ['max', 'mean', 'min', 'permute', 'random', 'substitute', 'uniform', 'zero']
    >>> CHANGES["fall"] == Fall()
    True
    >>> from pgm_explainer.sampling import GRAPH, Variable, VariableId
    >>> Variable(GRAPH, False, 2).id  # the prediction of a graph
    'graph'
    >>> VariableId.__args__[:2]
    (<class 'int'>, <class 'str'>)
"""

from ..variables import GRAPH, Variable, VariableId
from .change import CHANGES, Change, as_change
from .config import SamplingConfig
from .custom_change import CustomChange
from .custom_perturbation import CustomPerturbation
from .indicators import (
    Absolute,
    Deviation,
    Fall,
    Flip,
    LargeFall,
    LargeMove,
    Levels,
    TopDeviation,
    TopFraction,
)
from .parts import Edges, Features, Groups, Nodes, Parts, Time, as_parts
from .perturbation import (
    PERTURBATIONS,
    Perturbation,
    as_perturbation,
    check_columns,
    new_features,
)
from .population import Population
from .randomness import Draws
from .samples import Samples, SampleTable

__all__ = [
    "CHANGES",
    "GRAPH",
    "PERTURBATIONS",
    "Absolute",
    "Change",
    "CustomChange",
    "CustomPerturbation",
    "Deviation",
    "Draws",
    "Edges",
    "Fall",
    "Features",
    "Flip",
    "Groups",
    "LargeFall",
    "LargeMove",
    "Levels",
    "Nodes",
    "Parts",
    "Perturbation",
    "Population",
    "SampleTable",
    "Samples",
    "SamplingConfig",
    "Time",
    "TopDeviation",
    "TopFraction",
    "Variable",
    "VariableId",
    "as_change",
    "as_parts",
    "as_perturbation",
    "check_columns",
    "new_features",
]
