"""What a user holds in the end: the answer to "why did it predict that?"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import QueryError
from .graph import Graph, Subgraph
from .network import BayesianNetwork
from .sampling import GRAPH, NodeId
from .selection import Ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Explanation"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model predicted what it did, as a Bayesian network that can be asked.

    Attributes:
        target: the explained node, or ``"graph"``.
        predicted_class: the class the model predicts on the unperturbed features.
        probability: the probability it gives that class.
        held: the share of samples in which the prediction held.
        ranking: every candidate with its evidence, most dependent first.
        network: the Bayesian network of the explaining nodes and the target; None if the
            prediction never changed, since then there is nothing to explain it by.
        settings: how the explanation was made, as plain values; enough to make it again.
        warnings: what weakens the answer.
    """

    target: NodeId
    predicted_class: int
    probability: float
    held: float
    ranking: Ranking
    network: BayesianNetwork | None
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    graph: Graph | None = field(default=None, repr=False)

    @property
    def task(self) -> str:
        """``"node"`` or ``"graph"``."""
        return "graph" if self.target == GRAPH else "node"

    @property
    def nodes(self) -> list[int]:
        """The explaining nodes, most dependent first; the target is not among them."""
        return [int(node) for node in self.ranking.nodes[self.ranking.selected]]

    @property
    def markov_blanket(self) -> list[NodeId]:
        """The nodes that, once known, leave nothing more to learn about the prediction."""
        return [] if self.network is None else self.network.markov_blanket(self.target)

    @property
    def neighbourhood(self) -> Subgraph | None:
        """The candidates, the target and the edges among them; None if no graph is at hand."""
        if self.graph is None:
            return None
        itself = [] if self.target == GRAPH else [int(self.target)]
        return self.graph.induced(np.union1d(self.ranking.nodes, np.array(itself, dtype=np.int64)))

    def query(self, evidence: Mapping[NodeId, Any] | None = None) -> float:
        """Return the probability that the prediction holds, given what is known.

        Args:
            evidence: for any nodes of the network, what is known: ``"original"`` or
                ``"perturbed"``, ``"kept"`` or ``"changed"``, or both, as ``"original, kept"``.

        Raises:
            QueryError: there is no network, or it cannot answer.

        Examples:
            ``explanation.query()`` is the probability when nothing is known, and
            ``explanation.query({300: "kept", 301: "perturbed"})`` when something is.
        """
        if self.network is None:
            raise QueryError(
                f"the prediction of {self.target!r} held in all samples, so there is no network to "
                f"ask; try another perturbation, a larger perturb_probability or a finer change"
            )
        states = self.network.query(self.target, evidence)
        return float(states[self.network.variable(self.target).matching("kept")].sum())

    def plot(self, **options: Any) -> Figure:
        """Draw the neighbourhood and the network side by side; needs matplotlib.

        See :func:`pgm_explainer.report.plot.plot_explanation` for the options.
        """
        from .report.plot import plot_explanation

        return plot_explanation(self, **options)

    def __str__(self) -> str:
        from .report.text import describe

        return describe(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Explanation) and all(
            getattr(self, name) == getattr(other, name)
            for name in ("target", "predicted_class", "probability", "held", "ranking", "network")
        )

    __hash__ = None  # type: ignore[assignment]
