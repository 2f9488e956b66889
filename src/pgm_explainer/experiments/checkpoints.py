"""The authors' own trained model for Syn 6, with the graph it was trained on."""

from __future__ import annotations

import os
from io import BytesIO

import numpy as np
import torch

from .data import DataFile, read_data
from .gnn import NodeGNN
from .node_data import NodeDataset
from .synthetic import motif_truth

__all__ = ["load_author_syn6"]

_GRAPH = DataFile(
    "author_checkpoints/syn6_graph.npz",
    "4d745360d8b58ce9841b5fbfec3174d4b539b7b25e960b39bec4ed1376a24c0c",
)
_MODEL = DataFile(
    "author_checkpoints/syn6_model.npz",
    "1bd5c5eb2f63f9b667d4148baee961fab79ddca8561f0e5d7874915cb232a9c7",
)
_LAYERS = ("conv_first", "conv_block.0", "conv_last")
_BASE, _MOTIF_SIZE = 300, 5


def load_author_syn6(folder: str | os.PathLike[str] | None = None) -> tuple[NodeGNN, NodeDataset]:
    """Return the authors' Syn 6 model and data, read without executing anything from the files.

    Raises:
        DataError: the files are not there; see :func:`~.data.read_data`.
    """
    with np.load(BytesIO(read_data(_GRAPH, folder)), allow_pickle=False) as graph:
        data = _dataset({name: graph[name] for name in ("x", "edge_index", "y", "train_idx")})
    with np.load(BytesIO(read_data(_MODEL, folder)), allow_pickle=False) as weights:
        model = _model({name: torch.from_numpy(weights[name]) for name in weights.files})
    return model, data


def _dataset(graph: dict[str, np.ndarray]) -> NodeDataset:
    nodes = np.arange(len(graph["y"]))
    train = np.zeros(len(nodes), dtype=bool)
    train[graph["train_idx"]] = True
    return NodeDataset(
        name="syn6 (authors)",
        x=graph["x"],
        edge_index=graph["edge_index"].astype(np.int64),
        y=graph["y"].astype(np.int64),
        train=train,
        truth=motif_truth(np.where(nodes < _BASE, -1, (nodes - _BASE) // _MOTIF_SIZE)),
    )


def _model(weights: dict[str, torch.Tensor]) -> NodeGNN:
    features, hidden = weights["conv_first.weight"].shape
    model = NodeGNN(features, len(weights["pred_model.bias"]), hidden)
    state = {"head.weight": weights["pred_model.weight"], "head.bias": weights["pred_model.bias"]}
    for at, name in enumerate(_LAYERS):
        state[f"layers.{at}.linear.weight"] = weights[f"{name}.weight"].T
        state[f"layers.{at}.bias"] = weights[f"{name}.bias"]
    model.load_state_dict(state)
    return model.eval()
