"""What kind of part each explaining node has, as far as the network tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..sampling import VariableId
from .facts import Said, single_facts, told_nodes

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["Roles", "roles_of"]

_MAKES_A_DIFFERENCE = 0.02
_MOVES = 0.005


@dataclass(frozen=True)
class Roles:
    """Which explaining nodes are no causes by themselves, and whether the target's features are.

    Attributes:
        others: whether there are explaining nodes.
        together: nodes whose perturbation makes a difference of less than 2 points, but whose own
            prediction, kept or changed, tells more: they change together with the target's.
        idle: nodes of which nothing that may be known moves the probability by 0.5 points.
        own_features_first: whether perturbing the target's own features makes more of a difference
            than perturbing any explaining node; only in a node task.
    """

    others: bool = False
    together: tuple[VariableId, ...] = ()
    idle: tuple[VariableId, ...] = ()
    own_features_first: bool = False


def roles_of(explanation: Explanation) -> Roles:
    """Return the roles of the nodes that facts are told of; without a network, none."""
    if explanation.network is None:
        return Roles()
    base, nodes = explanation.query(), told_nodes(explanation)
    holds = {said: fact.holds for said, fact in single_facts(explanation).items()}

    def spread(node: VariableId, *words: str) -> float:
        """How far apart the probability is, depending on which of two words is so."""
        one, other = (holds.get((node, word), base) for word in words)
        return abs(one - other)

    influence = {node: spread(node, "original", "perturbed") for node in nodes}
    moves = {node: _furthest(node, holds, base) for node in nodes}
    own = spread(explanation.target, "original", "perturbed")
    return Roles(
        bool(nodes),
        tuple(
            node
            for node in nodes
            if influence[node] < _MAKES_A_DIFFERENCE <= spread(node, "kept", "changed")
        ),
        tuple(node for node in nodes if moves[node] < _MOVES),
        own >= _MAKES_A_DIFFERENCE and own > max(influence.values(), default=0.0),
    )


def _furthest(node: VariableId, holds: dict[Said, float], base: float) -> float:
    """The furthest that anything known of a node moves the probability."""
    return max((abs(chance - base) for (at, _), chance in holds.items() if at == node), default=0.0)
