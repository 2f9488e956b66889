"""Trials of sets of parts: how often perturbing, or keeping, them changes a prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray
from ..choices import Recorded
from ..errors import InputError
from ..execution import ExecutionConfig
from ..limits import brief
from ..querying import Query
from ..sampling import Change, Flip, Parts, Population, as_change
from ..sampling.generate import batch_size, perturbed_batch
from .options import Members, SearchOptions

__all__ = ["Trials", "make_judge"]

_FIRST_SAMPLE = 2**32
"""The number of the first sample of a search. Explanations use samples below 2**31."""
_CHECK_SAMPLE = 2**33
_SCREENED = 40
"""The number of samples in a first trial of a set; only promising sets are tried on all samples."""
_EXAMPLES = 200
"""The number of successful samples among which the most frequent values are found."""
_CONTEXTS = 8
"""The number of perturbed graphs in which parts are compared that may not change the prediction."""

Judge = Callable[[FloatArray], tuple[NDArray[np.bool_], NDArray[np.float64]]]
"""Takes predictions ``[B, C]``; returns whether each has changed, and how far it has moved."""


def make_judge(query: Query, change: Any, used: Change, is_regression: bool) -> Judge:
    """Return the function that decides whether a prediction changed."""
    before = query.model.before
    if change is None and not is_regression:
        return _other_class(int(before[0].argmax()))
    chosen = used if change is None else as_change(change, "values" if is_regression else "auto")
    if isinstance(chosen, Recorded) or chosen.needs_all_samples:
        raise InputError(
            f"the change {brief(chosen.name)} is relative to other samples, so it cannot decide "
            f"about one set of parts; pass change=pgm_explainer.Deviation(...) for a regression, "
            f"or a threshold such as change=0.3"
        )

    def judge(after: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        severity = chosen.severity(before, after[:, None], query.classes)[:, 0]
        return chosen.grade(severity[:, None])[:, 0] > 0, severity.astype(np.float64)

    if judge(before)[0][0]:
        hint = "; omit change" if isinstance(chosen, Flip) else ""
        raise InputError(
            f"with the change {brief(chosen.name)}, the prediction counts as changed although "
            f"nothing is perturbed{hint}"
        )
    return judge


def _other_class(predicted: int) -> Judge:
    def judge(after: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        others = np.delete(after, predicted, axis=1).max(axis=1, initial=-np.inf)
        margin = np.maximum(others, -1.0) - after[:, predicted]
        return after.argmax(axis=1) != predicted, margin.astype(np.float64)

    return judge


@dataclass
class Trials:
    """Trials of sets of parts, on the same random perturbations for all sets of a search."""

    query: Query
    parts: Parts
    population: Population
    execution: ExecutionConfig
    options: SearchOptions
    order: IntArray
    judge: Judge
    queries: int = 0

    def __post_init__(self) -> None:
        within = self.parts.within(self.query.model.subgraph)
        self._every = np.union1d(within, self.order)
        self._at = np.searchsorted(self._every, self.order)
        count = self.options.num_samples
        self._succeeded: IntArray = np.empty(0, dtype=np.int64)
        self.num_samples = 1 if self._always_same(self._samples(_FIRST_SAMPLE, count)) else count

    def leave_out(self, parts: IntArray) -> IntArray:
        """Leave parts out that do not change the prediction; return the order without them.

        In half of a few perturbed graphs, all of these parts are perturbed too. They are left out
        only if that makes no difference.
        """
        if not len(parts):
            return self.order
        others = self._at[~np.isin(self.order, parts)]
        masks = np.zeros((_CONTEXTS, len(self._every)), dtype=bool)
        # None of the others, all of them, and halves of them by the bits of their positions.
        masks[1, others] = True
        for bit in range(_CONTEXTS - 2):
            masks[2 + bit, others[(np.arange(len(others)) >> bit) % 2 == 1]] = True
        both = masks.copy()
        both[:, np.searchsorted(self._every, parts)] = True
        samples = self._samples(_FIRST_SAMPLE, _CONTEXTS)
        without, along = (self._predict(samples, some) for some in (masks, both))
        self.queries += 2 * _CONTEXTS
        if np.allclose(without, along, rtol=1e-5, atol=1e-6):
            kept = ~np.isin(self.order, parts)
            self.order, self._at = self.order[kept], self._at[kept]
        return self.order

    def _predict(self, samples: IntArray, perturbed: NDArray[np.bool_]) -> FloatArray:
        batch = self._batch(samples, perturbed)
        return self.query.model(batch.x, batch.edges)[:, 0]

    def screen(self, sets: Sequence[Members]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Try each set on a few samples; return its success rate and how far predictions move."""
        return self._try(sets, self._samples(_FIRST_SAMPLE, min(self.num_samples, _SCREENED)))

    @property
    def screened(self) -> int:
        """The number of model queries that :meth:`screen` makes for each set."""
        return min(self.num_samples, _SCREENED)

    def share(self, members: Members) -> float:
        """Return the success rate of a set in all samples of the search."""
        return float(self._try([members], self._samples(_FIRST_SAMPLE, self.num_samples))[0][0])

    def check(self, members: Members, attempt: int) -> tuple[float, float, float]:
        """Return the success rate of a set in new samples, with its 95% interval."""
        count = self.options.num_samples
        samples = self._samples(_CHECK_SAMPLE + attempt * _FIRST_SAMPLE, count)
        if self._always_same(samples):
            share = float(self._try([members], samples[:1])[0][0])
            return share, share, share
        share = float(self._try([members], samples)[0][0])
        from scipy.stats import binomtest  # slow to import

        interval = binomtest(round(share * count), count).proportion_ci(method="wilson")
        return share, float(interval.low), float(interval.high)

    def values(self, members: Members) -> tuple[str, ...]:
        """Return how the parts of the last checked set were changed; see :class:`MinimalSet`.

        These are values that changed the prediction: the most frequent ones if features are
        one-hot, else those with the smallest change.
        """
        population, parts = self.population, self.order[list(members)]
        nodes = parts[parts < len(population.x)]
        if self.options.kind == "sufficient":
            own = dict(zip(nodes.tolist(), population.types(population.x[nodes]), strict=True))
            return tuple(own.get(part) or "" for part in parts.tolist())
        chosen = self._example(members)
        alone = np.zeros((len(members), len(self._every)), dtype=bool)
        alone[np.arange(len(members)), self._at[list(members)]] = True
        rows = self._batch(np.repeat(chosen, len(members)), alone).x
        before = population.x[self.query.model.subgraph.nodes]
        return tuple(
            self._difference(before, row, part)
            for row, part in zip(rows, parts.tolist(), strict=True)
        )

    def _example(self, members: Members) -> int:
        """Return the sample with the most frequent values; with numbers, the smallest change."""
        perturbed = np.zeros((len(self._succeeded), len(self._every)), dtype=bool)
        perturbed[:, self._at[list(members)]] = True
        rows = self._batch(self._succeeded, perturbed).x
        own = self.population.x[self.query.model.subgraph.nodes]
        changed = (rows != own).any(axis=0)
        flat = rows[:, changed]
        size = (abs(flat - own[changed]) / np.maximum(np.ptp(flat, axis=0), 1e-12)).sum(axis=1)
        _, first, count = np.unique(flat, axis=0, return_index=True, return_counts=True)
        if self.population.types(own[:1])[0] is None:
            count = np.ones_like(count)
        return int(self._succeeded[first[np.lexsort((first, size[first], -count))[0]]])

    def _difference(self, own: FloatArray, rows: FloatArray, part: int) -> str:
        """Return how a part changed the features of one node; empty if of none or several."""
        nodes = self.query.model.subgraph.nodes
        (changed,) = np.nonzero((rows != own).reshape(len(rows), -1).any(axis=1))
        if part < len(self.population.x):
            changed = self.query.model.subgraph.positions(np.array([part]))
        if len(changed) != 1:
            return ""
        return self.population.difference(int(nodes[changed[0]]), rows[changed[0]])

    @staticmethod
    def _samples(first: int, count: int) -> IntArray:
        return np.arange(first, first + count)

    def _size(self, total: int) -> int:
        return batch_size(self.query.model, self.population.x, total, self.execution)

    def _always_same(self, samples: IntArray) -> bool:
        """Return whether the perturbation is the same in all samples, so that one is enough."""
        perturbed = np.zeros((1, len(self._every)), dtype=bool)
        perturbed[0, self._at] = True
        first = self._batch(samples[:1], perturbed)
        size = self._size(len(samples))
        for start in range(1, len(samples), size):
            some = samples[start : start + size]
            batch = self._batch(some, np.repeat(perturbed, len(some), axis=0))
            pairs = [(batch.x, first.x)]
            if batch.edges is not None and first.edges is not None:
                pairs += [
                    (getattr(batch.edges, name), getattr(first.edges, name))
                    for name in ("kept", "edge_index", "edges")
                    if getattr(batch.edges, name) is not None
                ]
            if not all((these == those).all() for these, those in pairs):
                return False
        return True

    def _batch(self, samples: IntArray, perturbed: NDArray[np.bool_]) -> Any:
        return perturbed_batch(
            self.query.model.subgraph, self.population, self.parts, samples, self._every, perturbed
        )

    def _try(
        self, sets: Sequence[Members], samples: IntArray
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of samples in which each set succeeds, and the mean progress."""
        keeps = self.options.kind == "sufficient"
        rows, columns = divmod(np.arange(len(sets) * len(samples)), len(samples))
        masks = np.zeros((len(sets), len(self._every)), dtype=bool)
        masks[:, self._at] = keeps
        for row, members in enumerate(sets):
            masks[row, self._at[list(members)]] = not keeps
        changed, moved = np.empty(len(rows), dtype=bool), np.empty(len(rows))
        size = self._size(len(rows))
        for start in range(0, len(rows), size):
            some = slice(start, start + size)
            after = self._predict(samples[columns[some]], masks[rows[some]])
            changed[some], moved[some] = self.judge(after)
        self.queries += len(rows)
        shape = (len(sets), len(samples))
        succeeded = (changed != keeps).reshape(shape)
        self._succeeded = samples[succeeded[-1]][:_EXAMPLES]
        success = succeeded.mean(axis=1)
        return success, (-moved if keeps else moved).reshape(shape).mean(axis=1)
