"""Conditional distributions as decision trees: one distribution for each leaf.

A tree needs few parameters where only some combinations of the parents' states matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..sampling import Variable
from ..structure import Score, family_score
from .conditional_table import Codes, conditional_name
from .factors import MOST_CELLS

__all__ = ["ConditionalTree", "Split"]

Question = tuple[int, NDArray[np.bool_]]
"""The position of a variable, and the states for which the answer is yes."""
_TIE = 1e-9
_MOST_LEAVES = 256


@dataclass(frozen=True)
class Split:
    """A question about one parent: is its state one of these?

    Attributes:
        parent: the position of the parent among the tree's parents.
        states: the states that lead to ``yes``.
        yes, no: the number of the next split, or ``-1 - leaf`` for the number of a leaf.
    """

    parent: int
    states: tuple[int, ...]
    yes: int
    no: int


@dataclass(frozen=True, eq=False)
class ConditionalTree:
    """The distribution P(variable | parents) as a tree.

    Attributes:
        splits: the questions; the first is the root. Each leads to later ones only.
        leaves: probabilities ``[leaves, states]``.
        counts: the number of samples of each entry.

    Raises:
        InputError: the splits are not a tree over the parents.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.network import ConditionalTree
        >>> from pgm_explainer.sampling import Variable
        >>> from pgm_explainer.structure import SCORES
        >>> a, b = Variable("a", False, 2), Variable("b", False, 2)
        >>> codes = np.array([[0, 0], [1, 1]] * 50)
        >>> ConditionalTree.learn_many([a, b], codes, SCORES["bic"])
        [P(a | b) 2 leaves, P(b | a) 2 leaves]
    """

    variable: Variable
    parents: tuple[Variable, ...]
    splits: tuple[Split, ...]
    leaves: NDArray[np.float64]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        ends = [end for split in self.splits for end in (split.yes, split.no)]
        expected = [*range(-len(self.leaves), 0), *range(1, len(self.splits))]
        later = all(
            end < 0 or end > at
            for at, split in enumerate(self.splits)
            for end in (split.yes, split.no)
        )
        used = {split.parent for split in self.splits}
        shape = (len(self.splits) + 1, self.variable.cardinality)
        if (
            (self.splits and sorted(ends) != expected)
            or not later
            or used != set(range(len(self.parents)))
            or self.leaves.shape != shape
            or self.counts.shape != shape
            or not all(self._is_question(split) for split in self.splits)
        ):
            raise InputError(f"the splits of {self.variable.id!r} are not a tree over its parents")

    def _is_question(self, split: Split) -> bool:
        states = self.parents[split.parent].cardinality
        chosen = set(split.states)
        return 0 < len(chosen) < states and all(0 <= state < states for state in chosen)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the full table."""
        return tuple(each.cardinality for each in (*self.parents, self.variable))

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The full table: an axis for each parent, and the last for the variable.

        Raises:
            InputError: it would be too large.
        """
        if prod(self.shape) > MOST_CELLS:
            raise InputError(f"the full table of a tree would have {prod(self.shape):,} numbers")
        *sizes, states = self.shape
        if not sizes:
            return self.leaves[0]
        every = np.indices(sizes).reshape(len(sizes), -1).T
        return np.asarray(self.rows(every).reshape(*sizes, states))

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        """Return the distribution ``[n, states]`` for parents in states ``codes [n, parents]``."""
        at = np.full(len(codes), 0 if self.splits else -1)
        for number, split in enumerate(self.splits):
            here = at == number
            matches = np.zeros(self.parents[split.parent].cardinality, dtype=bool)
            matches[list(split.states)] = True
            at[here] = np.where(matches[codes[here, split.parent]], split.yes, split.no)
        return np.asarray(self.leaves[-1 - at])

    def score(self, score: Score) -> float:
        """Return the score of the variable and its tree, with a parameter set for each leaf."""
        return family_score(self.counts, score)

    def renamed(self, variable: Variable, parents: Sequence[Variable]) -> ConditionalTree:
        """Return the same tree for other variables."""
        return replace(self, variable=variable, parents=tuple(parents))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ConditionalTree)
            and (self.variable, self.parents) == (other.variable, other.parents)
            and self.splits == other.splits
            and np.array_equal(self.leaves, other.leaves)
            and np.array_equal(self.counts, other.counts)
        )

    def __repr__(self) -> str:
        name = conditional_name(self.variable.id, [parent.id for parent in self.parents])
        return f"{name} {len(self.leaves)} leaves"

    @classmethod
    def learn_many(
        cls,
        variables: Sequence[Variable],
        codes: Codes,
        score: Score,
        smoothing: float = 0.0,
        max_parents: int | None = None,
    ) -> list[ConditionalTree]:
        """Grow a tree for each variable given the others, while a split improves the score.

        A split tests for one state, or for all states with a word such as ``perturbed`` or
        ``changed``.

        Args:
            variables: the variables.
            codes: their states ``[n, variables]``.
            score: the score, which limits the size of the trees.
            smoothing: pseudocount added to every count of a leaf.
            max_parents: the maximum number of different parents of a variable.
        """
        questions = list(_questions(variables))
        answers = np.array([mask[codes[:, at]] for at, mask in questions], dtype=np.float64)
        grown = (
            _Growing(at, variables, codes[:, at], questions, answers, score, max_parents)
            for at in range(len(variables))
        )
        return [each.tree(smoothing) for each in grown]


class _Growing:
    """A tree while it is learned: the samples of each leaf."""

    def __init__(
        self,
        own: int,
        variables: Sequence[Variable],
        child: Codes,
        questions: Sequence[Question],
        answers: NDArray[np.float64],
        score: Score,
        max_parents: int | None,
    ) -> None:
        self._own, self._variables, self._score = own, variables, score
        self._states = variables[own].cardinality
        self._most = len(variables) if max_parents is None else max_parents
        self._child = np.eye(self._states)[child]
        self._questions, self._answers = questions, answers
        self._about = np.array([at for at, _ in questions])
        self._splits: list[Split] = []
        self._members: list[NDArray[np.intp]] = [np.arange(len(child))]
        self._where: list[tuple[int, bool] | None] = [None]
        """The split that leads to each leaf, and by which answer."""

    def tree(self, smoothing: float) -> ConditionalTree:
        gains = [self._gains(0)]
        while len(self._members) < _MOST_LEAVES:
            allowed = self._allowed()
            best = [float(each[allowed].max(initial=-np.inf)) for each in gains]
            leaf = int(np.argmax(np.round(best, 6)))
            if best[leaf] <= _TIE:
                break
            tie = _TIE * max(1.0, best[leaf])
            question = int(np.argmax(allowed & (gains[leaf] >= best[leaf] - tie)))
            self._split(leaf, question)
            gains[leaf] = self._gains(leaf)
            gains.append(self._gains(len(self._members) - 1))
        return self._finished(smoothing)

    def _allowed(self) -> NDArray[np.bool_]:
        used = sorted({split.parent for split in self._splits})
        if len(used) >= self._most:
            return np.isin(self._about, used)
        return np.asarray(self._about != self._own)

    def _gains(self, leaf: int) -> NDArray[np.float64]:
        """Return how much each question would improve the score of a leaf."""
        members = self._members[leaf]
        child = self._child[members]
        total = child.sum(axis=0)
        yes = self._answers[:, members] @ child
        parts = np.stack([yes, total - yes], axis=1)
        fit = self._fit(parts).sum(axis=1) - self._fit(total)
        gains = fit - self._score.penalty(1, self._states, len(self._child))
        return np.where((parts.sum(axis=-1) > 0).all(axis=1), gains, -np.inf)

    def _fit(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of leaves without their penalty."""
        whole = counts.astype(np.int64)
        joint = self._score.terms(whole, self._states).sum(axis=-1)
        return np.asarray(joint - self._score.terms(whole.sum(axis=-1), 1))

    def _split(self, leaf: int, question: int) -> None:
        number = len(self._splits)
        at, mask = self._questions[question]
        members, yes = self._members[leaf], self._answers[question, self._members[leaf]] > 0
        before = self._where[leaf]
        if before is not None:
            self._link(*before, number)
        new = len(self._members)
        states = tuple(np.flatnonzero(mask).tolist())
        self._splits.append(Split(at, states, -1 - leaf, -1 - new))
        self._members[leaf] = members[yes]
        self._members.append(members[~yes])
        self._where[leaf] = (number, True)
        self._where.append((number, False))

    def _link(self, split: int, answer: bool, to: int) -> None:
        before = self._splits[split]
        self._splits[split] = replace(before, yes=to) if answer else replace(before, no=to)

    def _finished(self, smoothing: float) -> ConditionalTree:
        used = sorted({split.parent for split in self._splits})
        splits = tuple(replace(each, parent=used.index(each.parent)) for each in self._splits)
        counts = np.array([self._child[members].sum(axis=0) for members in self._members])
        weights = counts + smoothing
        values = weights / weights.sum(axis=1, keepdims=True)
        parents = tuple(self._variables[at] for at in used)
        variable = self._variables[self._own]
        return ConditionalTree(variable, parents, splits, values, counts.astype(np.int64))


def _questions(variables: Sequence[Variable]) -> Iterator[Question]:
    """Yield every question about each variable: words first, then single states."""
    for at, variable in enumerate(variables):
        masks = [variable.matching(word) for word in variable.words]
        masks += list(np.eye(variable.cardinality, dtype=bool))
        seen: set[bytes] = set()
        for mask in masks:
            if mask.any() and not mask.all() and mask.tobytes() not in seen:
                seen |= {mask.tobytes(), (~mask).tobytes()}
                yield at, mask
