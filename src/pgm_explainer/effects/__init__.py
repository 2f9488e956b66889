"""The effect of perturbing each node on a prediction, estimated from the samples of step 1."""

from .estimate import EffectProblem, estimate_effects
from .table import EFFECT_COLUMNS, STAGES, Effect, Effects, PairEffect, agree, are_precise, margin

__all__ = [
    "EFFECT_COLUMNS",
    "STAGES",
    "Effect",
    "EffectProblem",
    "Effects",
    "PairEffect",
    "agree",
    "are_precise",
    "estimate_effects",
    "margin",
]
