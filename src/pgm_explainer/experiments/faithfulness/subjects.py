"""What is explained: a model, its graph, some of its predictions, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..rivals.case import Case

__all__ = ["Subject"]


@dataclass(frozen=True, eq=False)
class Subject:
    """Some predictions of one model on one graph.

    Attributes:
        name: what it is called in results; unique within its set.
        case: the model and its graph.
        targets: the nodes whose predictions are explained; ``(None,)`` for the whole graph.
        kinds: for each target a group that is reported by itself, such as the distance of its
            cause; empty if there are no groups.
        causes: for some targets the one node that the model reads.
        paths: for some targets the nodes from the cause to the target, both included.
    """

    name: str
    case: Case
    targets: Sequence[int | None]
    kinds: Sequence[str] = ()
    causes: Mapping[int, int] = field(default_factory=dict)
    paths: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def kind(self, at: int) -> str:
        """Return the group of the target at a position; empty if it has none."""
        return self.kinds[at] if self.kinds else ""
