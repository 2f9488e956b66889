"""The effects of single features as they are shown: rows and sentences.

Text, notebook, page and plots all use these, so that they agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..printing import label_of, printable, value_text
from ..variables import VariableId
from .effects import (
    ShownRow,
    column_words,
    counted_caption,
    level_words,
    unclear_words,
    widening_of,
)
from .measure import Measure, measure_of, plain_measure
from .names import aligned, shorten
from .wording import Wording

if TYPE_CHECKING:
    from ..explanation import Explanation, FeatureEffect, FeatureEffects

__all__ = [
    "FEATURES",
    "MOST_FEATURES",
    "ShownFeature",
    "describe_features",
    "feature_rows",
    "feature_words",
    "node_words",
    "shown_features",
]

FEATURES = "Which features change the prediction"
MOST_FEATURES = 12
"""The maximum number of features that are listed."""
_ALWAYS = 2
_NAME = 24
_FEATURE = Wording("feature")


class ShownFeature(ShownRow):
    """The effect of one feature of one node."""

    effect: FeatureEffect

    @property
    def feature(self) -> str:
        """The name of the feature, or ``feature 3`` if it has none."""
        name = self.effect.feature
        return f"feature {name}" if isinstance(name, int) else printable(name)

    @property
    def label(self) -> str:
        """The feature, its node unless it is the target, and its value if it is known.

        For example, ``feature 3 of node 7 (0.83)``.
        """
        node = "" if self.is_target else f" of {node_words(self.effect.node)}"
        return f"{self.feature}{node}" + (f" ({self.value})" if self.value else "")

    @property
    def value(self) -> str:
        """The value of the feature, if it is known."""
        return value_text(self.effect.value)


def node_words(node: VariableId) -> str:
    """Return how a label names a node: ``node 7``, or its name."""
    return f"node {node}" if isinstance(node, int) else label_of(node)


def shown_features(
    features: FeatureEffects, *, significant: bool = True, most: int | None = None
) -> list[ShownFeature]:
    """Return the strongest ``most`` features, the target's own first.

    The two largest of its own are always among them, because the reason names these.
    """
    places = np.flatnonzero(features.significant) if significant else np.arange(len(features))
    own = features.own
    if most is not None and len(places) > most:
        ours = places[own[places]]
        always = ours[np.argsort(-abs(features.effect[ours]), kind="stable")[:_ALWAYS]]
        others = places[~np.isin(places, always)]
        places = np.sort(np.concatenate((always, others[: max(0, most - len(always))])))
    ordered = np.concatenate((places[own[places]], places[~own[places]]))
    widening = widening_of(features)
    return [
        ShownFeature(int(features.nodes[at]), features[at], bool(own[at]), _FEATURE, widening)
        for at in ordered.tolist()
    ]


def feature_words(explanation: Explanation, features: FeatureEffects) -> tuple[str, str]:
    """Return what was found about features, and what the columns of their table mean."""
    measure = measure_of(explanation, features)
    what = f"{measure.what} ({level_words(explanation.settings)})"
    columns = column_words("this feature of this node is perturbed", measure)
    return _caption(features, what), f"{columns} {unclear_words(features)}".rstrip()


def _caption(features: FeatureEffects, what: str) -> str:
    """Return how many features have an effect on ``what``, and how they were perturbed."""
    found = int(features.significant.sum())
    said = [
        counted_caption(features, _FEATURE, f" of {_whose(features)}", what),
        "Each feature was perturbed independently, and all other nodes were left unchanged.",
    ]
    if features.untested:
        are = "is" if features.untested == 1 else "are"
        said.append(
            f"{features.untested:,} more {are} rarely or never changed by the perturbation and "
            f"{'was' if features.untested == 1 else 'were'} not tested."
        )
    if found > 1:
        own = "the target's own first, " if len(features.ends) else ""
        said.append(f"They are listed with {own}the strongest on top.")
    if found and len(features.ends) and not (features.significant & features.own).any():
        said.append("None of the target's own features has a significant effect.")
    return " ".join(said)


def _whose(features: FeatureEffects) -> str:
    """Return which nodes have these features, such as ``the target and 2 other nodes``."""
    nodes = np.unique(features.nodes)
    others = int((~np.isin(nodes, features.ends)).sum())
    counted = Wording("other node" if len(features.ends) else "node").counted(others)
    if not len(features.ends):
        return counted
    return f"the target and {counted}" if others else "the target"


def feature_rows(features: FeatureEffects, measure: Measure) -> Iterator[list[str]]:
    """Yield a table of the strongest significant features, starting with its header."""
    shown = shown_features(features, most=MOST_FEATURES)
    ways = [""] if any(each.direction == "both" for each in shown) else []
    values = ["value"] if any(each.value for each in shown) else []
    yield ["feature", "node", *values, "effect", "95% interval", "strength", "p", *ways]
    for each in shown:
        yield [
            shorten(printable(each.effect.feature), _NAME),
            shorten(label_of(each.effect.node), _NAME) + each.target_note,
            *(each.value for _ in values),
            *each.numbers(measure),
            *("direction not clear" if each.direction == "both" else "" for _ in ways),
        ]


def describe_features(features: FeatureEffects) -> str:
    """Describe features without their explanation: effects are in the unit of the model."""
    caption = _caption(features, "the prediction")
    found = int(features.significant.sum())
    if not found:
        return caption
    rows = aligned(list(feature_rows(features, plain_measure(features))))
    more = [f"… and {found - MOST_FEATURES} more"] if found > MOST_FEATURES else []
    return "\n".join([caption, *rows, *more])
