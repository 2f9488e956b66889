"""Reading the model and the graph."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

import numpy as np

from ..dataset.recipe import load_attribute
from ..errors import FileError, InputError, PGMExplainerWarning
from ..limits import brief
from ..sampling import VariableId
from ..storage.array_file import NpzArrays
from .torch_files import load_program, load_tensors, load_weights

__all__ = ["GraphInput", "read_folder", "read_graph", "read_model"]

_NAMES = ("names", "feature_names")
"""Arrays of a file that are names, not inputs of the model."""


@dataclass(frozen=True)
class GraphInput:
    """A graph as :class:`~pgm_explainer.PGMExplainer` takes it.

    Attributes:
        x: node features, or a data object of PyTorch Geometric.
        edge_index: the edges; None for a data object, which includes them.
        names: the names of the nodes, if they have any.
        more: other arrays of the file by name; only those that the model takes are read.
        feature_names: the names of the features, if they have any.
    """

    x: Any
    edge_index: Any = None
    names: Sequence[VariableId] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    feature_names: Sequence[str] | None = None

    def inputs_for(self, model: Any) -> dict[str, Any]:
        """Return the other arrays that the model takes by name, such as ``edge_weight``."""
        if not self.more or not hasattr(model, "forward"):
            return {}
        taken = set(inspect.signature(model.forward).parameters) - {"x", "edge_index", *_NAMES}
        return {name: self.more[name] for name in self.more if name in taken}


def read_model(place: str, weights: Path | None, trust: bool) -> Any:
    """Return the model or explainer at ``module:attribute``, or a program from a file.

    Importing a module executes it. A class or function without arguments is called.
    """
    path = Path(place)
    if isfile(path):
        if weights is not None:
            raise InputError(f"--weights is for a model named as module:attribute, not for {place}")
        return load_program(path, trust)
    module, _, attribute = place.partition(":")
    if not module or not attribute:
        raise InputError(f"--model {place} is neither an existing file nor module:attribute")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # as "python -m" does, and for what they import later
    if module.endswith(".py"):
        place = f"{_importable(Path(module))}:{attribute}"
    found = load_attribute(place)
    model = _built(found, place)
    if weights is None and isinstance(found, type) and _has_weights(model):
        warnings.warn(
            f"{place} is a class, so its weights are untrained; give --weights, or name a trained "
            f"object",
            PGMExplainerWarning,
            stacklevel=2,
        )
    if weights is not None:
        if not hasattr(model, "load_state_dict"):
            raise InputError(f"--weights needs a PyTorch module, but {place} is {brief(model)}")
        load_weights(model, weights, trust)
    return model


def _importable(file: Path) -> str:
    """Return the name of the module in a file, and add its folder to the module search path."""
    if not isfile(file):
        there = [each.name for each in file.parent.glob("*.py")] if isdir(file.parent) else []
        close = get_close_matches(file.name, there, n=3) or there[:3]
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise InputError(f"--model: there is no file {file}{hint}")
    folder = str(file.parent.absolute())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return file.stem


def _built(found: Any, place: str) -> Any:
    """Return the object, or the result of calling a class or function without arguments."""
    if not isinstance(found, (type, functools.partial)) and not inspect.isroutine(found):
        return found
    required = _required(found)
    if required and isinstance(found, type):
        raise InputError(
            f"{place} is a class with required arguments ({', '.join(required)}): name an object, "
            f"or a function without arguments that builds it"
        )
    if required:
        return found  # a function of features: the model itself
    try:
        return found()
    except Exception as error:  # user code may raise anything
        raise InputError(f"{place}() failed with {type(error).__name__}: {error}") from error


def _has_weights(model: Any) -> bool:
    """Return whether an object is a PyTorch module with parameters."""
    return hasattr(model, "load_state_dict") and any(True for _ in model.parameters())


def _required(function: Any) -> list[str]:
    """Return the required arguments of a function or class."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-ins have no signature
        return ["arguments"]
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        each.name for each in parameters if each.default is each.empty and each.kind not in optional
    ]


def read_graph(path: Path, trust: bool) -> GraphInput:
    """Read ``.npz`` (x, edge_index, names if any) or a data object saved by ``torch.save``."""
    if path.suffix == ".npz":
        return _npz(path)
    data = load_tensors(path, trust)
    if isinstance(data, list) and data and all(hasattr(each, "edge_index") for each in data):
        return GraphInput(data)
    try:
        content, count = data.to_dict(), data.num_nodes
    except Exception:  # a broken data object may raise anything
        content = {}
    if not content:
        raise FileError(
            f"{path} holds a {type(data).__name__} without a graph: save one Data object, such as "
            f"dataset[0], or a list of them, with torch.save"
        )
    return GraphInput(data, names=_names(content.get("names"), count, path))


def read_folder(path: Path) -> GraphInput:
    """Read many graphs: every ``.npz`` file of a folder, in the order of their names."""
    files = sorted(each for each in path.iterdir() if each.suffix == ".npz")
    if not files:
        raise FileError(f"{path} has no .npz files; give a folder with one file for each graph")
    graphs = [_npz(each) for each in files]
    for file, graph in zip(files, graphs, strict=True):
        other = [name for name in graph.more if name not in ("x", "edge_index", *_NAMES)]
        if other:
            raise FileError(
                f"{file} has the array {brief(other[0])}; in a folder of graphs, files have only x "
                f"and edge_index: save a list of Data objects with torch.save instead"
            )
    pairs = [_Pair.of(graph, file.stem) for graph, file in zip(graphs, files, strict=True)]
    return GraphInput(pairs, feature_names=graphs[0].feature_names)


class _Pair(tuple[Any, Any]):
    """The features and edges of one of many graphs, with its title and the names of its nodes."""

    title: str
    node_names: list[str] | None

    @classmethod
    def of(cls, graph: GraphInput, title: str) -> _Pair:
        pair = cls((graph.x, graph.edge_index))
        pair.title = title
        pair.node_names = None if graph.names is None else list(map(str, graph.names))
        return pair


def _npz(path: Path) -> GraphInput:
    arrays = NpzArrays(path)
    missing = [name for name in ("x", "edge_index") if name not in arrays]
    if missing:
        held = ", ".join(arrays) or "none"
        raise FileError(f"{path} has no array {brief(missing[0])}; its arrays: {held}")
    x, names = arrays["x"], arrays.get("names")
    listed = None if names is None else names.tolist()
    called = _names(listed, np.size(x, 0) if x.ndim else 0, path)
    titles = arrays.get("feature_names")
    columns = None if titles is None else titles.tolist()
    return GraphInput(x, arrays["edge_index"], called, arrays, columns)


def _names(names: Any, num_nodes: int, path: Path) -> list[VariableId] | None:
    """Return the validated names of the nodes in a file; None if it has none."""
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(each, (int, str)) for each in names):
        raise FileError(f"{path}: 'names' must be a list of strings or integers")
    different = len(set(map(str, names)))
    if len(names) != num_nodes or different != num_nodes:
        raise FileError(f"{path}: 'names' has {different} different names for {num_nodes} nodes")
    return names
