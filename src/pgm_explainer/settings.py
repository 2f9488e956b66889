"""All choices an explanation depends on, checked when they are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .arrays import check_fraction, check_not_negative, check_whole_number, described, resolve
from .errors import InputError
from .learning import TARGET_TABLES
from .memory import check_memory
from .querying import SCORE_KINDS, TASKS
from .sampling import Change, Perturbation
from .selection import IndependenceTest, as_test
from .significance import CORRECTIONS
from .structure import SEARCHES, Score, as_score

__all__ = ["AUTO", "DEFAULT_SAMPLES", "Settings"]

AUTO = "auto"
DEFAULT_SAMPLES = 1000
MIN_SAMPLES = 20
"""Five samples for each cell of the smallest table there is, 2 by 2."""

_LARGEST = 2**31
_AT_LEAST = {
    "max_nodes": 1,
    "num_layers": 0,
    "hops": 1,
    "output": 0,
    "max_parents": 1,
    "samples_per_call": 1,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of :class:`~pgm_explainer.PGMExplainer`, which documents them.

    Raises:
        InputError: a value that cannot be used, with the value and what would do.
    """

    task: str = "node"
    num_layers: int | None = None
    hops: int | None = None
    num_samples: int | str = DEFAULT_SAMPLES
    perturbation: str | Perturbation | Callable[..., Any] = "auto"
    perturb_probability: float = 0.1
    features: Sequence[int] | None = None
    change: str | float | Sequence[float] | Change | Callable[..., Any] = "auto"
    scores: str = "auto"
    output: int | None = None
    explained_class: int | Sequence[int] | None = None
    class_names: Sequence[str] | None = None
    test: str | IndependenceTest = "g"
    significance: float = 0.05
    correction: str = "benjamini_hochberg"
    max_nodes: int | None = 5
    only_significant: bool = True
    no_child: bool = True
    target_table: str = "auto"
    structure: str | Callable[..., Any] | None = "auto"
    score: str | Score = "bic"
    max_parents: int | None = None
    smoothing: float = 0.0
    seed: int = 0
    max_memory: int | str | None = None
    samples_per_call: int | None = None

    def __post_init__(self) -> None:
        _check_name(self.task, "task", tuple(TASKS))
        _check_name(self.scores, "scores", SCORE_KINDS)
        _check_name(self.correction, "correction", tuple(CORRECTIONS))
        _check_name(self.target_table, "target_table", TARGET_TABLES)
        if self.target_table == "noisy_or" and not self.no_child:
            raise InputError(
                "target_table='noisy_or' needs the target to be a leaf: leave no_child=True, or "
                "choose target_table='full'"
            )
        check_whole_number(self.seed, "seed", at_least=0)
        _check_samples(self.num_samples)
        check_fraction(self.perturb_probability, "perturb_probability")
        check_fraction(self.significance, "significance")
        if self.scores == "values" and self.explained_class is not None:
            raise InputError(
                f"explained_class={self.explained_class!r} is for classes; a regression has none"
            )
        _check_class_names(self.class_names)
        check_not_negative(self.smoothing, "smoothing")
        for option, least in _AT_LEAST.items():
            if getattr(self, option) is not None:
                check_whole_number(getattr(self, option), option, at_least=least)
        if self.hops is not None and self.task == "graph":
            raise InputError(
                f"hops={self.hops} is for nodes and pairs; any node may explain a whole graph"
            )
        for option in ("only_significant", "no_child"):
            if not isinstance(getattr(self, option), bool):
                raise InputError(f"{option} must be True or False, not {getattr(self, option)!r}")
        as_test(self.test)
        as_score(self.score)
        check_memory(self.max_memory)
        named = resolve(self.structure, "structure", SEARCHES) is not None
        own_search = not named and self.structure is not None
        if own_search and self.max_parents is not None:
            raise InputError(
                "max_parents is for the searches by name; a function of your own takes its limit "
                "from where it is defined"
            )
        if own_search and not callable(self.structure):
            raise InputError(
                f"structure must be a name ({', '.join(SEARCHES)}) or a function "
                f"(data, cardinalities) -> DAG, not {self.structure!r}"
            )

    def check_classes(self, num_classes: int) -> None:
        """Raise an InputError if the names given are not those of so many classes or values."""
        names = self.class_names
        if names is None:
            return
        if self.output is not None and self.output >= len(names):
            raise InputError(f"class_names has {len(names)} names, none for output {self.output}")
        if self.output is None and len(names) != num_classes:
            raise InputError(
                f"class_names has {len(names)} names, but the model tells {num_classes} apart"
            )

    def as_plain(self) -> dict[str, Any]:
        """Return the options as plain values: numbers, texts and lists."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


def _check_name(value: Any, what: str, known: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise InputError(f"unknown {what} {value!r}; choose one of: {', '.join(known)}")


def _check_samples(count: Any) -> None:
    if isinstance(count, str):
        _check_name(count, "num_samples", (AUTO,))
        return
    samples = check_whole_number(count, "num_samples", at_least=1)
    if samples < MIN_SAMPLES:
        raise InputError(
            f"num_samples={samples} is too small to test anything; draw at least "
            f"{MIN_SAMPLES}, and some hundreds for an explanation to rely on"
        )
    if samples > _LARGEST:
        raise InputError(f"num_samples must be at most {_LARGEST}, not {samples}")


def _check_class_names(names: Any) -> None:
    if names is None:
        return
    listed = names.tolist() if isinstance(names, np.ndarray) else names
    usable = isinstance(listed, Sequence) and not isinstance(listed, str) and len(listed) > 0
    if not usable or not all(isinstance(name, str) for name in listed):
        raise InputError(f"class_names must be a list of texts, one for each class, not {names!r}")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return described(value)
