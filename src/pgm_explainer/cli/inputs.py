"""Reading what is explained: the model, and the graph."""

from __future__ import annotations

import importlib
import inspect
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError
from ..io.files import read_file
from ..sampling import VariableId
from .torch_files import load_program, load_tensors, load_weights

__all__ = ["GraphInput", "read_graph", "read_model"]


@dataclass(frozen=True)
class GraphInput:
    """A graph as :class:`~pgm_explainer.PGMExplainer` takes it.

    Attributes:
        x: node features, or a data object of PyTorch Geometric.
        edge_index: the edges; None with a data object, which has its own.
        names: what the nodes are called, if not by their numbers.
        more: further arrays of the file by name; those that the model takes go to it.
    """

    x: Any
    edge_index: Any = None
    names: Sequence[VariableId] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def num_nodes(self, kind: str | None) -> int:
        """Return how many nodes there are; in a graph of several kinds, of that kind."""
        if self.edge_index is not None:
            return len(self.x)
        if kind is None:
            return int(self.x.num_nodes)
        if kind not in getattr(self.x, "node_types", ()):
            raise InputError(f"--target-type {kind}: the graph has no nodes of that kind")
        return int(self.x[kind].num_nodes)

    def inputs_for(self, model: Any) -> dict[str, Any]:
        """Return those further arrays that the model takes by name, such as ``edge_weight``."""
        if not self.more or not hasattr(model, "forward"):
            return {}
        taken = inspect.signature(model.forward).parameters
        return {name: value for name, value in self.more.items() if name in taken}


def read_model(place: str, weights: Path | None, trust: bool) -> Any:
    """Return the model at ``module:attribute``, or in a file that is a program.

    Importing a module executes it. An attribute that takes no arguments, such as a class or a
    function that builds the model, is called.
    """
    path = Path(place)
    if path.is_file():
        if weights is not None:
            raise InputError(f"--weights is for a model named as module:attribute, not for {place}")
        return load_program(path, trust)
    module, colon, attribute = place.partition(":")
    if not colon or not module or not attribute:
        raise InputError(f"--model {place}: there is no such file, nor is it module:attribute")
    model = _made(_imported(module, attribute), place)
    if weights is not None:
        if not hasattr(model, "load_state_dict"):
            raise InputError(f"--weights needs a PyTorch module, but {place} is {model!r:.60}")
        load_weights(model, weights, trust)
    return model


def _imported(module: str, attribute: str) -> Any:
    sys.path.insert(0, str(Path.cwd()))  # as "python -m" does, and for what they import later
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # the module is the user's, and so is what it raises
        raise InputError(
            f"importing {module} failed with {type(error).__name__}: {error}; it must be "
            f"importable from {Path.cwd()}"
        ) from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise InputError(f"{module} has no attribute {attribute!r}")
        found = getattr(found, name)
    return found


def _made(found: Any, place: str) -> Any:
    """The object itself, or what it makes if it is a class or a function without arguments."""
    if not isinstance(found, type) and not inspect.isfunction(found):
        return found
    parameters = inspect.signature(found).parameters.values()
    required = [each.name for each in parameters if each.default is each.empty]
    if required and isinstance(found, type):
        raise InputError(
            f"{place} is a class that takes {', '.join(required)}: name an object, or a function "
            f"without arguments that builds it"
        )
    if required:
        return found  # a function of features: the model itself
    try:
        return found()
    except Exception as error:  # the function is the user's, and so is what it raises
        raise InputError(f"{place}() failed with {type(error).__name__}: {error}") from error


def read_graph(path: Path, trust: bool) -> GraphInput:
    """Read ``.npz`` (x, edge_index, names if any) or a data object saved by ``torch.save``."""
    if path.suffix == ".npz":
        return read_file(path, _npz)
    data = load_tensors(path, trust)
    try:
        content = data.to_dict()
    except (AttributeError, RuntimeError):  # something else, or a data object made by hand
        content = {}
    if not content:
        raise FileError(
            f"{path} holds a {type(data).__name__} without a graph: save one Data object, such as "
            f"dataset[0], with torch.save"
        )
    names = content.get("names")
    return GraphInput(data, names=None if names is None else _checked_names(names, data.num_nodes))


def _npz(document: bytes) -> GraphInput:
    try:
        with np.load(io.BytesIO(document), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception as error:  # zipfile, zlib and NumPy each have errors of their own
        raise FileError(f"this is no .npz file of plain arrays: {error}") from error
    missing = [name for name in ("x", "edge_index") if name not in arrays]
    if missing:
        raise FileError(f"there is no array {missing[0]!r}, only {', '.join(arrays) or 'nothing'}")
    x, edge_index = arrays.pop("x"), arrays.pop("edge_index")
    names = arrays.pop("names", None)
    listed = None if names is None else _checked_names(names.tolist(), len(x))
    return GraphInput(x, edge_index, listed, arrays)


def _checked_names(names: Any, num_nodes: int) -> list[VariableId]:
    if not isinstance(names, list) or not all(isinstance(each, (int, str)) for each in names):
        raise FileError("'names' must be a list of texts or whole numbers")
    if len(names) != num_nodes or len(set(map(str, names))) != num_nodes:
        raise FileError(
            f"'names' has {len(set(map(str, names)))} different names for {num_nodes} nodes"
        )
    return names
