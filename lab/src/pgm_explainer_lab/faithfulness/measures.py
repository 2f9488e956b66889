"""Scores of an explanation against the true effects, and its fidelity."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import ks_2samp

from pgm_explainer.effects import Effects

from ..arrays import FloatArray, IntArray
from ..metrics import faithfulness, robust_fidelity
from ..rivals.case import Case
from .explainers import Finding
from .truth import Truth

__all__ = [
    "RESOLUTION",
    "TOP",
    "against_truth",
    "fidelities",
    "interval_counts",
    "negative_evidence",
    "path_found",
]

TOP = 5
"""Number of nodes in an explanation."""
RESOLUTION = 1e-6
"""Changes of a probability below this are rounding errors of the model."""
_CLEAR = 3.0


def against_truth(finding: Finding, truth: Truth, target: int | None) -> dict[str, float]:
    """Return the scores of a finding against the true effects; only intervals include the target.

    ``captured 1`` and ``captured 5`` are the sums of the true effects of the top-ranked nodes,
    divided by those of the strongest nodes; ``recall 5`` is the share of the five strongest nodes
    among the top five; ``sign`` is the share of correct signs among the five strongest nodes
    with a clear sign. The result is empty if no perturbation of any node changes the prediction by
    more than rounding errors.
    """
    others = truth.nodes != target
    nodes, size = truth.nodes[others], truth.size[others]
    order = np.argsort(-size, kind="stable")
    if not len(nodes) or size[order[0]] <= RESOLUTION:
        return {}
    size_of = dict(zip(nodes.tolist(), size.tolist(), strict=True))
    measures = {
        f"captured {top}": sum(size_of[node] for node in finding.nodes[:top])
        / size[order[:top]].sum()
        for top in (1, TOP)
    }
    strongest = nodes[order[:TOP]]
    measures[f"recall {TOP}"] = len(np.intersect1d(strongest, finding.nodes[:TOP])) / len(strongest)
    if finding.signed:
        at = np.searchsorted(truth.nodes, strongest)
        at = at[abs(truth.effect[at]) > _CLEAR * truth.error[at]]
        right = np.sign(finding.support[truth.nodes[at]]) == -np.sign(truth.effect[at])
        measures |= {"sign": float(right.mean())} if len(at) else {}
    return measures


def interval_counts(
    effects: Effects, checked: Truth, contexts: int, strongest: Truth
) -> dict[str, float]:
    """Count intervals and those that contain the true effect, in total and for the strongest.

    A prediction that changes in no sample has no intervals.

    Args:
        effects: the effects with their intervals.
        checked: the true effects of the nodes whose intervals are counted.
        contexts: the minimum number of contexts that a true effect is a mean of.
        strongest: the true effects of the strongest nodes.
    """
    if not (effects.high > effects.low).any():
        return {}
    all_covered, strong_covered = (
        _covered(effects, each, contexts) for each in (checked, strongest)
    )
    return {
        "intervals": float(len(all_covered)),
        "covered": float(all_covered.sum()),
        "intervals of the strongest": float(len(strong_covered)),
        "covered of the strongest": float(strong_covered.sum()),
    }


def _covered(effects: Effects, truth: Truth, contexts: int) -> NDArray[np.bool_]:
    """Return whether the interval of each node contains its true effect.

    The true effect is itself a mean over contexts, so the intervals are widened by its margin.
    """
    order = np.argsort(effects.nodes)
    at = order[np.searchsorted(effects.nodes[order], truth.nodes)]
    distance = truth.effect - effects.effect[at]
    side = np.where(
        distance > 0, (effects.high - effects.effect)[at], (effects.effect - effects.low)[at]
    )
    margin = special.stdtrit(contexts - 1, 0.975) * truth.error
    return np.asarray(abs(distance) <= np.hypot(side, margin) + RESOLUTION)


def fidelities(case: Case, target: int | None, finding: Finding) -> dict[str, float]:
    """Return the fidelities of the five top-ranked nodes; the target is never removed."""
    nodes = list(finding.nodes[:TOP])
    own = [] if target is None else [target]
    plus = faithfulness(case, [target], [nodes]).fidelity_plus
    minus = faithfulness(case, [target], [[*own, *nodes]]).fidelity_minus
    robust_plus, robust_minus = robust_fidelity(case, target, nodes)
    return {
        "fidelity+": plus,
        "fidelity-": minus,
        "robust fidelity+": robust_plus,
        "robust fidelity-": robust_minus,
    }


def path_found(support: FloatArray, edge_index: IntArray, path: Sequence[int]) -> float:
    """Return the share of a path's edges among the top n edges, n the number of nodes on the path.

    As in Faber et al., an edge has the sum of the values of its two nodes.

    Examples:
        >>> edges = np.array([[0, 1, 3], [1, 2, 2]])
        >>> path_found(np.array([2.0, 1.0, 0.5, 0.0]), edges, [0, 1, 2])
        1.0
    """
    mask = support[edge_index[0]] + support[edge_index[1]]
    first = np.argsort(-mask, kind="stable")[: len(path)]
    wanted = set(pairwise(path))
    return len(wanted & set(map(tuple, edge_index[:, first].T.tolist()))) / len(wanted)


def negative_evidence(support: FloatArray, neutral: IntArray, against: IntArray) -> float:
    """Return 1 if evidence against a prediction can be distinguished from neutral nodes, else 0.

    As in Faber et al., a Kolmogorov–Smirnov test of the two groups must have a p-value below 0.01.
    """
    return float(ks_2samp(support[neutral], support[against]).pvalue < 0.01)
