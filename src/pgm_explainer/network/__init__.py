"""Bayesian, Markov and dependency networks: learning, inference, Markov blankets, sampling."""

from ..structure import cpdag, equivalent
from .bayesian_network import BayesianNetwork
from .clique_table import CliqueTable
from .conditional_table import ConditionalTable
from .conditional_tree import ConditionalTree
from .config import NetworkConfig
from .dependency_network import DependencyNetwork
from .graphical_model import GraphicalModel
from .markov_network import MarkovNetwork
from .noisy_or import NoisyOr

__all__ = [
    "BayesianNetwork",
    "CliqueTable",
    "ConditionalTable",
    "ConditionalTree",
    "DependencyNetwork",
    "GraphicalModel",
    "MarkovNetwork",
    "NetworkConfig",
    "NoisyOr",
    "cpdag",
    "equivalent",
]
