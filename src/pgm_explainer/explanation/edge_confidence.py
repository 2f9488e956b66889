"""The confidence of the edges of a network: how often they are learned from resampled data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from ..network import GraphicalModel
from ..storage.checked import Checked
from ..variables import VariableId

if TYPE_CHECKING:
    from .explanation import Explanation

__all__ = ["ConfidentEdge", "EdgeConfidence", "confidence_from", "confidence_to_dict"]

_SHOWN = 0.2
"""Edges that are not in the network are listed if their share is at least this."""


@dataclass(frozen=True)
class ConfidentEdge:
    """An edge, and how often it was learned.

    Attributes:
        parent, child: the variables, in the direction of the network, or else in the more frequent
            one.
        share: the share of resamples in which the two are connected.
        direction: the share of these in which the edge has this direction, where an edge whose
            direction the data do not determine counts half; None if directions are not learned.
        in_network: whether the edge is in the network.
    """

    parent: VariableId
    child: VariableId
    share: float
    direction: float | None
    in_network: bool


@dataclass(frozen=True)
class EdgeConfidence:
    """How often each edge of a network is learned from resampled rows of the samples.

    Attributes:
        resamples: how often the samples were resampled, with replacement.
        seed: seed of the resampling.
        weights: for two positions of variables in the network, the smaller first, the share of
            resamples with the edge to the larger one, and with the edge back. Pairs that were never
            connected are left out.
        learnt: whether directions are learned; not in a Markov network.
        leaf: whether the last variable is a leaf by construction, so that the directions of its
            edges are not learned.
    """

    resamples: int
    seed: int
    weights: tuple[tuple[int, int, float, float], ...]
    learnt: bool = True
    leaf: bool = False

    @classmethod
    def of(cls, matrix: NDArray[np.float64], **about: Any) -> EdgeConfidence:
        """Make it from the shares ``[parent, child]``."""
        pairs = combinations(range(len(matrix)), 2)
        weights = [(u, v, float(matrix[u, v]), float(matrix[v, u])) for u, v in pairs]
        return cls(weights=tuple(each for each in weights if each[2] + each[3] > 0), **about)

    def share(self, one: int, other: int) -> float:
        """Return the share of resamples in which variables at two positions are connected."""
        pair = min(one, other), max(one, other)
        return next((f + b for u, v, f, b in self.weights if (u, v) == pair), 0.0)

    def edges(self, network: GraphicalModel) -> list[ConfidentEdge]:
        """Return the edges of the network, and others that are often learned; most frequent first.

        Edges that are not in the network are listed if they are in at least 20% of the resamples.
        """
        ids, last = network.nodes, len(network.nodes) - 1
        known = set(network.edges)
        found = []
        for u, v, forward, backward in self.weights:
            share = forward + backward
            ways = [(ids[u], ids[v], forward), (ids[v], ids[u], backward)]
            here = [each for each in ways if each[:2] in known]
            parent, child, weight = (here or sorted(ways, key=lambda each: -each[2]))[0]
            if here or share >= _SHOWN:
                fixed = not self.learnt or (self.leaf and v == last)
                direction = None if fixed else weight / share
                found.append(ConfidentEdge(parent, child, share, direction, bool(here)))
        seen = {frozenset((each.parent, each.child)) for each in found}
        missing = [edge for edge in network.edges if frozenset(edge) not in seen]
        found += [ConfidentEdge(*edge, 0.0, None, True) for edge in missing]
        return sorted(found, key=lambda each: (not each.in_network, -each.share))


def confidence_to_dict(explanation: Explanation) -> dict[str, Any]:
    """Return the field of a JSON file, which is left out if there is none."""
    found = explanation.edge_confidence
    if found is None:
        return {}
    plain = {
        "resamples": found.resamples,
        "seed": found.seed,
        "learnt": found.learnt,
        "leaf": found.leaf,
        "weights": [list(each) for each in found.weights],
    }
    return {"edge_confidence": plain}


def confidence_from(fields: Checked, explanation: Explanation) -> Explanation:
    """Return an explanation with what :func:`confidence_to_dict` wrote.

    Raises:
        FileError: a value is invalid.
    """
    entry = fields.fields("resamples", "seed", "learnt", "leaf", "weights")
    if explanation.network is None:
        raise FileError(f"{fields.place} is about a network, but there is none")
    size = len(explanation.network.nodes)
    weights = []
    for row in entry["weights"].items():
        u, v, forward, backward = row.items(4)
        one, other = u.whole_number(), v.whole_number()
        shares = forward.fraction(), backward.fraction()
        if not one < other < size or not 0 < sum(shares) <= 1 + 1e-9:
            raise FileError(f"{row.place} must be two variables of the network and their shares")
        weights.append((one, other, *shares))
    if len({each[:2] for each in weights}) < len(weights):
        raise FileError(f"{entry['weights'].place} must have each pair once")
    found = EdgeConfidence(
        entry["resamples"].whole_number(at_least=1),
        entry["seed"].whole_number(),
        tuple(weights),
        entry["learnt"].flag(),
        entry["leaf"].flag(),
    )
    return replace(explanation, edge_confidence=found)
