"""Step 1, data generation: perturbations, change indicators and the table of samples."""

from .change import (
    CHANGES,
    Absolute,
    Change,
    CustomChange,
    Fall,
    Flip,
    Levels,
    TopFraction,
    as_change,
)
from .generate import Samples, SamplingPlan, draw_samples
from .perturbation import (
    PERTURBATIONS,
    CustomPerturbation,
    Perturbation,
    Population,
    as_perturbation,
    check_columns,
)
from .table import SampleTable
from .variables import GRAPH, NodeId, Variable

__all__ = [
    "CHANGES",
    "GRAPH",
    "PERTURBATIONS",
    "Absolute",
    "Change",
    "CustomChange",
    "CustomPerturbation",
    "Fall",
    "Flip",
    "Levels",
    "NodeId",
    "Perturbation",
    "Population",
    "SampleTable",
    "Samples",
    "SamplingPlan",
    "TopFraction",
    "Variable",
    "as_change",
    "as_perturbation",
    "check_columns",
    "draw_samples",
]
