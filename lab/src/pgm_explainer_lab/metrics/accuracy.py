"""How often the top-ranked nodes are the right ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgm_explainer import Explanation

from ..node_data import NodeDataset

__all__ = ["top_k_accuracy"]


def top_k_accuracy(
    explanations: Sequence[Explanation], data: NodeDataset, count_target: bool = True
) -> float:
    """Return the mean share of each target's motif among the top k nodes of its ranking.

    k is the size of the motif. The ranking is by dependence, as in the paper.

    ``count_target`` is the paper's protocol: the target is in its own motif and always counts as
    found, so the score is at least 1/k. Without it, the score is the share of the k - 1 other nodes
    among the top k - 1.
    """
    shares = []
    for explanation in explanations:
        (target,) = explanation.ends.tolist()
        others = set(data.explanation(target).tolist()) - {target}
        found = len(others & set(explanation.ranking.nodes[: len(others)].tolist()))
        free = int(count_target)
        shares.append((found + free) / (len(others) + free))
    return float(np.mean(shares))
