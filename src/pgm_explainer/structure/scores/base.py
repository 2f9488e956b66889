"""What a score of a network is, and the data that it is computed from."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import as_array, is_number
from ...choices import Choice
from ...errors import InputError
from ...limits import brief

__all__ = [
    "ConfigurationScore",
    "Counts",
    "Score",
    "check_data",
    "check_sample_size",
    "family_score",
    "num_folds",
]

Counts = NDArray[np.int64]
_MOST_STATES = 10_000


class Score(Choice, Protocol):
    """A decomposable score: the difference of the values of two sets, minus a penalty.

    If the penalty is positive, the difference must be at most 0, like a log-likelihood. Exact
    search relies on this for pruning.

    Examples:
        >>> from pgm_explainer.structure import SCORES
        >>> SCORES["aic"].penalty(configurations=4, states=2, samples=100)  # 1 for each parameter
        4.0
    """

    @property
    def name(self) -> str: ...

    def terms(self, counts: Counts, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the contribution of each joint state to the value of its set; 0 for a count of 0.

        Args:
            counts: the count of each joint state, in any shape.
            cells: the number of joint states of the set; one number, or one for each count.
        """
        ...

    def penalty(self, configurations: Any, states: Any, samples: int) -> Any:
        """Return the penalty for the numbers of parents' configurations and child's states.

        For arrays, it is an array too.
        """
        ...


class ConfigurationScore(Choice, Protocol):
    """A score that is a sum over the configurations of the parents, each with the child's counts.

    It need not be a difference of values of two sets, as a :class:`Score` is.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.structure import SCORES
        >>> SCORES["fnml"].configuration_terms(np.array([[3, 0], [0, 0]]), 1).round(4).tolist()
        [-1.0609, 0.0]
    """

    @property
    def name(self) -> str: ...

    def configuration_terms(self, counts: Counts, observed: Any) -> NDArray[np.float64]:
        """Return the contribution of each configuration; 0 if it does not occur.

        Args:
            counts: how often each state of the child occurs, ``[..., states]``.
            observed: how many configurations of the parents occur; one number, or ``[...]``.
        """
        ...


def num_folds(score: Any) -> int:
    """Return into how many parts a score divides the rows; 1 for all scores but held-out ones.

    For such a score, counts have a last axis of this length, and ``terms`` sums over it. Row i is
    in part i modulo this number.
    """
    return int(getattr(score, "folds", 1))


def check_sample_size(value: Any) -> None:
    """Raise an InputError unless it is a positive number."""
    if not is_number(value) or not 0 < value < np.inf:
        raise InputError(f"equivalent_samples must be a number above 0, not {brief(value)}")


def check_data(data: ArrayLike, cardinalities: ArrayLike) -> tuple[Counts, tuple[int, ...]]:
    """Return validated data ``[n, V]`` and cardinalities as integers."""
    codes = as_array(data, "data")
    sizes = as_array(cardinalities, "cardinalities")
    if codes.ndim != 2 or len(codes) == 0:
        raise InputError(f"data must be a matrix [samples, variables], not {codes.shape}")
    if sizes.shape != codes.shape[1:] or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise InputError(
            f"cardinalities must be a positive whole number for each of the "
            f"{codes.shape[1]} variables, not {brief(cardinalities)}"
        )
    if (sizes > _MOST_STATES).any():
        raise InputError(
            f"a variable has at most {_MOST_STATES:,} states, but cardinalities are "
            f"{brief(cardinalities)}"
        )
    if codes.dtype.kind not in "biu":
        raise InputError(f"data must hold states as small integers, but its type is {codes.dtype}")
    codes = codes.astype(np.int64)
    wrong = (codes < 0) | (codes >= sizes)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"data[{row}, {column}] is {codes[row, column]}, but variable {column} has states "
            f"0 to {sizes[column] - 1}"
        )
    return codes, tuple(int(size) for size in sizes)


def family_score(counts: Counts, score: Any) -> float:
    """Return the score of a family from its counts, with the child's states on the last axis.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.structure import SCORES, family_score
        >>> counts = np.array([[40, 10], [10, 40]])  # one parent by rows, the child by columns
        >>> round(family_score(counts, SCORES["log_likelihood"]), 2)
        -50.04
    """
    if num_folds(score) > 1:
        raise InputError(
            f"the score {brief(score.name)} needs the rows of the data, not their counts; use "
            f"network_score"
        )
    if hasattr(score, "configuration_terms"):
        observed = np.count_nonzero(counts.any(axis=-1))
        return float(score.configuration_terms(counts, observed).sum())
    states, samples = counts.shape[-1], int(counts.sum())
    parents = counts.sum(axis=-1)
    fit = score.terms(counts, counts.size).sum() - score.terms(parents, parents.size).sum()
    return float(fit) - float(score.penalty(parents.size, states, samples))
