"""Mutagenicity: molecules, with the groups of atoms that are known to make them mutagenic."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import IntArray
from .data import DataFile, read_data

__all__ = ["ATOMS", "Molecule", "load_mutagenicity"]

ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
_ARCHIVE = (
    "https://raw.githubusercontent.com/flyingdoog/PGExplainer/"
    "51edc7b3000e980635f68618af027ae24297f6e5/dataset/Mutagenicity.zip"
)
_CONTENTS = {
    "A": "ae85e22b4b898ebd819d2ed3adc8f06a7bf1cda746b333086472d19b36711145",
    "edge_gt": "d520a35eb480a94a36ff257d9a653d9bcd1fb8adae7698bfe72cc2c101cbce01",
    "graph_indicator": "88b2d83ff10fad75b3280654061e965976f74e75620058c371ed23567236b4bc",
    "graph_labels": "b604c7dcbfdf89193901e32abdcbf9b5b92137414ce22231f00ed65d48ec48f9",
    "node_labels": "b429ec418c831d02dc3088b2fe08d11214627850d2bbdacfa9797c0510e70ae7",
}


@dataclass(frozen=True)
class Molecule:
    """A molecule as a graph.

    Attributes:
        x: one-hot encoded :data:`ATOMS` of the nodes.
        edge_index: both directions of every bond.
        label: 0 for mutagenic, 1 for not.
        motif: the atoms of its NO2 and NH2 groups, which make molecules mutagenic.
    """

    x: NDArray[np.float32]
    edge_index: IntArray
    label: int
    motif: frozenset[int]


def load_mutagenicity(folder: str | os.PathLike[str] | None = None) -> list[Molecule]:
    """Return the 4,337 molecules.

    Raises:
        DataError: the files are missing and cannot be downloaded; see :func:`~.data.read_data`.
    """
    columns = {name: _column(name, digest, folder) for name, digest in _CONTENTS.items()}
    ends, graph_of = columns["A"].reshape(-1, 2).T - 1, columns["graph_indicator"] - 1
    labels = columns["graph_labels"]
    first_node = np.searchsorted(graph_of, np.arange(len(labels) + 1))
    order = np.argsort(graph_of[ends[0]], kind="stable")
    first_edge = np.searchsorted(graph_of[ends[0]][order], np.arange(len(labels) + 1))
    atoms = np.eye(len(ATOMS), dtype=np.float32)[columns["node_labels"]]
    molecules = []
    for number, label in enumerate(labels.tolist()):
        start = first_node[number]
        edges = order[first_edge[number] : first_edge[number + 1]]
        bonds = ends[:, edges] - start
        motif = bonds[:, columns["edge_gt"][edges] == 1]
        nodes = atoms[start : first_node[number + 1]]
        molecules.append(Molecule(nodes, bonds, label, frozenset(motif.ravel().tolist())))
    return molecules


def _column(name: str, sha256: str, folder: str | os.PathLike[str] | None) -> IntArray:
    path = f"Mutagenicity_{name}.txt"
    file = DataFile(f"Mutagenicity/{path}.gz", sha256, _ARCHIVE, member=path)
    return np.array(read_data(file, folder).replace(b",", b" ").split(), dtype=np.int64)
