"""Tables for models whose causes are known: made by hand, or trained on a known rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from .cells import TRUTH
from .grid import EXPLAINERS, Cells, Column, grid, mean_of

__all__ = ["cause_blocks", "faber_blocks"]

_ALL = (TRUTH, *EXPLAINERS)
_PUBLISHED = {
    "occlusion (of edges)": 1.0,
    "integrated gradients (of edges)": 0.999,
    "integrated gradients (of nodes)": 0.758,
    "distance": 0.440,
    "the authors' PGM-Explainer": 0.315,
    "GNNExplainer (of edges)": 0.139,
}


def cause_blocks(truths: Cells, cells: Cells, figures: Mapping[str, str]) -> Iterator[str]:
    """Yield how often the single cause is found."""
    both, present = [*truths, *cells], {cell["data"] for cell in truths}
    if "marked" in present:
        yield "### A model that reads one node: the nearest mark"
        yield (
            "A directed random graph of 1,000 nodes in which each pair is connected with "
            "probability 0.004 and 50 nodes are marked. A hand-made model predicts the distance of "
            "the nearest marked node, 1 to 4 hops; each target has exactly one nearest mark. "
            "*first*: how often that mark is the top-ranked node; *of 5*: how often it is among "
            "the top five. The row *the truth* ranks nodes by their true effect. When the mark is "
            "far away, nodes near the target matter almost as much: they change the class when "
            "a perturbation turns them into marks."
        )
        yield grid("distance of the mark", _causes(both, "marked", "1234"), _ALL)
        if "causes" in figures:
            yield f"![How often the cause is the first node]({figures['causes']})"
    if "attention" in present:
        yield "### Attention set by hand"
        yield (
            "Random graphs of 80 nodes and three attention layers whose weights are set by hand. "
            "Each node attends to the neighbour with the highest priority, almost exclusively "
            "(*sharp*) or mainly (*soft*). Targets get most of their value from one node three "
            "hops away."
        )
        yield grid("", _causes(both, "attention", ("sharp", "soft")), _ALL)


def _causes(cells: Cells, data: str, kinds: Sequence[str]) -> list[Column]:
    return [
        (f"{kind}, {short}", partial(_of, cells, data, measure, kind))
        for kind in kinds
        for measure, short in (("cause first", "first"), ("cause among 5", "of 5"))
    ]


def _of(
    cells: Cells,
    data: str,
    measure: str,
    kind: str | None,
    explainer: str,
    counts: Mapping[str, int] | None = None,
) -> list[float]:
    """Call :func:`mean_of` with the order of arguments that columns need."""
    return mean_of(cells, explainer, data, measure, kind, counts)


def faber_blocks(truths: Cells, cells: Cells, community: Cells) -> Iterator[str]:
    """Yield the benchmarks of Faber et al."""
    both, found = [*truths, *cells], {cell["data"]: cell for cell in truths}
    columns: list[Column] = []
    if "infection" in found:
        weighed = partial(_of, both, "infection", counts=found["infection"]["counts"])
        columns += [
            ("Infection: source first", partial(weighed, "cause first", None)),
            ("source of 5", partial(weighed, "cause among 5", None)),
            ("path", partial(weighed, "path", None)),
        ]
    if "negative" in found:
        columns.append(("Negative evidence", partial(_of, both, "negative", "distinguished", None)))
    if community:
        columns.append(("Community", partial(_followed, community)))
    if not columns:
        return
    yield "### Infection, Negative evidence and Community"
    yield (
        "The three data sets of Faber et al. (KDD 2021), by their protocol. *Infection*: ten "
        "directed graphs of 1,000 nodes and a network of four layers with an accuracy above "
        "0.999. Targets have a single shortest path from an infected node, the *source*. *path* "
        "is the score of Faber et al.: the importance of an edge is the sum of the importances of"
        " its two nodes; the score is the share of the path's edges among the top n edges, where "
        "n is the number of nodes on the path. Targets are weighted so that each distance counts "
        "as often as it occurs. *Negative evidence*: how often a Kolmogorov–Smirnov test "
        "distinguishes the neighbours of the rarer colour, which are evidence against the "
        "prediction, from white neighbours. *Community*: how often the attribution of rewired "
        "edges changes in the same direction as the probability."
    )
    yield grid("", columns, _ALL)
    figures = ", ".join(f"{name} {share:.3f}" for name, share in _PUBLISHED.items())
    yield (
        f"Faber et al. report for the *path* score of Infection: {figures}. They explain the "
        "log-probability. Here all explainers rank nodes."
    )
    if "infection" in found:
        yield grid("Infection, by distance", _paths(both), _ALL)


def _paths(cells: Cells) -> list[Column]:
    return [
        (f"{kind}, {short}", partial(_of, cells, "infection", measure, kind))
        for kind in "1234"
        for measure, short in (("cause first", "source first"), ("path", "path"))
    ]


def _followed(community: Cells, name: str) -> list[float]:
    cells = [cell for cell in community if cell["explainer"] == name]
    return [float(np.mean([row["followed"] for row in cell["rows"]])) for cell in cells]
