"""How often the first nodes are the right ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgm_explainer import Explanation

from ..node_data import NodeDataset

__all__ = ["top_k_accuracy"]


def top_k_accuracy(
    explanations: Sequence[Explanation], data: NodeDataset, count_target: bool = True
) -> float:
    """Return the mean share of each target's motif among the first k nodes of its ranking.

    k is the motif's size. The ranking is that of dependence, the paper's.

    ``count_target`` is the paper's protocol: the target is in its own motif and counts as found,
    so 1/k is free. Without it, the k - 1 other nodes are looked for among the first k - 1.
    """
    shares = []
    for explanation in explanations:
        (target,) = explanation.ends.tolist()
        others = set(data.explanation(target).tolist()) - {target}
        found = len(others & set(explanation.ranking.nodes[: len(others)].tolist()))
        free = int(count_target)
        shares.append((found + free) / (len(others) + free))
    return float(np.mean(shares))
