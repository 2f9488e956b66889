"""Hill climbing compared with pgmpy's on the same data: 800 rows of four-state variables."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pgm_explainer.structure import bic_score, exact_search, hill_climb

from .measure import Row, seconds, timed

_SETS = 3


def rows() -> Iterator[Row]:
    _pgmpy(random_data(2, seed=0))  # excludes the import from the timing
    for variables in (5, 10, 20, 30):
        data = [random_data(variables, seed) for seed in range(_SETS)]
        sizes = [4] * variables
        ours = sum(seconds(partial(hill_climb, each, sizes), repeats=5) for each in data)
        theirs, worst = 0.0, np.inf
        for each in data:
            took, edges = timed(partial(_pgmpy, each))
            theirs += took
            mine = bic_score(each, sizes, hill_climb(each, sizes).edges)
            worst = min(worst, mine - bic_score(each, sizes, edges))
        ratio = theirs / ours
        yield Row(
            f"pgmpy hill climbing / ours, {variables} variables",
            f"{ratio:.0f}×, BIC better by at least {worst:.1f}",
            "≥ 30×, BIC no worse",
            ratio >= 30 and worst >= -1e-6,
        )
    data15 = random_data(15, seed=0)
    took = seconds(partial(exact_search, data15, [4] * 15))
    yield Row("exact search, 15 four-state variables", f"{took:.2f} s", "seconds", took < 10)
    took = seconds(partial(exact_search, data15 % 2, [2] * 15))
    yield Row("exact search, 15 binary variables", f"{took:.2f} s", "seconds", took < 10)


def random_data(variables: int, seed: int) -> NDArray[np.int64]:
    """Return samples of a random network in which a child often copies a parent, shifted."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 4, (800, variables))
    for child in range(1, variables):
        parents = rng.choice(child, size=min(child, int(rng.integers(0, 4))), replace=False)
        for shift, parent in enumerate(parents):
            copies = rng.random(800) < 0.4
            data[copies, child] = (data[copies, parent] + shift) % 4
    return data


def _pgmpy(data: NDArray[np.int64]) -> list[tuple[int, int]]:
    import pandas as pd
    from pgmpy.estimators import HillClimbSearch

    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame(data).astype("category")
        states = {column: [0, 1, 2, 3] for column in frame}
        found = HillClimbSearch(frame, state_names=states).estimate(
            scoring_method="bic-d", show_progress=False
        )
    return [(int(u), int(v)) for u, v in found.edges()]
