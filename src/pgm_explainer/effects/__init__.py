"""The effect of perturbing each node on a prediction, estimated from the samples of step 1."""

from .estimate import STAGES, EffectProblem, are_precise, estimate_effects, margin, sample_stages
from .table import EFFECT_COLUMNS, Effect, Effects, PairEffect, agree

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
    "sample_stages",
]
