"""The authors' trained models: Syn 6 with its graph, and superpixels."""

from __future__ import annotations

import os
from io import BytesIO

import numpy as np
import torch

from .data import DataFile, read_data
from .gnn import NodeGNN
from .node_data import NodeDataset
from .superpixel_gnn import SuperpixelGCN
from .synthetic import motif_truth

__all__ = ["load_author_superpixel_gcn", "load_author_syn6"]

_GRAPH = DataFile(
    "author_checkpoints/syn6_graph.npz",
    "4d745360d8b58ce9841b5fbfec3174d4b539b7b25e960b39bec4ed1376a24c0c",
)
_MODEL = DataFile(
    "author_checkpoints/syn6_model.npz",
    "1bd5c5eb2f63f9b667d4148baee961fab79ddca8561f0e5d7874915cb232a9c7",
)
_SUPERPIXELS = DataFile(
    "author_checkpoints/gcn_mnist_superpixels_epoch_188.npz",
    "da0730089cb70e0cfe2558b9c30772b842df341106056ca81a9d48648f6cec81",
)
_LAYERS = ("conv_first", "conv_block.0", "conv_last")
_SUPERPIXEL_NAMES = {
    "embedding_h": "embedding",
    "apply_mod.linear": "linear",
    "batchnorm_h": "norm",
    "MLP_layer.FC_layers.0": "head.0",
    "MLP_layer.FC_layers.1": "head.2",
    "MLP_layer.FC_layers.2": "head.4",
}
_BASE, _MOTIF_SIZE = 300, 5


def load_author_syn6(folder: str | os.PathLike[str] | None = None) -> tuple[NodeGNN, NodeDataset]:
    """Return the authors' Syn 6 model and data, read without executing anything from the files.

    Raises:
        DataError: the files are not there; see :func:`~.data.read_data`.
    """
    with np.load(BytesIO(read_data(_GRAPH, folder)), allow_pickle=False) as graph:
        data = _dataset({name: graph[name] for name in ("x", "edge_index", "y", "train_idx")})
    return _model(_weights(_MODEL, folder)), data


def load_author_superpixel_gcn(folder: str | os.PathLike[str] | None = None) -> SuperpixelGCN:
    """Return the authors' network for superpixels, read without executing anything from the file.

    Raises:
        DataError: the file is not there; see :func:`~.data.read_data`.
    """
    model = SuperpixelGCN()
    state = {
        "centre": torch.zeros(3),
        "spread": torch.ones(3),
    }  # trained without normalisation
    for name, value in _weights(_SUPERPIXELS, folder).items():
        for theirs, ours in _SUPERPIXEL_NAMES.items():
            name = name.replace(theirs, ours)
        state[name] = value
    model.load_state_dict(state)
    return model.eval()


def _weights(file: DataFile, folder: str | os.PathLike[str] | None) -> dict[str, torch.Tensor]:
    with np.load(BytesIO(read_data(file, folder)), allow_pickle=False) as weights:
        return {name: torch.from_numpy(np.asarray(weights[name])) for name in weights.files}


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
