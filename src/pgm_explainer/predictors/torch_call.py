"""How a PyTorch module is called: with a graph, with a data object, or with features alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import InputError, ModelError
from ..limits import brief
from .torch_request import Request
from .torch_tools import UNSUPPORTED, first_tensor

__all__ = ["ModuleCall", "inputs_of_data", "joined_inputs", "takes_batch", "takes_input"]

_PAIR_NAMES = ("edge_label_index", "pairs")
_FEATURE_NAMES = ("x", "features", "input")


class ModuleCall:
    """How a module is called: with a graph, with a data object, or with features alone."""

    def __init__(self, module: nn.Module, output: Callable[[Any], Any]) -> None:
        self._module, self._output = module, output
        parameters = _parameters(module)
        self._names = {each.name for each in parameters}
        self._needs_batch = any(p.name == "batch" and p.default is p.empty for p in parameters)
        self._takes_anything = any(each.kind is each.VAR_KEYWORD for each in parameters)
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        required = [
            each for each in parameters if each.default is each.empty and each.kind not in variable
        ]
        self._required = [each.name for each in required]
        only = required[0].name if len(required) == 1 else ""
        unspecific = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        self.style = "graph"
        if only and not unspecific and "edge_index" not in self._names:
            self.style = "features" if only in _FEATURE_NAMES else "data"

    def __call__(self, x: Tensor, request: Request) -> Tensor:
        inputs = request.inputs
        if self._needs_batch and self.style == "graph" and "batch" not in inputs:
            inputs["batch"] = torch.zeros(
                request.nodes, dtype=torch.long, device=request.edge_index.device
            )
        if request.pairs is not None:
            name = next((each for each in _PAIR_NAMES if each in self._names), _PAIR_NAMES[0])
            inputs[name] = request.pairs
        if self.style == "features":
            answer = self._module(x)
        elif self.style == "data":
            from torch_geometric.data import Data

            answer = self._module(Data(x=x, edge_index=request.edge_index, **inputs))
        else:
            wanted = {name: value for name, value in inputs.items() if self._takes(name)}
            answer = self._module(x, request.edge_index, **wanted)
        scores = self._output(answer)
        if not isinstance(scores, Tensor):
            raise ModelError(
                f"the model returned a {type(scores).__name__}, not a tensor; wrap it in a "
                f"TorchModulePredictor with output, a function that selects the scores"
            )
        return scores

    def alone(self, x: Tensor, request: Request) -> Tensor:
        """Return the output for one sample ``x [n, F]``.

        A module that takes features alone may need them as a batch, ``[1, n, F]``.
        """
        if self.style != "features":
            return self(x, request)
        try:
            return self(x[None], request)[0]
        except UNSUPPORTED:
            return self(x, request)

    def check_inputs(self, inputs: Mapping[str, Any], task: str) -> None:
        """Raise an InputError for unknown inputs, and for missing required ones."""
        if self.style != "graph":
            return
        unknown = [name for name in inputs if not (name in self._names or self._takes_anything)]
        added = {"batch", *(_PAIR_NAMES if task == "edge" else ())}
        missing = [name for name in self._required[2:] if name not in inputs and name not in added]
        if unknown or missing:
            problem = f"does not take {unknown}" if unknown else f"also needs {missing}"
            raise InputError(
                f"the model {problem}; the arguments of its forward are "
                f"{', '.join(sorted(self._names))}, and inputs= has {sorted(inputs)}"
            )

    def names_input(self, name: str) -> bool:
        """Return whether the module has an argument of this name, or takes a data object."""
        return self.style == "data" or name in self._names

    def _takes(self, name: str) -> bool:
        # The batch vector is left out if the module does not take it. All other inputs were passed
        # by the user.
        return name in self._names or self._takes_anything or name != "batch"


def _parameters(module: nn.Module) -> list[inspect.Parameter]:
    """Return the arguments of a module's forward; for TorchScript from its schema."""
    if not isinstance(module, torch.jit.ScriptModule):
        return list(inspect.signature(module.forward).parameters.values())
    forward: Any = module.forward
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=each.default_value if each.has_default_value() else inspect.Parameter.empty,
        )
        for each in forward.schema.arguments[1:]
    ]


def inputs_of_data(model: Any, data: Any) -> dict[str, Any]:
    """Return the further inputs in a data object, such as edge weights, that the model takes."""
    found = {name: value for name, value in data.to_dict().items() if isinstance(value, Tensor)}
    for name in ("x", "edge_index", "y", *(n for n in found if n.endswith("_mask"))):
        found.pop(name, None)
    if not isinstance(model, nn.Module):
        return {}
    call = ModuleCall(model, first_tensor)
    return {name: value for name, value in found.items() if call.names_input(name)}


def takes_input(model: nn.Module, name: str) -> bool:
    """Return whether a module has an argument of this name, or takes a data object."""
    return ModuleCall(model, first_tensor).names_input(name)


def takes_batch(model: nn.Module) -> bool:
    """Return whether a module takes the vector ``batch``, the graph of each node."""
    return takes_input(model, "batch")


def joined_inputs(model: nn.Module, objects: Sequence[Any]) -> dict[str, Any]:
    """Return the further inputs of many data objects, one after the other.

    A data object may have any attributes. If the model takes data objects, attributes without a row
    for each node or edge are left out.

    Raises:
        InputError: some of the objects lack an input of the others, or the model takes an input
            that has no row for each node or edge.
    """
    found = [inputs_of_data(model, each) for each in objects]
    names = {name for each in found for name in each if name != "batch"}
    joined: dict[str, Any] = {}
    for name in sorted(names):
        missing = [at for at, each in enumerate(found) if name not in each]
        if missing:
            raise InputError(f"graph {missing[0]} has no {brief(name)}, but other graphs have")
        other = [
            at
            for at, (each, data) in enumerate(zip(found, objects, strict=True))
            if each[name].dim() == 0 or len(each[name]) not in (len(data.x), data.num_edges)
        ]
        if not other:
            joined[name] = torch.cat([each[name] for each in found])
        elif ModuleCall(model, first_tensor).style != "data":
            raise InputError(
                f"the input {brief(name)} of graph {other[0]} has no row for each node or edge; "
                f"with many graphs, such inputs are not supported: explain the graphs one at a time"
            )
    return joined
