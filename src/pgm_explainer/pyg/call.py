"""One call of PyTorch Geometric's ``Explainer``: the model, its graph and what is explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.explain.config import ModelConfig, ModelMode, ModelReturnType, ModelTaskLevel

from ..arrays import IntArray, as_array
from ..errors import InputError
from ..explainer import PGMExplainer
from ..explanation import Explanation
from ..limits import LISTED, brief
from ..predictors.torch_module import TorchModulePredictor

__all__ = ["PygCall"]

_SCORES = {
    ModelReturnType.raw: "logits",
    ModelReturnType.probs: "probabilities",
    ModelReturnType.log_probs: "log_probabilities",
}
_PAIR_NAMES = ("edge_label_index", "pairs")


@dataclass(frozen=True)
class PygCall:
    """The arguments of a call.

    Attributes:
        x, edge_index: tensors, or dictionaries of tensors by node and edge type.
        target: the class of each output; for a regression, its value.
        index: the explained outputs; None for all.
        inputs: other inputs of the model.
        options: those of :class:`~pgm_explainer.PGMExplainer`.
    """

    model: torch.nn.Module
    x: Tensor | dict[str, Tensor]
    edge_index: Tensor | dict[tuple[str, str, str], Tensor]
    target: Tensor
    index: int | Tensor | None
    inputs: dict[str, Any]
    config: ModelConfig
    options: Mapping[str, Any]

    def without(self, *names: str) -> PygCall:
        """Return the call without some of its options."""
        kept = {name: value for name, value in self.options.items() if name not in names}
        return replace(self, options=kept)

    def explain(self, parts: Any) -> list[tuple[PGMExplainer, Explanation]]:
        """Return an explanation of each target in terms of these parts, with its explainer."""
        if self.task == "graph":
            # One class for the graph, whether given as a number, a row or a batch of one.
            classes = None if self.classes is None else int(self.classes[0])
            explainer = self._explainer(parts, classes)
            return [(explainer, explainer.explain())]
        if not self.target.dim():
            raise InputError("target must have a class for each prediction, not a single number")
        if self.task == "node":
            explainer = self._explainer(parts, self._class_of_each_node)
            chosen = _chosen(self.index, len(self.target))
            # By name, because an integer is not an index if names are integers.
            named = chosen if explainer.types is not None else explainer.names.of(chosen)
            found = explainer.explain_many(named)
            return [(explainer, each) for each in found]
        return self._explain_pairs(parts)

    def _explain_pairs(self, parts: Any) -> list[tuple[PGMExplainer, Explanation]]:
        """Explain pairs of nodes, with one explainer per class: all its pairs have the same one."""
        pairs = self._pairs
        chosen = _chosen(self.index, pairs.shape[1])
        classes = [None if self.classes is None else int(self.classes[at]) for at in chosen]
        found: dict[int, tuple[PGMExplainer, Explanation]] = {}
        for each in dict.fromkeys(classes):
            explainer = self._explainer(parts, each)
            mine = [at for at, its in zip(chosen, classes, strict=True) if its == each]
            ends = [pairs[:, at].tolist() for at in mine]
            if explainer.types is None:
                ends = [explainer.names.of(pair) for pair in ends]
            explanations = explainer.explain_many([tuple(pair) for pair in ends])
            found.update(zip(mine, ((explainer, one) for one in explanations), strict=True))
        return [found[at] for at in chosen]

    def _explainer(self, parts: Any, explained_class: Any) -> PGMExplainer:
        regression = self.config.mode is ModelMode.regression
        settings = {
            **self.options,
            "task": self.task,
            "parts": parts,
            "scores": "values" if regression else _SCORES[self.config.return_type],
            "explained_class": explained_class,
        }
        if isinstance(self.x, Tensor):
            predictor = TorchModulePredictor(self.model, self.task, self._other_inputs)
            return PGMExplainer(predictor, self.x, self.edge_index, **settings)
        settings["target_type"] = self._target_type
        return PGMExplainer(self.model, self._data, inputs=self._other_inputs, **settings)

    @cached_property
    def task(self) -> str:
        """The task, ``node``, ``edge`` or ``graph``."""
        level = self.config.task_level
        task = {ModelTaskLevel.node: "node", ModelTaskLevel.edge: "edge"}.get(level, "graph")
        if task == "graph" and isinstance(self.x, Tensor):
            _check_one_graph(self.inputs.get("batch"))
        return task

    @cached_property
    def classes(self) -> IntArray | None:
        """The explained class of each output; None for a regression."""
        if self.config.mode is ModelMode.regression:
            return None
        return as_array(self.target, "target").astype(np.int64).reshape(-1)

    @property
    def _class_of_each_node(self) -> IntArray | None:
        if self.classes is None or isinstance(self.x, Tensor):
            return self.classes
        # Nodes of other types have no prediction, so their class does not matter.
        sizes = {kind: len(x) for kind, x in self.x.items()}
        blocks = [
            self.classes if kind == self._target_type else np.zeros(size, dtype=np.int64)
            for kind, size in sizes.items()
        ]
        return np.concatenate(blocks)

    @property
    def _other_inputs(self) -> dict[str, Any]:
        """The other inputs of the model, without the pairs, which the explainer passes."""
        names = _PAIR_NAMES if self.task == "edge" else ()
        return {name: value for name, value in self.inputs.items() if name not in names}

    @cached_property
    def _pairs(self) -> Tensor:
        """The pairs of nodes ``[2, P]`` that the model predicts."""
        pairs = next((self.inputs[name] for name in _PAIR_NAMES if name in self.inputs), None)
        if not isinstance(pairs, Tensor) or pairs.dim() != 2 or len(pairs) != 2:
            raise InputError(
                "an edge-level task needs the predicted pairs of nodes as a tensor [2, P]; pass "
                "edge_label_index= to the Explainer"
            )
        return pairs

    @cached_property
    def _data(self) -> HeteroData:
        data = HeteroData()
        data.set_value_dict("x", self.x)
        data.set_value_dict("edge_index", self.edge_index)
        return data

    @cached_property
    def _target_type(self) -> Any:
        """The predicted node type: as chosen, or the only one with as many nodes as predictions."""
        given = self.options.get("target_type")
        if given is not None or self.task == "graph":
            return given
        if self.task == "edge":
            raise InputError(
                "the node types of the pairs are unknown; pass them to the algorithm, such as "
                "PGMExplainerAlgorithm(target_type=('user', 'item'))"
            )
        rows = len(self.target)
        assert isinstance(self.x, dict)
        fitting = [kind for kind, x in self.x.items() if len(x) == rows]
        if len(fitting) != 1:
            raise InputError(
                f"the predicted node type is unknown: the model returns {rows} rows, and the node "
                f"types with as many nodes are {fitting}; pass it to the algorithm, such as "
                f"PGMExplainerAlgorithm(target_type={brief(next(iter(self.x)))})"
            )
        return fitting[0]


def _check_one_graph(batch: Tensor | None) -> None:
    if batch is not None and len(batch) and int(batch.max()) > 0:
        raise InputError(f"the batch holds {int(batch.max()) + 1} graphs; explain one at a time")


def _chosen(index: int | Tensor | None, count: int) -> list[int]:
    """Return the explained outputs: all, one, several by number, or a mask."""
    if index is None:
        return list(range(count))
    try:
        chosen = torch.as_tensor(index)
        if chosen.numel() > LISTED or chosen.layout != torch.strided or chosen.is_meta:
            raise ValueError("too many, or no values")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputError(
            f"index must be a number, a list of numbers or a mask, not {brief(index)}"
        ) from error
    listed = (chosen.nonzero() if chosen.dtype == torch.bool else chosen).flatten().tolist()
    wrong = [at for at in listed if not isinstance(at, int) or not -count <= at < count]
    if wrong:
        raise InputError(f"index {wrong[0]} is out of range; there are {count} predictions")
    if not listed:
        raise InputError(f"index {brief(index)} selects no prediction; there are {count}")
    return [at % count for at in listed]
