"""The search for the smallest set that succeeds.

It is greedy: it adds parts in the order of their effects, and then removes those that are not
needed. Within the limit of model queries, it also tries all smaller sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, islice
from math import comb

import numpy as np

from .options import Members, SearchOptions
from .trials import Trials

__all__ = ["Search"]

_POOL = 32
"""The number of parts that are tried in each step of the greedy search."""
_CONFIRMED = 8
"""The maximum number of sets of each size that are tried on all samples."""
_RESERVED = 10
"""How often all samples may still be tried after all small sets were."""


@dataclass
class Search:
    """The search for the smallest set that succeeds often enough."""

    trials: Trials
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
        reserved = min(_RESERVED * self.trials.num_samples, self.options.max_queries // 4)
        for size in range(1, limit + 1):
            pool = self.count
            while comb(pool, size) * self.trials.screened > self._left - reserved and pool >= size:
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
