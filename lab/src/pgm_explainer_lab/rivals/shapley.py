"""SHAP: the ``shap`` library, with nodes as the players."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..defaults import DEFAULT_SAMPLES
from .base import Queries
from .case import Case

__all__ = ["Shapley"]

_AT_ONCE = 100


@dataclass(frozen=True)
class Shapley:
    """Kernel SHAP: the importance of a node is the absolute value of its Shapley value.

    The players are the candidates, and the payoff is the probability of the predicted class.
    Absent players have the mean features, or zeros if all nodes have the same features. SHAP does
    better with this fixed replacement than with PGM-Explainer's random ones.

    Args:
        num_queries: number of model calls for one target; PGM-Explainer by default uses as many
            for all targets together.
        seed: seed of the coalitions.
    """

    num_queries: int = DEFAULT_SAMPLES
    seed: int = 0
    name: str = "SHAP"

    @property
    def queries(self) -> Queries:
        return Queries(self.num_queries)

    def importances(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target, found in zip(targets, self.attributions(case, targets), strict=True):
            yield case.among_candidates(target, abs(found))

    def attributions(self, case: Case, targets: Sequence[int | None]) -> Iterator[FloatArray]:
        for target in targets:
            game = _Game(case, target)
            found = np.zeros(len(case.x))
            found[game.players] = self._values(game)
            yield found

    def _values(self, game: _Game) -> FloatArray:
        absent, present = np.zeros((1, len(game.players))), np.ones(len(game.players))
        if len(game.players) == 0:
            return present
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)  # from its own plots
            import shap
        with _legacy_seed(self.seed):
            explainer = shap.KernelExplainer(game.worth, absent)
            # Three calls are not sampled coalitions: the empty one, the full one, the prediction.
            return explainer.shap_values(present, nsamples=self.num_queries - 3, silent=True)


class _Game:
    """The payoff of coalitions of a target's candidates."""

    def __init__(self, case: Case, target: int | None) -> None:
        self.players = case.candidates(target)
        self._case = case
        self._view = case.view(target)
        self._positions = self._view.part.positions(self.players)
        self._present = case.x[self.players]
        self._absent = self._present.copy()
        self._absent[:, case.columns] = _usual(case.x[:, case.columns])

    def worth(self, plays: NDArray[np.float64]) -> FloatArray:
        """Return the probability of the predicted class for ``[coalitions, players]``."""
        original = self._view.x.numpy()
        blocks = []
        for start in range(0, len(plays), _AT_ONCE):
            absent = plays[start : start + _AT_ONCE] == 0
            x = np.repeat(original[None], len(absent), axis=0)
            x[:, self._positions] = np.where(absent[..., None], self._absent, self._present)
            blocks.append(self._probabilities(x)[:, self._explained])
        return np.concatenate(blocks)

    @cached_property
    def _explained(self) -> int:
        return int(self._probabilities(self._view.x.numpy()[None]).argmax())

    def _probabilities(self, x: FloatArray) -> FloatArray:
        scores = self._case.predictor(x, self._view.part)
        if self._view.index is not None:
            scores = scores[:, self._view.index]
        return torch.softmax(scores.double(), dim=-1).numpy()


def _usual(x: FloatArray) -> FloatArray:
    """Return the mean features, or zeros if all nodes have the same features."""
    constant = bool((x == x[0]).all())
    return np.zeros_like(x[0]) if constant else x.mean(axis=0)


@contextmanager
def _legacy_seed(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator, which Kernel SHAP uses, and restore it afterwards."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
