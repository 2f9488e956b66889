"""The options of a search for a minimal set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..arrays import check_fraction, check_name, check_whole_number, is_number
from ..errors import InputError

__all__ = ["Members", "SearchOptions", "search_options"]

_MOST_SAMPLES = 1_000_000
_OPTIONS = ("max_size", "num_samples", "max_queries", "change")

Members = tuple[int, ...]
"""A set of parts, by their positions in the order of the search, ascending."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of a search.

    Attributes:
        kind: ``"counterfactual"`` or ``"sufficient"``.
        probability: the share of samples in which the set must change, or keep, the prediction.
        max_size: the largest size of a set; None for no limit.
        num_samples: the number of random perturbations that a set is tried on.
        max_queries: the number of perturbed graphs after which the search ends.
        change: what counts as a changed prediction; None for another predicted class.

    Raises:
        InputError: invalid value.
    """

    kind: str
    probability: float
    max_size: int | None = None
    num_samples: int = 500
    max_queries: int = 20_000
    change: Any = None

    def __post_init__(self) -> None:
        if not is_number(self.probability) or self.probability != 1:
            check_fraction(self.probability, "probability")
        object.__setattr__(self, "probability", float(self.probability))
        for name in ("max_size", "num_samples", "max_queries"):
            given = getattr(self, name)
            if given is not None or name != "max_size":
                object.__setattr__(self, name, check_whole_number(given, name, at_least=1))
        if self.num_samples > _MOST_SAMPLES:
            raise InputError(f"num_samples must be at most {_MOST_SAMPLES}, not {self.num_samples}")


def search_options(kind: str, probability: float, options: Mapping[str, Any]) -> SearchOptions:
    """Return the options of a search; raise an InputError if one is unknown."""
    for name in options:
        check_name(name, "option", ("probability", *_OPTIONS))
    return SearchOptions(kind=kind, probability=probability, **options)
