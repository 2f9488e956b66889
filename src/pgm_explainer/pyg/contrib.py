"""The option names of ``torch_geometric.contrib.explain.PGMExplainer``."""

from __future__ import annotations

from typing import Any

from ..errors import InputError

__all__ = ["own_names"]

_NAMES = {
    "feature_index": "features",
    "perturbation_mode": "perturbation",
    "max_subgraph_size": "max_nodes",
    "significance_threshold": "significance",
    "pred_threshold": "change",
}


def own_names(options: dict[str, Any]) -> dict[str, Any]:
    """Rename options to the names that :class:`~pgm_explainer.PGMExplainer` uses."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        own = _NAMES.get(name, name)
        if own in found:
            raise InputError(f"{own} is given twice, also as {name}; leave one out")
        found[own] = value
    if found.get("perturbation") == "randint" and "perturbation_mode" in options:
        found["perturbation"] = "random"  # 0 or 1, under another name
    return found
