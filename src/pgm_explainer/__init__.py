"""PGM-Explainer: explain the predictions of graph neural networks with Bayesian networks."""

from .dataset import ExplanationDataset, explain_dataset
from .errors import (
    FileError,
    InputError,
    JobError,
    ModelError,
    PerturbationError,
    PGMExplainerError,
    PGMExplainerWarning,
    QueryError,
)
from .explainer import PGMExplainer
from .explanation import Explanation
from .network import BayesianNetwork
from .report.html import to_html
from .versions import __version__

__all__ = [
    "BayesianNetwork",
    "Explanation",
    "ExplanationDataset",
    "FileError",
    "InputError",
    "JobError",
    "ModelError",
    "PGMExplainer",
    "PGMExplainerError",
    "PGMExplainerWarning",
    "PerturbationError",
    "QueryError",
    "__version__",
    "explain_dataset",
    "to_html",
]
