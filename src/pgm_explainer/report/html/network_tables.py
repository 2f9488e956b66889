"""The tables of a network on the page: what inference needs, and what is shown.

The page computes with the conditional tables of a Bayesian network. Of other families it gets
factors whose product is the joint distribution, or draws from it if there are too many states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...network import (
    BayesianNetwork,
    ConditionalTable,
    ConditionalTree,
    DependencyNetwork,
    GraphicalModel,
    MarkovNetwork,
    NoisyOr,
)
from ..table_words import NOISY_OR, leaf_words, noisy_or_chances

if TYPE_CHECKING:
    from ...explanation import Explanation

__all__ = ["joint_part", "tables_part"]

_DIGITS = 12
"""Significant digits of a probability: more than enough, and shorter than a full double."""
_MOST_ROWS = 200
_FIRST_CODE = 48
"""A state in a draw is the character with this code plus its number: 0 is ``0``."""

_LINES = "Lines show dependence, not causation."
_ARROWS = "Arrows show dependence, not causation."
_CYCLES = (
    "An arrow shows that the probabilities of a variable were learned given another. Arrows show "
    "dependence, not causation."
)


def tables_part(explanation: Explanation, network: GraphicalModel) -> list[dict[str, Any]]:
    """Return for each variable its parents and its conditional table, if it has one."""
    if not isinstance(network, (BayesianNetwork, DependencyNetwork)):
        return [{"parents": [], "rows": []} for _ in network.variables]
    index = {node: at for at, node in enumerate(network.nodes)}
    return [
        {
            "parents": [index[parent.id] for parent in table.parents],
            **_table(table, explanation),
        }
        for table in network.tables
    ]


def joint_part(network: GraphicalModel) -> dict[str, Any]:
    """Return the title of the tables, the legend, and the joint distribution if it is needed."""
    if isinstance(network, MarkovNetwork):
        return {
            "legend": _LINES,
            "tables": "Probabilities of the cliques",
            "factors": _factors(network),
            "cliques": _cliques(network),
        }
    words = {"legend": _ARROWS, "tables": "Conditional probability tables"}
    if not isinstance(network, DependencyNetwork):
        return words
    if network.is_exact:
        return {**words, "legend": _CYCLES, "factors": _factors(network)}
    error = 100 * network.error
    sampled = (
        f" There are too many joint states to add up, so probabilities are frequencies in "
        f"{len(network.draws):,} draws; their standard error is at most {error:.1f} points without "
        f"evidence, and larger with it."
    )
    return {**words, "legend": _CYCLES + sampled, "draws": _draws(network)}


def _factors(network: MarkovNetwork | DependencyNetwork) -> list[dict[str, Any]]:
    return [
        {"scope": list(factor.variables), "values": _short(factor.values.ravel())}
        for factor in network.factors
    ]


def _draws(network: DependencyNetwork) -> list[Any]:
    """Return the distinct draws, each a string with a character per variable, and their counts."""
    states, counts = np.unique(network.draws, axis=0, return_counts=True)
    words = ["".join(chr(_FIRST_CODE + state) for state in row) for row in states.tolist()]
    return [words, counts.tolist()]


def _cliques(network: MarkovNetwork) -> list[dict[str, Any]]:
    """Return the probabilities of each clique's joint states, the most likely ones."""
    index = {node: at for at, node in enumerate(network.nodes)}
    shown = []
    for table in network.tables:
        names = [variable.id for variable in table.variables]
        joint, seen = network.query(names).ravel(), table.counts.ravel()
        order = np.argsort(-joint, kind="stable")
        rows = [
            [at, int(seen[at]), float(f"{joint[at]:.{_DIGITS}g}")]
            for at in sorted(order[:_MOST_ROWS].tolist())
            if joint[at] > 0 or seen[at]
        ]
        shown.append(
            {"scope": [index[name] for name in names], "rows": rows, "all": int(joint.size)}
        )
    return shown


def _table(
    table: ConditionalTable | ConditionalTree | NoisyOr, explanation: Explanation
) -> dict[str, Any]:
    if isinstance(table, ConditionalTable):
        return {"rows": _rows(table)}
    if isinstance(table, ConditionalTree):
        return {"rows": [], "leaves": _leaves(table, explanation)}
    constant, product = table.sides
    return {
        "rows": [],
        "noisyOr": {
            "constant": _short(constant),
            "product": _short(product),
            "holds": [_short(1 - chance) for chance in table.chances],
            "about": NOISY_OR,
            "chances": noisy_or_chances(explanation, table),
        },
    }


def _short(values: Any) -> list[float]:
    return [float(f"{each:.{_DIGITS}g}") for each in np.asarray(values).tolist()]


def _leaves(tree: ConditionalTree, explanation: Explanation) -> list[list[Any]]:
    """Return the leaves of a tree: the condition in words, the samples, the probabilities."""
    leaves = zip(leaf_words(explanation, tree), tree.leaves, tree.counts, strict=True)
    return [[words, int(counts.sum()), *_short(leaf)] for words, leaf, counts in leaves]


def _rows(table: ConditionalTable) -> list[list[float]]:
    """Return the observed rows of a table: position, number of samples, probabilities.

    In all other rows, which can be many more, the states are equally likely.
    """
    values = table.values.reshape(-1, table.variable.cardinality)
    seen = table.counts.sum(axis=-1).ravel()
    stored = (seen > 0) | (values != 1 / table.variable.cardinality).any(axis=1)
    return [[int(at), int(seen[at]), *_short(values[at])] for at in np.flatnonzero(stored)]
