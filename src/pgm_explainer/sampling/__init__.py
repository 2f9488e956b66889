"""Step 1, data generation: perturbations, change indicators and the table of samples."""

from ..variables import GRAPH, Variable, VariableId
from .attributes import draw_attribute_samples
from .change import (
    CHANGES,
    Absolute,
    Change,
    CustomChange,
    Deviation,
    Fall,
    Flip,
    LargeFall,
    LargeMove,
    Levels,
    TopDeviation,
    TopFraction,
    as_change,
    describe_change,
    read_change,
)
from .generate import Samples, SamplingPlan, draw_samples, probe_features
from .perturbation import (
    PERTURBATIONS,
    CustomPerturbation,
    Perturbation,
    as_perturbation,
    check_changes,
    check_columns,
)
from .population import Population
from .table import SampleTable
from .values import Outcome

__all__ = [
    "CHANGES",
    "GRAPH",
    "PERTURBATIONS",
    "Absolute",
    "Change",
    "CustomChange",
    "CustomPerturbation",
    "Deviation",
    "Fall",
    "Flip",
    "LargeFall",
    "LargeMove",
    "Levels",
    "Outcome",
    "Perturbation",
    "Population",
    "SampleTable",
    "Samples",
    "SamplingPlan",
    "TopDeviation",
    "TopFraction",
    "Variable",
    "VariableId",
    "as_change",
    "as_perturbation",
    "check_changes",
    "check_columns",
    "describe_change",
    "draw_attribute_samples",
    "draw_samples",
    "probe_features",
    "read_change",
]
