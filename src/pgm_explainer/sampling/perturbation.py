"""Perturbations, which replace the features of a node: by the mean, as in the paper, and others.

A perturbation is any object that has a ``name`` and can be called as ``(population, draws) -> new
features``. The population holds the features of all nodes, and the draws hold random numbers for
the perturbed nodes. Which nodes are perturbed is decided elsewhere. The built-in perturbations are
in :data:`PERTURBATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..arrays import (
    FloatArray,
    IntArray,
    as_array,
    call_own,
    check_name,
    own_name,
    resolve,
)
from ..choices import Choice, Described, Description
from ..errors import InputError, PerturbationError
from ..limits import brief
from .custom_perturbation import CheckedPerturbation, CustomPerturbation
from .donors import Permute, Substitute
from .population import Population
from .randomness import Draws

__all__ = [
    "PERTURBATIONS",
    "WITH_RANDOM",
    "Perturbation",
    "RandomWhereConstant",
    "as_perturbation",
    "changed_share",
    "changed_shares",
    "check_changes",
    "check_columns",
    "check_perturbation",
    "new_features",
]

_AND_RANDOM = " and random"
_FRACTIONS = ("mean", "uniform")
"""Perturbations that do not keep integers."""

_PROBES = 16
_FLOATS_AT_ONCE = 1 << 19
_LEAST_WIDTH = 16
"""The assumed minimum of features per node, because random numbers also take memory per node."""
_CHECKED_AT_ONCE = 1000


class Perturbation(Choice, Protocol):
    """New features for some nodes in some samples.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> def swap(x, rng):  # a perturbation of your own: exchange the two columns
        ...     return x[:, ::-1]
        >>> explainer = PGMExplainer(
        ...     lambda x: path @ x, x, np.array(path.nonzero()), num_layers=1, perturbation=swap
        ... )
        >>> explainer.settings.sampling.perturbation.name
        'swap'
    """

    @property
    def name(self) -> str: ...

    def __call__(self, population: Population, draws: Draws) -> NDArray[Any]:
        """Return new features for ``draws.nodes``, broadcastable to ``[*draws.shape, F]``.

        The new features of a node in a sample must not depend on the draws for other nodes or
        samples, because ``draws`` contains only the perturbed nodes.
        """
        ...


@dataclass(frozen=True)
class _Mean(Described):
    """The mean of all nodes of the same type, as in the paper."""

    name: str = "mean"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return population.mean(draws.nodes)


@dataclass(frozen=True)
class _Zero(Described):
    """Each feature becomes 0."""

    name: str = "zero"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return np.zeros(population.x.shape[1], population.x.dtype)


@dataclass(frozen=True)
class _Max(Described):
    """The maximum of each feature among all nodes of the same type."""

    name: str = "max"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return population.high(draws.nodes)


@dataclass(frozen=True)
class _Min(Described):
    """The minimum of each feature among all nodes of the same type."""

    name: str = "min"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        return population.low(draws.nodes)


@dataclass(frozen=True)
class _Random(Described):
    """Each feature becomes 0 or 1 with equal probability, as in the published experiments."""

    name: str = "random"

    def __call__(self, population: Population, draws: Draws) -> NDArray[Any]:
        return draws.bits("feature bits", population.x.shape[1])


@dataclass(frozen=True)
class _Uniform(Described):
    """Uniform noise of up to half of the feature's range is added; the sum is clipped to it."""

    name: str = "uniform"

    def __call__(self, population: Population, draws: Draws) -> FloatArray:
        noise = draws.uniforms("feature noise", population.x.shape[1]) - 0.5
        low, high = population.low(draws.nodes), population.high(draws.nodes)
        moved = population.x[draws.nodes] + noise.astype(population.x.dtype) * (high - low)
        return np.clip(moved, low, high)


@dataclass(frozen=True)
class RandomWhereConstant:
    """``random`` for node types with constant features, and another perturbation for the rest.

    Attributes:
        usual: the perturbation for node types whose features vary.
        features: the columns that are perturbed; None for all.
    """

    usual: Perturbation
    features: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        return f"{self.usual.name}{_AND_RANDOM}"

    def __call__(self, population: Population, draws: Draws) -> NDArray[Any]:
        columns = check_columns(self.features, population.x.shape[1])
        varies = population.varies(draws.nodes, columns)
        if varies.all():
            return self.usual(population, draws)
        coins = PERTURBATIONS["random"](population, draws)
        if not varies.any():
            return coins
        return np.where(varies[..., None], self.usual(population, draws), coins)

    def describe(self) -> Description:
        """Return the names of both perturbations."""
        return Description(self.name)


PERTURBATIONS: dict[str, Perturbation] = {
    scheme.name: scheme
    for scheme in (_Mean(), _Zero(), _Max(), _Min(), _Random(), _Uniform(), Permute(), Substitute())
}

WITH_RANDOM = {
    f"{name}{_AND_RANDOM}": PERTURBATIONS[name] for name in ("mean", "permute", "substitute")
}
"""What ``auto`` chooses if some node types have constant features: a mapping from its name, such as
``"mean and random"``, to the perturbation of the other node types."""


def as_perturbation(
    choice: str | Perturbation | Callable[..., Any],
    population: Population,
    columns: IntArray,
    task: str,
) -> Perturbation:
    """Return the perturbation for a name, an instance or a custom function.

    ``auto`` is ``permute`` for node and edge tasks. For graph tasks it is ``mean``, as in the
    paper, or ``substitute`` if the features are categories, such as one-hot encoded atoms: the mean
    of categories is not a valid category. None of them would change constant features, for which
    ``auto`` is ``random``.

    Args:
        choice: the name, the instance or the function.
        population: the features of all nodes.
        columns: the columns that are perturbed.
        task: ``node``, ``edge`` or ``graph``.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import Population, as_perturbation
        >>> population = Population(np.array([[1.0, 5], [3, 5]]))
        >>> as_perturbation("auto", population, np.array([0, 1]), "node").name
        'permute'
    """
    if isinstance(choice, str):
        choice = check_name(choice, "perturbation", ("auto", *PERTURBATIONS, *WITH_RANDOM))
    if not isinstance(choice, str) or choice not in ("auto", *WITH_RANDOM):
        chosen = check_perturbation(choice)
        if population.has_integers and chosen.name in _FRACTIONS:
            raise InputError(
                f"perturbation={brief(chosen.name)} would make fractions of x, which holds "
                f"integers, such as categories or the indices of an embedding; use 'permute', or "
                f"pass x as floats, for example x.astype(float), if they are quantities"
            )
        return chosen
    usual = WITH_RANDOM.get(choice, _usual(population, columns, task))
    varies = population.varies(np.arange(len(population.x)), columns)
    if not varies.any():
        return PERTURBATIONS["random"]
    every = len(columns) == population.x.shape[1]
    features = None if every else tuple(columns.tolist())
    return usual if varies.all() else RandomWhereConstant(usual, features)


def _usual(population: Population, columns: IntArray, task: str) -> Perturbation:
    """Return what ``auto`` is for features that vary."""
    if task != "graph":
        return PERTURBATIONS["permute"]
    return PERTURBATIONS["substitute" if population.is_categorical(columns) else "mean"]


def check_perturbation(choice: Any) -> Perturbation:
    """Return the perturbation for a name other than ``auto``, an instance or a function."""
    named = resolve(choice, "perturbation", PERTURBATIONS)
    if named is not None:
        return named
    if not callable(choice) or isinstance(choice, type):
        raise InputError(
            f"perturbation must be a name or a function (x, rng) -> x, not {brief(choice)}; "
            f"names: auto, {', '.join(PERTURBATIONS)}"
        )
    built_in = {type(each) for each in PERTURBATIONS.values()}
    if type(choice) in {RandomWhereConstant, CustomPerturbation, CheckedPerturbation, *built_in}:
        return cast(Perturbation, choice)
    if hasattr(choice, "name"):
        return CheckedPerturbation(choice)
    return CustomPerturbation(choice, own_name(choice, ("auto", *PERTURBATIONS)))


def new_features(perturbation: Perturbation, population: Population, draws: Draws) -> NDArray[Any]:
    """Return the validated new features ``[*draws.shape, F]``.

    Raises:
        PerturbationError: they have a wrong shape or are not finite.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import PERTURBATIONS, Draws, Population, new_features
        >>> population = Population(np.array([[1.0, 5], [3, 7]]))
        >>> draws = Draws.grid(0, np.arange(1), np.arange(2))  # one sample of two nodes
        >>> new_features(PERTURBATIONS["mean"], population, draws).tolist()
        [[[2.0, 6.0], [2.0, 6.0]]]
    """
    called = f"the perturbation {perturbation.name!r}"
    usage = "(population, draws) -> new features"
    answer = call_own(
        perturbation, population, draws, what=called, usage=usage, error=PerturbationError
    )
    new = as_array(answer, f"the output of {called}")
    shape = (*draws.shape, population.x.shape[1])
    try:
        new = np.broadcast_to(new, shape)
    except ValueError:
        raise PerturbationError(
            f"{called} returned an array of shape {new.shape}, which cannot be broadcast to "
            f"[..., features] = {list(shape)}"
        ) from None
    own = isinstance(perturbation, (CustomPerturbation, CheckedPerturbation))
    if own and population.x.dtype.kind == "i" and (new != np.rint(new)).any():
        raise PerturbationError(
            f"{called} returned {new[new != np.rint(new)].flat[0]:.4g}, but x holds integers; "
            f"return whole numbers, or pass x as floats"
        )
    if own and not np.isfinite(new).all():
        raise PerturbationError(f"{called} returned NaN or infinity; features must be finite")
    return new


def changed_share(
    perturbation: Perturbation,
    population: Population,
    nodes: IntArray,
    columns: IntArray,
    seed: int,
) -> NDArray[np.float64]:
    """Return for each node how often a perturbation changes any of its features."""
    block_of = np.full(population.x.shape[1], -1)
    block_of[columns] = 0
    return changed_shares(perturbation, population, nodes, block_of, seed)[:, 0]


def changed_shares(
    perturbation: Perturbation,
    population: Population,
    nodes: IntArray,
    block_of: IntArray,
    seed: int,
    probes: int = _PROBES,
) -> NDArray[np.float64]:
    """Return how often a perturbation changes any feature in a block of columns.

    The result has the shape ``[nodes, blocks]``.

    Args:
        block_of: the block of each column, as a number; -1 for columns in no block.
        probes: the number of random perturbations that are tried.
    """
    columns = np.flatnonzero(block_of >= 0)
    columns = columns[np.argsort(block_of[columns], kind="stable")]
    first = np.searchsorted(block_of[columns], np.arange(block_of.max() + 1))
    width = max(population.x.shape[1], _LEAST_WIDTH)
    at_once = max(1, _FLOATS_AT_ONCE // (probes * width))
    shares = [np.empty((0, len(first)))]
    for start in range(0, len(nodes), at_once):
        block = nodes[start : start + at_once]
        new = new_features(perturbation, population, Draws.grid(seed, np.arange(probes), block))
        differs = new[..., columns] != population.x[block][:, columns]
        shares.append(np.logical_or.reduceat(differs, first, axis=-1).mean(axis=0))
    return np.concatenate(shares)


def check_changes(
    perturbation: Perturbation,
    population: Population,
    columns: IntArray,
    seed: int,
    nodes: IntArray | None = None,
) -> None:
    """Check that the perturbation changes at least one node, among all or some nodes.

    Raises:
        PerturbationError: it changes no node, such as the mean of constant features.
    """
    nodes = np.arange(len(population.x)) if nodes is None else nodes
    for start in range(0, len(nodes), _CHECKED_AT_ONCE):
        block = nodes[start : start + _CHECKED_AT_ONCE]
        if changed_share(perturbation, population, block, columns, seed).any():
            return
    raise PerturbationError(
        f"the perturbation {brief(perturbation.name)} changes no feature of any node, so every "
        f"sample would be the original graph (constant features?); choose another one, such as "
        f"perturbation='random' or 'zero'"
    )


def check_columns(features: Sequence[int] | None, num_features: int) -> IntArray:
    """Return the feature columns to perturb: all of them, or the chosen ones, ascending.

    Examples:
        >>> from pgm_explainer.sampling import check_columns
        >>> check_columns([2, 0], num_features=4).tolist()
        [0, 2]
        >>> check_columns(None, num_features=4).tolist()
        [0, 1, 2, 3]
    """
    if features is None:
        return np.arange(num_features)
    chosen = np.unique(as_array(features, "features"))
    if chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise InputError(f"features must list at least one feature column, not {brief(features)}")
    if chosen[0] < 0 or chosen[-1] >= num_features:
        raise InputError(
            f"features must be columns from 0 to {num_features - 1}, not {brief(features)}"
        )
    return chosen.astype(np.int64)
