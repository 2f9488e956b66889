"""Feature effects as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..printing import aligned, label_of, printable

if TYPE_CHECKING:
    from .attributes import FeatureEffects

__all__ = ["describe_effects"]

_MOST = 20


def describe_effects(effects: FeatureEffects) -> str:
    """Return a table of the features that matter, strongest evidence first, at most 20."""
    tested, found = int(effects.there.sum()), int(effects.significant.sum())
    head = f"{found} of {tested} features of the nodes matter ({_tested(effects)})"
    if not found:
        return f"{head}."
    order = np.lexsort((-effects.effect_size.ravel(), effects.log_p.ravel()))
    strongest = order[effects.significant.ravel()[order]][:_MOST].tolist()
    rows = [_row(effects, at) for at in strongest]
    more = [f"… and {found - len(rows)} more"] if found > len(rows) else []
    lines = aligned([["node", "feature", "log p", "effect"], *rows])
    return "\n".join([f"{head}, strongest evidence first:", *lines, *more])


def _tested(effects: FeatureEffects) -> str:
    """Return the numbers of nodes and of features that were tested."""
    counts = effects.there.sum(axis=1)
    if len(counts) and counts.min() < counts.max():
        return f"{len(counts)} nodes with {counts.min()} to {counts.max()} features"
    return f"{len(counts)} nodes × {counts.max(initial=0)} features"


def _row(effects: FeatureEffects, at: int) -> list[str]:
    """Return the row of one feature of one node, by its flat index."""
    node, feature = divmod(at, len(effects.features))
    number = int(effects.nodes[node])
    name = effects.feature_name(number, int(effects.features[feature]))
    return [
        label_of(effects.names[number]),
        printable(name).removeprefix("feature "),
        f"{effects.log_p[node, feature]:.1f}",
        f"{effects.effect_size[node, feature]:.2f}",
    ]
