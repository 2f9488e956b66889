"""Mutated files of every kind: refused by a package error, or read and usable.

A short run by default, since the attack of the lab reads mutated files too.
``PGM_EXPLAINER_FUZZ=30000`` sets the number of mutations of all kinds together, and
``PGM_EXPLAINER_FUZZ_SEED`` the seed. A file that fails is written to a path given in the message;
it belongs in ``tests/corpus``.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from job_models import NODES, exact_explainer, whole_ring
from readers import READ, no_longer_than, use

from pgm_explainer import PGMExplainerError
from pgm_explainer.dataset import ExplanationDataset, explain_dataset
from pgm_explainer.io import explanation_to_dict
from pgm_explainer.network.formats.bif import network_to_bif
from pgm_explainer.network.formats.xmlbif import network_to_xmlbif
from pgm_explainer_lab.attack.mutations import mutated, mutated_archive, mutated_parquet

MUTATIONS = int(os.environ.get("PGM_EXPLAINER_FUZZ", "550"))
SEED = int(os.environ.get("PGM_EXPLAINER_FUZZ_SEED", "0"))
KINDS = ("json", "bif", "xmlbif", "npy", "npz", "pt", "csv", "job", "journal", "names", "shard")
LONGEST = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data set with names, and failures among its rows."""
    place = tmp_path_factory.mktemp("data")
    names = [f"account {number}" for number in range(NODES)]
    made = exact_explainer(hops=1)
    explain_dataset(made, [1, 2, -1], place, shard_size=2, names=names, keep_candidates=2)
    return place


@pytest.fixture(scope="module")
def seeds(folder, tmp_path_factory):
    """Sound documents of every kind."""
    explanations = exact_explainer().explain_many([3, 7])
    dicts = [explanation_to_dict(each) for each in explanations]
    stored = [path.read_bytes() for path in (Path(__file__).parents[1] / "io").glob("*.json")]
    network = explanations[0].network
    arrays = [np.arange(5), np.eye(3), np.array(["a", "bc"]), np.array([True, False])]
    files = [io.BytesIO() for _ in arrays]
    for file, array in zip(files, arrays, strict=True):
        np.save(file, array)
    x, edges = whole_ring()
    archive = io.BytesIO()
    np.savez(archive, x=x[:9], edge_index=edges[:, :4] % 9, names=np.arange(9), edge_weight=edges)
    return {
        "json": [json.dumps(dicts).encode(), json.dumps(dicts[0]).encode(), *stored],
        "bif": [network_to_bif(network).encode()],
        "xmlbif": [network_to_xmlbif(network).encode()],
        "npy": [file.getvalue() for file in files],
        "npz": [archive.getvalue()],
        "pt": _torch_files(),
        "csv": [b"name,a,b\nAnn,1,2\nBob,3,4\nCid,5,6\n", b"0,1\n1,2\n2,3\n"],
        "job": [(folder / "job.json").read_bytes()],
        "journal": [(folder / "journal.jsonl").read_bytes()],
        "names": [(folder / "names.json").read_bytes()],
        "shard": [path.read_bytes() for path in sorted((folder / "shards").iterdir())],
    }


def _torch_files():
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data, HeteroData

    hetero = HeteroData({"a": {"x": torch.eye(2)}})
    hetero["a", "to", "a"].edge_index = torch.tensor([[0], [1]])
    things = [
        Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]])),
        hetero,
        {"weight": torch.ones(2, 2), "bias": torch.zeros(2)},
    ]
    files = [io.BytesIO() for _ in things]
    for file, thing in zip(files, things, strict=True):
        torch.save(thing, file)
    return [file.getvalue() for file in files]


FILES = {"job": "job.json", "journal": "journal.jsonl", "names": "names.json"}


def read_data_set(kind, document, folder, place):
    """A data set in which one file is replaced and the checksums are updated."""
    (place / "shards").mkdir()
    for path in folder.rglob("*.*"):
        (place / path.relative_to(folder)).write_bytes(path.read_bytes())
    if kind == "shard":
        _replace_shard(place, document)
    else:
        (place / FILES[kind]).write_bytes(document)
    if kind == "names":
        job = json.loads((place / "job.json").read_text())
        job["names"]["sha256"] = sha256(document).hexdigest()
        (place / "job.json").write_text(json.dumps(job))
    data = ExplanationDataset(place)
    use(data)
    data.failures()
    str(data.overview())
    data.to_pandas()


def _replace_shard(place, document):
    journal = place / "journal.jsonl"
    entries = [json.loads(line) for line in journal.read_text().split("\n") if line]
    entries[0].update(sha256=sha256(document).hexdigest(), size=len(document))
    journal.write_text("\n".join(map(json.dumps, entries)))
    (place / "shards" / "000000.parquet").write_bytes(document)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_a_mutated_file_is_refused_or_usable(kind, seeds, folder):
    chance = random.Random(f"{SEED} {kind}")
    others = [document for documents in seeds.values() for document in documents]
    ways = {"npz": mutated_archive, "pt": mutated_archive, "shard": mutated_parquet}
    change = ways.get(kind, mutated)
    for _ in range(MUTATIONS // len(KINDS)):
        document = change(chance.choice(seeds[kind]), chance, others)
        with tempfile.TemporaryDirectory() as name:
            try:
                with no_longer_than(LONGEST):
                    if kind in READ:
                        READ[kind](document, Path(name))
                    else:
                        read_data_set(kind, document, folder, Path(name))
            except PGMExplainerError:
                continue
            except Exception as error:
                failed = (
                    Path(tempfile.gettempdir())
                    / f"fuzzed-{sha256(document).hexdigest()[:12]}.{kind}"
                )
                failed.write_bytes(document)
                raise AssertionError(f"{failed}: {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("kind", ["job", "journal", "shard"])
def test_a_job_in_a_mutated_folder_is_refused_or_correct(kind, seeds, folder, tmp_path):
    chance = random.Random(f"{SEED} going on {kind}")
    right = {path.name: path.read_bytes() for path in (folder / "shards").iterdir()}
    names = [f"account {number}" for number in range(NODES)]
    path = {**FILES, "shard": "shards/000000.parquet"}[kind]
    for number in range(MUTATIONS // 50):
        place = shutil.copytree(folder, tmp_path / str(number))
        (place / path).write_bytes(mutated(chance.choice(seeds[kind]), chance, seeds[kind]))
        options = {"shard_size": 2, "names": names, "keep_candidates": 2}
        try:
            with no_longer_than(LONGEST):
                explain_dataset(exact_explainer(hops=1), [1, 2, -1], place, **options)
        except PGMExplainerError:
            continue
        assert {each.name: each.read_bytes() for each in (place / "shards").iterdir()} == right
