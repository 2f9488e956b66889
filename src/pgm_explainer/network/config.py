"""The options of step 3, network learning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..arrays import check_name, check_not_negative, check_whole_number
from ..errors import InputError
from ..structure import SCORES, Score, as_score, as_search
from ..structure.graph_searches import as_dependency_search, as_markov_search
from ..structure.scores import as_plain_score
from ..structure.search import CustomSearch

__all__ = ["FAMILIES", "NetworkConfig", "network_config"]

_TARGET_TABLES = ("auto", "noisy_or", "full")

FAMILIES: dict[str, Callable[[Any], Any]] = {
    "bayesian": as_search,
    "markov": as_markov_search,
    "dependency": as_dependency_search,
}
"""The families of networks, and the function that resolves the option ``structure`` of each."""

_SMOOTHING = {"dependency": 0.1}
"""Default pseudocounts, if not 0: a dependency network needs positive probabilities."""


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """How a network is learned.

    Attributes:
        family: ``bayesian``, ``markov`` or ``dependency``.
        structure: the structure search of the family; a name is converted to an object on creation.
        score: the score of networks; a name is converted to an object on creation.
        max_parents: the maximum number of parents of any variable, including the target; None for
            no limit. Not for Markov networks.
        smoothing: pseudocount added to every count of the tables (Laplace); None for 0, or 0.1 in
            a dependency network, whose distribution is unique only if it is positive.
        target_table: ``full``, as in the paper; ``noisy_or``; or ``auto``, which is a noisy-or if
            the target is a leaf with two levels. Only for Bayesian networks.

    Raises:
        InputError: invalid value, or an option that does not apply.

    Examples:
        >>> from pgm_explainer.network import NetworkConfig
        >>> NetworkConfig(max_parents=2, target_table="full").max_parents
        2
        >>> NetworkConfig(family="markov").structure.name
        'decomposable'
    """

    family: str = "bayesian"
    structure: Any = "auto"
    score: Score = field(default=SCORES["bic"])
    max_parents: int | None = None
    smoothing: float | None = None
    target_table: str = "auto"

    def __post_init__(self) -> None:
        family = check_name(self.family, "family", FAMILIES)
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "structure", FAMILIES[family](self.structure))
        resolved = as_score if family == "bayesian" else as_plain_score
        object.__setattr__(self, "score", resolved(self.score))
        smoothing = _SMOOTHING.get(family, 0.0) if self.smoothing is None else self.smoothing
        check_not_negative(smoothing, "smoothing")
        object.__setattr__(self, "smoothing", float(smoothing))
        check_name(self.target_table, "target_table", _TARGET_TABLES)
        if family != "bayesian" and self.target_table != "auto":
            raise InputError(
                f"target_table={self.target_table!r} applies to Bayesian networks only, not to "
                f"family={family!r}; leave it out"
            )
        if self.max_parents is None:
            return
        most = check_whole_number(self.max_parents, "max_parents", at_least=1)
        object.__setattr__(self, "max_parents", most)
        if family == "markov":
            raise InputError(
                f"max_parents={most} does not apply to family='markov', which has no parents; use "
                f"structure=Decomposable(max_clique={most + 1})"
            )
        if isinstance(self.structure, CustomSearch):
            raise InputError(
                f"max_parents={most} does not apply to a custom structure function; leave it out, "
                f"and limit the parents in the function"
            )
        if not getattr(self.structure, "limits_parents", True):
            raise InputError(
                f"max_parents={most} does not apply to structure={self.structure.name!r}, which "
                f"finds a class of networks with different parents; leave it out, or use "
                f"'hill_climb' or 'order'"
            )


def network_config(
    family: str, structure: Any, target_table: str, **given: Any
) -> NetworkConfig | None:
    """Return the configuration of step 3; None for no network.

    Args:
        family: as in :class:`NetworkConfig`.
        structure: a search, its name or a function; None for no network.
        target_table: as in :class:`NetworkConfig`.
        given: the other options of :class:`NetworkConfig` by name; None for a default.

    Raises:
        InputError: as :class:`NetworkConfig`; also for options without a network.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    if structure is not None:
        return NetworkConfig(
            family=family, structure=structure, target_table=target_table, **chosen
        )
    if check_name(family, "family", FAMILIES) != "bayesian":
        chosen["family"] = family
    if target_table != "auto":
        chosen["target_table"] = target_table
    if chosen:
        listed = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
        raise InputError(
            f"{listed} does not apply with structure=None, which learns no network; leave it out, "
            f"or choose a structure"
        )
    return None
