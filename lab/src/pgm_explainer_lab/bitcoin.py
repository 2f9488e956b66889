"""Bitcoin-Alpha and Bitcoin-OTC: trust networks in which accounts rate each other.

The class of an account is determined by the ratings it receives; its features describe the ratings
it gives. A model must therefore use the accounts that rated a target, and an explanation is right
if it names accounts that rated the target positively.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray, IntArray, choose, seeded
from .data import DataFile, read_data
from .node_data import NodeDataset

__all__ = ["BITCOIN", "load_bitcoin"]

_SOURCE = (
    "https://raw.githubusercontent.com/vunhatminh/PGMExplainer/"
    "715402aa9a014403815f518c4c7d9258eb49bbe9/PGM_Node/Generate_XA_Data/data/"
)
BITCOIN = {
    "alpha": DataFile(
        "bitcoin/bitcoinalpha.csv.gz",
        "38a476b6d923d1715967ebc9a733bbad568eb7035b5bdcca266486e0f429256b",
        _SOURCE + "bitcoinalpha/bitcoinalpha.csv",
    ),
    "otc": DataFile(
        "bitcoin/bitcoinotc.csv.gz",
        "1842e23595de033606319c0194a4474b35e95f2bf21c8c2aee63234cae67145c",
        _SOURCE + "bitcoinotc/bitcoinotc.csv",
    ),
}
_ENOUGH_RATINGS, _GOOD_MEAN_SIGN = 3, 0.3
_FEW_NEIGHBOURS = 2


@dataclass(frozen=True)
class _Ratings:
    """Ratings from -10 to 10 between accounts, which are numbered by first appearance."""

    giver: IntArray
    receiver: IntArray
    value: IntArray
    accounts: int

    def per(self, account: IntArray, values: FloatArray) -> FloatArray:
        """Sum values by account."""
        return np.bincount(account, values, self.accounts).astype(np.float64)


def load_bitcoin(
    name: str,
    seed: int = 0,
    train_share: float = 0.8,
    folder: str | os.PathLike[str] | None = None,
) -> NodeDataset:
    """Return one of the two trust networks as the paper used it, on an undirected copy.

    An account is trustworthy (class 1) if it received three ratings or more whose signs average to
    0.3 or more. The true explanation of an account is the set of accounts that rated it positively.
    Accounts with more than two neighbours are explained.

    Args:
        name: ``alpha`` or ``otc``.
        seed: determines the accounts to train on.
        train_share: share of accounts to train on.
        folder: the data folder; see :func:`~.data.data_folder`.

    Raises:
        DataError: the file is missing and cannot be downloaded.
    """
    file = choose(name, "Bitcoin data set", BITCOIN)
    rng = seeded(seed)
    ratings = _parse(read_data(file, folder))
    pairs = np.stack((ratings.giver, ratings.receiver))
    edge_index = np.unique(np.concatenate((pairs, pairs[::-1]), axis=1), axis=1)
    train = np.zeros(ratings.accounts, dtype=bool)
    train[rng.permutation(ratings.accounts)[: round(train_share * ratings.accounts)]] = True
    return NodeDataset(
        name=name,
        x=_features(ratings),
        edge_index=edge_index,
        y=_trustworthy(ratings),
        train=train,
        truth=_truth(ratings, edge_index),
    )


def _parse(contents: bytes) -> _Ratings:
    rows = np.loadtxt(contents.decode().splitlines(), np.int64, delimiter=",", skiprows=1)
    ids, first, number = np.unique(rows[:, :2], return_index=True, return_inverse=True)
    rank = np.empty(len(ids), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(ids))
    giver, receiver = rank[number.reshape(-1, 2)].T
    return _Ratings(giver, receiver, rows[:, 2], len(ids))


def _trustworthy(ratings: _Ratings) -> IntArray:
    received = np.bincount(ratings.receiver, minlength=ratings.accounts)
    signs = ratings.per(ratings.receiver, np.sign(ratings.value))
    good = signs >= _GOOD_MEAN_SIGN * received
    return ((received >= _ENOUGH_RATINGS) & good).astype(np.int64)


def _features(ratings: _Ratings) -> NDArray[np.float32]:
    """Return eight numbers in [0, 1] that describe each account's ratings of others."""
    giver, value = ratings.giver, ratings.value / 10
    given = np.bincount(giver, minlength=ratings.accounts)
    received = np.bincount(ratings.receiver, minlength=ratings.accounts)
    positives = ratings.per(giver, (value > 0).astype(float))
    praise = _share(ratings.per(giver, value.clip(0)), positives)
    blame = _share(ratings.per(giver, -value.clip(None, 0)), given - positives)
    columns = [
        praise,
        blame,
        _share(positives, given),
        (_share(ratings.per(giver, value), given) + 1) / 2,
        *(part * count / count.max() for count in (received, given) for part in (praise, blame)),
    ]
    x = np.stack(columns, axis=1) / 1.01 + 0.001
    x[given == 0] = 0.001
    return x.astype(np.float32)


def _share(total: FloatArray, count: IntArray | FloatArray) -> FloatArray:
    return np.divide(total, count, out=np.zeros(len(total)), where=count > 0)


def _truth(ratings: _Ratings, edge_index: IntArray) -> dict[int, frozenset[int]]:
    neighbours = np.bincount(edge_index[1], minlength=ratings.accounts)
    praised_by: dict[int, set[int]] = {
        int(account): {int(account)} for account in np.flatnonzero(neighbours > _FEW_NEIGHBOURS)
    }
    positive = ratings.value > 0
    for giver, receiver in zip(ratings.giver[positive], ratings.receiver[positive], strict=True):
        if receiver in praised_by:
            praised_by[int(receiver)].add(int(giver))
    return {account: frozenset(givers) for account, givers in praised_by.items()}
