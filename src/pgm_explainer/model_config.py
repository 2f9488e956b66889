"""Options about the model: its task, layers and scores, and the explained class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .arrays import as_array, as_list, check_flag, check_name, check_whole_number, plain_list
from .errors import InputError
from .limits import brief
from .querying import SCORE_KINDS, TASKS

__all__ = ["ModelConfig", "model_config"]

_AT_LEAST = {"num_layers": 0, "hops": 1, "output": 0}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What the model predicts, and which of its outputs is explained.

    Attributes:
        task: ``node``, ``edge`` or ``graph``.
        num_layers: the number of message-passing layers; None if not known yet.
        hops: the largest distance of a candidate from the target; None for ``num_layers``.
        scores: the kind of scores the model returns; ``auto`` to detect it.
        output: the index of the score to explain, if the model returns several independent ones.
        explained_class: the class to explain, or one for each node; None for the predicted one.
        class_names: the names of the classes, or of the values of a regression.
        own_predictions: whether the predictions of candidates are recorded too (node task).

    Raises:
        InputError: invalid value, or an option that does not apply.
    """

    task: str = "node"
    num_layers: int | None = None
    hops: int | None = None
    scores: str = "auto"
    output: int | None = None
    explained_class: int | Sequence[int] | None = None
    class_names: Sequence[str] | None = None
    own_predictions: bool = True

    def __post_init__(self) -> None:
        check_name(self.task, "task", TASKS)
        check_name(self.scores, "scores", SCORE_KINDS)
        for option, least in _AT_LEAST.items():
            value = getattr(self, option)
            if value is not None:
                object.__setattr__(self, option, check_whole_number(value, option, at_least=least))
        if self.hops is not None and self.task == "graph":
            raise InputError(
                f"hops={self.hops} does not apply to task='graph', where every node is a "
                f"candidate; leave it out"
            )
        check_flag(self.own_predictions, "own_predictions")
        if not self.own_predictions and self.task != "node":
            raise InputError(
                f"own_predictions=False does not apply to task={brief(self.task)}, where only the "
                f"prediction of the target is recorded; leave it out"
            )
        if self.scores == "values" and self.explained_class is not None:
            raise InputError(
                f"explained_class={brief(self.explained_class)} does not apply to "
                f"scores='values', as a regression has no classes; leave it out"
            )
        object.__setattr__(self, "explained_class", _check_classes(self.explained_class))
        object.__setattr__(self, "class_names", _check_class_names(self.class_names))

    @property
    def is_regression(self) -> bool:
        """Whether the model returns values rather than classes."""
        return self.scores == "values"

    @property
    def has_own_predictions(self) -> bool:
        """Whether the variable of a candidate includes its own prediction."""
        return self.task == "node" and self.own_predictions

    @property
    def reach(self) -> int:
        """The largest distance of a candidate from the target."""
        return (self.num_layers or 0) if self.hops is None else self.hops

    def with_layers(self, counted: int) -> ModelConfig:
        """Return a copy with ``num_layers`` and ``hops`` set if they were None.

        Args:
            counted: the detected or assumed number of message-passing layers.
        """
        layers = counted if self.num_layers is None else self.num_layers
        hops = None if self.task == "graph" else (self.hops or layers or None)
        return replace(self, num_layers=layers, hops=hops)

    def check_classes(self, num_classes: int) -> None:
        """Raise an InputError if the number of ``class_names`` is wrong."""
        names = self.class_names
        if names is None:
            return
        if self.output is not None and self.output >= len(names):
            raise InputError(
                f"class_names has {len(names)} names, but none for output {self.output}; pass a "
                f"name for each output"
            )
        if self.output is None and len(names) != num_classes:
            what = "values" if self.is_regression else "classes"
            raise InputError(
                f"class_names has {len(names)} names, but the model has {num_classes} {what}"
            )


def model_config(
    *,
    output: int | str | None,
    explained_class: int | str | Sequence[int | str] | None,
    class_names: Sequence[str] | None,
    **others: Any,
) -> ModelConfig:
    """Return the options, with an output or classes given by name replaced by their numbers."""
    known: Any = _check_class_names(class_names)
    number = _number(output, known, "output") if isinstance(output, str) else output
    names = known
    if known is not None and isinstance(number, int):  # one label, which is absent or present
        names = [f"not {known[number]}", known[number]] if number < len(known) else None
    classes = _numbered_classes(explained_class, names)
    return ModelConfig(output=number, explained_class=classes, class_names=known, **others)


def _numbered_classes(classes: Any, names: Sequence[str] | None) -> Any:
    """Return classes with names replaced by numbers."""
    if isinstance(classes, str):
        return _number(classes, names, "explained_class")
    listed = as_list(classes) if isinstance(classes, (list, tuple)) else None
    if any(isinstance(each, str) for each in listed or ()):
        return [_numbered_classes(each, names) for each in listed or ()]
    return classes


def _number(name: str, names: Sequence[str] | None, option: str) -> int:
    """Return the position of a class name."""
    if names is None:
        raise InputError(
            f"{option}={brief(name)} is a name, but the classes have none; pass class_names, or "
            f"the number of the class"
        )
    if name not in names:
        raise InputError(
            f"{option}={brief(name)} is not one of the class_names: {', '.join(names)}"
        )
    return list(names).index(name)


def _check_classes(classes: Any) -> int | tuple[int, ...] | None:
    if classes is None:
        return None
    array = as_array(classes, "explained_class")
    if array.ndim > 1 or array.dtype.kind not in "iu" or (array < 0).any():
        raise InputError(
            f"explained_class must be the number of a class, or a list with one for each node, "
            f"not {brief(classes)} of shape {array.shape}"
        )
    found: int | list[int] = array.tolist()
    return tuple(found) if isinstance(found, list) else found


def _check_class_names(names: Any) -> tuple[str, ...] | None:
    if names is None:
        return None
    is_list = isinstance(names, (np.ndarray, Sequence)) and not isinstance(names, str)
    listed = plain_list(names) if is_list else None
    if not listed or not all(isinstance(name, str) for name in listed):
        raise InputError(
            f"class_names must be a list of strings, one for each class, not {brief(names)}"
        )
    return tuple(map(str, listed))
