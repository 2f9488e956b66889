"""The result of a search for a minimal set of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ..variables import VariableId

__all__ = ["MinimalSet", "Searcher"]


@dataclass(frozen=True)
class MinimalSet:
    """A small set of parts that changes a prediction, or is enough to keep it.

    Attributes:
        kind: ``"counterfactual"``: perturbing these parts, and no others, changes the prediction;
            or ``"sufficient"``: the prediction is kept while all other parts are perturbed.
        parts: the parts, the most important first; empty if no part is needed to keep the
            prediction.
        probability: how often this holds, in new random perturbations that the search did not use.
        low, high: the 95% interval of the probability; both are equal to it if the perturbation
            is not random.
        queries: the number of perturbed graphs that the model was called on, for the search and for
            the final check.
        num_parts: the number of parts that the set was chosen from.
        values: for each part that is a node, what it was changed into in one of the perturbations
            that changed the prediction, the most frequent one: ``"O → C"`` by the names of one-hot
            features, or ``"age 31 → 64"``. In a sufficient set, its present value: ``"O"``. Empty
            strings where this is not known.
    """

    kind: str
    parts: tuple[VariableId, ...]
    probability: float
    low: float
    high: float
    queries: int
    num_parts: int
    values: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        named = [str(part) for part in self.parts]
        pairs = [pair for pair in zip(named, self.values, strict=False) if pair[1]]
        example = ""
        if self.kind == "counterfactual":
            what = f"Perturbing {', '.join(named)} changes the prediction"
            example = "; ".join(f"{name}: {value}" for name, value in pairs)
        else:
            known = dict(pairs)
            kept = [f"{each} ({known[each]})" if each in known else each for each in named]
            listed = ", ".join(kept) or "no part"
            what = f"The prediction is kept by {listed} while all other parts are perturbed,"
        if self.low == self.high:
            often = "always" if self.probability == 1 else f"with probability {self.probability:g}"
        else:
            often = (
                f"with probability {self.probability:.2f} (95% interval {self.low:.2f} to "
                f"{self.high:.2f})"
            )
        said = f"{what} {often}." + (f" For example, {example}." if example else "")
        return f"{said} {len(self)} of {self.num_parts} parts; {self.queries:,} queries."


class Searcher(Protocol):
    """An object that finds minimal sets: an explainer, because this needs the model."""

    def counterfactual(self, explanation: Any, **options: Any) -> MinimalSet: ...

    def sufficient(self, explanation: Any, **options: Any) -> MinimalSet: ...
