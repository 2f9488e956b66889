"""Greedy structure search: hill climbing with a tabu list."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import check_whole_number
from ..limits import REPETITIONS
from .dag import DAG, Constraints
from .families import FamilyScores, family_scores

__all__ = ["climb", "hill_climb"]

_MOST_STEPS = 1_000_000
_TIE = 1e-9
"""Relative tolerance of ties, as gains of score-equivalent moves differ by rounding."""
_TABU = 20
_MAX_STEPS = 10_000

Move = tuple[str, int, int]
_KINDS = {"add": 0, "remove": 1, "reverse": 2}


def hill_climb(
    data: ArrayLike,
    cardinalities: ArrayLike,
    *,
    score: Any = "bic",
    max_parents: int | None = None,
    forbidden: Iterable[Iterable[int]] = (),
    required: Iterable[Iterable[int]] = (),
    tabu_length: int = _TABU,
    patience: int | None = None,
    restarts: int = 0,
    max_steps: int = _MAX_STEPS,
    seed: int = 0,
) -> DAG:
    """Search for a high-scoring network by adding, removing and reversing one edge at a time.

    The best move is made while it improves the score. At a local optimum the search continues for
    ``patience`` steps without undoing any of the last ``tabu_length`` moves (unless that gives a
    new best score), and climbs again if it finds a better network. Ties are broken in the order
    add, remove, reverse, then by the smaller parent, then by the smaller child, so the search is
    deterministic.

    Args:
        data: states ``[n, V]`` as small integers.
        cardinalities: number of states of each variable.
        score: a name in :data:`SCORES` or an object like those.
        max_parents: the maximum number of parents of a variable; None for no limit.
        forbidden, required: pairs (parent, child).
        tabu_length: the number of last moves that must not be undone.
        patience: the number of steps without improvement; None for a number from 5 to 100 that
            grows with the number of variables.
        restarts: the number of restarts from the best network with a few random changes, at most
            10,000.
        max_steps: the maximum number of moves of each climb, at most a million.
        seed: seed of the restarts.

    Returns:
        The best network found.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> cause = rng.integers(0, 2, 500)
        >>> data = np.stack([cause, cause, rng.integers(0, 2, 500)], axis=1)
        >>> hill_climb(data, [2, 2, 2]).edges
        ((0, 1),)
    """
    families = family_scores(data, cardinalities, score)
    if families.num_variables < 2:
        return DAG(families.num_variables)
    limits = Constraints.of(families.num_variables, max_parents, forbidden, required)
    tabu_length = check_whole_number(tabu_length, "tabu_length", at_least=0)
    if patience is not None:
        patience = check_whole_number(patience, "patience", at_least=0, at_most=_MOST_STEPS)
    restarts = check_whole_number(restarts, "restarts", at_least=0, at_most=REPETITIONS)
    max_steps = check_whole_number(max_steps, "max_steps", at_least=1, at_most=_MOST_STEPS)
    rng = np.random.default_rng(check_whole_number(seed, "seed", at_least=0))

    climb_from = partial(
        climb, families, limits, patience=patience, tabu_length=tabu_length, max_steps=max_steps
    )
    best, best_score = climb_from()
    for _ in range(restarts):
        found, score_found = climb_from(_shaken(best, families, limits, rng))
        if score_found > best_score + _TIE * abs(best_score):
            best, best_score = found, score_found
    return best


def climb(
    families: FamilyScores,
    limits: Constraints,
    start: DAG | None = None,
    *,
    patience: int | None = None,
    tabu_length: int = _TABU,
    max_steps: int = _MAX_STEPS,
) -> tuple[DAG, float]:
    """Climb from a network.

    Args:
        families: the scores of families.
        limits: the constraints on the network.
        start: the network to start from; None for that of the required edges.
        patience, tabu_length, max_steps: as in :func:`hill_climb`.

    Returns:
        The best network, and its score.
    """
    if patience is None:
        patience = min(max(5, families.num_variables**2 // 4), 100)
    start = limits.required if start is None else start
    state = _State(families, limits, start)
    best, best_gain, gain = start.edges, 0.0, 0.0
    tabu: deque[Move] = deque(maxlen=min(tabu_length, max_steps))
    without_gain = 0
    for _ in range(max_steps):
        found = state.best_move(tabu, best_gain - gain)
        if found is None:
            break
        move, its_gain = found
        if its_gain <= 0 and without_gain >= patience:
            break
        state.make(move)
        tabu.append(_inverse(move))
        gain += its_gain
        if gain > best_gain + _TIE * max(1.0, abs(best_gain)):
            best, best_gain, without_gain = state.edges(), gain, 0
        else:
            without_gain += 1
    dag = DAG(families.num_variables, best)
    return dag, families.network(dag)


def _inverse(move: Move) -> Move:
    """Return the move that would undo a move."""
    kind, parent, child = move
    if kind == "reverse":
        return kind, child, parent
    return "remove" if kind == "add" else "add", parent, child


def _shaken(dag: DAG, families: FamilyScores, limits: Constraints, rng: np.random.Generator) -> DAG:
    """Return a network after a few random legal moves."""
    state = _State(families, limits, dag)
    for _ in range(max(2, dag.num_variables // 2)):
        moves = state.legal_moves()
        if moves:
            state.make(moves[rng.integers(len(moves))])
    return DAG(dag.num_variables, state.edges())


class _State:
    """The state of the search: the edges, and the gain of each possible move.

    ``_gain[u, v]`` is the gain of adding the edge (u, v), or of removing it if it exists. Scores
    decompose, so a move changes only the gains of edges into its child, and the gain of a reversal
    is the sum of the gains of removing the edge and adding the reversed one.
    """

    def __init__(self, families: FamilyScores, limits: Constraints, start: DAG) -> None:
        size = families.num_variables
        self._families, self._limits, self._size = families, limits, size
        self._edge = np.zeros((size, size), dtype=bool)
        for edge in start.edges:
            self._edge[edge] = True
        self._fixed = np.zeros((size, size), dtype=bool)
        for edge in limits.required.edges:
            self._fixed[edge] = True
        self._known: dict[tuple[int, tuple[int, ...]], NDArray[np.float64]] = {}
        self._gain = np.zeros((size, size))
        for child in range(size):
            self._update_gains(child)
        self._update_paths()

    def edges(self) -> tuple[tuple[int, int], ...]:
        return tuple((int(u), int(v)) for u, v in np.argwhere(self._edge))

    def legal_moves(self) -> list[Move]:
        gains = self._gains((), np.inf)
        return [self._move(int(at)) for at in np.flatnonzero(np.isfinite(gains))]

    def best_move(self, tabu: Iterable[Move], enough: float) -> tuple[Move, float] | None:
        """Return the best move and its gain; a tabu move must gain more than ``enough``."""
        gains = self._gains(tabu, enough)
        top = float(gains.max())
        if top == -np.inf:
            return None
        first = int((gains >= top - _TIE * max(1.0, abs(top))).argmax())
        return self._move(first), float(gains[first])

    def make(self, move: Move) -> None:
        kind, parent, child = move
        self._edge[parent, child] = kind == "add"
        self._update_gains(child)
        if kind == "reverse":
            self._edge[child, parent] = True
            self._update_gains(parent)
        self._update_paths()

    def _move(self, flat: int) -> Move:
        kind, edge = divmod(flat, self._size**2)
        return tuple(_KINDS)[kind], *divmod(edge, self._size)

    def _gains(self, tabu: Iterable[Move], enough: float) -> NDArray[np.float64]:
        """Return the gain of every move, -inf if it is illegal, in the order of preference."""
        edge, allowed = self._edge, self._limits.allowed
        loose = edge & ~self._fixed
        # Adding u -> v closes a cycle if v reaches u; reversing it does if there is another path.
        can_add = allowed & ~(edge | self._reaches.T)
        can_reverse = loose & allowed.T & ~self._roundabout
        if self._limits.max_parents < self._size - 1:
            has_space = edge.sum(axis=0) < self._limits.max_parents
            can_add &= has_space
            can_reverse &= has_space[:, None]
        gains = np.full((3, self._size, self._size), -np.inf)
        np.copyto(gains[0], self._gain, where=can_add)
        np.copyto(gains[1], self._gain, where=loose)
        np.copyto(gains[2], self._gain + self._gain.T, where=can_reverse)
        enough += _TIE * max(1.0, abs(enough))
        for kind, parent, child in tabu:
            at = _KINDS[kind], parent, child
            if gains[at] <= enough:
                gains[at] = -np.inf
        return gains.ravel()

    def _update_gains(self, child: int) -> None:
        parents = tuple(np.flatnonzero(self._edge[:, child]).tolist())
        if (child, parents) not in self._known:  # cached, because the search revisits families
            now = self._families.family(child, parents)
            self._known[child, parents] = self._families.toggled(child, parents) - now
        self._gain[:, child] = self._known[child, parents]

    def _update_paths(self) -> None:
        """Update which variables reach which, and which edges have an alternative path."""
        edge = self._edge.astype(np.float32)
        reaches = edge
        for _ in range(int(self._edge.any(axis=0).sum()).bit_length()):
            reaches = np.minimum(reaches + reaches @ reaches, 1)
        self._reaches = reaches > 0
        self._roundabout = self._edge & (edge @ reaches > 0)
