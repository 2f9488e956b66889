"""An adapter for PyTorch Geometric's explainers."""

from __future__ import annotations

from typing import Any

from torch_geometric.explain import Explainer, ExplainerAlgorithm, Explanation

from .case import Case, View

__all__ = ["explain", "make_explainer"]


def make_explainer(case: Case, algorithm: ExplainerAlgorithm, **masks: str) -> Explainer:
    """Return PyTorch Geometric's explainer of the class that the model predicts.

    Args:
        masks: ``node_mask_type`` and ``edge_mask_type``, as in PyTorch Geometric.
    """
    config = {
        "mode": "multiclass_classification",
        "task_level": case.task,
        "return_type": "raw",
    }
    return Explainer(
        case.frozen_model, algorithm, explanation_type="model", model_config=config, **masks
    )


def explain(explainer: Explainer, view: View) -> Explanation:
    """Explain one prediction on the subgraph it depends on."""
    options: dict[str, Any] = view.inputs if view.index is None else {"index": view.index}
    return explainer(view.x, view.edge_index, **options)
