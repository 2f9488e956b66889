"""Explainers to compare with, behind the common interface :class:`Rival`."""

from .base import Queries, Rival, SignedRival, top_nodes
from .case import Case
from .chance import Chance
from .degree import Degree
from .gnn_explainer import LearntMask
from .gradient import Gradient, IntegratedGradients, LossGradient
from .occlusion import Occlusion
from .output import Output
from .pg_explainer import TrainedMask
from .pgm import Pgm
from .proximity import Proximity
from .shapley import Shapley

__all__ = [
    "Case",
    "Chance",
    "Degree",
    "Gradient",
    "IntegratedGradients",
    "LearntMask",
    "LossGradient",
    "Occlusion",
    "Output",
    "Pgm",
    "Proximity",
    "Queries",
    "Rival",
    "Shapley",
    "SignedRival",
    "TrainedMask",
    "top_nodes",
]
