"""Decomposable scores of a network, one in each file.

The score of a network is the sum of the scores of its families (a variable with its parents). For
most scores, the score of a family is the value of the joint counts of child and parents, minus the
value of the counts of the parents, minus a penalty. Each value is a sum over joint states
(:class:`Score`). The others are sums over the configurations of the parents
(:class:`ConfigurationScore`).
"""

from __future__ import annotations

from typing import Any

from ...arrays import has_attributes, resolve
from ...errors import InputError
from ...limits import brief
from .base import (
    ConfigurationScore,
    Counts,
    Score,
    check_data,
    family_score,
    num_folds,
)
from .bdeu import BDeuScore
from .bds import BDsScore
from .custom import CustomScore
from .fnml import FNMLScore
from .held_out import HeldOutScore
from .likelihood import PenalisedLikelihood
from .qnml import QNMLScore

__all__ = [
    "SCORES",
    "BDeuScore",
    "BDsScore",
    "ConfigurationScore",
    "Counts",
    "FNMLScore",
    "HeldOutScore",
    "PenalisedLikelihood",
    "QNMLScore",
    "Score",
    "as_plain_score",
    "as_score",
    "check_data",
    "family_score",
    "num_folds",
]

SCORES: dict[str, Any] = {
    "bic": PenalisedLikelihood("bic", per_log_n=0.5),
    "aic": PenalisedLikelihood("aic", per_parameter=1.0),
    "bdeu": BDeuScore(),
    "bds": BDsScore(),
    "qnml": QNMLScore(),
    "fnml": FNMLScore(),
    "held_out": HeldOutScore(),
    "log_likelihood": PenalisedLikelihood("log_likelihood"),
}
"""The scores by name, each a :class:`Score` or a :class:`ConfigurationScore`."""

_TYPES = (*dict.fromkeys(map(type, SCORES.values())), CustomScore)


def as_score(choice: Any) -> Any:
    """Return the score for a name or an instance.

    Examples:
        >>> from pgm_explainer.structure import as_score
        >>> as_score("aic")
        PenalisedLikelihood(name='aic', per_parameter=1.0, per_log_n=0.0)
    """
    named = resolve(choice, "score", SCORES)
    if named is not None:
        return named
    if type(choice) in _TYPES:
        return choice
    if not has_attributes(choice, "terms", "penalty") or isinstance(choice, type):
        raise InputError(
            f"score must be a name ({', '.join(SCORES)}) or an object with the methods "
            f"terms and penalty, not {brief(choice)}"
        )
    return CustomScore(choice)


def as_plain_score(choice: Any) -> Score:
    """Return a score for cliques and leaves of trees, which need a value of counts and a penalty.

    Raises:
        InputError: the score is defined for Bayesian networks only.
    """
    score: Any = as_score(choice)
    if not isinstance(score, (PenalisedLikelihood, BDeuScore, CustomScore)):
        raise InputError(
            f"score={score.name!r} applies to Bayesian networks only; use 'bic', 'aic', 'bdeu' or "
            f"'log_likelihood'"
        )
    return score
