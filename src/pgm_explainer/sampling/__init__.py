"""Step 1, data generation: perturbations, change indicators and the table of samples.

Examples:
    >>> from pgm_explainer.sampling import CHANGES, CHANGE_TYPES, PERTURBATIONS, WITH_RANDOM
    >>> sorted(PERTURBATIONS)
    ['max', 'mean', 'min', 'permute', 'random', 'substitute', 'uniform', 'zero']
    >>> sorted(WITH_RANDOM)  # for node types of which some have constant features
    ['mean and random', 'permute and random', 'substitute and random']
    >>> CHANGES["fall"] == CHANGE_TYPES["fall"]()
    True
    >>> from pgm_explainer.sampling import GRAPH, Variable, VariableId
    >>> Variable(GRAPH, False, 2).id  # the prediction of a graph
    'graph'
    >>> VariableId.__args__[:2]
    (<class 'int'>, <class 'str'>)
"""

from ..variables import GRAPH, Variable, VariableId
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
from .config import SamplingConfig, bind_parts, check_samples, sampling_config
from .generate import batch_size, draw_samples, perturbed_batch, probe_features, still_valid
from .parts import (
    PART_KINDS,
    Edges,
    FeatureCells,
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
    check_columns,
    new_features,
)
from .population import Population
from .randomness import Draws
from .samples import Outcome, Samples, SampleTable

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
    "FeatureCells",
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
    "bind_parts",
    "check_change_fits",
    "check_columns",
    "check_samples",
    "draw_samples",
    "new_features",
    "perturbed_batch",
    "probe_features",
    "sampling_config",
    "still_valid",
]
