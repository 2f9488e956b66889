"""The effect of perturbing each node on a prediction, estimated from the samples of step 1.

Examples:
    >>> from pgm_explainer.effects import EFFECT_COLUMNS, STAGES
    >>> EFFECT_COLUMNS[:4]
    ('nodes', 'effect', 'low', 'high')
    >>> STAGES  # the numbers of samples of num_samples="auto"
    (500, 1000, 2000, 4000, 8000)
"""

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
