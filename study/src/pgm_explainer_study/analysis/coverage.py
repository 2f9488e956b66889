"""How often intervals cover a known truth, in simulated data.

``python -m pgm_explainer_study.analysis.coverage`` measures it for designs of several sizes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import SeedSequence, default_rng

from .bootstrap import arm_means, mean_differences
from .mixed import contrasts, fit

__all__ = ["ARMS", "Truth", "coverage", "simulated_scores"]

ARMS = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Truth:
    """Means of the arms, and standard deviations of the effects."""

    means: tuple[float, ...] = (5.0, 4.0, 4.0, 3.0)
    rater: float = 1.0
    item: float = 1.0
    rater_arm: float = 0.7
    item_arm: float = 0.9
    error: float = 1.5


def simulated_scores(
    truth: Truth, raters: int, items: int, per_item: int, seed: int
) -> pd.DataFrame:
    """Return scores from the model itself, in the balanced incomplete design of a study."""
    rng = default_rng(SeedSequence(seed, spawn_key=(7000, raters, items)))
    arms = len(truth.means)
    of_rater = rng.normal(0, truth.rater, raters)
    of_item = rng.normal(0, truth.item, items)
    of_both = rng.normal(0, truth.rater_arm, (raters, arms))
    of_item_arm = rng.normal(0, truth.item_arm, (items, arms))
    r, i, k = (each.ravel() for each in np.indices((raters, items, per_item)))
    a = (r + i + k) % arms
    score = np.array(truth.means)[a] + of_rater[r] + of_item[i] + of_both[r, a] + of_item_arm[i, a]
    score = score + rng.normal(0, truth.error, len(a))
    names = np.array(ARMS)[a]
    return pd.DataFrame({"rater": r, "item": [f"i{n}" for n in i], "arm": names, "score": score})


def coverage(truth: Truth, raters: int, items: int, per_item: int, runs: int) -> dict[str, float]:
    """Return the share of 95% intervals that cover the truth, of each kind.

    ``false positives`` is the share of runs in which the p-value of the contrast of two arms with
    equal means is below 0.05.
    """
    hits: dict[str, list[bool]] = {
        "mixed model, differences": [],
        "bootstrap, means": [],
        "bootstrap, differences": [],
        "false positives": [],
    }
    arms = ARMS[: len(truth.means)]
    true = dict(zip(arms, truth.means, strict=True))
    pairs = [(arms[0], other) for other in arms[1:]] + [("b", "c")]
    for run in range(runs):
        scores = simulated_scores(truth, raters, items, per_item, run)
        for each in contrasts(fit(scores, arms), pairs):
            known = true[each.first] - true[each.second]
            hits["mixed model, differences"].append(each.low <= known <= each.high)
            if (each.first, each.second) == ("b", "c"):
                hits["false positives"].append(each.p < 0.05)
        for arm, mean in arm_means(scores, arms, run, draws=600).items():
            hits["bootstrap, means"].append(mean.low <= true[arm] <= mean.high)
        for arm, gap in mean_differences(scores, arms[1:], "a", run, draws=600).items():
            hits["bootstrap, differences"].append(gap.low <= true[arm] - true["a"] <= gap.high)
    return {name: float(np.mean(found)) for name, found in hits.items()}


def main(runs: int = 300) -> None:
    """Print coverages."""
    for raters, items in ((10, 48), (20, 24)):
        found = coverage(Truth(), raters, items, 3, runs)
        said = "; ".join(f"{kind} {share:.3f}" for kind, share in found.items())
        sys.stdout.write(f"{raters} raters, {items} items, {runs} runs: {said}\n")


if __name__ == "__main__":
    main()
