"""How well explainers find the atoms that determine the class of molecules."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from pgm_explainer import explain_graphs
from pgm_explainer.sampling import PERTURBATIONS, Draws, Population

from ..arrays import FloatArray
from ..reproduce.jobs import Place
from ..rivals.case import Case
from ..rivals.gradient import Gradient
from ..rivals.output import Output
from .molecules import LabelledMolecule, MoleculeSet, molecule_set

__all__ = ["COLUMNS", "EXPLAINERS", "auc", "measure_atoms", "recall"]

PERTURBED_BY = ("substitute", "permute", "distinct", "mean", "uniform", "zero")
COLUMNS = ("strength", "effect", "log p")
_SWAPS = 30


@dataclass(frozen=True)
class Distinct:
    """A perturbation: other features of the data, drawn evenly from the distinct ones."""

    name: str = "distinct"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        rows, own = np.unique(population.x, axis=0, return_inverse=True)
        steps = 1 + (draws.uniforms("distinct row", 1)[..., 0] * (len(rows) - 1)).astype(np.int64)
        return np.asarray(rows[(own.ravel()[draws.nodes] + steps) % len(rows)])


def auc(scores: FloatArray, positive: Any) -> float:
    """Return the area under the ROC curve; ties count half.

    Examples:
        >>> auc(np.array([3.0, 2.0, 1.0, 1.0]), np.array([True, False, True, False]))
        0.625
    """
    positive = np.asarray(positive, dtype=bool)
    ones, ranks = int(positive.sum()), rankdata(scores)
    area = ranks[positive].sum() - ones * (ones + 1) / 2
    return float(area / (ones * (len(positive) - ones)))


def recall(scores: FloatArray, positive: Any) -> float:
    """Return the share of the k positives among the k highest scores."""
    positive = np.asarray(positive, dtype=bool)
    first = np.argsort(-scores, kind="stable")[: int(positive.sum())]
    return float(positive[first].mean())


def measure_atoms(
    place: Place, data: str, seed: int, most: int, explainer: str, samples: int
) -> dict[str, Any]:
    """Return recall at k and AUC of an explainer, averaged over molecules."""
    chosen = molecule_set(place, data, seed)
    molecules = chosen.molecules[:most]
    started = time.process_time()
    if explainer in PERTURBED_BY:
        found = _ours(chosen, molecules, explainer, samples, seed)
    else:
        found = {"": _RIVALS[explainer](chosen, molecules)}
    seconds = time.process_time() - started
    truths = [np.isin(np.arange(len(each.x)), [*each.atoms]) for each in molecules]
    rows = {
        column: {
            "recall": float(np.mean([*map(recall, scores, truths)])),
            "AUC": float(np.mean([*map(auc, scores, truths)])),
        }
        for column, scores in found.items()
    }
    key = {"data": data, "seed": seed, "explainer": explainer, "samples": samples}
    size = {"molecules": len(molecules), "accuracy": chosen.accuracy, "seconds": seconds}
    return {**key, **size, "rows": rows}


def _ours(
    chosen: MoleculeSet,
    molecules: Sequence[LabelledMolecule],
    perturbation: str,
    samples: int,
    seed: int,
) -> dict[str, list[FloatArray]]:
    """Return the scores of the atoms by each column of the effects."""
    options: dict[str, Any] = {
        "num_samples": samples,
        "seed": seed,
        "structure": None,
        "progress": False,
    }
    graphs = [each.as_data() for each in molecules]
    scheme = Distinct() if perturbation == "distinct" else perturbation
    explained = explain_graphs(chosen.model, graphs, perturbation=scheme, **options)
    found: dict[str, list[FloatArray]] = {column: [] for column in COLUMNS}
    for molecule, each in zip(molecules, explained, strict=True):
        effects = each.effects
        values = (effects.strength, abs(effects.effect), -effects.log_p)
        for column, score in zip(COLUMNS, values, strict=True):
            scores = np.full(len(molecule.x), -np.inf)
            scores[np.array(effects.parts)] = score
            found[column].append(scores)
    return found


def _gradient(chosen: MoleculeSet, molecules: Sequence[LabelledMolecule]) -> list[FloatArray]:
    cases = [Case(chosen.model, each.x, each.edge_index, task="graph") for each in molecules]
    return [next(Gradient().importances(case, [None])) for case in cases]


def _occlusion(
    swapped: bool, chosen: MoleculeSet, molecules: Sequence[LabelledMolecule]
) -> list[FloatArray]:
    """Return the mean absolute change if one atom at a time is set to zero or swapped."""
    offsets = np.cumsum([0, *(len(each.x) for each in molecules)])
    population = Population(np.concatenate([each.x for each in molecules]))
    found = []
    for molecule, offset in zip(molecules, offsets[:-1], strict=True):
        output = Output(Case(chosen.model, molecule.x, molecule.edge_index, task="graph"), None)
        nodes = offset + np.arange(len(molecule.x))
        draws = Draws.grid(0, np.arange(_SWAPS if swapped else 1), nodes)
        scheme = PERTURBATIONS["permute" if swapped else "zero"]
        new = np.broadcast_to(scheme(population, draws), (*draws.shape, molecule.x.shape[1]))
        x = np.repeat(molecule.x[None], new.shape[0] * len(nodes), axis=0)
        at = np.tile(np.arange(len(nodes)), new.shape[0])
        x[np.arange(len(x)), at] = new.reshape(len(x), -1)
        change = output(molecule.x[None])[0] - output(x)
        found.append(abs(change.reshape(new.shape[0], -1)).mean(axis=0))
    return found


_RIVALS: dict[str, Callable[[MoleculeSet, Sequence[LabelledMolecule]], list[FloatArray]]] = {
    "gradient": _gradient,
    "occlusion (zero)": partial(_occlusion, False),
    "occlusion (swap)": partial(_occlusion, True),
}
EXPLAINERS = (*PERTURBED_BY, *_RIVALS)
