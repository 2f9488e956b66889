"""The options of step 3, network learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..arrays import check_name, check_not_negative, check_whole_number
from ..errors import InputError
from ..structure import (
    SCORES,
    CustomSearch,
    NamedSearch,
    Score,
    StructureSearch,
    as_score,
    as_search,
)

__all__ = ["TARGET_TABLES", "NetworkConfig", "network_config"]

TARGET_TABLES = ("auto", "noisy_or", "full")


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """How a network is learned.

    Attributes:
        structure: the structure search; a name is converted to an object on creation.
        score: the score of networks; a name is converted to an object on creation.
        max_parents: the maximum number of parents of any variable, including the target; None for
            no limit.
        smoothing: pseudocount added to every count of the tables (Laplace).
        target_table: ``full``, as in the paper; ``noisy_or``; or ``auto``, which is a noisy-or if
            the target is a leaf with two levels.

    Raises:
        InputError: invalid value, or an option that does not apply.
    """

    structure: StructureSearch = field(default=NamedSearch("auto"))
    score: Score = field(default=SCORES["bic"])
    max_parents: int | None = None
    smoothing: float = 0.0
    target_table: str = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "structure", as_search(self.structure))
        object.__setattr__(self, "score", as_score(self.score))
        check_not_negative(self.smoothing, "smoothing")
        object.__setattr__(self, "smoothing", float(self.smoothing))
        check_name(self.target_table, "target_table", TARGET_TABLES)
        if self.max_parents is None:
            return
        most = check_whole_number(self.max_parents, "max_parents", at_least=1)
        object.__setattr__(self, "max_parents", most)
        if isinstance(self.structure, CustomSearch):
            raise InputError(
                f"max_parents={most} does not apply to a custom structure function; leave it out, "
                f"and limit the parents in the function"
            )


def network_config(structure: Any, target_table: str, **given: Any) -> NetworkConfig | None:
    """Return the configuration of step 3; None for no network.

    Args:
        structure: a search, its name or a function; None for no network.
        target_table: as in :class:`NetworkConfig`.
        given: its other options by name, None for defaults.

    Raises:
        InputError: as :class:`NetworkConfig`; also for options without a network.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    if structure is not None:
        return NetworkConfig(structure=structure, target_table=target_table, **chosen)
    if target_table != "auto":
        chosen["target_table"] = target_table
    if chosen:
        listed = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
        raise InputError(
            f"{listed} does not apply with structure=None, which learns no network; leave it out, "
            f"or choose a structure"
        )
    return None
