"""PGM-Explainer as an algorithm for ``torch_geometric.explain.Explainer``.

PyTorch Geometric's thresholds, subgraphs, plots and metrics then work on it:

    from torch_geometric.explain import Explainer
    from pgm_explainer.pyg import PGMExplainerAlgorithm

    explainer = Explainer(
        model,
        algorithm=PGMExplainerAlgorithm(num_samples=800),
        explanation_type="model",
        node_mask_type="object",
        model_config=dict(mode="multiclass_classification", task_level="node", return_type="raw"),
    )
    explanation = explainer(x, edge_index, index=10)
    explanation.pgm[10].query({7: "kept"})
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.explain import ExplainerAlgorithm
from torch_geometric.explain import Explanation as PygExplanation
from torch_geometric.explain.config import MaskType, ModelMode, ModelReturnType, ModelTaskLevel

from .errors import InputError
from .explainer import PGMExplainer
from .explanation import Explanation
from .predictors.torch_module import TorchModulePredictor

__all__ = ["ByTarget", "PGMExplainerAlgorithm"]

_SCORES = {
    ModelReturnType.raw: "logits",
    ModelReturnType.probs: "probabilities",
    ModelReturnType.log_probs: "log_probabilities",
}
_KNOWN = [name for name in inspect.signature(PGMExplainer).parameters if name not in ("model", "x")]
_OURS_TO_SET = ("task", "scores", "explained_class", "inputs")


class ByTarget:
    """The full explanations by target, attached to PyTorch Geometric's explanation.

    Not a dictionary or a list, which PyTorch Geometric would treat as graph data and slice.
    """

    def __init__(self, explanations: dict[Any, Explanation]) -> None:
        self._explanations = explanations

    def __getitem__(self, target: Any) -> Explanation:
        return self._explanations[target]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._explanations)

    def __len__(self) -> int:
        return len(self._explanations)

    def __repr__(self) -> str:
        return f"explanations of {', '.join(map(str, self._explanations))}"


class PGMExplainerAlgorithm(ExplainerAlgorithm):
    """Explains predictions of nodes or of a graph with Bayesian networks.

    The ``node_mask`` holds the strength of each significant effect (from 0 to 1, see
    :class:`~pgm_explainer.effects.Effects`), 1 for the explained node, and 0 for all others, so it
    orders the other nodes as ``explanation.effects`` does. If several nodes are explained, it holds
    the maximum of their values. With ``node_mask_type="attributes"``, the value of a node of the
    network is distributed over its features in proportion to their effects, which are measured by
    perturbing the features one by one; all other nodes are 0. The explanation also has ``pgm``, the
    full explanations by target, with their effects, rankings and Bayesian networks.

    Args:
        options: options of :class:`~pgm_explainer.PGMExplainer`, except those that the
            ``Explainer`` already sets (task, type of scores, class, other inputs).
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        known = [name for name in _OURS_TO_SET if name in options]
        if known:
            raise InputError(
                f"{', '.join(known)}: already set by the Explainer's model_config and call"
            )
        unknown = [name for name in options if name not in _KNOWN]
        if unknown:
            raise InputError(
                f"unknown options: {', '.join(unknown)}; there are {', '.join(_KNOWN)}"
            )
        self.options = options

    def supports(self) -> bool:
        """Return whether the configuration is supported; called by PyTorch Geometric."""
        supported = True
        if self.model_config.task_level not in (ModelTaskLevel.node, ModelTaskLevel.graph):
            supported = False
        if self.explainer_config.edge_mask_type is not None:
            supported = False
        masks = (MaskType.object, MaskType.attributes)
        return supported and self.explainer_config.node_mask_type in masks

    def forward(
        self,
        model: torch.nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> PygExplanation:
        """Explain; called by ``torch_geometric.explain.Explainer``."""
        if not isinstance(x, Tensor):
            raise InputError("HeteroData is not supported here; use PGMExplainer(model, data)")
        inputs = {name: value for name, value in kwargs.items() if value is not None}
        if self.model_config.task_level is ModelTaskLevel.graph:
            _check_one_graph(inputs.get("batch"))
            # One class for the graph, whether given as a number, a row or a batch of one.
            target = target.flatten()[:1]
            explainer = self._explainer(model, x, edge_index, "graph", target, inputs)
            found = [explainer.explain()]
        else:
            explainer = self._explainer(model, x, edge_index, "node", target, inputs)
            found = explainer.explain_many(_targets(index, len(x)))
        mask = self._mask(explainer, found, x)
        by_target = ByTarget({each.target: each for each in found})
        return PygExplanation(node_mask=torch.from_numpy(mask).to(x), pgm=by_target)

    def _explainer(
        self,
        model: torch.nn.Module,
        x: Tensor,
        edge_index: Tensor,
        task: str,
        target: Tensor,
        inputs: dict[str, Any],
    ) -> PGMExplainer:
        regression = self.model_config.mode is ModelMode.regression
        classes: Any = None
        if not regression:
            values = target.detach().cpu().numpy().astype(np.int64).reshape(-1)
            classes = int(values[0]) if task == "graph" else values
        return PGMExplainer(
            TorchModulePredictor(model, task, inputs),
            x,
            edge_index,
            task=task,
            scores="values" if regression else _SCORES[self.model_config.return_type],
            explained_class=classes,
            **self.options,
        )

    def _mask(
        self, explainer: PGMExplainer, found: list[Explanation], x: Tensor
    ) -> NDArray[np.float64]:
        by_feature = self.explainer_config.node_mask_type is MaskType.attributes
        mask = np.zeros((x.shape[0], x.shape[1] if by_feature else 1))
        for explanation in found:
            strength = np.zeros((x.shape[0], 1))
            effects = explanation.effects
            strength[effects.nodes, 0] = np.where(effects.significant, effects.strength, 0)
            strength[explanation.ends, 0] = 1
            if by_feature:
                features = explainer.explain_features(explanation)
                largest = features.effect_size.max(axis=1, keepdims=True)
                spread = np.zeros_like(mask)
                shares = features.effect_size / np.where(largest > 0, largest, 1)
                spread[np.ix_(features.nodes, features.features)] = shares
                strength = strength * spread
            mask = np.maximum(mask, strength)
        return mask


def _check_one_graph(batch: Tensor | None) -> None:
    if batch is not None and len(batch) and int(batch.max()) > 0:
        raise InputError(f"the batch holds {int(batch.max()) + 1} graphs; explain one at a time")


def _targets(index: int | Tensor | None, num_nodes: int) -> list[int]:
    """Return the nodes to explain: all, one, several by number, or a mask."""
    if index is None:
        return list(range(num_nodes))
    try:
        chosen = torch.as_tensor(index)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputError(
            f"index must be a node, a list of nodes or a mask, not {index!r}"
        ) from error
    return (chosen.nonzero() if chosen.dtype == torch.bool else chosen).flatten().tolist()
