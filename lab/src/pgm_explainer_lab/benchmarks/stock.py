"""Stock models of PyTorch Geometric: seconds of this package and of other explainers.

Every explainer explains the same model object with the same number of samples. Measured in
separate processes, one with one thread and one with all threads. With one thread, the time is
CPU time, which other programs on the machine disturb less.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch_geometric.explain import CaptumExplainer, Explainer, GNNExplainer
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE

from pgm_explainer import PGMExplainer
from pgm_explainer.graph import Graph

from ..cora import load_cora
from ..data import DataError
from .clock import Clock
from .measure import Row
from .syn6 import load

_MODELS = {"GCN": GCN, "SAGE": GraphSAGE, "GIN": GIN, "GAT": GAT}
_SAMPLES, _EPOCHS, _REPEATS = 800, 100, 3
_OURS: dict[str, dict[str, Any]] = {
    "networks": {},
    "effects only": {"own_predictions": False, "structure": None},
    "edges": {"parts": "edges"},
}
_SHARE = "ours, time in total / time in the model"
_ALL = "PGM_BENCH_ALL"
"""Set this variable to 1 to run the slow explainers on Cora and wide features too."""


def rows() -> Iterator[Row]:
    """Yield the rows of all data sets, models and numbers of threads."""
    for data in ("Syn 6", "Cora", "wide"):
        for model in (*_MODELS, *(["NodeGNN"] if data == "Syn 6" else [])):
            for threads in (1, os.cpu_count() or 1):
                yield from _measured(data, model, threads)


def _measured(data: str, model: str, threads: int) -> Iterator[Row]:
    command = [sys.executable, "-m", "pgm_explainer_lab.benchmarks.stock", data, model]
    limit = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **limit}
    )
    where = f"{data}, {model}, {threads} thread{'s' * (threads > 1)}"
    if run.returncode:
        yield Row(where, f"not measured: {run.stderr.strip().splitlines()[-1]}")
        return
    found: dict[str, list[float]] = json.loads(run.stdout.splitlines()[-1])
    ours = {name: found.pop(name) for name in list(found) if name.startswith("ours")}
    for name, times in ours.items():
        share = name.startswith(_SHARE)
        yield Row(f"{where}: {name}", _spread(times, "", 1) if share else _spread(times, "ms", 1e3))
    for name, times in found.items():
        yield Row(f"{where}: {name}", _spread(times, "s", 1.0))
        for own, mine in ours.items():
            if not own.startswith(_SHARE):
                ratios = [theirs / mine[at % len(mine)] for at, theirs in enumerate(times)]
                yield Row(f"{where}: {name} / {own}", _spread(ratios, "×", 1.0))


def _spread(values: list[float], unit: str, scale: float) -> str:
    middle, low, high = (
        scale * each for each in (statistics.median(values), min(values), max(values))
    )
    return f"{middle:.3g} {unit} ({low:.3g} to {high:.3g})"


def wide_data() -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Return a random graph of the size of CiteSeer, with 3,703 binary features."""
    rng = np.random.default_rng(0)
    nodes, links = 3327, 4552
    first = (nodes * rng.random(links) ** 2).astype(np.int64)  # some nodes have many links
    ends = np.stack((first, rng.integers(nodes, size=links)))
    x = (rng.random((nodes, 3703)) < 0.0086).astype(np.float32)
    return x, np.concatenate((ends, ends[::-1]), axis=1), rng.integers(6, size=nodes)


def _setting(data: str, name: str) -> tuple[nn.Module, Any, Any, Any, list[int]]:
    """Return a model, features, edges, labels, and some targets."""
    trained = None
    if data == "wide":
        x, edge_index, y = wide_data()
        targets = np.argsort(-Graph(edge_index, len(x)).in_degrees)[100:500:40].tolist()
    else:
        trained, dataset = load() if data == "Syn 6" else (None, load_cora())
        x, edge_index, y = dataset.x, dataset.edge_index, dataset.y
        targets = dataset.targets.tolist() if data == "Syn 6" else list(range(1708, 2708))
    torch.manual_seed(0)
    layers, classes = (3 if data == "Syn 6" else 2), int(y.max()) + 1
    if name == "NodeGNN" and trained is not None:
        return trained.eval(), x, edge_index, y, targets
    model = _MODELS[name](x.shape[1], 20, layers, classes)
    return model.eval(), x, edge_index, y, targets


def measure(data: str, name: str) -> dict[str, list[float]]:
    """Return the seconds of each explainer, several times; run in a separate process."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    model, x, edge_index, y, targets = _setting(data, name)
    some = targets[:: max(1, len(targets) // (_REPEATS + 1))][: _REPEATS + 1]
    found: dict[str, list[float]] = {}

    def time_of(what: str, function: Callable[[], Any], per: int = 1) -> None:
        start = clock()
        function()
        found.setdefault(what, []).append((clock() - start) / per)

    options: dict[str, Any] = {"num_samples": _SAMPLES, "progress": False}
    if name == "NodeGNN":
        options["num_layers"] = 3
    others = _others(model, x, edge_index, y, slow=data == "Syn 6" or bool(os.environ.get(_ALL)))
    for target in some:
        for what, further in _OURS.items():
            inside = Clock(model, clock)
            explainer = PGMExplainer(inside, x, edge_index, **options, **further)
            time_of(f"ours, one target, {what}", partial(explainer.explain, target))
            share = found[f"ours, one target, {what}"][-1] / inside.inside
            found.setdefault(f"{_SHARE}, {what}", []).append(share)
        for what, other in others.items():
            time_of(what, partial(other, target))
    for times in found.values():  # the first target warms up
        del times[: len(times) - _REPEATS]
    for count in sorted({min(100, len(targets)), len(targets)}):
        for _ in range(_REPEATS if count <= 400 else 1):
            explainer = PGMExplainer(model, x, edge_index, **options)
            chosen = targets[-count:]
            time_of(
                f"ours, per target of {count}", partial(explainer.explain_many, chosen), per=count
            )
    return found


def _others(
    model: nn.Module, x: Any, edge_index: Any, y: Any, slow: bool
) -> dict[str, Callable[[int], Any]]:
    from torch_geometric.contrib.explain import PGMExplainer as Contrib

    features, edges, labels = map(torch.from_numpy, (x, edge_index, y))

    def pyg(algorithm: Any, **options: Any) -> Callable[[int], Any]:
        explainer = Explainer(
            model,
            algorithm=algorithm,
            explanation_type="phenomenon",
            model_config={
                "mode": "multiclass_classification",
                "task_level": "node",
                "return_type": "raw",
            },
            **options,
        )
        return lambda target: explainer(features, edges, index=target, target=labels)

    found = {
        f"GNNExplainer, {_EPOCHS} epochs": pyg(
            GNNExplainer(epochs=_EPOCHS), node_mask_type="object", edge_mask_type="object"
        ),
        "integrated gradients (Captum)": pyg(
            CaptumExplainer("IntegratedGradients"), node_mask_type="attributes"
        ),
    }
    if slow:
        found["contrib PGMExplainer"] = pyg(Contrib(num_samples=_SAMPLES), node_mask_type="object")
        found["KernelSHAP, as many forwards"] = partial(_kernel_shap, model, features, edges)
    return found


@torch.no_grad()
def _kernel_shap(model: nn.Module, x: torch.Tensor, edges: torch.Tensor, target: int) -> Any:
    """Explain by the nodes within the receptive field, which are set to zero."""
    import shap

    hops = getattr(model, "num_layers", 3)
    graph = Graph(edges.numpy(), len(x))
    nodes = torch.from_numpy(graph.within_hops(np.array([target]), hops))
    explained = int(model(x, edges)[target].argmax())

    def scores(masks: NDArray[Any]) -> NDArray[Any]:
        answers = []
        for mask in masks:
            changed = x.clone()
            changed[nodes] *= torch.from_numpy(mask).to(x)[:, None]
            answers.append(float(model(changed, edges)[target, explained]))
        return np.array(answers)

    explainer = shap.KernelExplainer(scores, np.zeros((1, len(nodes))))
    return explainer.shap_values(np.ones(len(nodes)), nsamples=_SAMPLES, silent=True, l1_reg=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    try:
        print(json.dumps(measure(*sys.argv[1:])))
    except DataError as error:
        sys.exit(str(error))
