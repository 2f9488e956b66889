"""All readers of untrusted files, and typical uses of their results."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pgm_explainer import PGMExplainer
from pgm_explainer.cli.csv_graph import read_csv_graph
from pgm_explainer.cli.inputs import read_graph
from pgm_explainer.cli.parts import _read as parse_groups
from pgm_explainer.dataset.rows import read_table
from pgm_explainer.explanation.formats.json_file import parse_explanations
from pgm_explainer.io import explanation_to_dict
from pgm_explainer.network.formats.bif import network_from_bif
from pgm_explainer.network.formats.xmlbif import network_from_xmlbif
from pgm_explainer.storage.array_file import parse_npy


@contextmanager
def no_longer_than(seconds):
    def late(*_):
        raise TimeoutError(f"still reading after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def use(explanations):
    """What a user does with explanations; all of it must work on those that were accepted."""
    for explanation in explanations:
        str(explanation)
        explanation_to_dict(explanation)
        if explanation.network is not None:
            assert 0 <= explanation.query() <= 1 + 1e-9
            explanation.network.to_dot()


def use_network(network):
    assert abs(network.query(network.nodes[0]).sum() - 1) < 1e-6


def model(x, edge_index):
    return x


def use_graph(graph):
    PGMExplainer(model, graph.x, graph.edge_index, num_samples=20)


def read_file_by(read):
    def of(document, place):
        path = place / "file"
        path.write_bytes(document)
        return read(path)

    return of


def read_npz(path):
    return use_graph(read_graph(path.rename(path.with_suffix(".npz")), trust=False))


def read_pt(path):
    use_graph(read_graph(path, trust=False))


def read_csv(path):
    edges = path.with_name("edges.csv")
    edges.write_text("Ann,Bob\nBob,Cid\n")
    read_csv_graph(edges, path, undirected=True)
    read_csv_graph(path, path, undirected=False)


def read_groups(document, _):
    groups = parse_groups(document, Path("groups.csv")).groups(None)
    PGMExplainer(model, np.eye(3), np.zeros((2, 0)), parts=groups, num_samples=20)


READ = {
    "json": lambda document, _: use(parse_explanations(document)),
    "bif": lambda document, _: use_network(network_from_bif(document)),
    "xmlbif": lambda document, _: use_network(network_from_xmlbif(document)),
    "npy": lambda document, _: parse_npy(document).tolist(),
    "npz": read_file_by(read_npz),
    "pt": read_file_by(read_pt),
    "csv": read_file_by(read_csv),
    "groups": read_groups,
    "parquet": lambda document, _: read_table(
        document, "shard", ["target", "explanation", "error"]
    ),
}
