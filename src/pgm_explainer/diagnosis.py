"""What weakens an explanation, said in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .effects import STAGES, margin
from .finding import Finding
from .network import BayesianNetwork, ConditionalTable
from .sampling import Outcome, Samples, SamplingConfig
from .selection import Neighbourhood

__all__ = ["commonest", "thin_support", "weaknesses"]

_FEW = 5
_RARELY = 0.1
_ONE_POINT = 0.01


def weaknesses(
    finding: Finding, samples: Samples, network: BayesianNetwork | None, config: SamplingConfig
) -> tuple[str, ...]:
    """Return a sentence for everything that makes an explanation less sure than it looks."""
    return (
        *_about_perturbation(finding.near, samples, config),
        *_about_movement(finding.outcome, samples.values.are_probabilities),
        *_about_precision(finding, samples),
        *_about_outcome(finding.levels),
        *_about_tables(finding.near, network),
    )


def thin_support(samples: float) -> str | None:
    """Return a sentence if too few samples are behind an answer; None if there are enough.

    Args:
        samples: how many, in expectation; see :meth:`~pgm_explainer.Explanation.support`.
    """
    if samples >= _FEW:
        return None
    return f"fewer than {_FEW} samples are expected to be like this, too few to rely on the answer"


def commonest(warnings: Sequence[str]) -> tuple[str, int]:
    """Return the first weakness of the commonest kind, and how many there are of that kind.

    Two that differ in their numbers only are of one kind.

    Examples:
        >>> commonest(["changed in 2 of 9", "no other node", "changed in 1 of 9"])
        ('changed in 2 of 9', 2)
    """
    kinds = [re.sub(r"\d+", "#", each) for each in warnings]
    kind, count = Counter(kinds).most_common(1)[0]
    return warnings[kinds.index(kind)], count


def _about_perturbation(
    near: Neighbourhood, samples: Samples, config: SamplingConfig
) -> Iterator[str]:
    columns = samples.table.columns(near.candidates)
    if not len(columns):
        yield "no other node can influence the target, so there is none to explain it by"
        return
    share = float(samples.changed_share[columns].mean())
    if share < _RARELY:
        yield (
            f"the perturbation {config.perturbation.name!r} changes a node's features in only "
            f"{share:.0%} of the cases; another one would tell more"
        )


def _about_movement(outcome: Outcome, probabilities: bool) -> Iterator[str]:
    """Below about one point the prediction hardly moves, and what moves it hardly matters."""
    furthest = float(abs(outcome.change).max())
    if probabilities and 0 < furthest < _ONE_POINT:
        low, high = outcome.values.min(), outcome.values.max()
        yield (
            f"the prediction hardly moves: in all samples the probability stays between {low:.6g} "
            f"and {high:.6g}, within {100 * furthest:.2g} percentage points of "
            f"{outcome.original:.6g}"
        )


def _about_precision(finding: Finding, samples: Samples) -> Iterator[str]:
    if finding.is_settled or samples.table.num_samples < STAGES[-1]:
        return
    width, points = margin(finding.effects), samples.values.are_probabilities
    told = f"{100 * width:.2g} percentage points" if points else f"{width:.2g}"
    yield (
        f"{samples.table.num_samples} samples do not tell the strongest effects apart: they are "
        f"known to within {told}"
    )


def _about_outcome(outcome: NDArray[np.uint8]) -> Iterator[str]:
    changed = int(np.count_nonzero(outcome))
    if changed == 0:
        yield (
            f"the prediction held in all {len(outcome)} samples: nothing that was perturbed "
            f"changes it, and there is no network to explain it by"
        )
    elif min(changed, len(outcome) - changed) < _FEW:
        yield (
            f"the prediction changed in {changed} of {len(outcome)} samples, too one-sided to "
            f"learn much from; try another perturb_probability or change"
        )


def _about_tables(near: Neighbourhood, network: BayesianNetwork | None) -> Iterator[str]:
    table = None if network is None else network.cpt(near.target)
    if not isinstance(table, ConditionalTable):
        return
    seen = table.counts.sum(axis=-1)
    thin = float(seen[seen < _FEW].sum() / seen.sum())
    if thin > _RARELY:
        yield (
            f"{thin:.0%} of the samples fall into combinations of the target's parents that were "
            f"seen fewer than {_FEW} times; draw more samples, lower max_nodes or add smoothing"
        )
