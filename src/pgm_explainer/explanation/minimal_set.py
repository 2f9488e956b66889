"""The result of a search for a minimal set of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import QueryError
from ..variables import VariableId

__all__ = ["MinimalSet", "NoSetError", "Searcher"]


@dataclass(frozen=True, repr=False)
class MinimalSet:
    """A small set of parts that changes a prediction, or is enough to keep it.

    Attributes:
        kind: ``"counterfactual"``: perturbing these parts, and no others, changes the prediction;
            or ``"sufficient"``: the prediction is kept while all other parts are perturbed.
        parts: the parts, the most important first. A sufficient set is empty if no part is needed
            to keep the prediction. As ``smallest_change`` of an explanation, a counterfactual set
            is empty if none was found; its probability is then that of the best set tried.
        probability: how often this holds, in new random perturbations that the search did not use.
        low, high: the 95% interval of the probability; both are equal to it if the perturbation
            is not random.
        queries: the number of perturbed graphs that the model was called on, for the search and for
            the final check.
        num_parts: the number of parts that the set was chosen from.
        values: for each part within a single node (the node, or a feature of it), an example of how
            it was changed in a perturbation that changed the prediction. For one-hot features this
            is the most frequent change, such as ``"O → C"``; for numbers it is the smallest change,
            such as ``"age 31 → 64"``. In a sufficient set, the current value of a node: ``"O"``.
            Empty strings where this is not known, or where more than ten features changed.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer import PGMExplainer
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> x = np.array([[2.0, 0], [0, 1], [0, 1]])
        >>> edges = np.array(path.nonzero())
        >>> explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1)
        >>> explanation = explainer.explain(1)
        >>> change = explanation.counterfactual()
        >>> change.kind, change.parts
        ('counterfactual', (0,))
        >>> change.probability > 0.5
        True
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

    @property
    def is_rare(self) -> bool:
        """Whether it changes, or keeps, the prediction in fewer than half of the perturbations."""
        return self.probability < 0.5

    @property
    def often(self) -> str:
        """How often it changes, or keeps, the prediction, in words."""
        if self.low == self.high and self.probability in (0.0, 1.0):
            return "always" if self.probability else "never"
        within = (
            f" (95% interval {self.low:.1%} to {self.high:.1%})" if self.low < self.high else ""
        )
        if not self.probability:
            return f"in none of the random perturbations{within}"
        share = f"in {self.probability:.1%} of the random perturbations"
        only = "only " if self.is_rare else ""
        rest = ", fewer than half of them" if self.is_rare else ""
        return f"{only}{share}{within}{rest}"

    def __str__(self) -> str:
        named = [str(part) for part in self.parts]
        counted = f"{len(self)} of {self.num_parts} parts; {self.queries:,} queries."
        if self.kind == "sufficient":
            known = {name: value for name, value in zip(named, self.values, strict=False) if value}
            kept = [f"{each} ({known[each]})" if each in known else each for each in named]
            listed = ", ".join(kept) or "no part"
            return (
                f"The prediction is kept by {listed} while all other parts are perturbed, "
                f"{self.often}. {counted}"
            )
        if not named:
            return (
                f"No set of the {self.num_parts} parts was found that changes the prediction often "
                f"enough: the best one changes it {self.often}. {self.queries:,} queries."
            )
        said = f"Perturbing {', '.join(named)} changes the prediction {self.often}."
        return f"{said}{f' For example, {self.example}.' if self.example else ''} {counted}"

    @property
    def example(self) -> str:
        """The values that nodes of a counterfactual set were changed into: ``3: O → C``."""
        pairs = zip(self.parts, self.values, strict=False)
        return "; ".join(f"{part}: {value}" for part, value in pairs if " → " in value)

    def __repr__(self) -> str:
        rare = ", fewer than half" if self.is_rare else ""
        return (
            f"MinimalSet(kind={self.kind!r}, parts={self.parts!r}, values={self.values!r}, "
            f"probability={self.probability:.3g} ({self.low:.3g} to {self.high:.3g}{rare}), "
            f"num_parts={self.num_parts}, queries={self.queries})"
        )


class NoSetError(QueryError):
    """No minimal set was found.

    Attributes:
        best: a set without parts, with the success rate of the best set that was tried.
    """

    def __init__(self, message: str, best: MinimalSet) -> None:
        super().__init__(message)
        self.best = best

    def __reduce__(self) -> tuple[Any, ...]:
        return NoSetError, (str(self), self.best)


class Searcher(Protocol):
    """An object that can call the model that was explained: the explainer."""

    def counterfactual(self, explanation: Any, **options: Any) -> MinimalSet: ...

    def sufficient(self, explanation: Any, **options: Any) -> MinimalSet: ...

    def edge_confidence(
        self, explanation: Any, *, target: Any = None, resamples: int = 200, seed: int = 0
    ) -> Any: ...
