"""The quantity that effects are measured on, and how effects are formatted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .names import printable, value_labels
from .wording import wording_of

if TYPE_CHECKING:
    from ..effects import Effects
    from ..explanation import Explanation, FeatureEffects

__all__ = [
    "Measure",
    "figures",
    "measure_of",
    "p_value",
    "percent",
    "plain_measure",
    "share_of",
    "with_minus_signs",
]

_SMALLEST, _LARGEST = 1e-4, 1e6
"""Numbers outside this range are written with an exponent."""
_SMALLEST_LOG_P = -690.0
"""A p-value with a smaller logarithm underflows."""


@dataclass(frozen=True)
class Measure:
    """Formats the effects of one explanation: all in one unit, with the same decimals.

    Attributes:
        what: the quantity, such as ``the probability of class 2``.
        falls, rises: predicates for effects below and above 0, such as
            ``lowers the probability of class 2``.
        decimals: digits after the point; None for numbers with an exponent.
        unit: ``percentage points``; empty for values.
        factor: converts an effect to that unit.
        perturbing: what is done to a part, such as ``removing``.

    Examples:
        >>> measure = Measure("the value", "lowers the value", "raises the value", decimals=2)
        >>> measure.signed(-0.254), measure.size(-0.254), measure.interval(-0.3, 0.001)
        ('-0.25', '0.25', '-0.30 to 0.00')
    """

    what: str
    falls: str
    rises: str
    decimals: int | None
    unit: str = ""
    factor: float = 1.0
    perturbing: str = "perturbing"

    @property
    def directions(self) -> dict[str, str]:
        """The text of a legend for each direction: ``removing it lowers the value``."""
        verb = f"{self.perturbing} it"
        clear = {"falls": f"{verb} {self.falls}", "rises": f"{verb} {self.rises}"}
        return {**clear, "both": "direction not clear"}

    def signed(self, effect: float) -> str:
        """Return an effect with its sign, without its unit."""
        text = self._text(effect, "+")
        return text if float(text) else text[1:]

    def size(self, effect: float) -> str:
        """Return the size of an effect, without sign and unit."""
        return self._text(abs(effect), "")

    def interval(self, low: float, high: float) -> str:
        """Return the two ends of an interval with their signs."""
        return f"{self.signed(low)} to {self.signed(high)}"

    def with_unit(self, number: str) -> str:
        """Return a number and its unit, if it has one."""
        return f"{number} {self.unit}".rstrip()

    def _text(self, effect: float, sign: str) -> str:
        form = f"{sign}.2e" if self.decimals is None else f"{sign}.{self.decimals}f"
        return format(self.factor * effect, form)


def measure_of(explanation: Explanation, features: FeatureEffects | None = None) -> Measure:
    """Return the format for the effects of an explanation: of its parts, or of features."""
    largest = _largest(explanation.effects if features is None else features)
    what = _explained(explanation)
    falls, rises = f"lowers {what}", f"raises {what}"
    doing = "perturbing" if features is not None else wording_of(explanation.settings).perturbing
    if explanation.explained_class is not None:
        decimals = _decimals(100 * largest, digits=2, least=1)
        return Measure(what, falls, rises, decimals, "percentage points", 100.0, doing)
    if len(explanation.values) > 1:  # their effects are on the distance from the original values
        falls = f"keeps {what} closer to the original ones"
        rises = f"moves {what} away from the original ones"
    decimals = _decimals(largest, digits=3, least=0)
    return Measure(what, falls, rises, decimals, perturbing=doing)


def plain_measure(effects: Effects | FeatureEffects) -> Measure:
    """Return the format for effects on a prediction that is not known."""
    what = "the prediction"
    decimals = _decimals(_largest(effects), digits=3, least=0)
    return Measure(what, f"lowers {what}", f"raises {what}", decimals)


def p_value(log_p: float) -> str:
    """Return a p-value from its natural logarithm.

    Examples:
        >>> p_value(-9.0), p_value(-5000.0)
        ('0.0001', '<1e-299')
    """
    return f"{np.exp(log_p):.1g}" if log_p >= _SMALLEST_LOG_P else "<1e-299"


def with_minus_signs(text: str) -> str:
    """Return a text with minus signs in place of hyphens."""
    return text.replace("-", "−")


def share_of(fraction: float, count: int) -> str:
    """Return a share as text that ``of them`` can follow; never 0% or 100%.

    Examples:
        >>> [share_of(each, 10_000) for each in (0, 0.0001, 0.676, 0.9998, 1)]
        ['none', '1', '67.6%', 'all but 2', 'all']
    """
    number, text = round(fraction * count), f"{fraction:.1%}"
    if number in (0, count):
        return "all" if number else "none"
    if text in ("0.0%", "100.0%"):
        return f"{number}" if text == "0.0%" else f"all but {count - number}"
    return text


def percent(probability: float) -> str:
    """Return a probability in percent; one that is close to 0 or 1 is not rounded to it.

    Examples:
        >>> percent(0.2534), percent(0.99996), percent(1.0)
        ('25.3%', 'more than 99.9%', '100.0%')
    """
    if 0 < probability < 0.001:
        return "less than 0.1%"
    return "more than 99.9%" if 0.999 < probability < 1 else f"{probability:.1%}"


def figures(*numbers: float) -> list[str]:
    """Return numbers with enough decimals, from 3 to 6, to distinguish them.

    Probabilities are also distinguished from 0 and 1; large values have fewer decimals.

    Examples:
        >>> figures(0.253, 0.2531), figures(0.25, 0.3), figures(0.99997), figures(1234.5, 1300)
        (['0.2530', '0.2531'], ['0.250', '0.300'], ['0.99997'], ['1234', '1300'])
    """
    largest = max(map(abs, numbers))
    if largest > 1 or largest < _SMALLEST:
        return [f"{each:.4g}" for each in numbers]
    exact = {round(each, 6) for each in (0.0, 1.0, *numbers)}
    for decimals in range(3, 6):
        if len({round(each, decimals) for each in exact}) == len(exact):
            break
    else:
        decimals = 6
    return [f"{each:.{decimals}f}" for each in numbers]


def _largest(effects: Effects | FeatureEffects) -> float:
    """Return the largest size of a significant effect or, without any, of all effects."""
    counted = effects.effect[effects.significant] if effects.significant.any() else effects.effect
    return float(abs(counted).max(initial=0.0))


def _explained(explanation: Explanation) -> str:
    """Return the quantity that effects are measured on."""
    chosen, model = explanation.explained_class, explanation.settings.model
    if chosen is None and len(explanation.values) > 1:
        return "the predicted values"
    if chosen is None:
        named = model.class_names is not None
        return f"the predicted {value_labels(explanation)[0] if named else 'value'}"
    if model.output is None:
        return f"the probability of class {printable(explanation.class_name(chosen))}"
    negation = "" if chosen == 1 else "not "
    return f"the probability of {negation}having label {printable(explanation.class_name(1))}"


def _decimals(largest: float, digits: int, least: int) -> int | None:
    """Return how many decimals show this many digits of the largest number.

    Examples:
        >>> [_decimals(each, digits=2, least=1) for each in (23.0, 0.23, 0.03, 1e-7)]
        [1, 2, 3, None]
    """
    if largest == 0:
        return least
    if not _SMALLEST <= largest < _LARGEST:
        return None
    return max(least, digits - 1 - int(np.floor(np.log10(largest))))
