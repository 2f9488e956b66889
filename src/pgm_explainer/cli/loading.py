"""Models and graphs named on the command line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import IntArray
from ..dataset.recipe import load_attribute
from ..errors import FileError, InputError, ModelError
from ..explainer import PGMExplainer
from ..settings import Settings

__all__ = ["ExplainerPlace", "load_graph", "load_model", "load_targets", "read_options"]


@dataclass(frozen=True)
class ExplainerPlace:
    """How an explainer is made from what the command line names; a worker can be sent this.

    Attributes:
        model: ``module:attribute``: a model, a function without arguments that makes one, or an
            explainer, or a function that makes that.
        graph: an ``.npz`` file with ``x`` and ``edge_index``; None if the explainer has its own.
        options: of the explainer.
    """

    model: str
    graph: Path | None
    options: Mapping[str, Any]

    def __call__(self) -> PGMExplainer:
        found = load_model(self.model)
        if isinstance(found, PGMExplainer):
            if self.graph is not None or self.options:
                raise InputError(
                    f"{self.model!r} is an explainer, with a graph and options of its own: "
                    f"leave --graph and --set away"
                )
            return found
        if self.graph is None:
            raise InputError(f"{self.model!r} is a model: name its graph with --graph")
        return PGMExplainer(found, *load_graph(self.graph), **self.options)


def load_model(place: str) -> Any:
    """Return what ``module:attribute`` names, or what it makes if it is a factory."""
    found = load_attribute(place)
    is_module = hasattr(found, "state_dict") and not isinstance(found, type)
    if is_module or not callable(found) or _needs_arguments(found):
        return found
    try:
        return found()
    except Exception as error:  # whatever the user's function raises
        raise ModelError(f"{place!r} failed: {type(error).__name__}: {error}") from error


def _needs_arguments(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # built-ins do not say
        return True
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(each.default is each.empty and each.kind not in optional for each in parameters)


def load_graph(path: Path) -> tuple[Any, Any]:
    """Return ``x`` and ``edge_index`` of an ``.npz`` file; nothing in it is ever executed."""
    found = _load(path)
    if not isinstance(found, np.lib.npyio.NpzFile):
        raise FileError(f"{path} is no .npz file with 'x' and 'edge_index'")
    with found:
        missing = [name for name in ("x", "edge_index") if name not in found]
        if missing:
            raise FileError(f"{path} has no {' and no '.join(missing)}, but {', '.join(found)}")
        try:
            return found["x"], found["edge_index"]
        except (ValueError, OSError) as error:  # objects, or damaged
            raise FileError(f"{path} cannot be read: {error}") from error


def load_targets(path: Path) -> IntArray:
    """Return the targets in an ``.npy`` file, or in a text file with one on a line."""
    if path.suffix == ".npy":
        return np.asarray(_load(path))
    try:
        return np.loadtxt(path, dtype=np.int64, ndmin=1)
    except (OSError, ValueError) as error:
        raise FileError(f"{path} cannot be read as targets, one on a line: {error}") from error


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise FileError(f"{path} cannot be read: {error}") from error


def read_options(texts: Sequence[str]) -> dict[str, Any]:
    """Return options given as ``name=value``; a value is JSON, or else a text.

    Examples:
        >>> read_options(["num_samples=400", "perturbation=zero", "features=[0, 2]"])
        {'num_samples': 400, 'perturbation': 'zero', 'features': [0, 2]}
    """
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in Settings.__dataclass_fields__:
            known = ", ".join(Settings.__dataclass_fields__)
            raise InputError(f"{text!r} is no option; write name=value, with a name of: {known}")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options
