"""Bayesian, Markov and dependency networks: learning, inference, Markov blankets, sampling."""

from ..structure import CPDAG, cpdag, equivalent
from .bayesian_network import BayesianNetwork, NetworkData
from .clique_table import CliqueTable
from .conditional_table import ConditionalTable
from .conditional_tree import ConditionalTree
from .config import FAMILIES, TARGET_TABLES, NetworkConfig, network_config
from .dependency_network import DependencyNetwork
from .graphical_model import GraphicalModel
from .markov_network import MarkovNetwork
from .noisy_or import NoisyOr, NoisyOrData

__all__ = [
    "CPDAG",
    "FAMILIES",
    "TARGET_TABLES",
    "BayesianNetwork",
    "CliqueTable",
    "ConditionalTable",
    "ConditionalTree",
    "DependencyNetwork",
    "GraphicalModel",
    "MarkovNetwork",
    "NetworkConfig",
    "NetworkData",
    "NoisyOr",
    "NoisyOrData",
    "cpdag",
    "equivalent",
    "network_config",
]
