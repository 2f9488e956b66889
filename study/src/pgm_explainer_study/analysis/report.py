"""The report of a study."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from pathlib import Path

import pandas as pd

from pgm_explainer import InputError

from ..design import FORECAST, RATING
from ..simulate import LABEL
from ..store import Store
from ..study_file import Study
from .agreement import krippendorff_alpha
from .bootstrap import Interval, arm_means, mean_differences
from .document import Document
from .mixed import Contrast, MixedModel, contrasts, fit
from .plots import plot_intervals, plot_scores
from .tables import Exclusion, answers_table, consistency, exclusions, kept_answers, scored

__all__ = ["write_report"]


def write_report(study: Study, store: Store, folder: Path, pilot: bool = False) -> None:
    """Write the report as Markdown and HTML, with its plots, into a folder.

    Raises:
        InputError: there are no answers.
    """
    table = answers_table(study, store, pilot)
    if table.empty:
        raise InputError(f"{store.path} has no answers{' of a pilot' if pilot else ''} yet")
    mark = _mark(table)
    document = Document(f"Report: {study.title}", mark)
    excluded = exclusions(study, table)
    kept = kept_answers(table, excluded)
    _participants(document, study, table, kept, excluded)
    names = {arm.id: arm.name for arm in study.arms}
    ratings = scored(kept, RATING)
    if len(ratings):
        _ratings(document, study, ratings, names)
        _agreement(document, kept, ratings)
    forecasts = scored(kept, FORECAST)
    if len(forecasts):
        _forecasts(document, study, forecasts, names)
    document.write(folder)


def _mark(table: pd.DataFrame) -> str | None:
    if (table.source == "simulated").any():
        return LABEL
    return "pilot, not evidence" if (table.source == "pilot").any() else None


def _participants(
    document: Document,
    study: Study,
    table: pd.DataFrame,
    kept: pd.DataFrame,
    excluded: list[Exclusion],
) -> None:
    document.heading("Participants")
    total, left = table.rater.nunique(), kept.rater.nunique()
    document.say(
        f"{total} raters answered; {total - left} were left out by the rules below, which the "
        f"study file fixed beforehand; {left} remain. A rater may break several rules. The study "
        f"has {len(study.items)} items; its code is {study.code}."
    )
    document.table([["rule", "raters"], *([each.rule, str(len(each.raters))] for each in excluded)])


def _ratings(
    document: Document, study: Study, ratings: pd.DataFrame, names: Mapping[str, str]
) -> None:
    rated = {arm.id: names[arm.id] for arm in study.rated_arms}
    document.heading("Ratings")
    document.say(
        f'"{study.scale.question}" from {study.scale.least} ({study.scale.low}) to '
        f"{study.scale.most} ({study.scale.high})."
    )
    document.plot(
        "scores.png",
        "Distribution of the scores of each arm",
        plot_scores(ratings, rated, study.scale, document.mark),
    )
    present = {arm: name for arm, name in rated.items() if (ratings.arm == arm).any()}
    means = arm_means(ratings, list(present), study.seed)
    rows = [["arm", "ratings", "mean", "95% interval", "median"]]
    for arm, name in present.items():
        own = ratings.score[ratings.arm == arm]
        rows.append(
            [
                name,
                str(len(own)),
                f"{means[arm].estimate:.2f}",
                _range(means[arm]),
                f"{own.median():g}",
            ]
        )
    document.table(rows)
    document.say("The intervals come from a bootstrap that resamples raters and items.")
    document.plot(
        "means.png",
        "Mean score of each arm",
        plot_intervals(means, names, "mean score", document.mark),
    )
    document.heading("Planned contrasts")
    _model(document, ratings, list(present), study.contrasts, names, "points")


def _model(
    document: Document,
    scores: pd.DataFrame,
    arms: list[str],
    pairs: tuple[tuple[str, str], ...],
    names: Mapping[str, str],
    unit: str,
) -> None:
    """Fit the mixed model and tabulate contrasts, or say why it could not be fitted."""
    try:
        model = fit(scores, arms)
        found = contrasts(model, [pair for pair in pairs if set(pair) <= set(arms)])
    except InputError as error:
        document.say(f"No mixed model was fitted: {error}.")
        return
    document.say(
        f"A linear mixed model (REML) with random effects of raters and items and of their "
        f"interactions with the arm. Differences are in {unit}; intervals are 95% intervals, not "
        f"adjusted; p-values are adjusted by Holm's method for the {len(found)} contrasts. Tests "
        f"use t with {model.degrees} degrees of freedom."
    )
    document.table(
        [
            ["contrast", "difference", "standard error", "95% interval", "p", "p (Holm)"],
            *(_contrast(each, names) for each in found),
        ]
    )
    document.table(_spreads(model))


def _contrast(each: Contrast, names: Mapping[str, str]) -> list[str]:
    return [
        f"{names[each.first]} - {names[each.second]}",
        f"{each.difference:+.3f}",
        f"{each.error:.3f}",
        f"{each.low:+.3f} to {each.high:+.3f}",
        _p(each.p),
        _p(each.adjusted),
    ]


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _spreads(model: MixedModel) -> list[list[str]]:
    words = {
        "rater": "raters (leniency)",
        "item": "items",
        "rater:arm": "raters, by arm",
        "item:arm": "items, by arm",
        "error": "rest",
    }
    rows = [[words[name], f"{value**0.5:.3f}"] for name, value in model.variances.items()]
    return [["standard deviation between", "estimate"], *rows]


def _agreement(document: Document, kept: pd.DataFrame, ratings: pd.DataFrame) -> None:
    document.heading("Agreement and consistency")
    units = pd.DataFrame({"unit": ratings["item"] + " " + ratings.arm, "score": ratings.score})
    alphas = {level: krippendorff_alpha(units, level) for level in ("ordinal", "interval")}
    said = ", ".join(f"{_number(value)} ({level})" for level, value in alphas.items())
    document.say(f"Krippendorff's alpha of the ratings of the same explanation: {said}.")
    same = consistency(kept)
    if same is not None:
        count, apart, correlation = same
        document.say(
            f"{count} explanations were rated twice by the same rater: the mean absolute "
            f"difference is {apart:.2f} points, the correlation {_number(correlation)}."
        )


def _number(value: float) -> str:
    return "not defined" if isnan(value) else f"{value:.3f}"


def _forecasts(
    document: Document, study: Study, forecasts: pd.DataFrame, names: Mapping[str, str]
) -> None:
    document.heading("Forward simulation")
    arms = [arm.id for arm in study.arms if (forecasts.arm == arm.id).any()]
    means = arm_means(forecasts, arms, study.seed)
    none = next((arm.id for arm in study.arms if arm.kind == "none" and arm.id in arms), None)
    gains = (
        {}
        if none is None
        else mean_differences(forecasts, [arm for arm in arms if arm != none], none, study.seed)
    )
    document.say(
        "Raters predicted what the model does if a marked part is changed. The table shows the "
        "share of correct forecasts, and the gain over no explanation."
    )
    rows = [["arm", "forecasts", "correct", "95% interval", "gain", "95% interval of the gain"]]
    for arm in arms:
        gain = gains.get(arm)
        more = ["-", "-"] if gain is None else [f"{gain.estimate:+.3f}", _range(gain)]
        count = int((forecasts.arm == arm).sum())
        rows.append(
            [names[arm], str(count), f"{means[arm].estimate:.3f}", _range(means[arm]), *more]
        )
    document.table(rows)
    document.plot(
        "forecasts.png",
        "Share of correct forecasts",
        plot_intervals(means, names, "share of correct forecasts", document.mark),
    )
    if none is not None:
        pairs = tuple((arm, none) for arm in arms if arm != none)
        _model(document, forecasts, arms, pairs, names, "shares of correct forecasts")


def _range(each: Interval) -> str:
    return f"{each.low:.3g} to {each.high:.3g}"
