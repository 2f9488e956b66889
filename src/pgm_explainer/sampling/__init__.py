"""Step 1, data generation: perturbations, change indicators and the table of samples."""

from ..variables import GRAPH, Variable, VariableId
from .attributes import draw_attribute_samples
from .cache import SampleCache
from .change import (
    CHANGE_TYPES,
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
    check_change_fits,
)
from .config import SamplingConfig, check_samples
from .generate import batch_size, draw_samples, perturbed_batch, probe_features
from .parts import (
    PART_KINDS,
    Edges,
    Features,
    Groups,
    Mixed,
    Nodes,
    PartKind,
    Parts,
    Time,
    as_parts,
)
from .perturbation import (
    PERTURBATIONS,
    WITH_RANDOM,
    CustomPerturbation,
    Perturbation,
    RandomWhereConstant,
    as_perturbation,
    check_changes,
    check_columns,
    new_features,
    perturbed_columns,
)
from .population import Population
from .randomness import Draws
from .samples import Samples
from .table import SampleTable
from .values import Outcome

__all__ = [
    "CHANGES",
    "CHANGE_TYPES",
    "GRAPH",
    "PART_KINDS",
    "PERTURBATIONS",
    "WITH_RANDOM",
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
    "Mixed",
    "Nodes",
    "Outcome",
    "PartKind",
    "Parts",
    "Perturbation",
    "Population",
    "RandomWhereConstant",
    "SampleCache",
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
    "batch_size",
    "check_change_fits",
    "check_changes",
    "check_columns",
    "check_samples",
    "draw_attribute_samples",
    "draw_samples",
    "new_features",
    "perturbed_batch",
    "perturbed_columns",
    "probe_features",
]
