"""PGM-Explainer: explain the predictions of graph neural networks with Bayesian networks.

Import everything that a script needs from here. What the steps of the method use and return is in
``pgm_explainer.sampling``, ``pgm_explainer.effects``, ``pgm_explainer.selection``,
``pgm_explainer.structure``, ``pgm_explainer.network``, ``pgm_explainer.report.plots`` and
``pgm_explainer.io``. Two modules need a further package: ``pgm_explainer.predictors.dgl``, the
adapter for DGL, and ``pgm_explainer.pyg``, the algorithm for ``torch_geometric.explain``.

Examples:
    >>> import pgm_explainer
    >>> pgm_explainer.__version__.count(".")
    2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    FileError,
    InputError,
    JobError,
    ModelError,
    ModelUnavailableError,
    PerturbationError,
    PGMExplainerError,
    PGMExplainerWarning,
    QueryError,
)
from .explainer import PGMExplainer, explain_graphs
from .explanation import Explanation, FeatureEffects, MinimalSet
from .limits import brief
from .network import BayesianNetwork, DependencyNetwork, GraphicalModel, MarkovNetwork
from .predictors import Predictor, SubgraphFunction, WholeGraphFunction
from .sampling import (
    Absolute,
    Change,
    Deviation,
    Edges,
    Fall,
    Features,
    Flip,
    Groups,
    LargeFall,
    LargeMove,
    Levels,
    Nodes,
    Perturbation,
    Time,
    TopDeviation,
    TopFraction,
)
from .selection import ChiSquareTest, GTest
from .structure import (
    BDeuScore,
    BDsScore,
    BootstrapSearch,
    Decomposable,
    FNMLScore,
    GESSearch,
    HeldOutScore,
    MMHCSearch,
    Neighbourhood,
    OrderSearch,
    PCSearch,
    QNMLScore,
)
from .versions import __version__

if TYPE_CHECKING:
    from .dataset import ExplanationDataset, explain_dataset
    from .engines import Engine, LocalEngine, ProcessEngine, RayEngine
    from .io import load_explanations, save_explanations
    from .predictors.http import HttpPredictor
    from .report.html import to_html

__all__ = [
    "Absolute",
    "BDeuScore",
    "BDsScore",
    "BayesianNetwork",
    "BootstrapSearch",
    "Change",
    "ChiSquareTest",
    "Decomposable",
    "DependencyNetwork",
    "Deviation",
    "Edges",
    "Engine",
    "Explanation",
    "ExplanationDataset",
    "FNMLScore",
    "Fall",
    "FeatureEffects",
    "Features",
    "FileError",
    "Flip",
    "GESSearch",
    "GTest",
    "GraphicalModel",
    "Groups",
    "HeldOutScore",
    "HttpPredictor",
    "InputError",
    "JobError",
    "LargeFall",
    "LargeMove",
    "Levels",
    "LocalEngine",
    "MMHCSearch",
    "MarkovNetwork",
    "MinimalSet",
    "ModelError",
    "ModelUnavailableError",
    "Neighbourhood",
    "Nodes",
    "OrderSearch",
    "PCSearch",
    "PGMExplainer",
    "PGMExplainerError",
    "PGMExplainerWarning",
    "Perturbation",
    "PerturbationError",
    "Predictor",
    "ProcessEngine",
    "QNMLScore",
    "QueryError",
    "RayEngine",
    "SubgraphFunction",
    "Time",
    "TopDeviation",
    "TopFraction",
    "WholeGraphFunction",
    "__version__",
    "explain_dataset",
    "explain_graphs",
    "load_explanations",
    "save_explanations",
    "to_html",
]


_ON_FIRST_USE = {
    ".dataset": ("ExplanationDataset", "explain_dataset"),
    ".engines": ("Engine", "LocalEngine", "ProcessEngine", "RayEngine"),
    ".io": ("load_explanations", "save_explanations"),
    ".predictors.http": ("HttpPredictor",),
    ".report.html": ("to_html",),
}
"""Modules that many programs do not need, with their names, so that the import stays fast."""


def __getattr__(name: str) -> Any:
    """Import a module of ``_ON_FIRST_USE`` when it, or one of its names, is first used."""
    for module, names in _ON_FIRST_USE.items():
        if name in names:
            return getattr(import_module(module, __name__), name)
        if name == module.removeprefix("."):
            return import_module(module, __name__)
    raise AttributeError(f"module {brief(__name__)} has no attribute {brief(name)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
