"""Epinions: explain mostly distrusted accounts; 10,000 targets, two workers, killed ten times.

``python -m pgm_explainer_lab.benchmarks.epinions [--targets 10000] [--kills 10]``, with
``PGM_EXPLAINER_DATA`` naming the data folder.
"""

from __future__ import annotations

import argparse
import random
import shutil
import warnings
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pgm_explainer import ExplanationDataset, PGMExplainer

from ..data import DataFile, read_data
from .jobs import digest, run_job
from .measure import Row

_FILE = DataFile(
    "epinions/soc-sign-epinions.txt.gz",
    "8120d06a0bb4e65d4b821eba1072647ef3429e4e0a3c02e72bf0c534664f6fee",
    "https://snap.stanford.edu/data/soc-sign-epinions.txt.gz",
)
_FOLDER = Path("out") / "epinions"
_HIDDEN, _EPOCHS, _AT_ONCE = 16, 60, 8


@dataclass(frozen=True)
class Accounts:
    """Accounts with the ratings they gave as features; edges run from the rater to the rated.

    Attributes:
        y: whether more accounts distrust than trust an account.
        rated: whether any account rated it, so that there is something to predict.
    """

    x: NDArray[np.float32]
    edge_index: NDArray[np.int64]
    y: NDArray[np.int64]
    rated: NDArray[np.bool_]


@cache
def read_accounts() -> Accounts:
    source, target, sign = np.loadtxt(BytesIO(read_data(_FILE)), dtype=np.int64, unpack=True)
    count = int(max(source.max(), target.max())) + 1
    given = [np.bincount(source[sign == each], minlength=count) for each in (1, -1)]
    received = [np.bincount(target[sign == each], minlength=count) for each in (1, -1)]
    total = np.maximum(given[0] + given[1], 1)
    x = np.stack((np.log1p(given[0]), np.log1p(given[1]), given[1] / total), axis=1)
    distrusted = (received[1] > received[0]).astype(np.int64)
    rated = received[0] + received[1] > 0
    return Accounts(x.astype(np.float32), np.stack((source, target)), distrusted, rated)


class TrustNetwork(nn.Module):
    """Two layers that average over the raters; many samples in one sparse product."""

    def __init__(self) -> None:
        super().__init__()
        self.own: Any = nn.ModuleList((nn.Linear(3, _HIDDEN), nn.Linear(_HIDDEN, 2)))
        self.others: Any = nn.ModuleList(
            (nn.Linear(3, _HIDDEN, bias=False), nn.Linear(_HIDDEN, 2, bias=False))
        )
        self._seen: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        single = x.dim() == 2
        samples, nodes, _ = (x[None] if single else x).shape
        # The sparse product needs the nodes in the first dimension and contiguous.
        x = (x[None] if single else x).transpose(0, 1).reshape(nodes * samples, -1)
        mean = self._mean(edge_index, nodes)
        both = torch.cat((x, _product(mean, x, nodes)), dim=1)
        weights = torch.cat((self.own[0].weight, self.others[0].weight), dim=1)
        hidden = torch.addmm(self.own[0].bias, both, weights.t()).relu()
        # Average the two class columns last: fewer columns than the hidden layer.
        scores = self.own[1](hidden) + _product(mean, self.others[1](hidden), nodes)
        return scores if single else scores.view(nodes, samples, -1).transpose(0, 1)

    def _mean(self, edge_index: Tensor, nodes: int) -> Tensor:
        """The matrix that averages the messages at each node, rebuilt only for new edges."""
        if self._seen is None or not torch.equal(self._seen[0], edge_index):
            self._seen = edge_index, _mean_matrix(edge_index, nodes)
        return self._seen[1]


def _mean_matrix(edge_index: Tensor, nodes: int) -> Tensor:
    received = torch.bincount(edge_index[1], minlength=nodes)
    weights = 1.0 / received[edge_index[1]].float()
    pairs, shape = edge_index.flip(0), (nodes, nodes)
    entries = torch.sparse_coo_tensor(pairs, weights, shape, check_invariants=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # PyTorch warns that the format is in beta
        return entries.coalesce().to_sparse_csr()


def _product(matrix: Tensor, x: Tensor, nodes: int) -> Tensor:
    return torch.sparse.mm(matrix, x.view(nodes, -1)).view(x.shape)


def train(path: Path, epochs: int = _EPOCHS) -> str:
    """Train on half of the rated accounts, store the weights, and print the accuracy."""
    accounts = read_accounts()
    torch.manual_seed(0)
    model = TrustNetwork()
    chosen = accounts.rated & (np.random.default_rng(0).random(len(accounts.y)) < 0.5)
    x, edges = torch.from_numpy(accounts.x), torch.from_numpy(accounts.edge_index)
    y, mask = torch.from_numpy(accounts.y), torch.from_numpy(chosen)
    weight = 1 / torch.bincount(y[mask]).float()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, edges)[mask], y[mask], weight)
        torch.autograd.backward(loss)
        optimizer.step()
    np.savez(path, **{name: value.numpy() for name, value in model.state_dict().items()})
    with torch.no_grad():
        guess = model(x, edges).argmax(dim=1).numpy()
    others = accounts.rated & ~chosen
    recalls = [(guess[others & (accounts.y == each)] == each).mean() for each in (0, 1)]
    return f"balanced accuracy on accounts not trained on: {np.mean(recalls):.3f}"


def make_explainer() -> PGMExplainer:
    """Return the explainer of the trained model; every worker creates one."""
    accounts = read_accounts()
    model = TrustNetwork()
    with np.load(_FOLDER / "model.npz") as weights:
        model.load_state_dict({name: torch.from_numpy(weights[name]) for name in weights})
    return PGMExplainer(
        model.eval(), accounts.x, accounts.edge_index, num_layers=2, samples_per_call=_AT_ONCE
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--shard-size", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    _FOLDER.mkdir(parents=True, exist_ok=True)
    if not (_FOLDER / "model.npz").exists():
        print(train(_FOLDER / "model.npz"), flush=True)
    rated = np.flatnonzero(read_accounts().rated)
    chosen = np.random.default_rng(1).choice(rated, options.targets, replace=False)
    np.save(_FOLDER / "targets.npy", chosen)
    rows = [_uninterrupted(options)]
    print(rows[0], flush=True)
    rows.append(_killed(options, expected=_seconds_of(rows[0])))
    print(rows[1])
    wrong = any("NOT" in row.measured for row in rows)
    return 1 if wrong else 0


def _arguments(options: argparse.Namespace, folder: Path) -> list[Any]:
    engine = ["--engine", "processes", "--workers", options.workers]
    size = ["--shard-size", options.shard_size]
    targets = ["--targets-file", _FOLDER / "targets.npy"]
    model = ["--model", "pgm_explainer_lab.benchmarks.epinions:make_explainer"]
    return [*model, "--output", folder, *targets, *engine, *size]


def _uninterrupted(options: argparse.Namespace) -> Row:
    folder = _FOLDER / "whole"
    shutil.rmtree(folder, ignore_errors=True)
    ran = run_job(_arguments(options, folder))
    size = sum(path.stat().st_size for path in folder.glob("shards/*")) / 2**20
    failed = len(ExplanationDataset(folder).failures())
    return Row(
        f"Epinions, {options.targets:,} accounts explained, {options.workers} workers",
        f"{ran.seconds:.0f} s, {options.targets / ran.seconds:.1f} a second, peak "
        f"{ran.peak:.0f} MB, {size:.0f} MB of files, {failed} failed"
        f"{', NOT finished' if ran.code else ''}",
    )


def _seconds_of(row: Row) -> float:
    return float(row.measured.split()[0])


def _killed(options: argparse.Namespace, expected: float) -> Row:
    folder = _FOLDER / "killed"
    shutil.rmtree(folder, ignore_errors=True)
    chance = random.Random(0)
    kills = 0
    while kills < options.kills:
        # Usually long enough for the workers to start and finish a shard.
        ran = run_job(_arguments(options, folder), chance.uniform(0.05, 0.3) * expected + 15)
        if ran.code == 0:
            break
        kills += 1
    ran = run_job(_arguments(options, folder))
    same = digest(folder) == digest(_FOLDER / "whole")
    return Row(
        "the same, killed (-9) at random and resumed",
        f"killed {kills} times, {'byte-identical' if same else 'NOT the same'}",
    )


if __name__ == "__main__":
    raise SystemExit(main())
