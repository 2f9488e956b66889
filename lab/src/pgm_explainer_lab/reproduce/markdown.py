"""Markdown tables: means with their spread, and marks for reaching a published figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ["MARKS", "marked", "mean_and_spread", "table"]

MARKS = "**Bold** reaches the paper's figure for PGM-Explainer, ▼ does not."


def mean_and_spread(values: Iterable[float], digits: int = 3) -> str:
    """Return the mean, ± the sample standard deviation if there are several; NaNs are skipped.

    Examples:
        >>> mean_and_spread([0.9, 1.0]), mean_and_spread([0.5]), mean_and_spread([])
        ('0.950 ± 0.071', '0.500', '')
    """
    figures = [value for value in values if not np.isnan(value)]
    if not figures:
        return ""
    mean = f"{np.mean(figures):.{digits}f}"
    return mean if len(figures) == 1 else f"{mean} ± {np.std(figures, ddof=1):.{digits}f}"


def marked(values: Sequence[float], published: float | None) -> str:
    """Return mean and spread, in bold if the mean reaches a published figure and with ▼ if not.

    The mean is rounded to the digits shown before it is compared.

    Examples:
        >>> marked([0.9649], 0.965), marked([0.8], 0.965), marked([0.8], None)
        ('**0.965**', '0.800 ▼', '0.800')
    """
    text = mean_and_spread(values)
    if not text or published is None:
        return text
    return f"**{text}**" if round(float(np.mean(values)), 3) >= published else f"{text} ▼"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows, the header first, as a table with centred figures.

    Examples:
        >>> print(table([["", "a"], ["mean", "1"]]))
        |  | a |
        |---|:-:|
        | mean | 1 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|" + ":-:|" * (len(rows[0]) - 1), *lines[1:]])
