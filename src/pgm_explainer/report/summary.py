"""One flat row for an explanation, for tables of many explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .effects import direction_of, evidence_word, own_effects, shown_effects, widening_of
from .reason import reason_text

if TYPE_CHECKING:
    from ..explanation import Explanation

__all__ = ["SUMMARY_COLUMNS", "summary_row"]

SUMMARY_COLUMNS = (
    "target",
    "explained_class",
    "probability",
    "class_stayed",
    "own_effect",
    "part",
    "effect",
    "low",
    "high",
    "evidence",
    "feature",
    "feature_node",
    "feature_effect",
    "feature_evidence",
    "warnings",
    "reason",
)


def summary_row(explanation: Explanation) -> dict[str, Any]:
    """Return the columns of :data:`SUMMARY_COLUMNS`; None for what an explanation does not have."""
    row: dict[str, Any] = dict.fromkeys(SUMMARY_COLUMNS)
    row["target"] = _target(explanation)
    if explanation.explained_class is not None:
        row["explained_class"] = explanation.class_name(explanation.explained_class)
    row["probability"] = explanation.probability
    row["class_stayed"] = explanation.class_stayed
    own = own_effects(explanation)
    if len(own) == 1:
        row["own_effect"] = own[0].effect.effect
    others = [each for each in shown_effects(explanation) if not each.is_target]
    if others:
        strongest = others[0]
        effect = strongest.effect
        row.update(part=effect.node, effect=effect.effect, low=effect.low, high=effect.high)
        row["evidence"] = evidence_word(strongest.direction, explanation)
    row.update(_feature(explanation))
    row["warnings"] = len(explanation.warnings)
    row["reason"] = reason_text(explanation)
    return row


def _target(explanation: Explanation) -> Any:
    """Return the target; of many graphs, the title of the graph or its position."""
    if explanation.position is None:
        return explanation.target
    return explanation.title or explanation.position


def _feature(explanation: Explanation) -> dict[str, Any]:
    """Return the strongest significant feature, if features were explained."""
    features = explanation.features
    if features is None or not features.significant.any():
        return {}
    found = features[int(features.significant.argmax())]
    direction = direction_of(found, widening_of(features))
    return {
        "feature": found.feature,
        "feature_node": found.node,
        "feature_effect": found.effect,
        "feature_evidence": evidence_word(direction, explanation),
    }
