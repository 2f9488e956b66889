"""The paper's Tables 1, 2 and 3 by both protocols, next to the published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ..bitcoin import BITCOIN
from ..defaults import DEFAULT_SAMPLES
from ..synthetic import SYNTHETIC
from .cells import (
    MORE_FOR_QUICK,
    PGM,
    PUBLISHED,
    RIVALS,
    SAME_TARGETS,
    compute_cells,
    select,
)
from .digits import OURS
from .judge import TOP
from .markdown import MARKS, marked, mean_and_spread, table
from .mnist import superpixel_accuracy
from .models import DATA_SETS, train_models
from .plan import Plan, Section
from .published import (
    BITCOIN_PRECISION,
    MODEL_ACCURACY,
    MOTIF_ACCURACY,
    MOTIF_PRECISION,
    OTHERS_GNN_EXPLAINER,
    SAMPLES,
)

__all__ = ["passes", "table1", "table2", "table3"]

Cells = Sequence[dict[str, Any]]
Column = TypeVar("Column")

_OURS = (PUBLISHED, PGM)
_ALL = (*_OURS, *RIVALS, *SAME_TARGETS.values())
_MODEL_SEES = 3
_PROTOCOLS = {
    1: "**The paper's protocol**, as in the published code: candidates within one hop; the target "
    f"counts as the first of the accounts. {MARKS}",
    3: "**Strict protocol**: candidates within three hops; the target is not counted.",
}


def table1(plan: Plan) -> Section:
    """The accuracy of the models on held-out data."""
    models = train_models(plan, DATA_SETS, plan.seeds)
    digits = superpixel_accuracy(plan)
    tested = {name: [each["test"] for each in models if each["data"] == name] for name in DATA_SETS}
    tested["mnist"] = [digits[OURS]]
    rows = [
        ["", *tested],
        ["accuracy (paper)", *(f"{MODEL_ACCURACY[name]:.3f}" for name in tested)],
        ["accuracy (here)", *(marked(tested[name], MODEL_ACCURACY[name]) for name in tested)],
        ["samples (paper)", *(str(SAMPLES[name]) for name in tested)],
        ["samples (here)", *[str(DEFAULT_SAMPLES)] * len(tested)],
    ]
    blocks = [
        "## Table 1: accuracy of the models, and samples per explanation",
        f"Accuracy on held-out nodes; for MNIST on {plan.test_digits} test digits, with the "
        f"network that comes with the package. **Bold** reaches the paper's figure, ▼ does not.",
        table(rows),
        *(
            f"On the same {plan.test_digits} graphs, {whose} own network reaches {share:.3f}."
            for whose, share in digits.items()
            if whose != OURS
        ),
    ]
    return Section("\n\n".join(blocks), {"models": models, "mnist": digits})


def table2(plan: Plan) -> Section:
    """The share of the motif that is found on the synthetic sets."""
    cells = compute_cells(plan, tuple(SYNTHETIC), [_MODEL_SEES], _MODEL_SEES)

    def strict(explainer: str, data: str) -> str:
        found = select(cells, data, explainer, _MODEL_SEES)
        return mean_and_spread(each["judged"]["motif"]["strict"] for each in found)

    blocks = [
        "## Table 2: synthetic sets",
        "The share of the motif among the top k nodes within three hops, where k is the size of "
        "the motif.",
        *_about_rivals(plan),
        f"**The paper's protocol**, as in the published code: the target always counts as found, "
        f"so the score is at least 1/k. In parentheses: precision when only significantly "
        f"dependent nodes are returned. {MARKS}",
        table([["paper's protocol", *SYNTHETIC], *_motif_rows(cells)]),
        "**Strict protocol**: the target is not counted.",
        table([["strict protocol", *SYNTHETIC], *_rows(strict, tuple(SYNTHETIC))]),
        *_costs(cells),
    ]
    return Section("\n\n".join(blocks), cells)


def _motif_rows(cells: Cells) -> Iterator[list[str]]:
    def found(explainer: str, data: str) -> str:
        motif = [each["judged"]["motif"] for each in select(cells, data, explainer, _MODEL_SEES)]
        if explainer not in _OURS or not motif:
            return mean_and_spread(each["paper"] for each in motif)
        accuracy = marked([each["paper"] for each in motif], MOTIF_ACCURACY[PGM][data])
        precision = marked([each["precision"] for each in motif], MOTIF_PRECISION.get(data))
        return f"{accuracy} ({precision})"

    for name in MOTIF_ACCURACY:
        yield [f"{name} (paper)", *(_paper_motif(name, data) for data in SYNTHETIC)]
    yield from _rows(found, tuple(SYNTHETIC))


def _paper_motif(name: str, data: str) -> str:
    text = f"{MOTIF_ACCURACY[name][data]:.3f}"
    if name == PGM and data in MOTIF_PRECISION:
        return f"{text} ({MOTIF_PRECISION[data]:.3f})"
    if name == "GNNExplainer" and data in OTHERS_GNN_EXPLAINER:
        return f"{text}; by its authors {OTHERS_GNN_EXPLAINER[data]:.3f}"
    return text


def table3(plan: Plan) -> Section:
    """The precision of explanations on the Bitcoin networks."""
    cells = compute_cells(plan, tuple(BITCOIN), plan.hops, papers_hops=1)
    blocks = [
        "## Table 3: Bitcoin",
        "The share of the top 3, 4 and 5 accounts that rated the target positively. Most "
        "neighbours did, so within one hop even a random choice scores high.",
        *_about_rivals(plan),
    ]
    for hops in plan.hops:
        blocks += [_PROTOCOLS[hops], table(list(_bitcoin_rows(cells, hops)))]
    return Section("\n\n".join([*blocks, *_costs(cells)]), cells)


def _bitcoin_rows(cells: Cells, hops: int) -> Iterator[list[str]]:
    protocol = "paper" if hops == 1 else "strict"
    columns = [(data, at) for data in BITCOIN for at in range(len(TOP))]

    def found(explainer: str, column: tuple[str, int]) -> str:
        data, at = column
        of = select(cells, data, explainer, hops)
        shares = [each["judged"][f"top {TOP[at]}"][protocol] for each in of]
        comparable = explainer in _OURS and protocol == "paper"
        return marked(shares, BITCOIN_PRECISION[PGM][data][at] if comparable else None)

    title = "paper's protocol" if protocol == "paper" else "strict protocol"
    yield [title, *(f"{data}, top {TOP[at]}" for data, at in columns)]
    if protocol == "paper":
        for name, figures in BITCOIN_PRECISION.items():
            yield [f"{name} (paper)", *(f"{figures[data][at]:.3f}" for data, at in columns)]
    yield from _rows(found, columns)


def _about_rivals(plan: Plan) -> Iterator[str]:
    if plan.rivals:
        count = plan.seeds_of_rivals
        seeds = "one seed" if count == 1 else f"each of {count} seeds"
        yield (
            f"SHAP and GNNExplainer are slow, so they explain only {plan.rival_targets} evenly "
            f"spread targets of {seeds}. The rows *the rivals' targets* use the same targets. GRAD "
            f"explains up to {plan.rival_targets * MORE_FOR_QUICK} targets per seed; the others "
            f"explain all targets. *proximity* ranks nodes by random walks from the target, "
            f"without calling the model."
        )


def _rows(found: Callable[[str, Column], str], columns: Sequence[Column]) -> Iterator[list[str]]:
    """A row for each explainer that was run."""
    for explainer in _ALL:
        row = [found(explainer, column) for column in columns]
        if any(row):
            yield [_called(explainer), *row]


def _called(explainer: str) -> str:
    if explainer in _OURS:
        return f"{PGM} (here, {'defaults' if explainer == PGM else 'published settings'})"
    for name, same in SAME_TARGETS.items():
        if explainer == same:
            return f"{name} (here, the rivals' targets)"
    return f"{explainer} (here)"


def _costs(cells: Cells) -> Iterator[str]:
    """Return the number of model calls and the time of each explainer."""
    rows = [["cost", "passes through the model", "CPU seconds per target", "targets per seed"]]
    for explainer in _ALL:
        of = [each for each in cells if each["explainer"] == explainer]
        if of:
            targets = sum(each["targets"] for each in of)
            seconds = sum(each["seconds"] for each in of) / targets
            calls = passes([each["queries"] for each in of])
            rows.append([_called(explainer), calls, f"{seconds:.4f}", _most(of)])
    yield table(rows)


def passes(queries: Sequence[dict[str, Any]]) -> str:
    """Return the number of model calls as text.

    Examples:
        >>> passes([{"forwards": 800, "backwards": 0, "shared": True},
        ...         {"forwards": 1600, "backwards": 0, "shared": True}])
        '800 to 1600 forward passes for all targets together'
    """
    (least, *_, most) = sorted(each["forwards"] for each in queries) * 2
    if not most:
        return "none"
    backwards = max(each["backwards"] for each in queries)
    forwards = f"{most} forward" if least == most else f"{least} to {most} forward"
    both = f"{forwards} and {backwards} backward" if backwards else forwards
    plural = "" if (backwards or most) == 1 else "es"
    scope = "for all targets together" if queries[0]["shared"] else "for each target"
    return f"{both} pass{plural} {scope}"


def _most(cells: Cells) -> str:
    counts = sorted({each["targets"] for each in cells})
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
