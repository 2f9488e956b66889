"""PGM-Explainer behind the interface of its rivals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pgm_explainer import PGMExplainer

from ..arrays import FloatArray
from ..defaults import DEFAULT_SAMPLES
from .base import Queries
from .case import Case

__all__ = ["Pgm"]


class Pgm:
    """PGM-Explainer: importance decreases along its ranking.

    Args:
        options: those of :class:`~pgm_explainer.PGMExplainer`; ``max_nodes`` and
            ``only_significant`` determine which nodes are part of an explanation.
    """

    def __init__(self, **options: Any) -> None:
        self.name = "PGM-Explainer"
        self.options = options

    def __repr__(self) -> str:
        return f"Pgm({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    @property
    def queries(self) -> Queries:
        return Queries(self.options.get("num_samples", DEFAULT_SAMPLES), shared=True)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        explainer = PGMExplainer(
            case.frozen_model,
            case.x,
            case.edge_index,
            task=case.task,
            hops=case.hops,
            features=case.features,
            **self.options,
        )
        if case.task == "graph":
            explanations = [explainer.explain() for _ in targets]
        else:
            explanations = explainer.explain_many(targets)
        for explanation in explanations:
            ranking = explanation.ranking
            importance = np.full(len(case.x), -np.inf)
            places = np.flatnonzero(ranking.selected)
            importance[ranking.nodes[places]] = len(ranking) - places
            yield importance
