"""Ray on this machine: two workers against one on the same job, and the cost of each part.

``python -m pgm_explainer_lab.benchmarks.ray_scaling [--targets 400]``
"""

from __future__ import annotations

import argparse
import pickle
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from pgm_explainer import ExplanationDataset, PGMExplainer, explain_dataset
from pgm_explainer.engines import RayEngine

from .growth import circulant, three_layers
from .jobs import digest
from .measure import Row, timed

_NODES, _SHARD, _FEW = 100_000, 10, 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=400)
    options = parser.parse_args()
    explainer = PGMExplainer(three_layers, *circulant(_NODES), num_layers=3)
    targets = np.random.default_rng(0).choice(_NODES, options.targets, replace=False)
    place = Path(tempfile.mkdtemp())
    with RayEngine(workers=2).cluster():
        # Warm up, so that both runs find the libraries in the disk cache.
        explain_dataset(explainer, targets[:20], place / "warm", engine=RayEngine(2), shard_size=1)
        rates = [_rate(explainer, targets, place, workers) for workers in (1, 2)]
    same = digest(place / "1") == digest(place / "2")
    gain = rates[1] / rates[0]
    row = Row(
        f"Ray, two workers against one, {options.targets:,} targets of {_NODES:,} nodes",
        f"{gain:.2f} times ({rates[0]:.1f} and {rates[1]:.1f} targets a second), "
        f"{'the same bytes' if same else 'NOT the same bytes'}",
    )
    print(row)
    _parts(explainer, targets, place)
    shutil.rmtree(place)
    return 0 if same else 1


def _rate(explainer: PGMExplainer, targets: np.ndarray, place: Path, workers: int) -> float:
    """Return targets per second, from the first finished shard to the last.

    The start-up time of actors is reported separately, since it is paid once per job.
    """
    folder = place / str(workers)
    started = time.time()
    engine = RayEngine(workers=workers)
    explain_dataset(explainer, targets, folder, engine=engine, shard_size=_SHARD)
    ended = sorted(path.stat().st_mtime for path in folder.glob("shards/*.parquet"))
    print(
        f"{workers} worker(s): first shard after {ended[0] - started:.1f} s, all after "
        f"{ended[-1] - started:.1f} s"
    )
    return _SHARD * (len(ended) - workers) / (ended[-1] - ended[workers - 1])


def _parts(explainer: PGMExplainer, targets: np.ndarray, place: Path) -> None:
    """Print the cost of each part: data sent, time per shard, work of the driver."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(explainer, protocol=5, buffer_callback=buffers.append)
    sent = len(head) + sum(buffer.raw().nbytes for buffer in buffers)
    sizes = [path.stat().st_size for path in (place / "2").glob("shards/*.parquet")]
    working = ExplanationDataset(place / "2").overview().seconds
    # A finished job only plans its shards and compares itself with the stored job.
    once, _ = timed(lambda: explain_dataset(explainer, targets, place / "2", shard_size=_SHARD))
    print(f"| sent to each machine, once | {sent / 2**20:.1f} MB |")
    print(f"| a worker's time for a shard of {_SHARD} | {working / len(sizes):.2f} s |")
    print(f"| sent back for a shard | {np.mean(sizes) / 1024:.0f} kB |")
    print(f"| driver, once: order and shards, fingerprint | {once:.2f} s |")
    each = _driver_seconds(explainer, targets[:_FEW], place / "alone")
    print(f"| driver, for each shard: all but the explaining, at most | {each * 1e3:.1f} ms |")


def _driver_seconds(explainer: PGMExplainer, targets: np.ndarray, folder: Path) -> float:
    """Return the overhead of the driver for each shard of a job in one process."""
    job = partial(explain_dataset, explainer, targets, folder, shard_size=1, progress=False)
    whole, dataset = timed(job)
    once, _ = timed(job)
    return float(whole - once - dataset.overview().seconds) / len(targets)


if __name__ == "__main__":
    raise SystemExit(main())
