"""The section on parts: edges against a truth, and atoms of molecules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..reproduce.jobs import Job
from ..reproduce.markdown import marked, mean_and_spread, table
from ..reproduce.plan import Plan, Section
from .atoms import COLUMNS, EXPLAINERS, measure_atoms
from .edges import (
    EDGE_COLUMNS,
    LEVELS,
    measure_edges,
    measure_graph_edges,
    measure_infection,
)
from .molecules import CHOSEN_ON, REPORTED_ON
from .motif_graphs import MOTIF_SETS

__all__ = ["parts_section"]

_PGEXPLAINER = {
    "syn1": 0.963,
    "syn2": 0.945,
    "syn4": 0.987,
    "syn5": 0.907,
    "BA-2Motifs": 0.926,
    "Mutagenicity": 0.873,
}
_CALLED = {"syn1": "BA-Shapes", "syn2": "BA-Community", "syn4": "Tree-Cycles", "syn5": "Tree-Grid"}
_MORE, _MORE_GRAPHS = 5, 6
_TRUTHS = {"syn1": 5, "syn2": 5, "syn4": 1, "syn5": 1}
"""True effects are measured for one in this many targets; with many edges they are slow."""
_SAMPLES = 1000
Cells = Sequence[dict[str, Any]]


def parts_section(plan: Plan) -> Section:
    """Measure how well edges and atoms are found."""
    edges = plan.compute([*_edge_jobs(plan)], "explaining edges")
    infection = plan.compute([*_infection_jobs(plan)], "explaining infections")
    atoms = plan.compute([*_atom_jobs(plan)], "explaining molecules")
    results = {"edges": edges, "infection": infection, "atoms": atoms}
    blocks = [
        *("## Edges of motifs", _ABOUT_EDGES, _ABOUT_GRAPHS, _edge_table(edges)),
        *("### What limits these figures", _ABOUT_LIMITS, _limit_table(edges)),
        *("### How many edges are removed", _ABOUT_LEVELS, _level_table(edges), _ABOUT_PUBLISHED),
        *("## Infection", _ABOUT_INFECTION, _infection_table(infection)),
        *("## Atoms of molecules", _ABOUT_ATOMS, _ABOUT_SUBSTITUTION),
        *("Molecules whose rules were used to choose the first default:", _atoms(atoms, CHOSEN_ON)),
        *("Other molecules:", _atoms(atoms, REPORTED_ON)),
        *("### Columns of the effects", _ABOUT_COLUMNS, _columns(atoms)),
    ]
    return Section("\n\n".join(blocks), results)


def _edge_jobs(plan: Plan) -> Sequence[Job]:
    nodes = {"most": _MORE * plan.targets, "epochs": plan.epochs}
    graphs = {"most": _MORE_GRAPHS * plan.targets}
    jobs = []
    for seed in range(plan.seeds):
        for data, truths in _TRUTHS.items():
            inputs = {"data": data, "seed": seed, **nodes, "truths": truths}
            jobs.append(Job(f"edges-{data}-{seed}", measure_edges, inputs))
        for data in MOTIF_SETS:
            inputs = {"data": data, "seed": seed, **graphs}
            jobs.append(Job(f"edges-{data}-{seed}", measure_graph_edges, inputs))
    return jobs


def _infection_jobs(plan: Plan) -> Sequence[Job]:
    inputs = {"seed": 0, "most": plan.targets}
    return [Job("edges-infection-0", measure_infection, inputs)]


def _atom_jobs(plan: Plan) -> Sequence[Job]:
    return [
        Job(
            f"atoms-{data.replace(' ', '-')}-{explainer.replace(' ', '-')}-{seed}",
            measure_atoms,
            {
                "data": data,
                "seed": seed,
                "most": _MORE * plan.targets,
                "explainer": explainer,
                "samples": _SAMPLES,
            },
        )
        for data in (*CHOSEN_ON, *REPORTED_ON)
        for explainer in EXPLAINERS
        for seed in range(min(plan.seeds, 2))
    ]


_ABOUT_EDGES = (
    'Edges are ranked by a column of `effects`, with `parts="edges"` and otherwise the defaults. '
    "The table shows the AUC of the edges within the motif of a target among all edges that may "
    "explain it. The edges of all targets are pooled (PGExplainer's protocol), after the values of "
    "each target have been divided by its largest one; *strength, each target* is the mean of the "
    "AUCs of single targets. *Effect* is the absolute effect. *Support* is the effect with the "
    "opposite sign: edges that are evidence for the prediction come first, evidence against it "
    "last. *Captured*: the sum of the true effects (see below) of the five top-ranked edges, "
    "divided by that of the five edges with the largest true effects. **Bold** reaches "
    "PGExplainer's published figure, ▼ does not."
)
_ABOUT_LIMITS = (
    "The same AUC if edges are ranked by their effect on the model, measured directly. No "
    "explainer that estimates these effects can be expected to score much higher. *True effects*: "
    "how much removing the edge changes the model's probability, on average over random contexts "
    "in which every other edge is removed with a probability of 0.1. *True support*: how much "
    "removing it lowers the probability, on average over the same contexts. *Removed alone*: the "
    "change if no other edge is removed (occlusion). There are 6 to 200 contexts for each target; "
    "in the first two sets, only one target in five is measured. *Error* is the standard error "
    "of the AUC by true effects that is due to the limited number of contexts, estimated from two "
    "halves of them."
)
_ABOUT_GRAPHS = (
    "In the last two sets, PGExplainer's network makes one prediction for each graph: three layers "
    "with 20 units each, pooled by maximum and sum over all nodes. It is trained on four fifths of "
    "the graphs; accuracy and explanations are those of the remaining fifth. BA-2Motifs: 1,000 "
    "trees of 20 nodes "
    "(Barabási-Albert) with a house or a cycle of five nodes attached. Mutagenicity: the "
    "mutagenic molecules that have an NO2 or NH2 group; the bonds of these groups are the motif, "
    "whether or not the model depends on them."
)
_ABOUT_LEVELS = (
    "The two sets of graphs again, with three values of `perturb_probability`, for the explainer "
    "and for the contexts of the true effects. With the default, 0.1, effects show which edges "
    "the prediction for the given graph depends on. With 0.9, hardly any edge is left, so effects "
    "show what an edge does nearly on its own. In Mutagenicity, the bonds of NO2 and NH2 groups "
    "have large effects with 0.9, but hardly any with 0.1; for the motifs of BA-2Motifs, it is "
    "the other way round. No value finds both. *Mean of all* ranks edges by the mean of their "
    "strengths in the three explanations, which take three times as many samples; whether it finds "
    "a motif depends on the trained network. So the default was not changed."
)
_ABOUT_PUBLISHED = (
    "The same holds for the network that PGExplainer's authors published. A script that is not in "
    "the repository measured it once, on 18 November 2026, on all 1,015 molecules that they "
    "explain (accuracy on all 4,337 molecules: 0.873). With probabilities of 0.1, 0.5 and 0.9, "
    "ranking the bonds by the true effects gives an AUC of 0.472, 0.608 and 0.936, and ranking by "
    "the true support gives 0.341, 0.490 and 0.866. Removing one bond alone gives 0.507. Changes "
    "of the logit instead of the probability give 0.607, 0.647 and 0.914. So in whole molecules, "
    "that network too hardly depends on these bonds. Ranking all bonds of nitrogen first, "
    "without any model, gives 0.931. In a replication study, Holdijk et al. (ML Reproducibility "
    "Challenge 2020) could not replicate PGExplainer's results from the paper alone, and only a "
    "number of them with its code; they question this way of evaluating explanations."
)
_ABOUT_INFECTION = (
    "The protocol of Faber et al.: the share of the edges on the path from the nearest infected "
    "node that are among the n strongest edges, where n is the number of nodes on the path. One "
    "seed. Their figures: occlusion 1.000, saliency 0.973."
)
_ABOUT_ATOMS = (
    "At most two seeds. A GIN is trained on 2,000 molecules whose class is determined by known "
    "atoms. It is explained on those held-out molecules of the class that it classifies correctly "
    "with a probability above 0.9. Each cell shows recall at k / AUC, averaged over molecules. "
    "Recall at k is the share of the k true atoms that are among the k atoms with the largest "
    "strength; the AUC is that of the true atoms. For *NO2 or NH2*, *C=O*, *OH* and *CH3*, the "
    "molecules are those of Mutagenicity, and the class is determined by whether a molecule has "
    "such a group. *mutagenic* is the class of that data set; the NO2 and NH2 groups are taken as "
    "the ground truth, although it has other causes too. The other molecules are generated."
)
_ABOUT_SUBSTITUTION = (
    "*substitute*, the default, replaces an atom by one of the types of atoms in the molecules; a "
    "type that c atoms have is drawn with a probability proportional to c^0.25. *permute* replaces "
    "it by any other atom: most atoms are carbons, so a carbon rarely changes, and groups of "
    "carbons are missed. *distinct* always replaces it by an atom of another type, all types being "
    "equally likely: every carbon changes, and often into a type that hardly occurs. The exponent "
    "0.25 was chosen among 0, 0.25, 0.5 and 1 on other molecules and models (seeds 10 to 12) of "
    "most of these rules, and on ester, amide and sulfonyl groups in molecules of "
    "Sanchez-Lengeling et al. (NeurIPS 2020), which are not part of this package. Bonds are kept, "
    "so a new atom may have an impossible valence; *mean*, *uniform* and *zero* give rows that do "
    "not encode any atom."
)
_ABOUT_COLUMNS = (
    "Recall at k by other columns of `effects`, averaged over the sets of the first table."
)


def _edge_table(cells: Cells) -> str:
    heads = ["strength", "effect", "-log p", "support", "strength, each target"]
    rows = [["set", "PGExplainer", *heads, "captured at 5", "targets (with truth)"]]
    for data, published in _PGEXPLAINER.items():
        its = _of_set(cells, data)
        pooled = [_pooled(its, name, published) for name in EDGE_COLUMNS]
        each = mean_and_spread([cell["each"]["strength"] for cell in its])
        captured = mean_and_spread([cell["captured"] for cell in its])
        counts = [sum(cell[what] for cell in its) for what in ("targets", "truths")]
        size = f"{counts[0]} ({counts[1]})"
        called = _CALLED.get(data) or f"{data} (accuracy {_accuracy(its):.2f})"
        rows.append([called, f"{published:.3f}", *pooled, each, captured, size])
    return table(rows)


def _limit_table(cells: Cells) -> str:
    heads = ["true effects", "error", "true effects, each target", "true support", "removed alone"]
    rows = [["set", "PGExplainer", *heads]]
    for data, published in _PGEXPLAINER.items():
        its = [cell["ceiling"] for cell in _of_set(cells, data)]
        halves = [cell["pooled"]["first"] - cell["pooled"]["second"] for cell in its]
        error = f"{np.sqrt(np.mean(np.square(halves))) / 2:.3f}"
        each = mean_and_spread([cell["each"]["truth"] for cell in its])
        others = [_pooled(its, name, published) for name in ("support", "alone")]
        pooled = _pooled(its, "truth", published)
        rows.append([_CALLED.get(data, data), f"{published:.3f}", pooled, error, each, *others])
    return table(rows)


def _level_table(cells: Cells) -> str:
    heads = ["strength", "support", "support, each target", "true effects", "true support"]
    rows = [["set", "`perturb_probability`", *heads, "captured at 5"]]
    for data in MOTIF_SETS:
        for level in map(str, LEVELS):
            its = [cell["levels"][level] for cell in _of_set(cells, data)]
            true = [cell["ceiling"] for cell in its]
            published = _PGEXPLAINER[data]
            figures = [_pooled(its, name, published) for name in ("strength", "support")]
            figures.append(mean_and_spread([cell["each"]["support"] for cell in its]))
            figures += [_pooled(true, name, published) for name in ("truth", "support")]
            captured = mean_and_spread([cell["captured"] for cell in its])
            rows.append([data, level, *figures, captured])
        every = [cell["all levels"] for cell in _of_set(cells, data)]
        means = [_pooled(every, "strength", _PGEXPLAINER[data]), *[""] * (len(rows[0]) - 3)]
        rows.append([data, "mean of all", *means])
    return table(rows)


def _pooled(cells: Cells, name: str, published: float) -> str:
    return marked([cell["pooled"][name] for cell in cells], published)


def _of_set(cells: Cells, data: str) -> list[dict[str, Any]]:
    return [cell for cell in cells if cell["data"] == data]


def _accuracy(cells: Cells) -> float:
    return float(np.mean([cell["accuracy"] for cell in cells]))


def _infection_table(cells: Cells) -> str:
    rows = [["", "strength", "effect", "targets"]]
    for cell in cells:
        means = [f"{cell['path'][name]:.3f}" for name in ("strength", "effect")]
        rows.append(["path edges found", *means, str(cell["targets"])])
    return table(rows)


def _atoms(cells: Cells, sets: Sequence[str]) -> str:
    rows = [["", *(f"{data} ({_facts(cells, data)})" for data in sets)]]
    for name in EXPLAINERS:
        row = [name]
        for data in sets:
            its = _of(cells, data, name)
            found = [next(iter(cell["rows"].values())) for cell in its]
            means = [np.mean([each[what] for each in found]) for what in ("recall", "AUC")]
            row.append(f"{means[0]:.3f} / {means[1]:.3f}")
        rows.append(row)
    return table(rows)


def _facts(cells: Cells, data: str) -> str:
    its = _of(cells, data, EXPLAINERS[0])
    return f"accuracy {_accuracy(its):.2f}, {sum(cell['molecules'] for cell in its)} molecules"


def _of(cells: Cells, data: str, explainer: str) -> list[dict[str, Any]]:
    return [cell for cell in cells if (cell["data"], cell["explainer"]) == (data, explainer)]


def _columns(cells: Cells) -> str:
    ours = [name for name in EXPLAINERS if name in ("substitute", "permute", "distinct")]
    rows = [["", *COLUMNS]]
    for name in ours:
        its = [cell for data in CHOSEN_ON for cell in _of(cells, data, name)]
        means = [np.mean([cell["rows"][column]["recall"] for cell in its]) for column in COLUMNS]
        rows.append([name, *(f"{mean:.3f}" for mean in means)])
    return table(rows)
