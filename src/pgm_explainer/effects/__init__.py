"""The effect of perturbing each node on a prediction, estimated from the samples of step 1."""

from .table import Effect, Effects, PairEffect

__all__ = ["Effect", "Effects", "PairEffect"]
