"""The tables, in Markdown, with the paper's figures beside ours."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...io.files import write_text
from ..bitcoin import BITCOIN
from ..synthetic import SYNTHETIC
from .cells import DATA_SETS, PGM, RIVALS

__all__ = ["write_report"]

Results = Sequence[Mapping[str, Any]]

_PAPER_MODELS = {
    "syn1": 0.979,
    "syn2": 0.854,
    "syn3": 1.0,
    "syn4": 0.994,
    "syn5": 0.891,
    "syn6": 0.993,
    "alpha": 0.939,
    "otc": 0.895,
}
_PAPER = {
    "syn1": 0.965,
    "syn2": 0.926,
    "syn3": 0.885,
    "syn4": 0.954,
    "syn5": 0.878,
    "syn6": 0.953,
}
_PAPER_BITCOIN = {"alpha": (0.873, 0.857, 0.848), "otc": (0.833, 0.817, 0.808)}
_PAPER_PRECISION = {"syn3": 0.942, "syn4": 0.968, "syn5": 0.892}
_PAPER_RIVALS = {
    "SHAP": (0.947, 0.741, 0.872, 0.884, 0.641, 0.741),
    "GNNExplainer": (0.729, 0.750, 0.741, 0.862, 0.842, 0.612),
}


def write_report(results: Results, more: Sequence[str], path: Path, command: str) -> str:
    """Write what was found as a page of Markdown; return it.

    Args:
        results: cells of the tables.
        more: further sections, in Markdown.
        command: what made it.
    """
    seeds = sorted({each["seed"] for each in results})
    blocks = [
        "# The paper's experiments",
        f"Written by `{command}` on {datetime.date.today()}, not by hand. Seeds of data, model and "
        f"explanations: {', '.join(map(str, seeds)) or 0}. {_versions()}",
        "Every PGM-Explainer figure is of the package's defaults: one configuration for all sets. "
        "± is the standard deviation over seeds.",
    ]
    names = {each["data"] for each in results}
    if results:
        blocks += _table1(results)
    if names.intersection(SYNTHETIC):
        blocks += _table2(results)
    if names.intersection(BITCOIN):
        blocks += _table3(results)
    if results:
        blocks += _costs(results)
    blocks += more
    text = "\n\n".join(blocks) + "\n"
    write_text(path, text)
    return text


def _versions() -> str:
    packages = ("pgm-explainer", "numpy", "scipy", "torch", "torch_geometric", "shap")
    listed = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"Python {platform.python_version()}, {listed}."


def _table1(results: Results) -> Iterable[str]:
    """Models' accuracy on nodes not trained on."""
    rows = [["", *DATA_SETS], ["paper", *(f"{_PAPER_MODELS[name]:.3f}" for name in DATA_SETS)]]
    ours = ["ours"]
    for name in DATA_SETS:
        of = [each for each in results if each["data"] == name and each["explainer"] == PGM]
        per_seed = {each["seed"]: each["model_accuracy"]["test"] for each in of}
        ours.append(_mean(per_seed.values()))
    yield "## Table 1: the models' accuracy on held-out nodes"
    yield _markdown([*rows, ours])


def _table2(results: Results) -> Iterable[str]:
    yield "## Table 2: synthetic sets"
    yield (
        "Share of the motif among the top k nodes, k the motif's size. By the paper's protocol the "
        "target counts as found. In parentheses: precision when only significantly dependent nodes "
        "are returned."
    )
    rows = [["paper's protocol", *SYNTHETIC], ["PGM-Explainer (paper)", *map(_paper2, SYNTHETIC)]]
    ours = [_cells(results, name, PGM, 3) for name in SYNTHETIC]
    rows.append(
        [
            "PGM-Explainer (ours)",
            *(
                _mean(each["motif"]["paper"] for each in cells)
                + _in_parentheses(each["motif"]["precision"] for each in cells)
                for cells in ours
            ),
        ]
    )
    for rival, figures in _PAPER_RIVALS.items():
        rows.append([f"{rival} (paper)", *(f"{figure:.3f}" for figure in figures)])
    rows += _rival_rows(results, SYNTHETIC, 3, lambda each: each["motif"]["paper"])
    yield _markdown(rows)
    yield "Strict: the target is not counted."
    strict = [["strict", *SYNTHETIC]]
    strict.append([PGM, *(_mean(each["motif"]["strict"] for each in cells) for cells in ours)])
    strict += _rival_rows(results, SYNTHETIC, 3, lambda each: each["motif"]["strict"])
    yield _markdown(strict)


def _table3(results: Results) -> Iterable[str]:
    columns = [(name, at, k) for name in BITCOIN for at, k in enumerate((3, 4, 5))]
    header = [f"{name} top {k}" for name, _, k in columns]
    yield "## Table 3: Bitcoin"
    yield (
        "Precision of the top 3, 4 and 5 accounts. By the paper's protocol candidates are within "
        "one hop and the target is the first of them; strict is within three hops, as many "
        "accounts besides the target."
    )
    for protocol, hops in (("paper", 1), ("strict", 3)):
        rows = [[f"{protocol}, {hops} hop(s)", *header]]
        if protocol == "paper":
            rows.append(
                [
                    "PGM-Explainer (paper)",
                    *(f"{_PAPER_BITCOIN[name][at]:.3f}" for name, at, _ in columns),
                ]
            )
        for explainer in (PGM, *RIVALS):
            row = [
                _mean(each[f"top {k}"][protocol] for each in _cells(results, name, explainer, hops))
                for name, _, k in columns
            ]
            if any(row):
                rows.append([explainer, *row])
        if any(row[0] in (PGM, *RIVALS) for row in rows):
            yield _markdown(rows)


def _costs(results: Results) -> Iterable[str]:
    """What each explainer took."""
    rows = [["explainer", "seconds a target", "model passes a target", "targets"]]
    for explainer in (PGM, *RIVALS):
        of = [each for each in results if each["explainer"] == explainer]
        if of:
            targets = sum(each["targets"] for each in of)
            seconds = sum(each["seconds"] for each in of) / targets
            rows.append([explainer, f"{seconds:.4f}", _passes(of[0]), str(targets)])
    yield "## What it took"
    yield _markdown(rows)


def _passes(result: Mapping[str, Any]) -> str:
    queries = result["queries"]
    if not queries:
        return "1000, shared by all targets"
    return f"{queries['forwards']} forwards, {queries['backwards']} backwards"


def _cells(results: Results, data: str, explainer: str, hops: int) -> list[Mapping[str, Any]]:
    wanted = (data, explainer, hops)
    return [each for each in results if (each["data"], each["explainer"], each["hops"]) == wanted]


def _rival_rows(results: Results, names: Iterable[str], hops: int, measure: Any) -> list[list[str]]:
    rows = [
        [rival, *(_mean(map(measure, _cells(results, name, rival, hops))) for name in names)]
        for rival in RIVALS
    ]
    return [row for row in rows if any(row[1:])]


def _paper2(name: str) -> str:
    precision = _PAPER_PRECISION.get(name)
    return f"{_PAPER[name]:.3f}" + (f" ({precision:.3f})" if precision else "")


def _mean(values: Iterable[float]) -> str:
    figures = list(values)
    if not figures:
        return ""
    if len(figures) == 1:
        return f"{figures[0]:.3f}"
    return f"{np.mean(figures):.3f} ± {np.std(figures):.3f}"


def _in_parentheses(values: Iterable[float]) -> str:
    figures = list(values)
    return f" ({np.mean(figures):.3f})" if figures else ""


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
