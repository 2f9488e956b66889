"""The trials of a rater: which items in which arms, in which order.

Everything is a function of the study's seed and the rater's slot. In every block of as many
consecutive slots as there are arms, each item is shown in each arm equally often (a Latin square of
slots and items), and so in each round. The order of the arms is shuffled in each block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from .study_file import Choice, Item, Scale, Study

__all__ = ["ATTENTION", "CHECK", "FORECAST", "RATING", "REPEAT", "Trial", "plan"]

CHECK, FORECAST, RATING, ATTENTION, REPEAT = "check", "forecast", "rating", "attention", "repeat"
_PURPOSES = (
    "item places",
    "forecast places",
    "arms",
    "forecast arms",
    "order",
    "attention",
    "repeats",
    "forecast order",
)


@dataclass(frozen=True)
class Trial:
    """One question to one rater.

    Attributes:
        kind: ``"check"`` (about the instructions), ``"forecast"``, ``"rating"``, ``"attention"``
            or ``"repeat"`` (of a rating).
        item, arm: what is shown; None in a check.
        round: how many times the item has been rated before.
        asked: the question of a check, or the number to choose in an attention check.
    """

    kind: str
    item: Item | None = None
    arm: str | None = None
    round: int = 0
    asked: Choice | int | None = None

    def answers(self, scale: Scale) -> range:
        """The answers that are possible: numbers of the scale, or of the options."""
        if self.kind == CHECK:
            assert isinstance(self.asked, Choice)
            return range(len(self.asked.options))
        if self.kind == FORECAST:
            assert self.item is not None
            assert self.item.forecast is not None
            return range(len(self.item.forecast.options))
        return range(scale.least, scale.most + 1)

    @property
    def correct(self) -> int | None:
        """The right answer, if there is one."""
        if isinstance(self.asked, Choice):
            return self.asked.correct
        if self.kind == FORECAST and self.item is not None and self.item.forecast is not None:
            return self.item.forecast.correct
        return self.asked


def plan(study: Study, slot: int) -> list[Trial]:
    """Return the trials of the rater with this slot, in order.

    The forecasts come before the ratings, which show an item in several arms.
    """
    checks = [Trial(CHECK, asked=choice) for choice in study.checks]
    return [*checks, *_forecasts(study, slot), *_ratings(study, slot)]


def _rng(study: Study, purpose: str, *key: int) -> Generator:
    return default_rng(SeedSequence(study.seed, spawn_key=(_PURPOSES.index(purpose), *key)))


def _forecasts(study: Study, slot: int) -> list[Trial]:
    items = [item for item in study.items if item.forecast is not None]
    arms = [arm.id for arm in study.arms]
    shuffled = _rng(study, "forecast arms", slot // len(arms)).permutation(arms).tolist()
    places = _rng(study, "forecast places").permutation(len(items))
    trials = [
        Trial(FORECAST, item, shuffled[(slot + int(place)) % len(arms)])
        for item, place in zip(items, places, strict=True)
    ]
    order = _rng(study, "forecast order", slot).permutation(len(trials))
    return [trials[at] for at in order]


def _ratings(study: Study, slot: int) -> list[Trial]:
    arms = [arm.id for arm in study.rated_arms]
    shuffled = _rng(study, "arms", slot // len(arms)).permutation(arms).tolist()
    places = _rng(study, "item places").permutation(len(study.items))
    trials: list[Trial] = []
    for number in range(study.design.arms_per_item):
        shown = [
            Trial(RATING, item, shuffled[(slot + int(place) + number) % len(arms)], number)
            for item, place in zip(study.items, places, strict=True)
        ]
        order = _rng(study, "order", slot, number).permutation(len(shown)).tolist()
        if trials and len(order) > 1 and shown[order[0]].item == trials[-1].item:
            order[0], order[1] = order[1], order[0]  # not the same item twice in a row
        trials += [shown[at] for at in order]
    trials = _with_repeats(study, slot, trials)
    return _with_attention(study, slot, trials)


def _with_repeats(study: Study, slot: int, trials: list[Trial]) -> list[Trial]:
    """Repeat some trials of the first half in the last third."""
    rng = _rng(study, "repeats", slot)
    first = rng.choice(len(trials) // 2, study.design.repeats, replace=False)
    start = -(-2 * len(trials) // 3)
    late = np.sort(rng.integers(start, len(trials) + 1, study.design.repeats))[::-1]
    found = list(trials)
    for at, again in zip(late, first, strict=True):
        old = trials[again]
        found.insert(int(at), Trial(REPEAT, old.item, old.arm, old.round))
    return found


def _with_attention(study: Study, slot: int, trials: list[Trial]) -> list[Trial]:
    """Insert attention checks, one at a random place in each of equal sections."""
    rng = _rng(study, "attention", slot)
    count, scale = study.design.attention, study.scale
    found = list(trials)
    bounds = np.linspace(0, len(trials), count + 1).astype(int)
    for at in range(count - 1, -1, -1):
        place = int(rng.integers(bounds[at], max(bounds[at + 1], bounds[at] + 1)))
        shown = trials[int(rng.integers(len(trials)))]
        asked = int(rng.integers(scale.least, scale.most + 1))
        found.insert(place, Trial(ATTENTION, shown.item, shown.arm, asked=asked))
    return found
