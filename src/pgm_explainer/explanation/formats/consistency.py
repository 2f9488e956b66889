"""Checks that the fields of a loaded explanation fit together."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import FileError
from ...limits import brief
from ...network import GraphicalModel
from ..conversions import target_of
from ..explanation import Explanation

__all__ = ["check_consistent"]

_ROUNDING = 2e-3
"""A model's probabilities may add up to nearly 1."""


def check_consistent(explanation: Explanation, place: str) -> None:
    """Check that the fields of an explanation are consistent.

    Args:
        explanation: the explanation.
        place: the name of the document in errors.

    Raises:
        FileError: two fields contradict each other.
    """
    chosen, values = explanation.explained_class, explanation.values
    if (chosen is None) != (explanation.probability is None) or (chosen or 0) >= len(values):
        raise FileError(
            f"{place} explains class {brief(chosen)} with probability "
            f"{brief(explanation.probability)}, which does not fit its {len(values)} values"
        )
    if chosen is not None and not _are_probabilities(values, chosen, explanation.probability):
        raise FileError(
            f"{place}.values must be probabilities that add up to 1, with that of class {chosen} "
            f"as in {place}.probability"
        )
    if (chosen is None) != (explanation.class_stayed is None):
        raise FileError(f"{place}.class_stayed must be null for a regression, and only then")
    _check_class_names(explanation, place)
    if explanation.network is not None:
        _check_network(explanation, explanation.network, place)
    target = target_of(explanation.task, explanation.ends, explanation.names)
    if explanation.target != target:
        raise FileError(
            f"{place}.target is {brief(explanation.target)}, but by its ends and names it is "
            f"{brief(target)}"
        )


def _are_probabilities(values: Sequence[float], chosen: int, stated: float | None) -> bool:
    sum_to_one = abs(sum(values) - 1) <= _ROUNDING
    return sum_to_one and stated is not None and abs(values[chosen] - stated) < 1e-6


def _check_network(explanation: Explanation, network: GraphicalModel, place: str) -> None:
    if set(network.nodes) != {*explanation.nodes, explanation.target}:
        raise FileError(
            f"{place}.network is about {network.nodes}, but the selected nodes are "
            f"{explanation.nodes} and the target is {brief(explanation.target)}"
        )
    chosen = explanation.settings.network
    if chosen is not None and chosen.family != network.family:
        raise FileError(
            f"{place}.network is a {network.title}, but the settings have family={chosen.family!r}"
        )
    if network.variable(explanation.target).levels < 2:
        raise FileError(f"{place}.network does not contain the target's prediction")


def _check_class_names(explanation: Explanation, place: str) -> None:
    names, output = explanation.settings.model.class_names, explanation.settings.model.output
    classes = max(len(explanation.values), int(explanation.node_classes.max(initial=-1)) + 1)
    needed = classes if output is None else output + 1
    of_values = explanation.explained_class is None
    if of_values and output is not None and len(explanation.values) != 1:
        raise FileError(
            f"{place}.values has {len(explanation.values)} values, but settings.output is one, "
            f"{output}"
        )
    is_too_long = of_values and output is None and names is not None and len(names) > needed
    if names is not None and (len(names) < needed or is_too_long):
        raise FileError(f"{place}.settings.class_names has {len(names)} names, not {needed}")
