"""Answers as a table, and the raters that each rule excludes from the analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..design import ATTENTION, CHECK, FORECAST, RATING, REPEAT, plan
from ..store import Store
from ..study_file import Study

__all__ = [
    "COLUMNS",
    "Exclusion",
    "answers_table",
    "consistency",
    "exclusions",
    "kept_answers",
    "scored",
]

COLUMNS = {
    "rater": "number of the rater, from 1; not related to the personal link",
    "source": "human, pilot, imported (from a static page) or simulated",
    "slot": "number that determines the rater's trials",
    "trial": "number of the trial in the rater's order, from 0",
    "kind": "check (of the instructions), forecast, rating, attention or repeat (of a rating)",
    "item": "id of the item; empty for a check",
    "arm": "id of the arm; empty for a check",
    "round": "how many times the rater had rated the item before, by design",
    "value": "the newest answer: a number of the scale, or the number of the option from 0",
    "correct": "1 if the answer is right, 0 if not; empty where there is no right answer",
    "attempts": "how many answers were submitted to this trial",
    "right_at": "for a check, the first attempt that was right, from 1; empty if none was",
    "ms": "milliseconds from showing the trial to the newest answer",
}
"""The columns of the table of answers, for the codebook."""


def answers_table(study: Study, store: Store, pilot: bool = False) -> pd.DataFrame:
    """Return one row for each trial that was answered, with the columns of :data:`COLUMNS`.

    Args:
        pilot: return the answers of the pilot instead of all others.
    """
    history: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for who, asked, value, ms, _ in store.history():
        history.setdefault((who, asked), []).append((value, ms))
    rows: list[tuple[Any, ...]] = []
    for rater in store.raters():
        if (rater.source == "pilot") != pilot:
            continue
        for number, trial in enumerate(plan(study, rater.slot)):
            given = history.get((rater.id, number))
            if given is None:
                continue
            value, ms = given[-1]
            right = trial.correct
            hits = [at for at, (each, _) in enumerate(given, 1) if each == right]
            rows.append(
                (
                    rater.id,
                    rater.source,
                    rater.slot,
                    number,
                    trial.kind,
                    None if trial.item is None else trial.item.id,
                    trial.arm,
                    trial.round,
                    value,
                    None if right is None else int(value == right),
                    len(given),
                    hits[0] if trial.kind == CHECK and hits else None,
                    ms,
                )
            )
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"correct": "Int64", "right_at": "Int64"})


@dataclass(frozen=True)
class Exclusion:
    """A rule, and the raters that break it."""

    rule: str
    raters: frozenset[int]


def exclusions(study: Study, table: pd.DataFrame) -> list[Exclusion]:
    """Return the raters that break each rule of the study; a rater may break several."""
    rules = study.exclusions
    length = len(plan(study, 0))
    by_rater = list(table.groupby("rater"))

    def those(breaks: Any) -> frozenset[int]:
        return frozenset(int(rater) for rater, rows in by_rater if breaks(rows))

    def checks_failed(rows: pd.DataFrame) -> bool:
        checks = rows[rows.kind == CHECK]
        return bool((~(checks.right_at <= rules.check_attempts).fillna(False)).any())

    def attention_failed(rows: pd.DataFrame) -> bool:
        wrong = (rows[rows.kind == ATTENTION].correct == 0).sum()
        return bool(wrong > rules.attention_failures)

    def fast(rows: pd.DataFrame) -> bool:
        times = rows[rows.kind == RATING].ms
        return len(times) > 0 and bool(times.median() < rules.least_median_ms)

    def constant(rows: pd.DataFrame) -> bool:
        values = rows[rows.kind == RATING].value
        return len(values) > 1 and bool(
            values.value_counts(normalize=True).iloc[0] > rules.same_answer
        )

    return [
        Exclusion(
            f"answered fewer than {rules.least_answered:.0%} of the questions",
            those(lambda rows: len(rows) < rules.least_answered * length),
        ),
        Exclusion(
            f"did not answer a question about the instructions correctly within "
            f"{rules.check_attempts} attempts",
            those(checks_failed),
        ),
        Exclusion(
            f"failed more than {rules.attention_failures} attention checks", those(attention_failed)
        ),
        Exclusion(f"rated faster than {rules.least_median_ms} ms in the median", those(fast)),
        Exclusion(
            f"gave the same number in more than {rules.same_answer:.0%} of the ratings",
            those(constant),
        ),
    ]


def kept_answers(table: pd.DataFrame, excluded: list[Exclusion]) -> pd.DataFrame:
    """Return the rows of raters that break no rule."""
    out: set[int] = set().union(*(each.raters for each in excluded))
    return table[~table.rater.isin(out)]


def consistency(table: pd.DataFrame) -> tuple[int, float, float] | None:
    """Return how well repeated ratings agree: pairs, mean absolute difference, correlation."""
    keys = ["rater", "item", "arm"]
    again = table[table.kind == REPEAT][[*keys, "value"]]
    first = table[table.kind == RATING][[*keys, "value"]]
    pairs = again.merge(first, on=keys, suffixes=("_again", "_first"))
    if pairs.empty:
        return None
    a, b = pairs.value_again.to_numpy(float), pairs.value_first.to_numpy(float)
    varied = len(a) > 2 and a.std() > 0 and b.std() > 0
    correlation = float(np.corrcoef(a, b)[0, 1]) if varied else float("nan")
    return len(pairs), float(np.abs(a - b).mean()), correlation


def scored(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return rater, item, arm and score: ratings, or whether forecasts were right."""
    rows = table[table.kind == kind]
    score = rows.correct if kind == FORECAST else rows.value
    return pd.DataFrame(
        {"rater": rows.rater, "item": rows["item"], "arm": rows.arm, "score": score.astype(float)}
    )
