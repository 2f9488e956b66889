"""All options that an explanation depends on, grouped by step."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from .choices import Recorded
from .errors import InputError
from .limits import brief
from .model_config import ModelConfig
from .network import NetworkConfig
from .sampling import SamplingConfig
from .sampling.change import check_change_fits
from .selection import SelectionConfig
from .significance import SignificanceConfig

__all__ = ["CHOICES", "DEFAULT_SAMPLES", "Settings"]

DEFAULT_SAMPLES = SamplingConfig.num_samples

CHOICES = ("parts", "perturbation", "change", "test", "structure", "score")
"""Options whose values are objects with a ``describe()`` method."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The configuration of an explanation; enough to reproduce it.

    Attributes:
        model: what the model predicts and which output is explained.
        sampling: how samples are drawn (step 1).
        significance: significance level and correction (effects, and steps 2 and 3).
        selection: how variables are selected (step 2).
        network: how the network is learned (step 3); None for no network.

    Raises:
        InputError: the configurations are incompatible.

    Examples:
        >>> Settings().sampling.num_samples, Settings().significance.significance
        (1000, 0.05)
    """

    model: ModelConfig = field(default_factory=ModelConfig)
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    significance: SignificanceConfig = field(default_factory=SignificanceConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    network: NetworkConfig | None = field(default_factory=NetworkConfig)

    def __post_init__(self) -> None:
        for name, kind in _STEPS.items():
            value = getattr(self, name)
            if not isinstance(value, kind) and not (name == "network" and value is None):
                raise InputError(f"{name} must be a {kind.__name__}, not {brief(value)}")
        check_change_fits(self.sampling.change, self.model.scores)
        self._check_family()
        noisy_or = self.network is not None and self.network.target_table == "noisy_or"
        if noisy_or and not self.selection.no_child:
            raise InputError(
                "target_table='noisy_or' requires the target to be a leaf; set no_child=True or "
                "target_table='full'"
            )

    def _check_family(self) -> None:
        """Resolve ``no_child=None`` for Bayesian networks; accept only None for other families."""
        family = "bayesian" if self.network is None else self.network.family
        no_child = self.selection.no_child
        if family == "bayesian" and no_child is None:
            object.__setattr__(self, "selection", replace(self.selection, no_child=True))
        elif family != "bayesian" and no_child is not None:
            raise InputError(
                f"no_child={no_child} applies to Bayesian networks only, not to family={family!r}, "
                f"which has no such constraint; leave it out"
            )

    def options(self) -> dict[str, Any]:
        """Return these settings as keyword arguments of ``PGMExplainer``.

        Without a network, the options of step 3 are left out, as they do not apply.

        Examples:
            ``PGMExplainer(model, x, edge_index, **explanation.settings.options())`` makes an
            explainer with the same settings as the one that made the explanation.
        """
        steps = [getattr(self, name) for name in _STEPS]
        found = {
            each.name: getattr(step, each.name)
            for step in steps
            if step is not None
            for each in fields(step)
        }
        return found if self.network is not None else {**found, "structure": None}

    def recorded(self) -> Settings:
        """Return the settings as stored in an explanation, with custom functions by name only.

        So an explanation can be pickled and saved, and contains no objects of the caller.
        """
        return replace(self, **{name: _recorded(getattr(self, name)) for name in _STEPS})

    def with_samples(self, num_samples: int) -> Settings:
        """Return the same settings with another number of samples."""
        return replace(self, sampling=replace(self.sampling, num_samples=num_samples))

    def check_usable(self) -> None:
        """Raise an InputError if a custom function is known by name only."""
        for name, value in self.options().items():
            if isinstance(value, Recorded):
                raise InputError(
                    f"{name} {brief(value.name)} is a custom function of which only the name was "
                    f"saved; pass the function or object itself"
                )


_STEPS: dict[str, type] = {
    "model": ModelConfig,
    "sampling": SamplingConfig,
    "significance": SignificanceConfig,
    "selection": SelectionConfig,
    "network": NetworkConfig,
}


def _recorded(step: Any) -> Any:
    """Return the configuration of a step, with custom functions by name only."""
    choices = {name: getattr(step, name).describe() for name in CHOICES if hasattr(step, name)}
    own = {name: Recorded(choice.name) for name, choice in choices.items() if choice.own}
    return replace(step, **own) if own else step
