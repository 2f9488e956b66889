"""Tables of models of which is known what they read: made by hand, or trained on a known rule."""

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
    "integrated gradients of edges": 0.999,
    "of nodes": 0.758,
    "distance": 0.440,
    "the authors' PGM-Explainer": 0.315,
    "GNNExplainer (of edges)": 0.139,
}


def cause_blocks(truths: Cells, cells: Cells, figures: Mapping[str, str]) -> Iterator[str]:
    """Say how often the one cause is found."""
    both, present = [*truths, *cells], {cell["data"] for cell in truths}
    if "marked" in present:
        yield "### A model that reads one node: the nearest mark"
        yield (
            "A directed random graph of 1,000 nodes, each pair joined with probability 0.004, 50 "
            "nodes marked. A model made by hand says how far the nearest mark is, 1 to 4 steps; "
            "targets have exactly one nearest mark. *first*: how often that mark is the first "
            "node; *of 5*: how often it is among the first five. The row *the truth* ranks by the "
            "true effect: at a distance, nodes nearby matter nearly as much as the mark, for they "
            "change the class if they are perturbed to be marks themselves."
        )
        yield grid("distance of the mark", _causes(both, "marked", "1234"), _ALL)
        if "causes" in figures:
            yield f"![How often the cause is the first node]({figures['causes']})"
    if "attention" in present:
        yield "### Attention set by hand"
        yield (
            "Random graphs of 80 nodes, three layers of attention whose weights are set by hand: "
            "each node listens to the neighbour of the highest priority, nearly only (*sharp*) or "
            "mainly (*soft*). Targets get most of their value from one node three steps away."
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
    """The same as :func:`mean_of`, in the order in which columns know the arguments."""
    return mean_of(cells, explainer, data, measure, kind, counts)


def faber_blocks(truths: Cells, cells: Cells, community: Cells) -> Iterator[str]:
    """The benchmarks of Faber et al."""
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
        columns.append(("Negative evidence", partial(_of, both, "negative", "told apart", None)))
    if community:
        columns.append(("Community", partial(_followed, community)))
    if not columns:
        return
    yield "### Infection, Negative evidence and Community"
    yield (
        "The three data sets of Faber et al. (KDD 2021), by their protocol. Infection: ten "
        "directed graphs of 1,000 nodes, a network whose four layers are all read, kept if more "
        "than 0.999 is right, and targets with a single shortest path from an infected node, the "
        "*source*. *path* is their score: an edge has the sum of its two ends; of as many first "
        "edges as the path has nodes, the share of the path's edges that is among them. Targets "
        "are weighed so that each distance counts as often as it occurs. Negative evidence: how "
        "often neighbours of the rarer colour, which speak against the prediction, are told from "
        "white ones by a Kolmogorov–Smirnov test. Community: how often the attribution of moved "
        "edges follows the probability."
    )
    yield grid("", columns, _ALL)
    told = ", ".join(f"{name} {share:.3f}" for name, share in _PUBLISHED.items())
    yield (
        f"Their own figures for Infection's path: {told}. They explain the logarithm of the "
        "probability. Here nodes are explained throughout."
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
