"""The features of all nodes, and their statistics for perturbations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray, IntArray, as_list
from ..errors import InputError
from ..feature_names import FeatureNames, feature_title
from ..limits import brief
from ..node_names import NodeNames
from ..printing import value_text
from ..querying import Inputs

__all__ = ["Population"]

_RELATIVE_TOLERANCE = 1e-6
_MOST_LISTED = 3
_TOO_MANY = 10
"""If more features than this differ between two nodes, they are not listed."""
_ROWS = 4096
"""How many rows are processed together, to save memory."""
_TEMPERED = 0.25
"""The exponent of the number of nodes with the same features, for :meth:`Population.tempered`."""


@dataclass(frozen=True)
class Population:
    """Features of all nodes; statistics are computed once, separately for each node type.

    Attributes:
        x: features ``[N, F]``.
        kinds: the index of each node's type; None if there is only one type.
        steps: the number of time steps T of features ``[N, T, F]``, which are stored as
            ``[N, T * F]``; None for features ``[N, F]``.
        widths: the name and the number of features of each type; empty if there is only one type.
        names: the names of nodes, if they have names other than their indices.
        feature_names: the names of features, if they have any.
        has_integers: whether some features are integers, such as the indices of an embedding. They
            must stay integers, so their mean is not a valid feature.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import Population
        >>> population = Population(np.array([[1.0, 5], [3, 5]]))
        >>> population.width, len(population.x)
        (2, 2)
    """

    x: FloatArray
    kinds: IntArray | None = None
    steps: int | None = None
    widths: tuple[tuple[str, int], ...] = ()
    names: NodeNames = field(default_factory=NodeNames)
    feature_names: FeatureNames = ()
    has_integers: bool = False

    @classmethod
    def of(cls, source: Inputs) -> Population:
        """Return the population of validated inputs."""
        return cls(
            source.x,
            source.kinds,
            source.steps,
            () if source.types is None else source.types.widths_by_kind,
            source.names,
            source.feature_names,
            source.has_integers,
        )

    @property
    def width(self) -> int:
        """The number of features of a node, at each time step if there are several."""
        return int(self.x.shape[1]) // (self.steps or 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the features as they were given: ``[N, F]`` or ``[N, T, F]``."""
        return self.x.shape if self.steps is None else (len(self.x), self.steps, self.width)

    def widths_of(self, nodes: IntArray) -> IntArray:
        """Return the number of features of each node, which depends on its type."""
        if not self.widths:
            return np.full(len(nodes), self.width)
        return np.array([width for _, width in self.widths])[self._kind_of(nodes)]

    def at_every_step(self, features: IntArray) -> IntArray:
        """Return the columns of ``x`` with these features, ascending."""
        first = np.arange(self.steps or 1) * self.width
        return (first[:, None] + features).ravel()

    def node_number(self, node: Any) -> int:
        """Return the index of a node, which may be given by name.

        Raises:
            InputError: no node has this name.
        """
        number = self.names.number(node)
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
            raise InputError(
                f"{brief(node)} is not a node: nodes have no names, so give them as whole numbers"
            )
        return int(number)

    def feature_numbers(self, features: Any) -> Any:
        """Return feature columns with names replaced by numbers; other values are unchanged."""
        listed = as_list(features) if isinstance(features, (list, tuple)) else None
        if isinstance(features, str):
            listed = [features]
        if not any(isinstance(each, str) for each in listed or ()):
            return features
        names = self.feature_names
        if not names or isinstance(names, Mapping):
            why = "nodes of different types have different features" if names else "they have none"
            raise InputError(
                f"features {brief(features)} are given by name, but {why}; pass "
                + ("numbers" if names else "feature_names=, or numbers")
            )
        unknown = [each for each in listed or () if isinstance(each, str) and each not in names]
        if unknown:
            raise InputError(
                f"no feature is called {brief(unknown[0])}; the features are "
                f"{', '.join(names[:20])}"
            )
        at = {name: number for number, name in enumerate(names)}
        return [at[each] if isinstance(each, str) else each for each in listed or ()]

    def mean(self, nodes: IntArray) -> FloatArray:
        """Return for each node the mean features of the nodes of its type."""
        return self._mean[self._kind_of(nodes)]

    def low(self, nodes: IntArray) -> FloatArray:
        """Return for each node the minimum features of the nodes of its type."""
        return self._low[self._kind_of(nodes)]

    def high(self, nodes: IntArray) -> FloatArray:
        """Return for each node the maximum features of the nodes of its type."""
        return self._high[self._kind_of(nodes)]

    def varies(self, nodes: IntArray, columns: IntArray) -> NDArray[np.bool_]:
        """Return for each node whether the nodes of its type differ in any of the columns."""
        low, high = self._low[:, columns], self._high[:, columns]
        slack = _RELATIVE_TOLERANCE * np.maximum(1.0, np.maximum(abs(low), abs(high)))
        return np.any(high - low > slack, axis=1)[self._kind_of(nodes)]

    def is_categorical(self, columns: IntArray) -> bool:
        """Return whether features encode categories, so that their mean is not a valid row.

        This is the case if features are integers, if one of the columns has only zeros and ones
        (and both occur), or if all columns have whole numbers and rows repeat.
        """
        if self.has_integers:
            return True
        x = self.x[:, columns]
        binary = ((x == 0) | (x == 1)).all(axis=0) & (x != x[:1]).any(axis=0)
        if binary.any():
            return True
        return bool((x == np.rint(x)).all()) and len(np.unique(x, axis=0)) < len(x)

    def levels(self, nodes: IntArray, features: IntArray) -> dict[str, NDArray[np.float64]]:
        """Return the value of a feature of each node, and how common it is among nodes of its type.

        Returns:
            ``value``; ``mean`` of all nodes, which is NaN for categories (integers, or zeros and
            ones); and ``share`` of nodes with this value, which is NaN for other features. With
            time steps a feature has several values, and nothing is returned.
        """
        if self.steps is not None:
            return {}
        kind, value = self._kind_of(nodes), self.x[nodes, features].astype(np.float64)
        mean = self._mean[kind, features].astype(np.float64)
        share = np.where(value == 1, mean, 1 - mean)
        share[~self._is_binary[kind, features]] = np.nan
        if self.has_integers:  # their mean is not a share
            for at in range(len(nodes)):
                share[at] = (self.x[self._members[kind[at]], features[at]] == value[at]).mean()
        return {"value": value, "mean": np.where(np.isnan(share), mean, np.nan), "share": share}

    def types(self, x: FloatArray) -> list[str | None]:
        """Return the type of each row of features, if it is one-hot; else None.

        The type is the name of its only column that is not 0 or, without names, ``"type 3"``.
        """
        one_hot = ((x != 0).sum(axis=1) == 1) & (x.max(axis=1) == 1)
        names = () if isinstance(self.feature_names, Mapping) else self.feature_names
        called = names or [f"type {column}" for column in range(x.shape[1])]
        found = zip(one_hot.tolist(), x.argmax(axis=1).tolist(), strict=True)
        return [called[column] if there and not self.widths else None for there, column in found]

    def difference(self, node: int, row: FloatArray) -> str:
        """Return in words how a row of features differs from that of a node: ``C → O``.

        If features are not one-hot, those that differ most relative to their range are listed. It
        is empty if a list would say little: if many features differ, such as words of a text, or
        have several time steps.
        """
        own = self.x[node]
        before, after = self.types(np.stack((own, row)))
        if before is not None and after is not None:
            return f"{before} → {after}" if before != after else f"still {before}"
        if self.steps is not None:
            return ""
        kind = int(self._kind_of(np.array([node]))[0])
        spread = np.where(self._high[kind] > self._low[kind], self._high[kind] - self._low[kind], 1)
        apart = abs(row - own) / spread
        order = np.argsort(-apart, kind="stable")[: np.count_nonzero(apart)].tolist()
        if len(order) > _TOO_MANY:
            return ""
        title = partial(feature_title, self.feature_names, node_type=self._kind_name(kind))
        most = _MOST_LISTED if len(order) > _MOST_LISTED + 1 else len(order)
        said = [
            f"{title(at)} {value_text(float(own[at]))} → {value_text(float(row[at]))}"
            for at in order[:most]
        ]
        more = len(order) - len(said)
        said += [f"{more} more features"] if more else []
        return ", ".join(said)

    def _kind_name(self, kind: int) -> str | None:
        return self.widths[kind][0] if self.widths else None

    def another(self, nodes: IntArray, uniforms: NDArray[np.float64]) -> IntArray:
        """Return a random other node of the same type for each uniform ``[..., nodes]``."""
        order, first, count, rank = self._groups
        kind = self._kind_of(nodes)
        steps = 1 + (uniforms * (count[kind] - 1)).astype(np.int64)
        return order[first[kind] + (rank[nodes] + steps) % count[kind]]

    def tempered(self, nodes: IntArray, uniforms: NDArray[np.float64]) -> IntArray:
        """Return a random node of the same type for each uniform ``[..., nodes]``.

        Features that ``c`` nodes have are drawn with a probability proportional to ``c**0.25``. So
        common ones are drawn more often than rare ones, but far less than they occur.
        """
        representatives, ends = self._distinct
        kind = self._kind_of(nodes)
        at = np.searchsorted(ends, kind + uniforms, side="right")
        last = np.searchsorted(ends, kind + 1.0)
        return representatives[np.minimum(at, last)]

    def _kind_of(self, nodes: IntArray) -> IntArray:
        return np.zeros(len(nodes), dtype=np.int64) if self.kinds is None else self.kinds[nodes]

    @cached_property
    def _members(self) -> list[IntArray]:
        if self.kinds is None:
            return [np.arange(len(self.x))]
        return [np.flatnonzero(self.kinds == kind) for kind in range(int(self.kinds.max()) + 1)]

    @cached_property
    def _groups(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Nodes by type, the offset and size of each type, and each node's rank in its type."""
        order = np.concatenate(self._members)
        count = np.array([len(members) for members in self._members])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.concatenate([np.arange(size) for size in count])
        return order, np.cumsum(count) - count, count, rank

    @cached_property
    def _distinct(self) -> tuple[IntArray, NDArray[np.float64]]:
        """A node for each distinct row of each type, and where its share of the interval ends.

        The shares of the rows of type ``k`` add up to the interval from ``k`` to ``k + 1``.
        """
        nodes, ends = [], []
        for kind, members in enumerate(self._members):
            _, at, count = np.unique(self.x[members], axis=0, return_index=True, return_counts=True)
            shares = np.cumsum(count**_TEMPERED)
            nodes.append(members[at])
            ends.append(kind + shares / shares[-1] if len(shares) else shares)
        return np.concatenate(nodes), np.concatenate(ends)

    @cached_property
    def _mean(self) -> FloatArray:
        # Clipped, so that rounding does not change the mean of equal numbers.
        means = [self._of(members).mean(axis=0, dtype=np.float64) for members in self._members]
        return np.clip(np.stack(means).astype(self.x.dtype), self._low, self._high)

    @cached_property
    def _is_binary(self) -> NDArray[np.bool_]:
        """Whether each feature of each type has only zeros and ones, and both of them."""
        found = (self._low == 0) & (self._high == 1)
        for kind, members in enumerate(self._members):
            for start in range(0, len(members), _ROWS):
                x = self.x[members[start : start + _ROWS]]
                found[kind] &= ((x == 0) | (x == 1)).all(axis=0)
        return found

    @cached_property
    def _low(self) -> FloatArray:
        return np.stack([self._of(members).min(axis=0) for members in self._members])

    @cached_property
    def _high(self) -> FloatArray:
        return np.stack([self._of(members).max(axis=0) for members in self._members])

    def _of(self, members: IntArray) -> FloatArray:
        return self.x if self.kinds is None else self.x[members]
