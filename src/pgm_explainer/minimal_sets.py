"""Minimal sets: the fewest parts that change a prediction, or that are enough to keep it.

The search is greedy: it adds parts in the order of their effects, and then removes those that are
not needed. Within the limit of model queries, it also tries all smaller sets. The result
is checked on new random perturbations. A set that fails this check is rejected, and the search
continues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray, IntArray, check_fraction, check_name, check_whole_number, is_number
from .choices import Recorded
from .errors import InputError
from .execution import ExecutionConfig
from .explanation import Explanation, MinimalSet, NoSetError
from .limits import brief
from .querying import Query
from .sampling import Change, Flip, Parts, Population, as_change, batch_size, perturbed_batch

__all__ = ["SearchOptions", "find_minimal_set", "search_options", "search_order"]

_FIRST_SAMPLE = 2**32
"""The number of the first sample of a search. Explanations use samples below 2**31."""
_CHECK_SAMPLE = 2**33
_SCREENED = 40
"""The number of samples in a first trial of a set; only promising sets are tried on all samples."""
_POOL = 32
"""The number of parts that are tried in each step of the greedy search."""
_CONFIRMED = 8
"""The maximum number of sets of each size that are tried on all samples."""
_CHECKS = 5
_SPARE = 10
"""How often all samples may still be tried after all small sets were."""
_EXAMPLES = 200
"""The number of successful samples among which the most frequent values are found."""
_CONTEXTS = 8
"""The number of perturbed graphs in which parts are compared that may not change the prediction."""
_MOST_SAMPLES = 1_000_000
_USUALLY = 0.5
"""If a counterfactual succeeds less often than this, a slightly larger one is preferred."""

_OPTIONS = ("max_size", "num_samples", "max_queries", "change")

Members = tuple[int, ...]
"""A set of parts, by their positions in the order of the search, ascending."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of a search.

    Attributes:
        kind: ``"counterfactual"`` or ``"sufficient"``.
        probability: the share of samples in which the set must change, or keep, the prediction.
        max_size: the largest size of a set; None for no limit.
        num_samples: the number of random perturbations that a set is tried on.
        max_queries: the number of perturbed graphs after which the search ends.
        change: what counts as a changed prediction; None for another predicted class.

    Raises:
        InputError: invalid value.
    """

    kind: str
    probability: float
    max_size: int | None = None
    num_samples: int = 500
    max_queries: int = 20_000
    change: Any = None

    def __post_init__(self) -> None:
        if not is_number(self.probability) or self.probability != 1:
            check_fraction(self.probability, "probability")
        object.__setattr__(self, "probability", float(self.probability))
        for name in ("max_size", "num_samples", "max_queries"):
            given = getattr(self, name)
            if given is not None or name != "max_size":
                object.__setattr__(self, name, check_whole_number(given, name, at_least=1))
        if self.num_samples > _MOST_SAMPLES:
            raise InputError(f"num_samples must be at most {_MOST_SAMPLES}, not {self.num_samples}")


def search_options(kind: str, probability: float, options: Mapping[str, Any]) -> SearchOptions:
    """Return the options of a search; raise an InputError if one is unknown."""
    for name in options:
        check_name(name, "option", ("probability", *_OPTIONS))
    return SearchOptions(kind=kind, probability=probability, **options)


def search_order(explanation: Explanation) -> IntArray:
    """Return the parts of an explanation, in the order in which the search tries them.

    Parts whose perturbation lowers the probability most come first. For a class other than the
    predicted one, and for a regression, the strongest parts in either direction come first.
    """
    effects = explanation.effects
    is_predicted = explanation.explained_class == explanation.predicted_class
    if explanation.explained_class is None or not is_predicted:
        return effects.nodes
    return effects.nodes[np.argsort(effects.effect, kind="stable")]


def find_minimal_set(
    query: Query,
    parts: Parts,
    population: Population,
    execution: ExecutionConfig,
    options: SearchOptions,
    order: IntArray,
    outermost: IntArray,
    used: Change,
    is_regression: bool,
) -> tuple[IntArray, MinimalSet]:
    """Search for a minimal set.

    Args:
        query: the model, with the prediction of one target only.
        order: the parts that a set may contain, in the order in which they are tried. A sufficient
            set keeps the prediction while all parts of ``order`` that are not in it are perturbed.
        outermost: the parts of ``order`` whose messages cannot reach the target. They are left out,
            unless they change the prediction in another way, such as by degrees.
        used: the change indicator of the explanation.

    Returns:
        The numbers of the parts, and the result without their names.

    A counterfactual that succeeds in fewer than half of the samples is returned only if no set of
    at most one more part succeeds in half of them.

    Raises:
        NoSetError: no set was found.
    """
    judge = _judge(query, options.change, used, is_regression)
    trials = _Trials(query, parts, population, execution, options, order, judge)
    order = trials.leave_out(outermost)
    search = _Search(trials, options, len(order))
    checked = _checked(search, trials, 0)
    if checked is None:
        share = search.best
        best = MinimalSet(options.kind, (), share, share, share, trials.queries, len(order))
        raise NoSetError(_refusal(options, search, len(order), trials.queries), best)
    if options.kind == "counterfactual" and checked[1] < _USUALLY:
        checked = _usual(search, checked) or checked
    found, share, low, high, values = checked
    result = MinimalSet(options.kind, (), share, low, high, trials.queries, len(order), values)
    return order[list(found)], result


_Checked = tuple[tuple[int, ...], float, float, float, tuple[str, ...]]
"""A set, its success rate in new samples, the interval of this rate, and values of its parts."""


def _checked(search: _Search, trials: _Trials, first: int) -> _Checked | None:
    """Return the smallest set that also succeeds in new samples; None if there is none.

    Args:
        first: the number of the first check. Each check has its own samples.
    """
    for attempt in range(first, first + _CHECKS):
        found = search.smallest()
        if found is None:
            return None
        checked = trials.check(found, attempt)
        if checked[0] >= search.options.probability:
            return (found, *checked, trials.values(found))
        search.reject(found, checked[0])
    return None


def _usual(search: _Search, rare: _Checked) -> _Checked | None:
    """Return a set of at most one more part that succeeds in half of the samples, if there is one.

    A set that rarely changes the prediction does not tell users what would change it.
    """
    options = replace(search.options, probability=_USUALLY, max_size=len(rare[0]) + 1)
    if search.options.max_size is not None:
        options = replace(options, max_size=min(search.options.max_size, len(rare[0]) + 1))
    return _checked(replace(search, options=options, rejected=()), search.trials, _CHECKS)


def _refusal(options: SearchOptions, search: _Search, count: int, queries: int) -> str:
    does = "changes" if options.kind == "counterfactual" else "keeps"
    others = " while all others are perturbed" if options.kind == "sufficient" else ""
    size = "" if options.max_size is None else f" of at most {options.max_size}"
    best = f"the best one does with probability {search.best:.4g}"
    if search.rejected:
        best += " on new perturbations, though more often in the search"
    return (
        f"no set{size} of the {count} parts was found that {does} the prediction with probability "
        f"{options.probability:g}{others}; {best} ({queries:,} queries); "
        f"set a lower probability, a larger max_size or max_queries, or another perturbation"
    )


Judge = Callable[[FloatArray], tuple[NDArray[np.bool_], NDArray[np.float64]]]
"""Takes predictions ``[B, C]``; returns whether each has changed, and how far it has moved."""


def _judge(query: Query, change: Any, used: Change, is_regression: bool) -> Judge:
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
class _Trials:
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


@dataclass
class _Search:
    """The search for the smallest set that succeeds often enough."""

    trials: _Trials
    options: SearchOptions
    count: int
    rejected: tuple[float, ...] = ()
    _shares: dict[Members, float] = field(default_factory=dict)

    def smallest(self) -> Members | None:
        """Return the smallest set found; None if no set succeeds."""
        found = self._pruned(self._first_few())
        limit = self._limit if found is None else len(found) - 1
        grown = self._pruned(self._grown(limit))
        if grown is not None:
            found = grown
        smaller = self._any_smaller(self._limit if found is None else len(found) - 1)
        return found if smaller is None else smaller

    def reject(self, members: Members, share: float) -> None:
        """Never return this set, which succeeded in a share of new samples only.

        The next set must succeed a little more often in the search. Otherwise many small sets that
        barely succeed there would be proposed, and larger ones that do would not be checked.
        """
        self._shares[members] = -1.0
        self.rejected += (share,)

    @property
    def best(self) -> float:
        """The success rate of the best set: in new samples if sets were rejected there."""
        return max(self.rejected or self._shares.values(), default=0.0)

    @property
    def _wanted(self) -> float:
        """The success rate that a set needs in the samples of the search."""
        wanted, count = self.options.probability, self.trials.num_samples
        return wanted + len(self.rejected) * float(np.sqrt(wanted * (1 - wanted) / count))

    @property
    def _limit(self) -> int:
        most = self.options.max_size
        return self.count if most is None else min(most, self.count)

    @property
    def _left(self) -> int:
        return self.options.max_queries - self.trials.queries

    def _succeeds(self, members: Members) -> bool:
        if members not in self._shares:
            self._shares[members] = self.trials.share(members)
        return self._shares[members] >= self._wanted

    def _first_few(self) -> Members | None:
        """Return the shortest prefix of the order that succeeds as a set."""
        size, low = (0 if self.options.kind == "sufficient" else 1), -1
        if size > self._limit:
            return None
        while not self._succeeds(tuple(range(size))):
            low = size
            if size >= self._limit or self._left <= 0:
                return None
            size = min(max(1, 2 * size), self._limit)
        while size - low > 1:
            middle = (low + size) // 2
            if middle > 0 and self._succeeds(tuple(range(middle))):
                size = middle
            else:
                low = middle
        return tuple(range(size))

    def _grown(self, limit: int) -> Members | None:
        """Build a set of limited size by adding, in each step, the part that helps most."""
        members: Members = ()
        while len(members) < limit:
            others = [each for each in range(self.count) if each not in members][:_POOL]
            sets = [tuple(sorted((*members, each))) for each in others]
            if not sets or len(sets) * self.trials.screened > self._left:
                return None
            share, moved = self.trials.screen(sets)
            members = sets[int(np.lexsort((-moved, -share))[0])]
            if self._succeeds(members):
                return members
        return None

    def _pruned(self, members: Members | None) -> Members | None:
        """Remove the parts that a set does not need, trying the last ones first."""
        if members is None:
            return None
        for each in reversed(members):
            fewer = tuple(other for other in members if other != each)
            needed = not fewer and self.options.kind == "counterfactual"
            if not needed and self._left > 0 and self._succeeds(fewer):
                members = fewer
        return members

    def _any_smaller(self, limit: int) -> Members | None:
        """Try all sets up to a size, among the first parts; return the first that succeeds."""
        # Some queries are left for other sets, in case that the set is rejected.
        spare = min(_SPARE * self.trials.num_samples, self.options.max_queries // 4)
        for size in range(1, limit + 1):
            pool = self.count
            while comb(pool, size) * self.trials.screened > self._left - spare and pool >= size:
                pool -= 1
            if pool < size:
                return None
            for members in self._promising(size, pool):
                if self._left > 0 and self._succeeds(members):
                    return members
        return None

    def _promising(self, size: int, pool: int) -> list[Members]:
        """Return the sets of one size that did best in a few samples and may succeed in all."""
        ranked: list[tuple[float, float, Members]] = []
        every = combinations(range(pool), size)
        for block in iter(lambda: list(islice(every, 256)), []):
            share, moved = self.trials.screen(block)
            ranked += zip(-share, -moved, block, strict=True)
            ranked = sorted(ranked)[:_CONFIRMED]
        return [members for share, _, members in ranked if -share >= self._least]

    @property
    def _least(self) -> float:
        """The success rate in a few samples below which a set is not tried on all samples."""
        wanted, few = self._wanted, self.trials.screened
        return wanted - 2 * float(np.sqrt(max(wanted * (1 - wanted), 0.05) / few)) * (few > 1)
