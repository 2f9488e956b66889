"""Find a minimal set, and check it on new random perturbations.

A set that fails this check is rejected, and the search continues.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import IntArray
from ..execution import ExecutionConfig
from ..explanation import Explanation, MinimalSet, NoSetError
from ..querying import Query
from ..sampling import Change, Parts, Population
from .options import SearchOptions
from .search import Search
from .trials import Trials, make_judge

__all__ = ["find_minimal_set", "search_order"]

_CHECKS = 5
"""The maximum number of sets that are checked."""

_USUALLY = 0.5
"""If a counterfactual succeeds less often than this, a slightly larger one is preferred."""


def search_order(explanation: Explanation) -> IntArray:
    """Return the parts of an explanation, in the order in which the search tries them.

    Parts whose perturbation lowers the probability most come first. For a class other than the
    predicted one, and for a regression, the strongest parts in either direction come first.
    """
    effects = explanation.effects
    is_predicted = explanation.explained_class == explanation.predicted_class
    if explanation.explained_class is None or not is_predicted:
        return effects.nodes
    return effects.nodes[np.argsort(effects.effect, kind="stable")]


def find_minimal_set(
    query: Query,
    parts: Parts,
    population: Population,
    execution: ExecutionConfig,
    options: SearchOptions,
    order: IntArray,
    outermost: IntArray,
    used: Change,
    is_regression: bool,
) -> tuple[IntArray, MinimalSet]:
    """Search for a minimal set.

    Args:
        query: the model, with the prediction of one target only.
        order: the parts that a set may contain, in the order in which they are tried. A sufficient
            set keeps the prediction while all parts of ``order`` that are not in it are perturbed.
        outermost: the parts of ``order`` whose messages cannot reach the target. They are left out,
            unless they change the prediction in another way, such as by degrees.
        used: the change indicator of the explanation.

    Returns:
        The numbers of the parts, and the result without their names.

    A counterfactual that succeeds in fewer than half of the samples is returned only if no set of
    at most one more part succeeds in half of them.

    Raises:
        NoSetError: no set was found.
    """
    judge = make_judge(query, options.change, used, is_regression)
    trials = Trials(query, parts, population, execution, options, order, judge)
    order = trials.leave_out(outermost)
    search = Search(trials, options, len(order))
    checked = _checked(search, trials, 0)
    if checked is None:
        share = search.best
        best = MinimalSet(options.kind, (), share, share, share, trials.queries, len(order))
        raise NoSetError(_refusal(options, search, len(order), trials.queries), best)
    if options.kind == "counterfactual" and checked[1] < _USUALLY:
        checked = _usual(search, checked) or checked
    found, share, low, high, values = checked
    result = MinimalSet(options.kind, (), share, low, high, trials.queries, len(order), values)
    return order[list(found)], result


_Checked = tuple[tuple[int, ...], float, float, float, tuple[str, ...]]
"""A set, its success rate in new samples, the interval of this rate, and values of its parts."""


def _checked(search: Search, trials: Trials, first: int) -> _Checked | None:
    """Return the smallest set that also succeeds in new samples; None if there is none.

    Args:
        first: the number of the first check. Each check has its own samples.
    """
    for attempt in range(first, first + _CHECKS):
        found = search.smallest()
        if found is None:
            return None
        checked = trials.check(found, attempt)
        if checked[0] >= search.options.probability:
            return (found, *checked, trials.values(found))
        search.reject(found, checked[0])
    return None


def _usual(search: Search, rare: _Checked) -> _Checked | None:
    """Return a set of at most one more part that succeeds in half of the samples, if there is one.

    A set that rarely changes the prediction does not tell users what would change it.
    """
    options = replace(search.options, probability=_USUALLY, max_size=len(rare[0]) + 1)
    if search.options.max_size is not None:
        options = replace(options, max_size=min(search.options.max_size, len(rare[0]) + 1))
    return _checked(replace(search, options=options, rejected=()), search.trials, _CHECKS)


def _refusal(options: SearchOptions, search: Search, count: int, queries: int) -> str:
    does = "changes" if options.kind == "counterfactual" else "keeps"
    others = " while all others are perturbed" if options.kind == "sufficient" else ""
    size = "" if options.max_size is None else f" of at most {options.max_size}"
    best = f"the best one does with probability {search.best:.4g}"
    if search.rejected:
        best += " on new perturbations, though more often in the search"
    return (
        f"no set{size} of the {count} parts was found that {does} the prediction with probability "
        f"{options.probability:g}{others}; {best} ({queries:,} queries); "
        f"set a lower probability, a larger max_size or max_queries, or another perturbation"
    )
