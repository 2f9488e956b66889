"""Mutated files of every kind: read correctly, or refused by an error of the package."""

from __future__ import annotations

import io
import json
import random
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save as save_weights
from torch_geometric.data import Data, HeteroData

from pgm_explainer import (
    BayesianNetwork,
    Explanation,
    ExplanationDataset,
    PGMExplainer,
    PGMExplainerError,
    explain_dataset,
    load_explanations,
    save_explanations,
)
from pgm_explainer.io import explanation_to_dict

from .commands import complaint, run
from .mutations import (
    mutated,
    mutated_archive,
    mutated_arrays,
    mutated_json,
    mutated_rows,
)
from .served import Weighted, net
from .subjects import explainers, explanations

FULL = 31_000
MOST_CPU = 10.0
MOST_WALL = 120.0
MOST_MEMORY = 800
_MODEL = f"{__package__}.served:net"
_ZERO = ("--target", "0")
_EXPLAIN = ["explain", "--num-samples", "30", "--num-layers", "1", "--json"]
_NAMES = [f"account {at}" for at in range(6)]
_STORING: dict[str, Any] = {"shard_size": 2, "names": _NAMES, "keep_candidates": 2}


def case(seed: int, number: int) -> str | None:
    """Mutate one file and read it; a file that causes a failure is kept."""
    chance = random.Random(f"files {seed} {number}")
    kind = chance.choice(_DRAWN)
    change, read = KINDS[kind]
    sound = documents()
    others = [document for each in sound.values() for document in each]
    document = change(chance.choice(sound[kind]), chance, others)
    kept = Path(tempfile.gettempdir()) / f"attack-{seed}-{number}.{kind}"
    try:
        what = read(document)
    except PGMExplainerError as error:
        what = None if str(error) else "an error without a message"
    except BaseException:
        kept.write_bytes(document)
        raise
    if what:
        kept.write_bytes(document)
    return what and f"{kind}, kept as {kept}: {what}"


@cache
def documents() -> dict[str, list[bytes]]:
    """Return valid documents of every kind."""
    found = list(explanations().values())
    dicts = [explanation_to_dict(each) for each in found]
    bifs: list[bytes] = []
    xmls: list[bytes] = []
    for network in (each.network for each in found):
        if network is not None:
            for suffix, place in (("bif", bifs), ("xmlbif", xmls)):
                network.save(f"sound.{suffix}")
                place.append(Path(f"sound.{suffix}").read_bytes())
    folder = _folder()
    return {
        "json": [json.dumps(each).encode() for each in (*dicts, dicts[:2])],
        "bif": bifs,
        "xmlbif": xmls,
        "npz": [_archive()],
        "npy": [_bytes(np.save, np.array([0, 3])), _bytes(np.save, np.arange(6))],
        "targets": [b"0\n3\n5\n", b"0-2\n"],
        "pt": _data_objects()[:1],
        "hetero": _data_objects()[1:],
        "weights": [_bytes(lambda file, each: torch.save(each, file), Weighted().state_dict())],
        "safetensors": [
            save_weights({name: each.numpy() for name, each in Weighted().state_dict().items()})
        ],
        "features": [b"name,a,b\n0,1,2\n1,0,1\n2,-1,0\n"],
        "edges": [b"0,1\n1,2\n", b"from,to\n0,1\n2,0\n"],
        "groups": [b'{"a": [0, 1], "b": [2]}', b'{"all": ["0", 2]}'],
        "groups csv": [b"0,a\n1,a\n2,b\n"],
        "templates": [b'{"title": "Why {target}?"}'],
        "job": [(folder / "job.json").read_bytes()],
        "journal": [(folder / "journal.jsonl").read_bytes()],
        "names": [(folder / "names.json").read_bytes()],
        "shard": [(folder / "shards/000000.parquet").read_bytes()],
    }


def _bytes(write: Callable[..., Any], *arguments: Any) -> bytes:
    file = io.BytesIO()
    write(file, *arguments)
    return file.getvalue()


def _archive() -> bytes:
    x = np.arange(12.0).reshape(6, 2) % 5 - 2
    edges = np.stack((np.arange(6), (np.arange(6) + 1) % 6))
    file = io.BytesIO()
    np.savez(file, x=x, edge_index=edges, names=np.arange(6), edge_weight=np.ones(6))
    return file.getvalue()


def _data_objects() -> list[bytes]:
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    plain = Data(x=torch.tensor([[1.0, 2], [0, 1], [-1, 0]]), edge_index=edges)
    hetero = HeteroData({"a": {"x": torch.eye(2)}})
    hetero["a", "to", "a"].edge_index = torch.tensor([[0], [1]])
    return [_bytes(lambda file, each: torch.save(each, file), each) for each in (plain, hetero)]


@cache
def _folder() -> Path:
    """Return a data set with names, and a failure among its rows."""
    folder = Path("sound data set").absolute()
    explain_dataset(explainers()["nodes"], [1, 2, 77], folder, **_STORING)
    return folder


def _explanations(document: bytes) -> str | None:
    Path("file.json").write_bytes(document)
    found = load_explanations("file.json")
    for each in found:
        str(each)
        each.to_html()
        if each.network is not None and not -1e-9 <= each.query() <= 1 + 1e-9:
            return f"the probability is {each.query()}"
        each.reason()
    save_explanations("again.json", found)
    if load_explanations("again.json") != found:
        return "saved and loaded again it differs"
    return None


def _network(suffix: str) -> Callable[[bytes], str | None]:
    def read(document: bytes) -> str | None:
        path = Path(f"file.{suffix}")
        path.write_bytes(document)
        network = BayesianNetwork.load(path)
        for node in network.nodes:
            table = np.asarray(network.cpt(node).values)
            if not np.allclose(table.sum(axis=-1), 1, atol=1e-3) or (table < 0).any():
                return f"the table of {node!r:.40} does not add up to 1"
        if len(network.nodes) <= 12:
            total = network.query(network.nodes[0]).sum()
            if abs(total - 1) > 1e-6:
                return f"probabilities add up to {total}"
        path = path.with_name(f"again.{suffix}")
        network.save(path)
        if BayesianNetwork.load(path).edges != network.edges:
            return "saved and loaded again it differs"
        return None

    return read


def _command(name: str, *words: str, model: str = _MODEL) -> Callable[[bytes], str | None]:
    """Return a reader that gives a file to the command line."""

    def read(document: bytes) -> str | None:
        Path(name).write_bytes(document)
        return complaint([*_EXPLAIN, "--model", model, *words])

    return read


def _archive_of_graph(document: bytes) -> str | None:
    """Read by the command line; if it answers, NumPy reads the same arrays."""
    Path("file.npz").write_bytes(document)
    words = [*_EXPLAIN, *_ZERO, "--model", _MODEL, "--graph", "file.npz"]
    what = complaint(words)
    if what:
        return what
    out = run(words)[1]
    with np.load("file.npz") as archive:
        x, edges = archive["x"], archive["edge_index"]
        names = archive["names"].tolist() if "names" in archive.files else None
    # A mutated name may be 0, which is then the target.
    found = PGMExplainer(net, x, edges, names=names, num_samples=30, num_layers=1).explain(0)
    printed = json.loads(out)
    if printed["probability"] != found.probability or printed["held"] != found.held:
        return f"held is {printed['held']}, of NumPy's arrays {found.held}"
    return None


def _with_file(name: str) -> Callable[[bytes], str | None]:
    """Return a reader of a data set in which one file is replaced, with valid checksums."""

    def read(document: bytes) -> str | None:
        place = Path("changed data set")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(_folder(), place)
        path = place / name
        # In a third of the cases the job is resumed, with checksums that do not fit the file.
        goes_on = sha256(document).digest()[0] < 80
        path.write_bytes(document)
        if not goes_on:
            _update_checksums(place, name, document)
            return _read_set(place)
        explain_dataset(explainers()["nodes"], [1, 2, 77], place, **_STORING)
        for each in (_folder() / "shards").iterdir():
            if (place / "shards" / each.name).read_bytes() != each.read_bytes():
                return f"{each.name} differs after the job went on"
        return None

    return read


def _update_checksums(place: Path, name: str, document: bytes) -> None:
    if name.startswith("shards"):
        journal = place / "journal.jsonl"
        entries = [json.loads(line) for line in journal.read_text().split("\n") if line]
        entries[0].update(sha256=sha256(document).hexdigest(), size=len(document))
        journal.write_text("\n".join(map(json.dumps, entries)))
    if name == "names.json":
        job = json.loads((place / "job.json").read_text())
        job["names"]["sha256"] = sha256(document).hexdigest()
        (place / "job.json").write_text(json.dumps(job))


def _read_set(place: Path) -> str | None:
    data = ExplanationDataset(place)
    for each in data:
        str(each)
        if not isinstance(each, Explanation) or not 0 <= each.held <= 1:
            return f"a row with held={each.held}"
    data.failures()
    str(data.overview())
    data.to_pandas()
    return None


Change = Callable[[bytes, random.Random, list[bytes]], bytes]
_CSV = (*_ZERO, "--features", "nodes.csv", "--edges", "links.csv")
_WEIGHTED, _KINDS_MODEL = f"{__package__}.served:Weighted", f"{__package__}.served:OfKinds"


def _tables(name: str, other: str, content: str) -> Callable[[bytes], str | None]:
    read = _command(name, *_CSV)

    def both(document: bytes) -> str | None:
        Path(other).write_text(content)
        return read(document)

    return both


def _beside_graph(name: str, *words: str, model: str = _MODEL) -> Callable[[bytes], str | None]:
    read = _command(name, "--graph", "graph.npz", *words, model=model)

    def both(document: bytes) -> str | None:
        Path("graph.npz").write_bytes(documents()["npz"][0])
        return read(document)

    return both


def _templates(document: bytes) -> str | None:
    save_explanations("sound.json", [explanations()["nodes"]])
    Path("templates.json").write_bytes(document)
    return complaint(["show", "sound.json", "--report", "r.md", "--templates", "templates.json"])


KINDS: dict[str, tuple[Change, Callable[[bytes], str | None]]] = {
    "json": (mutated_json, _explanations),
    "bif": (mutated, _network("bif")),
    "xmlbif": (mutated, _network("xmlbif")),
    "npz": (mutated_arrays, _archive_of_graph),
    "npy": (mutated, _beside_graph("targets.npy", "--targets-file", "targets.npy")),
    "targets": (mutated, _beside_graph("targets.txt", "--targets-file", "targets.txt")),
    "pt": (mutated_archive, _command("data.pt", *_ZERO, "--graph", "data.pt")),
    "hetero": (
        mutated_archive,
        _command("data.pt", *_ZERO, "--graph", "data.pt", "--target-type", "a", model=_KINDS_MODEL),
    ),
    "weights": (
        mutated_archive,
        _beside_graph("weights.pt", *_ZERO, "--weights", "weights.pt", model=_WEIGHTED),
    ),
    "safetensors": (
        mutated,
        _beside_graph("w.safetensors", *_ZERO, "--weights", "w.safetensors", model=_WEIGHTED),
    ),
    "features": (mutated, _tables("nodes.csv", "links.csv", "0,1\n1,2\n")),
    "edges": (mutated, _tables("links.csv", "nodes.csv", "name,a,b\n0,1,2\n1,0,1\n2,2,0\n")),
    "groups": (mutated_json, _beside_graph("groups.json", *_ZERO, "--parts", "groups.json")),
    "groups csv": (mutated, _beside_graph("groups.csv", *_ZERO, "--parts", "groups.csv")),
    "templates": (mutated_json, _templates),
    "job": (mutated_json, _with_file("job.json")),
    "journal": (mutated_json, _with_file("journal.jsonl")),
    "names": (mutated_json, _with_file("names.json")),
    "shard": (mutated_rows, _with_file("shards/000000.parquet")),
}
_OFTEN = {"json": 6, "bif": 3, "xmlbif": 3, "npz": 3, "pt": 2, "shard": 3, "journal": 2, "job": 2}
_DRAWN = [kind for kind in KINDS for _ in range(_OFTEN.get(kind, 1))]
