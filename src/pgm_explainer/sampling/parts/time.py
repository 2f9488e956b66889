"""Time steps as parts, for models of sequences of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import check_flag, check_whole_number
from ...choices import Described
from ...errors import InputError
from ...graph import Graph
from ...variables import VariableId
from ..population import Population
from .base import Parts
from .cells import CellParts, NodeTitles

if TYPE_CHECKING:
    from ..config import SamplingConfig

__all__ = ["Time"]


@dataclass(frozen=True)
class Time(Described):
    """Every time step is a part, for all nodes together or for each node separately.

    Attributes:
        steps: the number of time steps; None to read it from features ``[N, T, F]``.
        per_node: if True, each step of each node is a part, with a label such as
            ``(7, "step 3")``. If False, each step of all nodes is a part, labelled ``"step 3"``.

    Features ``[N, T, F]`` are flattened to ``[N, T * F]``. Step t then has the columns from
    ``t * F`` up to, but not including, ``(t + 1) * F``.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer, Time
        >>> x = np.zeros((3, 4, 1))  # nodes, steps, features
        >>> x[:, 2] = [[5.0], [1.0], [3.0]]
        >>> def model(x):  # reads step 2
        ...     return np.stack([x[:, :, 2, 0], 2 + 0 * x[:, :, 2, 0]], axis=-1)
        >>> edges = np.array([[0, 1], [1, 2]])
        >>> explainer = PGMExplainer(model, x, edges, num_layers=1, parts=Time())
        >>> explainer.explain(0).effects[0].node
        'step 2'
    """

    steps: int | None = None
    per_node: bool = False
    name: str = field(default="time", init=False)

    def __post_init__(self) -> None:
        if self.steps is not None:
            check_whole_number(self.steps, "steps", at_least=1)
        check_flag(self.per_node, "per_node")

    def bind(
        self, graph: Graph, population: Population, config: SamplingConfig, first: int
    ) -> Parts:
        width, count = population.x.shape[1], self.steps or population.steps
        if count is None:
            raise InputError(
                "parts='time' needs the number of time steps: pass features x of shape "
                "[nodes, steps, features], or parts=Time(steps=...)"
            )
        if population.steps not in (None, count):
            raise InputError(
                f"Time has steps={count}, but the features have {population.steps} time steps; "
                f"leave out steps"
            )
        if width % count:
            raise InputError(
                f"{width} feature columns cannot be divided into {count} time steps; choose a "
                f"number of steps that divides {width}, or pass features [nodes, steps, features]"
            )
        columns = np.full(width, -1, dtype=np.int64)
        chosen = config.columns(population)
        steps, columns[chosen] = np.unique(chosen // (width // count), return_inverse=True)
        titles = [f"step {step}" for step in steps.tolist()]
        names: Sequence[VariableId] = titles
        rows = np.zeros(graph.num_nodes, dtype=np.int64)
        if self.per_node:
            rows = np.arange(graph.num_nodes)
            names = NodeTitles(range(graph.num_nodes), titles)
        return CellParts(population, config, first, rows, columns, names)
