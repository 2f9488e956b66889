"""Bayesian networks: tables, exact inference, Markov blankets, equivalence classes, sampling."""

from .bayesian_network import BayesianNetwork, NetworkData
from .conditional_table import ConditionalTable
from .config import TARGET_TABLES, NetworkConfig, network_config
from .equivalence import CPDAG, cpdag, equivalent
from .noisy_or import NoisyOr, NoisyOrData

__all__ = [
    "CPDAG",
    "TARGET_TABLES",
    "BayesianNetwork",
    "ConditionalTable",
    "NetworkConfig",
    "NetworkData",
    "NoisyOr",
    "NoisyOrData",
    "cpdag",
    "equivalent",
    "network_config",
]
