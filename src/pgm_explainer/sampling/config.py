"""The options of step 1, sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import IntArray, as_array, check_fraction, check_whole_number
from ..errors import InputError
from ..graph import Graph
from ..limits import brief
from ..predictors import Predictor
from .change import Change, as_change
from .indicators import LargeFall
from .parts import Nodes, PartKind, Parts, as_parts
from .perturbation import (
    PERTURBATIONS,
    Perturbation,
    as_perturbation,
    check_columns,
    check_perturbation,
)
from .population import Population

__all__ = ["SamplingConfig", "bind_parts", "check_samples", "sampling_config"]

_FEWEST = 20
"""The minimum number of samples: five for each cell of the smallest contingency table, 2 by 2."""
_MOST = 2**31


@dataclass(frozen=True, kw_only=True)
class SamplingConfig:
    """How samples are drawn.

    Options given as names, such as ``change="flip"``, are converted to objects on creation.

    Attributes:
        num_samples: the number of perturbed graphs the model is called on.
        parts: what is perturbed as a unit.
        perturbation: how the features of a node are replaced.
        perturb_probability: the probability that a part is perturbed in a sample.
        features: the columns that a perturbation replaces, ascending (at all time steps, if there
            are several); None for all.
        change: what counts as a changed prediction.
        seed: seed of all random numbers.

    Raises:
        InputError: invalid value.

    Examples:
        >>> from pgm_explainer.sampling import SamplingConfig
        >>> SamplingConfig(num_samples=300, seed=7).perturb_probability
        0.1
    """

    num_samples: int = 1000
    parts: PartKind = field(default=Nodes())
    perturbation: Perturbation = field(default=PERTURBATIONS["permute"])
    perturb_probability: float = 0.1
    features: Sequence[int] | None = None
    change: Change = field(default=LargeFall())
    seed: int = 0

    def __post_init__(self) -> None:
        check_fraction(self.perturb_probability, "perturb_probability")
        checked = {
            "num_samples": check_samples(self.num_samples),
            "parts": as_parts(self.parts),
            "perturbation": check_perturbation(self.perturbation),
            "perturb_probability": float(self.perturb_probability),
            "features": _check_features(self.features),
            "change": as_change(self.change),
            "seed": check_whole_number(self.seed, "seed", at_least=0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def columns(self, population: Population) -> IntArray:
        """Return the columns of a population to perturb.

        Raises:
            InputError: a column does not exist.
        """
        return _columns(self.features, population)


def sampling_config(
    population: Population,
    task: str,
    scores: str,
    *,
    perturbation: Any,
    features: Any,
    change: Any,
    **others: Any,
) -> SamplingConfig:
    """Return the options, with features by number and ``auto`` chosen for a population.

    Args:
        population: the features of all nodes.
        task: ``node``, ``edge`` or ``graph``.
        scores: the kind of scores that the model returns.
        perturbation, features, change: as in :class:`~pgm_explainer.PGMExplainer`.
        others: the other options of :class:`SamplingConfig`.
    """
    chosen = population.feature_numbers(features)
    columns = _columns(chosen, population)
    return SamplingConfig(
        perturbation=as_perturbation(perturbation, population, columns, task),
        features=chosen,
        change=as_change(change, scores),
        **others,
    )


def _columns(features: Sequence[int] | None, population: Population) -> IntArray:
    """Return the columns with these features, at all time steps."""
    return population.at_every_step(check_columns(features, population.width))


def bind_parts(
    config: SamplingConfig, graph: Graph, population: Population, predictor: Predictor, given: Any
) -> Parts:
    """Return the parts of a graph.

    Args:
        given: the option ``perturbation`` as it was given.

    Raises:
        InputError: the model or the option does not fit the parts, or the graph has none.
    """
    parts, name = config.parts.bind(graph, population, config, graph.num_nodes), config.parts.name
    if parts.changes_edges and not predictor.accepts_edges:
        raise InputError(
            f"parts={brief(name)} needs a model that is called with edge_index, but this one is a "
            f"function of the features alone; pass a function of x and edge_index, or a module "
            f"whose forward takes edge_index"
        )
    if parts.changes_edge_inputs and not predictor.has_edge_inputs(graph.whole):
        raise InputError(
            "Edges('attributes') needs further inputs of edges, such as edge_weight or "
            "edge_attr, but the model has none; pass them as inputs= or in the data object "
            "(a function needs an argument edges)"
        )
    if given != "auto" and not parts.changes_features:
        raise InputError(
            f"perturbation={brief(given)} does not apply to parts={brief(name)}, which are not "
            f"features; leave it out"
        )
    return parts


def check_samples(count: Any) -> int:
    """Return a valid number of samples."""
    samples = check_whole_number(count, "num_samples", at_least=1)
    if samples < _FEWEST:
        raise InputError(
            f"num_samples={samples} is too small for any test; draw at least "
            f"{_FEWEST}, and several hundred for a reliable explanation"
        )
    if samples > _MOST:
        raise InputError(f"num_samples must be at most {_MOST}, not {samples}")
    return samples


def _check_features(features: Any) -> tuple[int, ...] | None:
    if features is None:
        return None
    chosen = np.unique(as_array(features, "features"))
    if chosen.size == 0 or chosen.dtype.kind not in "iu" or chosen[0] < 0:
        raise InputError(
            f"features must list at least one feature column, as a whole number of at least 0, "
            f"not {brief(features)}"
        )
    return tuple(chosen.tolist())
