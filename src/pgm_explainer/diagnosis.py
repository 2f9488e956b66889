"""Warnings about explanations that may be unreliable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .effects.estimate import STAGES, margin
from .network import GraphicalModel
from .querying import Query
from .report.facts import FEW_SAMPLES
from .sampling import SamplingConfig, VariableId
from .sampling.samples import Outcome, Samples
from .selection import Neighbourhood
from .selection.select import SelectionResult
from .settings import Settings

__all__ = ["commonest", "diagnose"]

_RARELY = 0.1
_ONE_POINT = 0.01


def diagnose(
    result: SelectionResult,
    query: Query,
    samples: Samples,
    network: GraphicalModel | None,
    settings: Settings,
) -> tuple[str, ...]:
    """Return a warning for each reason why an explanation may be unreliable."""
    return (
        *_about_scores(query, settings),
        *_about_receptive_field(result.neighbourhood, query, settings.model.num_layers or 0),
        *_about_perturbation(result.neighbourhood, samples, settings.sampling),
        *_about_movement(result.outcome, samples.values.are_probabilities),
        *_about_precision(result, samples),
        *_about_outcome(result.levels),
        *_about_tables(result.neighbourhood.target, network),
    )


def commonest(warnings: Sequence[str]) -> tuple[str, int]:
    """Return the first warning of the most frequent kind, and how many there are of that kind.

    Warnings that differ only in their numbers are of one kind.

    Examples:
        >>> commonest(["changed in 2 of 9", "no other node", "changed in 1 of 9"])
        ('changed in 2 of 9', 2)
    """
    kinds = [re.sub(r"\d+", "#", each) for each in warnings]
    kind, count = Counter(kinds).most_common(1)[0]
    return warnings[kinds.index(kind)], count


def _about_scores(query: Query, settings: Settings) -> Iterator[str]:
    """Warn if a single score was taken as a logit, because it may be the value of a regression."""
    model = query.model
    single = model.scores.shape[-1] == 1 and settings.model.output is None
    if settings.model.scores == "auto" and single and model.reader.kind == "logits":
        yield (
            "the model returns a single score, which was taken as the logit of class 1; for a "
            "regression, set scores='values'; for a classifier, scores='logits' confirms it"
        )


def _about_receptive_field(
    neighbourhood: Neighbourhood, query: Query, num_layers: int
) -> Iterator[str]:
    """Warn if any prediction of the neighbourhood depends on more than ``num_layers`` hops."""
    if not query.exceeding.isdisjoint([neighbourhood.target, *neighbourhood.candidates.tolist()]):
        yield (
            f"the model's receptive field is larger than num_layers={num_layers} hops (more "
            f"layers, or an operation over all nodes), so the model was called on the whole graph; "
            f"nodes more than {num_layers} hops away were not considered"
        )


def _about_perturbation(
    neighbourhood: Neighbourhood, samples: Samples, config: SamplingConfig
) -> Iterator[str]:
    columns = samples.table.columns(neighbourhood.candidates)
    if not len(columns):
        yield "no other node can influence the target, so there are no candidates to explain it"
        return
    share = float(samples.changed_share[columns].mean())
    if share < _RARELY:
        yield (
            f"the perturbation {config.perturbation.name!r} changes a node's features in only "
            f"{share:.0%} of the cases; choose another perturbation"
        )


def _about_movement(outcome: Outcome, probabilities: bool) -> Iterator[str]:
    """Warn if the prediction changes by less than one percentage point in all samples."""
    furthest = float(abs(outcome.change).max())
    if probabilities and 0 < furthest < _ONE_POINT:
        low, high = outcome.values.min(), outcome.values.max()
        yield (
            f"the prediction hardly changes: in all samples the probability is between {low:.6g} "
            f"and {high:.6g}, within {100 * furthest:.2g} percentage points of "
            f"{outcome.original:.6g}"
        )


def _about_precision(result: SelectionResult, samples: Samples) -> Iterator[str]:
    if result.is_precise or samples.table.num_samples < STAGES[-1]:
        return
    width, points = margin(result.effects), samples.values.are_probabilities
    precision = f"{100 * width:.2g} percentage points" if points else f"{width:.2g}"
    yield (
        f"{samples.table.num_samples} samples are too few to separate the strongest effects, which "
        f"are known to within {precision}"
    )


def _about_outcome(outcome: NDArray[np.uint8]) -> Iterator[str]:
    changed = int(np.count_nonzero(outcome))
    if changed == 0:
        yield (
            f"the prediction was kept in all {len(outcome)} samples: no perturbation changed it, "
            f"so there is no network"
        )
    elif min(changed, len(outcome) - changed) < FEW_SAMPLES:
        yield (
            f"the prediction changed in {changed} of {len(outcome)} samples, too unbalanced for "
            f"a reliable network; try another perturb_probability or change"
        )


def _about_tables(target: VariableId, network: GraphicalModel | None) -> Iterator[str]:
    seen = None if network is None else network.samples_around(target)
    if network is None or seen is None:
        return
    thin = float(seen[seen < FEW_SAMPLES].sum() / seen.sum())
    if thin > _RARELY:
        yield (
            f"{thin:.0%} of the samples have combinations of the target's "
            f"{network.neighbour_noun} that were "
            f"seen fewer than {FEW_SAMPLES} times; raise num_samples, lower max_nodes or add "
            f"smoothing"
        )
