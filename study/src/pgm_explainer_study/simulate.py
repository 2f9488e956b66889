"""Simulated raters, to try a study and its analysis. Their answers are not evidence.

A simulated rater uses the picture only, not the arm. In an image, it finds a highlighted
region important if the region is bright; in a graph, if the node is near the target.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from .design import CHECK, FORECAST, Trial, plan
from .scenes import GraphScene, GridScene, Scene
from .store import Answer, Store
from .study_file import Choice, Scale, Study

__all__ = ["LABEL", "simulate"]

LABEL = "simulated, not evidence"
_CARELESS = 0.1
"""The share of raters who answer at random, to be found by the exclusion rules."""


def simulate(study: Study, store: Store, raters: int, seed: int) -> None:
    """Add simulated raters and their answers to a database for simulated raters."""
    for number in range(raters):
        rater = store.join("simulated")
        rng = default_rng(SeedSequence(seed, spawn_key=(6000, number)))
        person = _Person(rng)
        answers = [
            Answer(
                rater.id, at, person.answer(trial, study.scale), person.time(), f"simulated-{at}"
            )
            for at, trial in enumerate(plan(study, rater.slot))
        ]
        store.add(answers)


class _Person:
    """A rater with their own leniency and noise."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self._leniency = rng.normal(0, 0.12)
        self._careless = rng.random() < _CARELESS

    def time(self) -> int:
        return int(np.exp(self._rng.normal(np.log(400 if self._careless else 3500), 0.4)))

    def answer(self, trial: Trial, scale: Scale) -> int:
        possible = trial.answers(scale)
        if self._careless:
            return int(self._rng.choice(possible))
        if trial.item is None or isinstance(trial.asked, (int, Choice)):
            assert trial.correct is not None
            slips = trial.kind == CHECK and self._rng.random() < 0.03
            return int(self._rng.choice(possible)) if slips else trial.correct
        assert trial.arm is not None
        highlight = trial.item.highlights[trial.arm]
        if trial.kind == FORECAST:
            return self._forecast(trial, highlight)
        seen = np.mean([salience(trial.item.scene, part) for part in highlight])
        share = seen + self._leniency + self._rng.normal(0, 0.15)
        return int(
            np.clip(
                round(scale.least + share * (scale.most - scale.least)), possible[0], possible[-1]
            )
        )

    def _forecast(self, trial: Trial, highlight: tuple[int, ...]) -> int:
        """Return the last option, a change, more often if the part is highlighted or salient."""
        assert trial.item is not None
        assert trial.item.forecast is not None
        forecast = trial.item.forecast
        stands_out = salience(trial.item.scene, forecast.probe)
        share = 0.9 if forecast.probe in highlight else 0.25 + 0.3 * stands_out
        return len(forecast.options) - 1 if self._rng.random() < share else 0


def salience(scene: Scene, part: int) -> float:
    """Return how much a part stands out in the picture, from 0 to 1."""
    if isinstance(scene, GridScene):
        image, segments = np.array(scene.image), np.array(scene.segments)
        return float(image[segments == part].mean() / 255)
    if isinstance(scene, GraphScene) and scene.targets:
        ends = (part,) if scene.parts == "nodes" else scene.edges[part]
        return float(np.mean([1 / max(1, _hops(scene, node)) for node in ends]))
    return 0.5


def _hops(scene: GraphScene, node: int) -> int:
    """Return the distance of a node from the target, or the number of nodes if there is no path."""
    near: dict[int, set[int]] = {}
    for first, second in scene.edges:
        near.setdefault(first, set()).add(second)
        near.setdefault(second, set()).add(first)
    apart = dict.fromkeys(scene.targets, 0)
    waiting = deque(scene.targets)
    while waiting:
        at = waiting.popleft()
        for other in near.get(at, ()):
            if other not in apart:
                apart[other] = apart[at] + 1
                waiting.append(other)
    return apart.get(node, len(scene.positions))
