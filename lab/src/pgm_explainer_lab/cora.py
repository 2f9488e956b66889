"""Cora: papers that cite each other, classified by their words."""

from __future__ import annotations

import os
from io import BytesIO

import numpy as np
from scipy.sparse import csr_array

from .data import DataFile, read_data
from .node_data import NodeDataset

__all__ = ["load_cora"]

_CORA = DataFile(
    "planetoid/cora_assembled.npz",
    "ec76d940a4a90329456942b4fbf395fe2c6c510f091e688a86072d5702950236",
)


def load_cora(folder: str | os.PathLike[str] | None = None) -> NodeDataset:
    """Return Cora with the usual split of Planetoid; there are no true explanations.

    Raises:
        DataError: the file is not there; see :func:`~.data.read_data`.
    """
    with np.load(BytesIO(read_data(_CORA, folder)), allow_pickle=False) as file:
        parts = [file[f"x_{name}"] for name in ("data", "indices", "indptr")]
        x = csr_array(tuple(parts), shape=tuple(file["x_shape"])).toarray()
        train = np.zeros(len(x), dtype=bool)
        train[file["train_idx"]] = True
        return NodeDataset(
            name="cora",
            x=x.astype(np.float32),
            edge_index=file["edge_index"].astype(np.int64),
            y=file["y"].astype(np.int64),
            train=train,
            truth={},
        )
