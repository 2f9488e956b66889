"""The most informative evidence about a prediction, found by querying the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..sampling import VariableId

if TYPE_CHECKING:
    from ..explanation import Explanation
    from ..network import GraphicalModel

__all__ = [
    "FEW_SAMPLES",
    "Fact",
    "fact_nodes",
    "idle_nodes",
    "informative_facts",
    "own_chance",
    "single_facts",
    "support_warning",
]

FEW_SAMPLES = 5
"""A probability based on fewer samples is unreliable."""

_ENOUGH_SAMPLES = 20
"""Evidence with fewer samples is left out: its probabilities are too uncertain."""

_WORTH_LISTING = 0.01
"""Facts that change the probability by less than this are left out."""

_IDLE = 0.005
"""A node is idle if facts about it change the probability by less than this."""

_MOST_NODES, _MOST_STATES = 8, 2**22
"""Limits on the joint distribution of the nodes and the target, to keep it fast to compute."""

Condition = tuple[VariableId, str]
"""A variable and a word for its state."""


@dataclass(frozen=True)
class Fact:
    """Evidence about one or two nodes, and the probability that follows from it.

    Attributes:
        known: pairs of a node and its state, such as ``((300, "kept"),)``.
        holds: the probability that the prediction is kept, given this evidence.
        likelihood: the probability of the evidence.
    """

    known: tuple[Condition, ...]
    holds: float
    likelihood: float

    @property
    def evidence(self) -> dict[VariableId, str]:
        """The fact as :meth:`~pgm_explainer.Explanation.query` takes it."""
        words: dict[VariableId, str] = {}
        for node, word in self.known:
            words[node] = f"{words[node]}, {word}" if node in words else word
        return words


def support_warning(samples: float) -> str | None:
    """Return a warning if too few samples support the answer to a query, else None.

    Args:
        samples: their expected number; see :meth:`~pgm_explainer.Explanation.support`.
    """
    if samples >= FEW_SAMPLES:
        return None
    return (
        f"fewer than {FEW_SAMPLES} samples are expected to match the evidence: the answer is "
        f"unreliable"
    )


def fact_nodes(explanation: Explanation) -> list[VariableId]:
    """Return the nodes of the network that facts are computed for: at most the first eight."""
    network = explanation.network
    nodes: list[VariableId] = []
    if network is None:
        return nodes
    states = network.variable(explanation.target).cardinality
    for node in explanation.nodes[:_MOST_NODES]:
        states *= network.variable(node).cardinality
        if states <= _MOST_STATES:
            nodes.append(node)
    return nodes


def single_facts(explanation: Explanation) -> dict[Condition, Fact]:
    """Return every possible fact about one of these nodes or the target."""
    facts = (fact for fact in _all_facts(explanation) if len(fact.known) == 1)
    return {fact.known[0]: fact for fact in facts}


def informative_facts(explanation: Explanation, most: int = 2) -> list[Fact]:
    """Return the facts that change the probability that the prediction is kept the most.

    Single facts (a node is original, perturbed, kept or changed) come first, then pairs of facts,
    possibly about the same node. Each list has at most ``most`` facts that raise the probability
    and ``most`` that lower it, strongest first, and only the strongest fact for the same nodes. A
    pair is listed only if it changes the probability more than either of its facts alone. Facts
    with fewer than 20 expected samples are left out. Without a network the list is empty.
    """
    if explanation.network is None:
        return []
    base = explanation.query()
    least = _ENOUGH_SAMPLES / explanation.settings.sampling.num_samples
    facts = list(_all_facts(explanation))
    singles = {fact.known[0]: fact for fact in facts if len(fact.known) == 1}
    pairs = [fact for fact in facts if len(fact.known) == 2 and _adds(fact, singles, base)]
    return [
        fact
        for some in (list(singles.values()), pairs)
        for fact in _furthest([each for each in some if each.likelihood >= least], base, most)
    ]


def idle_nodes(explanation: Explanation) -> list[VariableId]:
    """Return the nodes for which no single fact changes the probability by half a point."""
    if explanation.network is None:
        return []
    base = explanation.query()
    moving = {
        node
        for (node, _), fact in single_facts(explanation).items()
        if abs(fact.holds - base) >= _IDLE
    }
    return [node for node in fact_nodes(explanation) if node not in moving]


def own_chance(explanation: Explanation, node: VariableId) -> tuple[float, str]:
    """Return the probability that a variable of the network is unchanged, and its state's name.

    Unchanged means that the prediction of the target or of another node is kept or,
    where nodes have no predictions, that its features are original.
    """
    if node == explanation.target:
        return explanation.query(), "kept"
    assert explanation.network is not None
    variable = explanation.network.variable(node)
    word = "kept" if variable.levels > 1 else "original"
    return float(explanation.network.query(node)[variable.matching(word)].sum()), word


def _furthest(facts: Sequence[Fact], base: float, most: int) -> Iterator[Fact]:
    """Yield the facts that raise the probability most, then those that lower it most."""
    # Rounded, so that rounding errors break no ties; the likelier fact comes first.
    by_move = sorted(facts, key=lambda fact: (-round(abs(fact.holds - base), 9), -fact.likelihood))
    for raises in (True, False):
        best: dict[frozenset[VariableId], Fact] = {}
        for fact in by_move:
            if abs(fact.holds - base) >= _WORTH_LISTING and (fact.holds > base) == raises:
                best.setdefault(frozenset(node for node, _ in fact.known), fact)
        yield from list(best.values())[:most]


def _adds(pair: Fact, singles: Mapping[Condition, Fact], base: float) -> bool:
    """Return whether a pair changes the probability more than either of its facts alone."""
    direction = np.sign(pair.holds - base)
    alone = max(direction * (singles[each].holds - base) for each in pair.known)
    return bool(direction * (pair.holds - base) - max(alone, 0.0) >= _WORTH_LISTING)


def _all_facts(explanation: Explanation) -> Iterator[Fact]:
    """Yield every possible fact and pair of facts, including two facts about one node."""
    network, target = explanation.network, explanation.target
    if network is None:
        return
    joint = _Joint.of(network, [target, *fact_nodes(explanation)])
    holds = network.variable(target).matching("kept").astype(float)
    words = {node: _words(network, node, target) for node in joint.nodes}
    masks = {node: _masks(network, node, words[node]) for node in joint.nodes}
    for first, second in combinations_with_replacement([*joint.nodes[1:], target], 2):
        table = joint.of_three(target, first, second)
        likelihood = np.einsum("tab,fa,gb->fg", table, masks[first], masks[second])
        held = np.einsum("tab,t,fa,gb->fg", table, holds, masks[first], masks[second])
        for f, g in np.argwhere(likelihood > 0).tolist():
            conditions = ((first, words[first][f]), (second, words[second][g]))
            chance = float(held[f, g] / likelihood[f, g]), float(likelihood[f, g])
            if first == second and f == g:
                yield Fact(conditions[:1], *chance)
            elif first != second or f < g:
                yield Fact(conditions, *chance)


def _words(network: GraphicalModel, node: VariableId, target: VariableId) -> tuple[str, ...]:
    """Return the states a node may be in, without kept and changed for the target."""
    words = network.variable(node).words
    if node != target:
        return words
    return tuple(word for word in words if word in ("original", "perturbed"))


def _masks(network: GraphicalModel, node: VariableId, words: Sequence[str]) -> NDArray[np.float64]:
    """Return which states agree with each word, ``[words, states]``."""
    variable = network.variable(node)
    rows = [variable.matching(word) for word in words]
    return np.array(rows, dtype=float).reshape(len(words), variable.cardinality)


@dataclass(frozen=True)
class _Joint:
    """The joint distribution of some variables, computed once for all facts."""

    nodes: list[VariableId]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, network: GraphicalModel, nodes: list[VariableId]) -> _Joint:
        return cls(nodes, network.query(nodes))

    def of_three(self, *nodes: VariableId) -> NDArray[np.float64]:
        """Return the joint distribution of three variables, any of which may be the same."""
        axes = [self.nodes.index(node) for node in nodes]
        kept = sorted(set(axes))
        marginal = self.values.sum(axis=tuple(set(range(self.values.ndim)) - set(kept)))
        table = np.zeros([self.values.shape[axis] for axis in axes])
        states = np.indices(marginal.shape)
        table[tuple(states[kept.index(axis)] for axis in axes)] = marginal
        return table
