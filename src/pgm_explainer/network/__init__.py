"""The Bayesian network: tables, exact inference, Markov blanket, equivalence class, sampling."""

from .bayesian_network import BayesianNetwork, ConditionalTable
from .equivalence import CPDAG, cpdag, equivalent
from .noisy_or import NoisyOr, NoisyOrData

__all__ = [
    "CPDAG",
    "BayesianNetwork",
    "ConditionalTable",
    "NoisyOr",
    "NoisyOrData",
    "cpdag",
    "equivalent",
]
