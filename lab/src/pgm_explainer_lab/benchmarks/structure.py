"""Structure searches compared with pgmpy's on the same data: 800 rows of four-state variables."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pgm_explainer.structure import (
    UndirectedGraph,
    bic_score,
    decomposable_score,
    decomposable_search,
    exact_search,
    ges,
    hill_climb,
)

from .measure import Row, seconds, timed

_SETS = 3


def rows() -> Iterator[Row]:
    _pgmpy(random_data(2, seed=0))  # excludes the import from the timing
    for variables in (5, 10, 20, 30):
        data = [random_data(variables, seed) for seed in range(_SETS)]
        sizes = [4] * variables
        ours = sum(seconds(partial(hill_climb, each, sizes), repeats=5) for each in data)
        chordal = sum(seconds(partial(decomposable_search, each, sizes)) for each in data)
        theirs, worst, worst_chordal = 0.0, np.inf, np.inf
        for each in data:
            took, edges = timed(partial(_pgmpy, each))
            theirs += took
            mine = bic_score(each, sizes, hill_climb(each, sizes).edges)
            worst = min(worst, mine - bic_score(each, sizes, edges))
            mine = decomposable_score(decomposable_search(each, sizes), each, sizes)
            theirs_chordal = decomposable_score(_chordal(variables, edges), each, sizes)
            worst_chordal = min(worst_chordal, mine - theirs_chordal)
        ratio = theirs / ours
        yield Row(
            f"pgmpy hill climbing / ours, {variables} variables",
            f"{ratio:.0f}×, BIC better by at least {worst:.1f}",
        )
        if 10 <= variables <= 20:
            yield Row(
                f"pgmpy hill climbing / our decomposable search, {variables} variables",
                f"{theirs / chordal:.0f}×, BIC of the chordal graph better by at least "
                f"{worst_chordal:.1f}",
            )
    yield from _ges_rows()
    data15 = random_data(15, seed=0)
    took = seconds(partial(exact_search, data15, [4] * 15))
    yield Row("exact search, 15 four-state variables", f"{took:.2f} s")
    took = seconds(partial(exact_search, data15 % 2, [2] * 15))
    yield Row("exact search, 15 binary variables", f"{took:.2f} s")


def _ges_rows() -> Iterator[Row]:
    """Compare GES with pgmpy's, on one data set, because pgmpy's takes minutes."""
    _pgmpy_ges(random_data(2, seed=0))
    for variables in (10, 15, 20):
        data, sizes = random_data(variables, seed=0), [4] * variables
        ours = seconds(partial(ges, data, sizes), repeats=5)
        theirs, edges = timed(partial(_pgmpy_ges, data))
        better = bic_score(data, sizes, ges(data, sizes).edges) - bic_score(data, sizes, edges)
        yield Row(
            f"pgmpy GES / ours, {variables} variables",
            f"{theirs / ours:.0f}×, BIC better by {better:.1f}",
        )


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


def _chordal(variables: int, edges: list[tuple[int, int]]) -> UndirectedGraph:
    """Return the chordal graph of a Bayesian network: parents of a child joined, then filled in.

    pgmpy learns no Markov network from data. This is how its ``to_junction_tree`` makes one.
    """
    parents = [[u for u, v in edges if v == child] for child in range(variables)]
    married = [(u, v) for its in parents for u in its for v in its if u < v]
    return UndirectedGraph(variables, (*edges, *married)).triangulated()


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


def _pgmpy_ges(data: NDArray[np.int64]) -> list[tuple[int, int]]:
    import pandas as pd
    from pgmpy.estimators import GES

    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame(data).astype("category")
        states = {column: [0, 1, 2, 3] for column in frame}
        found = GES(frame, state_names=states).estimate(scoring_method="bic-d")
        return [(int(u), int(v)) for u, v in found.to_dag().edges()]
