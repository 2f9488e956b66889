"""What a job is, in short: enough to tell on resuming that it is still the same one.

A model with weights is known by them. Of any other black box nothing can be seen but its answers,
so it is known by those: what it says of a few targets before anything is perturbed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import IntArray
from ..errors import JobError, PGMExplainerError
from ..explainer import PGMExplainer
from ..versions import current_versions

__all__ = ["check_unchanged", "fingerprint"]

_PROBES = 3
_SAME_WITHIN = 1e-4
"""Answers to the same question on another machine differ by rounding; other weights by more."""


def fingerprint(
    explainer: PGMExplainer, shards: Sequence[IntArray], storing: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what must not change while a data set is made, as plain values.

    Args:
        shards: the targets, as they are split.
        storing: how explanations are stored.
    """
    edges, x = explainer.graph.edge_index, explainer.population.x
    return {
        "program": current_versions()["pgm_explainer"],
        "model": _model(explainer, shards),
        "edges": _digest([("edge_index", edges)]),
        "features": _digest([("x", x)]),
        "inputs": _digest(sorted(getattr(explainer.predictor, "inputs", {}).items())),
        "settings": explainer.plain_settings,
        "targets": _digest((str(at), shard) for at, shard in enumerate(shards)),
        "storing": dict(storing),
    }


def check_unchanged(before: Mapping[str, Any], now: Mapping[str, Any], folder: Any) -> None:
    """Refuse to go on with a job that has become another.

    Raises:
        JobError: says what changed.
    """
    changed = [
        difference for what in now for difference in _differences(what, before.get(what), now[what])
    ]
    if changed:
        raise JobError(
            f"{folder} holds a data set made from something else: {'; '.join(changed)}. Restore "
            f"what was, or choose another folder: explanations of two jobs are not mixed"
        )


def _differences(what: str, before: Any, now: Any) -> list[str]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        if before.keys() != now.keys():
            return [f"the {what} is of another sort"]
        return [
            each for name in now for each in _differences(f"{what} {name}", before[name], now[name])
        ]
    if before == now or (what == "model answers" and _alike(before, now)):
        return []
    if what in ("settings explained_class", "model answers") or _is_digest(now):
        return [f"the {what.removesuffix(' weights').removesuffix(' answers')} changed"]
    return [f"{what} was {before!r} and is {now!r}"]


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64


def _alike(before: Any, now: Any) -> bool:
    """Whether the model answers as it did; where it failed to answer, nothing is known."""
    try:
        return all(
            np.allclose(was, value, rtol=_SAME_WITHIN, atol=_SAME_WITHIN)
            for was, value in zip(before, now, strict=True)
            if was and value
        )
    except (TypeError, ValueError):  # another number of them
        return False


def _model(explainer: PGMExplainer, shards: Sequence[IntArray]) -> dict[str, Any]:
    module = _module(explainer.predictor)
    weights = {} if module is None else module.state_dict()
    if weights:
        return {"weights": _digest([("architecture", repr(module)), *weights.items()])}
    probes = [shard[0] for shard in shards[:_PROBES]]
    return {"answers": [_answer(explainer, probe) for probe in probes]}


def _module(predictor: Any) -> Any:
    """The module that a predictor asks, by whichever name it has it; None where there is none."""
    held = (getattr(predictor, name, None) for name in ("module", "model"))  # DGL's has a model
    return next((each for each in held if hasattr(each, "state_dict")), None)


def _answer(explainer: PGMExplainer, probe: Any) -> list[float]:
    try:
        return list(explainer.predict(probe))
    except PGMExplainerError:  # that target will fail by itself, and say why
        return []


def _digest(parts: Iterable[tuple[str, Any]]) -> str:
    digest = hashlib.sha256()
    for name, value in parts:
        if hasattr(value, "detach"):  # a tensor
            value = value.detach().cpu()
            value = value.float().numpy() if "bfloat16" in str(value.dtype) else value.numpy()
        if not isinstance(value, np.ndarray):
            digest.update(f"{name}: {value!r}\n".encode())
            continue
        digest.update(f"{name}: {value.dtype.str} {value.shape}\n".encode())
        digest.update(np.ascontiguousarray(value).data)
    return digest.hexdigest()
