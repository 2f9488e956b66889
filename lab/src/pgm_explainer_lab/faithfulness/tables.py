"""The tables of the faithfulness section, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch_geometric.explain.metric import characterization_score

from ..bitcoin import BITCOIN
from ..reproduce.markdown import mean_and_spread, table
from ..synthetic import SYNTHETIC
from .explainers import EFFECTS
from .grid import EXPLAINERS, Cells, Column, grid, lead_rows, mean_of
from .known_tables import cause_blocks, faber_blocks
from .sets import HAND_MADE, KNOWN, REAL

__all__ = ["write_section"]

_COLUMNS = {
    "Synthetic sets": tuple(SYNTHETIC),
    "Real data and random labels": tuple(data for data in REAL if data not in SYNTHETIC),
    "Hand-made models, and models trained on a known rule": (*HAND_MADE, *KNOWN),
}
_CAPTURED = {
    "captured 5": "**Effect captured at 5**: the sum of the true effects of the five top-ranked "
    "nodes, divided by that of the five nodes with the largest true effects.",
    "captured 1": "**Effect captured at 1**: the same for the top-ranked node alone.",
    "recall 5": "**Recall at 5**: the share of the five nodes with the largest true effects that "
    "are among the five top-ranked nodes.",
    "sign": "**Sign**: how often the sign is right, for those of the five strongest nodes whose "
    "true effect is at least three standard errors from 0. Explainers without signs are left out.",
}


_LEAD = (
    "The next table compares the effects with the best other method on each set, target by "
    "target. ± is the standard error of the mean difference; a difference of less than two "
    "standard errors may be chance. The best of eleven methods is chosen after the fact, which "
    "favours it. *passes*: the number of passes per target. Occlusion perturbs one node at a "
    "time, so other nodes add no noise. This is an advantage where an effect is nearly the same "
    "in every context; where effects depend on other nodes, occlusion misses them. On Negative "
    "evidence the true effects themselves are uncertain. The model is very confident: perturbing "
    "a node changes its prediction in at most one context in a hundred. The standard error of a "
    "true effect is therefore at least half of the effect, and 1,000 samples contain few such "
    "changes."
)


def write_section(results: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the section.

    Args:
        results: the measurements.
        figures: paths of the figures, by name.
    """
    truths, cells = results["truths"], results["cells"]
    blocks = [
        "## Are explanations faithful to the model?",
        _ABOUT,
        *_missing(results["missing"]),
        *cause_blocks(truths, cells, figures),
        *faber_blocks(truths, cells, results["community"]),
        *_captured_blocks(cells, figures),
        *_interval_blocks(_checked(cells, results["coverage"]), results["nulls"]),
        *_fidelity_blocks(cells),
        *_cost_blocks(truths, cells, figures),
    ]
    return "\n\n".join(blocks)


_ABOUT = (
    "Here the ground truth is what the model does, not what a motif or a label suggests. It is "
    "measured in many random contexts, in which the other nodes are perturbed as the explainer "
    "perturbs them. In each context the model is called twice: with the node perturbed and with "
    "the node unchanged. The *true effect* of a node is the mean absolute difference in the "
    "probability of the predicted class; its *signed* effect is the mean difference. The contexts "
    "are drawn with a different seed than the explainer's samples. The target is excluded from "
    "all rankings and scores; only the intervals are also checked for the target.\n\n"
    "*PGM-Explainer, effects* and *dependence* are the two rankings of one explanation; "
    "*network* lists the nodes of its network (strong causes first, then dependent nodes). All "
    "use the defaults. *occlusion* perturbs one node at a time, with zeros or as the explainer "
    "does (repeated until the same number of passes is used). *saliency* and *integrated "
    "gradients* are those of Captum, called through PyTorch Geometric, for the score of the "
    "predicted class (*log p*: for its log-probability). *saliency* is called GRAD in the tables "
    "of the paper's experiments. *GRAD (paper)* is what the paper describes: the signed sum of the "
    "gradient of the loss. *PGExplainer* and *GNNExplainer* are those of PyTorch Geometric. "
    "*proximity* and *random* do not call the model."
)


def _missing(missing: Sequence[str]) -> Iterator[str]:
    if missing:
        yield f"Left out because the data is not available: {', '.join(missing)}."


def _captured_blocks(cells: Cells, figures: Mapping[str, str]) -> Iterator[str]:
    """Yield the scores of rankings against the true effects."""
    present = {cell["data"] for cell in cells}
    yield "### How much of the effect is captured"
    for measure, about in _CAPTURED.items():
        yield about
        for title, sets in _COLUMNS.items():
            chosen = [data for data in sets if data in present]
            columns: list[Column] = [
                (data, partial(mean_of, cells, data=data, measure=measure)) for data in chosen
            ]
            if chosen:
                yield grid(title, columns)
        if measure == "captured 5":
            if "captured" in figures:
                yield f"![Effect captured at 5]({figures['captured']})"
            yield _LEAD
            yield table(list(lead_rows(cells, measure)))


def _checked(cells: Cells, coverage: Cells) -> Cells:
    """Return the cells to take intervals from: that of the coverage job, where there is one."""
    own = {(cell["data"], cell["seed"]): cell for cell in coverage}
    effects = [cell for cell in cells if cell["explainer"] == EFFECTS]
    return [own.get((cell["data"], cell["seed"]), cell) for cell in effects]


def _interval_blocks(cells: Cells, nulls: Cells) -> Iterator[str]:
    """Yield the coverage of the intervals and the rates of false discoveries."""
    yield "### Coverage of the intervals and false discoveries"
    yield (
        "*all*: the share of 95 % intervals that contain the true effect, over all candidates and"
        " the target, or over 200 of them drawn at random; *of the strongest*: the same for the "
        "five nodes with the largest true effect. The true effect is itself a mean over at least "
        "30 contexts, so the intervals are widened by its margin of error. ± is the standard "
        "error of the share, with targets as clusters. Sets with few intervals have up to 8 "
        "times as many targets here as in the other tables. Predictions that change in no sample "
        "have no intervals. The true effects of Negative evidence are based on the few contexts in "
        "which anything changes, so a miss may be due to an error in the true effect."
    )
    rows = [["95 % intervals", "all", "of the strongest", "intervals", "targets"]]
    for data, of in _by_set(cells):
        measured = [row for cell in of for row in cell["rows"] if "intervals" in row]
        if measured:
            shares = [
                "{:.3f} ± {:.3f}".format(*_clustered_share(measured, covered, intervals))
                for covered, intervals in _INTERVALS
            ]
            number = sum(row["intervals"] for row in measured)
            rows.append([data, *shares, f"{number:.0f}", str(len(measured))])
    yield table(rows)
    if nulls:
        yield (
            "*Nothing to find*: the prediction of a target is replaced by that of the same node "
            "in a copy of the graph that is perturbed independently. It then depends on no "
            "candidate, and every discovery is false. *Out of sight*: some candidates are one hop"
            " too far away for the model to use, while others matter; *false* is the mean share "
            "of these distant candidates among the discoveries."
        )
        yield table(list(_null_rows(nulls)))


def _by_set(cells: Cells) -> Iterator[tuple[str, Cells]]:
    """Yield the cells of each set, over all seeds; then those of all sets, if there are several."""
    names = list(dict.fromkeys(cell["data"] for cell in cells))
    for name in names:
        yield name, [cell for cell in cells if cell["data"] == name]
    if len(names) > 1:
        yield "all sets", cells


_INTERVALS = (
    ("covered", "intervals"),
    ("covered of the strongest", "intervals of the strongest"),
)


def _clustered_share(
    rows: Sequence[Mapping[str, Any]], part: str, whole: str
) -> tuple[float, float]:
    """Return the share of two sums over targets, and its standard error."""
    parts, wholes = (np.array([row[key] for row in rows]) for key in (part, whole))
    share = parts.sum() / wholes.sum()
    spread = np.square(parts - share * wholes).sum() * len(rows) / max(len(rows) - 1, 1)
    return float(share), float(np.sqrt(spread) / wholes.sum())


def _null_rows(nulls: Cells) -> Iterator[list[str]]:
    yield [
        "nothing to find",
        "targets",
        "candidates",
        "effects: targets with any",
        "dependence: targets with any",
        "dependence: mean",
        "intervals that contain 0",
        "out of sight: false",
    ]
    for data, of in _by_set(nulls):
        rows, beyond = (
            [row for cell in of for row in cell[what]] for what in ("twins", "out of sight")
        )
        dependent = [row["dependence"] for row in rows if "dependence" in row]
        shares = [row["false"] / max(row["discoveries"], 1) for row in beyond if row["nulls"]]
        yield [
            data,
            str(len(rows)),
            f"{np.mean([row['candidates'] for row in rows]):.0f}",
            f"{np.mean([row['effects'] > 0 for row in rows]):.3f}",
            f"{np.mean([each > 0 for each in dependent]):.3f}",
            f"{np.mean(dependent):.2f}",
            f"{sum(row['covered'] for row in rows) / sum(row['intervals'] for row in rows):.3f}",
            mean_and_spread([float(np.mean(shares))] if shares else []),
        ]


def _fidelity_blocks(cells: Cells) -> Iterator[str]:
    """Yield the fidelity of explanations of five nodes."""
    sets = [data for data in REAL if any(cell["data"] == data for cell in cells)]
    if not sets:
        return
    groups = {
        "synthetic sets": [data for data in sets if data in SYNTHETIC],
        "Bitcoin, Cora, Mutagenicity": [d for d in sets if d in (*BITCOIN, "cora", "mutagenicity")],
        "random labels": [data for data in sets if data.startswith("random ")],
    }
    yield "### Fidelity"
    yield (
        "Explanations of five nodes, averaged over sets. *fidelity+*: how often the prediction "
        "flips when the explaining nodes are removed; *fidelity−*: how often it flips when all "
        "other nodes are removed; *characterization*: the harmonic mean of fidelity+ and "
        "1 − fidelity−. *robust* (Zheng et al., ICLR 2024): the loss of probability when each "
        "explaining node is removed with probability 0.1 (+), and when each other node is kept "
        "with probability 0.9 (−). The features of removed nodes are set to zero; the target is "
        "never removed. ↑ higher is better, ↓ lower is better."
    )
    for title, chosen in groups.items():
        if not chosen:
            continue
        rows = [
            [title, "fidelity+ ↑", "fidelity− ↓", "characterization ↑", "robust + ↑", "robust − ↓"]
        ]
        for name in EXPLAINERS:
            means = [_fidelity(cells, name, data) for data in chosen]
            known = [each for each in means if each]
            if known:
                rows.append([name, *(f"{value:.3f}" for value in np.mean(known, axis=0))])
        yield table(rows)


def _fidelity(cells: Cells, name: str, data: str) -> list[float]:
    plus, minus, robust_plus, robust_minus = (
        mean_of(cells, name, data, measure)
        for measure in ("fidelity+", "fidelity-", "robust fidelity+", "robust fidelity-")
    )
    if not plus:
        return []
    one, other = float(np.mean(plus)), float(np.mean(minus))
    both = float(characterization_score(torch.tensor(one), torch.tensor(other)))
    return [one, other, both, float(np.mean(robust_plus)), float(np.mean(robust_minus))]


def _cost_blocks(truths: Cells, cells: Cells, figures: Mapping[str, str]) -> Iterator[str]:
    """Yield the cost of each explainer and the sizes of the sets."""
    yield "### Cost"
    yield (
        "Passes through the model for one target; a backward pass counts as one more. "
        "PGM-Explainer uses its 1,000 passes for all targets of a graph together; the others need "
        "theirs for every target."
    )
    rows = [["", "fewest passes", "mean", "most", "CPU seconds per target"]]
    for name in EXPLAINERS:
        of = [cell for cell in cells if cell["explainer"] == name]
        passes = [row["passes"] for cell in of for row in cell["rows"]]
        if passes:
            seconds = sum(cell["seconds"] for cell in of) / len(passes)
            figures_of = (min(passes), np.mean(passes), max(passes))
            rows.append([name, *(f"{each:.0f}" for each in figures_of), f"{seconds:.3f}"])
    yield table(rows)
    if "passes" in figures:
        yield f"![Passes and effect captured]({figures['passes']})"
    yield (
        "The sets. *strongest effect*: the largest true effect of any node except the target, "
        "averaged over targets; where it is small, there is little to find."
    )
    rows = [["", "accuracy of the model", "targets", "candidates", "strongest effect", *_SECONDS]]
    for cell in truths:
        right = "" if cell["accuracy"] is None else f"{cell['accuracy']:.3f}"
        of = cell["rows"]
        mean = {key: np.mean([row[key] for row in of]) for key in ("candidates", "strongest")}
        seconds = [f"{cell[key]:.1f}" for key in ("seconds of training", "seconds of truth")]
        counts = [str(len(of)), f"{mean['candidates']:.0f}", f"{mean['strongest']:.3f}"]
        rows.append([cell["data"], right, *counts, *seconds])
    yield table(rows)


_SECONDS = ("CPU seconds of training", "of the truth")
