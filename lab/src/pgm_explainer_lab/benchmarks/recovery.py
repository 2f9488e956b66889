"""How often PC and GES find the class of a known network, compared with other packages.

Data of random networks of 8 variables with 2, 3 and 4 states, up to two parents and 1,000 rows. For
all packages, the states of a variable are those that occur, because pgmpy's GES counts no others.
The others are pgmpy and, if it is installed, causal-learn, which the tests do not need.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from pgm_explainer.structure import CPDAG, cpdag, ges, pc

from ..reproduce.model_cells import known_network
from .measure import Row

_VARIABLES, _NETWORKS, _FIRST_SEED = 8, 100, 2000
_LEVEL, _MOST_CONDITION = 0.05, 3

Edges = frozenset[tuple[int, int]]
Class = tuple[Edges, Edges]
"""The directed edges of an equivalence class, and the undirected ones, smaller variable first."""
Search = Callable[[NDArray[np.int64], list[int]], Class]
"""From data and the number of states of each variable to the class found."""


def rows() -> Iterator[Row]:
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    for states in (2, 3, 4):
        for algorithm, searches in _searches().items():
            found = dict.fromkeys(searches, 0)
            for seed in range(_FIRST_SEED, _FIRST_SEED + _NETWORKS):
                truth, data = known_network(seed, _VARIABLES, states)
                observed, sizes = _observed(data)
                for name, search in searches.items():
                    found[name] += search(observed, sizes) == _class(cpdag(truth))
            yield Row(
                f"class found of {_NETWORKS} networks, {states} states, {algorithm}",
                ", ".join(f"{name} {number}" for name, number in found.items()),
            )


def _searches() -> dict[str, dict[str, Search]]:
    found: dict[str, dict[str, Search]] = {
        "PC": {"ours": _our_pc, "pgmpy": _pgmpy_pc},
        "GES": {"ours": _our_ges, "pgmpy": _pgmpy_ges},
    }
    if importlib.util.find_spec("causallearn"):
        found["PC"]["causal-learn"] = _causal_learn_pc
    return found


def _observed(data: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[int]]:
    """Return the data with the states that occur as 0, 1, …, and how many each variable has."""
    columns = [np.unique(column, return_inverse=True) for column in data.T]
    return np.stack([codes for _, codes in columns], axis=1), [len(seen) for seen, _ in columns]


def _class(found: CPDAG) -> Class:
    return frozenset(found.directed), _sorted(found.undirected)


def _sorted(edges: object) -> Edges:
    return frozenset((min(edge), max(edge)) for edge in edges)  # type: ignore[attr-defined]


def _our_pc(data: NDArray[np.int64], sizes: list[int]) -> Class:
    return _class(cpdag(pc(data, sizes, significance=_LEVEL)))


def _our_ges(data: NDArray[np.int64], sizes: list[int]) -> Class:
    return _class(cpdag(ges(data, sizes)))


def _pgmpy_pc(data: NDArray[np.int64], _: list[int]) -> Class:
    import pandas as pd
    from pgmpy.estimators import PC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PC(pd.DataFrame(data).astype("category").rename(columns=str)).estimate(
            variant="stable",
            ci_test="log_likelihood",
            significance_level=_LEVEL,
            max_cond_vars=_MOST_CONDITION,
            n_jobs=1,
            show_progress=False,
        )
    return _of_pgmpy(found)


def _pgmpy_ges(data: NDArray[np.int64], _: list[int]) -> Class:
    import pandas as pd
    from pgmpy.estimators import GES

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame(data).astype("category").rename(columns=str)
        return _of_pgmpy(GES(frame).estimate(scoring_method="bic-d"))


def _of_pgmpy(found: object) -> Class:
    directed = frozenset((int(u), int(v)) for u, v in found.directed_edges)  # type: ignore[attr-defined]
    return directed, _sorted((int(u), int(v)) for u, v in found.undirected_edges)  # type: ignore[attr-defined]


def _causal_learn_pc(data: NDArray[np.int64], _: list[int]) -> Class:
    from causallearn.search.ConstraintBased.PC import pc as their_pc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = their_pc(data, alpha=_LEVEL, indep_test="gsq", stable=True, show_progress=False)
    ends = found.G.graph  # -1 is a tail at the row's variable, 1 an arrowhead
    pairs = [(u, v) for u in range(_VARIABLES) for v in range(_VARIABLES) if u != v]
    directed = frozenset((u, v) for u, v in pairs if ends[u, v] == -1 and ends[v, u] == 1)
    return directed, _sorted((u, v) for u, v in pairs if ends[u, v] == ends[v, u] != 0)
