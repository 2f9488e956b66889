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
from .selection import Ranking

__all__ = ["ByTarget", "PGMExplainerAlgorithm"]

_SCORES = {
    ModelReturnType.raw: "logits",
    ModelReturnType.probs: "probabilities",
    ModelReturnType.log_probs: "log_probabilities",
}
_KNOWN = [name for name in inspect.signature(PGMExplainer).parameters if name not in ("model", "x")]
_OURS_TO_SET = ("task", "scores", "explained_class", "inputs")


class ByTarget:
    """Our explanations, by target: what rides along on PyTorch Geometric's own explanation.

    Not a dictionary or a list, which that would take for data of the graph and try to cut.
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
    """Explains predictions of nodes or of a graph by Bayesian networks.

    The ``node_mask`` holds Cramér's V of the nodes that the prediction significantly depends on,
    times the root of their reach, but for each less than for whoever is ranked before it; 1 for the
    explained node itself, and 0 for all others; of many explained nodes the largest.
    With ``node_mask_type="attributes"`` a node's value is spread over its features in proportion to
    their own effects, found by perturbing them one by one. The explanation also carries ``pgm``,
    our full explanations by target, with their Bayesian networks.

    Args:
        options: those of :class:`~pgm_explainer.PGMExplainer`, but for what the ``Explainer``
            already knows (task, kind of scores, class, further inputs).
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        known = [name for name in _OURS_TO_SET if name in options]
        if known:
            raise InputError(f"{', '.join(known)}: the Explainer's model_config and call say that")
        unknown = [name for name in options if name not in _KNOWN]
        if unknown:
            raise InputError(
                f"unknown options: {', '.join(unknown)}; there are {', '.join(_KNOWN)}"
            )
        self.options = options

    def supports(self) -> bool:
        """Say whether this way of explaining is supported; PyTorch Geometric asks."""
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
            raise InputError("a HeteroData graph is explained by PGMExplainer(model, data) itself")
        inputs = {name: value for name, value in kwargs.items() if value is not None}
        if self.model_config.task_level is ModelTaskLevel.graph:
            _check_one_graph(inputs.get("batch"))
            # One class for the graph, whether it came as a number, a row or a batch of one.
            target = target.flatten()[:1]
            explainer = self._explainer(model, x, edge_index, "graph", target, inputs)
            found = [explainer.explain()]
        else:
            explainer = self._explainer(model, x, edge_index, "node", target, inputs)
            found = explainer.explain_many(_asked(index, len(x)))
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
            strength[explanation.ranking.nodes, 0] = _strength(explanation.ranking)
            strength[explanation.ends, 0] = 1
            if by_feature:
                effects = explainer.explain_features(explanation)
                largest = effects.effect_size.max(axis=1, keepdims=True)
                spread = np.zeros_like(mask)
                shares = effects.effect_size / np.where(largest > 0, largest, 1)
                spread[np.ix_(effects.nodes, effects.features)] = shares
                strength = strength * spread
            mask = np.maximum(mask, strength)
        return mask


def _strength(ranking: Ranking) -> NDArray[np.float64]:
    """Return a value for each candidate that orders them as they are ranked.

    Evidence, which ranks, and effects, which are told, differ where tables have other sizes.
    """
    effect = np.minimum.accumulate(ranking.effect_size * np.sqrt(ranking.reach))
    falling = np.linspace(1, 0.999, len(ranking))
    return np.where(ranking.significant, effect * falling, 0)


def _check_one_graph(batch: Tensor | None) -> None:
    if batch is not None and len(batch) and int(batch.max()) > 0:
        raise InputError(f"the batch holds {int(batch.max()) + 1} graphs; explain one at a time")


def _asked(index: int | Tensor | None, num_nodes: int) -> list[int]:
    """The nodes to explain: all, one, some by number, or some by a mask."""
    if index is None:
        return list(range(num_nodes))
    asked = torch.as_tensor(index)
    return (asked.nonzero() if asked.dtype == torch.bool else asked).flatten().tolist()
