"""The memory that a job with PyTorch uses beyond its initial memory, including tensors."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from .measure import Row

_BOUND = 256


def rows() -> Iterator[Row]:
    for name in ("gcn", "gat"):
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "pgm_explainer_lab.benchmarks.memory",
            name,
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        grown = float(run.stdout.split()[-1])
        yield Row(
            f"memory added by 400 targets of Syn 6, PyG's {name.upper()}, max_memory={_BOUND} MB",
            f"{grown:.0f} MB",
        )


def _grown(name: str) -> float:
    """Explain in this process; return the growth of its memory in megabytes."""
    import torch
    from torch_geometric.nn import GAT, GCN

    from pgm_explainer import PGMExplainer

    from ..synthetic import make_synthetic

    data = make_synthetic("syn6")
    torch.manual_seed(0)
    model = {"gcn": GCN, "gat": GAT}[name](10, 20, num_layers=3, out_channels=4)
    memory = f"{_BOUND}MB"
    # A small run first, to exclude the one-time memory of torch and NumPy.
    PGMExplainer(model, data.x, data.edge_index, num_samples=20, max_memory=memory).explain(300)
    with _Watch() as watch:
        explainer = PGMExplainer(model, data.x, data.edge_index, max_memory=memory)
        explainer.explain_many(range(300, 700))
    return watch.grown


class _Watch:
    """Samples the memory of this process every few milliseconds."""

    grown = 0.0

    def __enter__(self) -> _Watch:
        self._before = _resident()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.002):
            self.grown = max(self.grown, _resident() - self._before)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    print(_grown(sys.argv[1]))
