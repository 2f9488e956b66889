"""Explainers to compare with, each through a real library, all behind :class:`Rival`."""

from .base import Queries, Rival, top_nodes
from .case import Case
from .chance import Chance
from .degree import Degree
from .gnn_explainer import LearntMask
from .gradient import Gradient
from .pgm import Pgm
from .proximity import Proximity
from .shapley import Shapley

__all__ = [
    "Case",
    "Chance",
    "Degree",
    "Gradient",
    "LearntMask",
    "Pgm",
    "Proximity",
    "Queries",
    "Rival",
    "Shapley",
    "top_nodes",
]
