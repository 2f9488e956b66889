"""The ranking of candidates by the evidence that they and the target are dependent."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import IntArray, as_array
from ..independence import PairwiseTests
from ..node_names import NodeNames
from ..node_table import NodeTable, TestedRow
from ..sampling import VariableId

__all__ = ["RANKING_COLUMNS", "RankedNode", "Ranking", "critical_log_p", "rank"]

RANKING_COLUMNS = (
    "nodes",
    "statistic",
    "dof",
    "log_p",
    "effect_size",
    "significant",
    "selected",
)


@dataclass(frozen=True)
class RankedNode(TestedRow):
    """A row of the ranking: the independence test of one candidate and the target.

    Examples:
        >>> row = RankedNode(7, 41.2, 1, -24.0, 0.29, significant=True, selected=True)
        >>> f"{row.p:.0e}"
        '4e-11'
    """

    node: VariableId
    statistic: float
    dof: int
    log_p: float
    effect_size: float
    significant: bool
    selected: bool


@dataclass(frozen=True, eq=False)
class Ranking(NodeTable[RankedNode]):
    """The independence tests of all candidates, as a table with the strongest evidence first.

    Significant candidates come before the others. Within both groups, rows are sorted by p-value.

    Attributes:
        nodes: the indices of the candidates.
        statistic, dof, log_p: the test statistic, its degrees of freedom, and the natural logarithm
            of the p-value.
        effect_size: Cramér's V, from 0 to 1.
        significant: whether each candidate is significant, after any correction for multiple
            testing.
        selected: whether each candidate is in the network of the explanation.
        left_out: the number of further candidates that were ranked but are not stored.
        names: the names of nodes, used in the rows.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> ranking = explanation.ranking
        >>> len(ranking), ranking[0].node
        (2, 0)
    """

    nodes: IntArray
    statistic: NDArray[np.float64]
    dof: NDArray[np.int64]
    log_p: NDArray[np.float64]
    effect_size: NDArray[np.float64]
    significant: NDArray[np.bool_]
    selected: NDArray[np.bool_]
    left_out: int = 0
    names: NodeNames = field(default_factory=NodeNames)

    column_names: ClassVar = RANKING_COLUMNS
    row_type: ClassVar = RankedNode

    @property
    def num_candidates(self) -> int:
        """The number of ranked candidates, including those that are not stored."""
        return len(self) + self.left_out

    def with_none_significant(self) -> Ranking:
        """Return the same ranking with no node significant or selected."""
        none = np.zeros(len(self), dtype=bool)
        return replace(self, significant=none, selected=none)

    def with_selected(self, nodes: IntArray) -> Ranking:
        """Return the same ranking with these nodes selected."""
        return replace(self, selected=np.isin(self.nodes, as_array(nodes, "nodes")))

    @property
    def selected_nodes(self) -> IntArray:
        """The indices of the selected nodes, in rank order."""
        return self.nodes[self.selected]

    def keeping(self, nodes: IntArray) -> Ranking:
        """Return the ranking reduced to these candidates and the selected ones."""
        kept = self.selected | np.isin(self.nodes, as_array(nodes, "nodes"))
        return replace(self, **self._rows(kept), left_out=self.left_out + int((~kept).sum()))

    def __repr__(self) -> str:
        title = f"Ranking of {len(self)} parts, {int(self.selected.sum())} selected"
        return self._preview(title, "part")


def critical_log_p(ranking: Ranking, level: float, correction: str) -> float:
    """Return the log p-value below which a candidate is significant.

    With the Benjamini-Hochberg correction, this threshold depends on the number of significant
    candidates, so the ranking must include all candidates.

    Examples:
        >>> one, some = np.ones(4), np.array([True, True, False, False])
        >>> ranking = Ranking(np.arange(4), one, one.astype(int), -one, one, some, some)
        >>> for correction in ("none", "benjamini_hochberg"):
        ...     print(round(float(np.exp(critical_log_p(ranking, 0.04, correction))), 6))
        0.04
        0.02
    """
    count = max(1, int(np.count_nonzero(ranking.significant)))
    shared = 1.0 if correction == "none" else count / max(1, len(ranking))
    return float(np.log(level * shared))


def rank(nodes: IntArray, tests: PairwiseTests, passed: NDArray[np.bool_]) -> Ranking:
    """Sort candidates by p-value, significant ones first; none is selected yet.

    Ties are broken by the larger statistic, then by the smaller node index.
    """
    order = np.lexsort((nodes, -tests.statistic, tests.log_p, ~passed))
    return Ranking(
        nodes[order],
        tests.statistic[order],
        tests.dof[order],
        tests.log_p[order],
        tests.effect_size[order],
        passed[order],
        np.zeros(len(order), dtype=bool),
    )
