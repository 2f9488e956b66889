"""The fingerprint of a job, used on resuming to check that it is still the same job.

A model with weights is identified by them. Any other model is identified by its outputs for a few
targets on the unperturbed features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import IntArray
from ..choices import Choice
from ..errors import JobError, PGMExplainerError
from ..explainer import PGMExplainer
from ..explanation.formats.settings_file import settings_to_dict
from ..limits import SHOWN, brief
from ..settings import CHOICES
from ..versions import __version__
from .identity import NoIdentityError, digest, identity

__all__ = ["check_unchanged", "fingerprint"]

_PROBES = 3
_SAME_WITHIN = 1e-4
"""Tolerance for model outputs: machines differ by rounding, other weights by more."""


def fingerprint(
    explainer: PGMExplainer, targets: IntArray, storing: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the properties that must not change while a data set is made, as plain values.

    Args:
        explainer: the explainer of the job.
        targets: all targets, ascending.
        storing: how explanations are stored.

    Raises:
        JobError: an option has no identity, so changes to it cannot be detected.
    """
    edges, x = explainer.graph.edge_index, explainer.population.x
    settings, options = settings_to_dict(explainer.settings), explainer.settings.options()
    if len(explainer.stages) > 1:
        settings["num_samples"] = "auto"
    offsets = explainer.offsets
    graphs = {} if offsets is None else {"graphs": digest([("offsets", offsets)])}
    return {
        "program": __version__,
        "model": _model(explainer, targets),
        "edges": digest([("edge_index", edges)]),
        **graphs,
        "features": digest([("x", x)]),
        "inputs": digest(sorted(explainer.predictor.inputs.items())),
        "settings": settings,
        "own": {name: _own(name, options.get(name)) for name in CHOICES},
        "targets": digest([("targets", targets)]),
        "storing": dict(storing),
    }


def _own(option: str, value: Choice | None) -> str | None:
    """Return the identity of a user-defined choice; None for others, which settings describe."""
    if value is None or not value.describe().own:
        return None
    try:
        return identity(vars(value))  # the wrapped object: the wrapper's name does not identify it
    except NoIdentityError as error:
        raise JobError(
            f"{option}={brief(value)} has no identity that a resumed job could compare, because "
            f"of {error}: use a function of a module, a functools.partial of one with plain "
            f"arguments, or an object whose state is plain data (or that has a string 'name', or "
            f"a '__reduce__' that returns plain data)"
        ) from error


def check_unchanged(before: Mapping[str, Any], now: Mapping[str, Any], folder: Any) -> None:
    """Check that a resumed job is the same as before.

    Raises:
        JobError: something changed; the message lists what.
    """
    changed = [
        difference for what in now for difference in _differences(what, before.get(what), now[what])
    ]
    if changed:
        raise JobError(
            f"{folder} contains the data set of a different job: {'; '.join(changed)}. Restore "
            f"the earlier inputs, or choose another folder"
        )


def _differences(what: str, before: Any, now: Any) -> list[str]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        if what == "model" and before.keys() != now.keys():
            return ["the model is of another kind"]
        return [
            each
            for name in (*now, *(name for name in before if name not in now))
            for each in _differences(f"{what} {name}", before.get(name), now.get(name))
        ]
    if what.startswith("own ") and before != now:
        return [
            f"the {what.removeprefix('own ')} that you passed has other code, arguments or state"
        ]
    if before == now or (what == "model answers" and _agree(before, now)):
        return []
    if what in ("settings explained_class", "model answers") or _is_digest(now):
        return [f"the {what.removesuffix(' weights').removesuffix(' answers')} changed"]
    return [f"{what} was {before!r:.{SHOWN}} and is {now!r:.{SHOWN}}"]


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64


def _agree(before: Any, now: Any) -> bool:
    """Return whether the model outputs agree; failed calls are not compared."""
    try:
        return all(
            np.allclose(was, value, rtol=_SAME_WITHIN, atol=_SAME_WITHIN)
            for was, value in zip(before, now, strict=True)
            if was and value
        )
    except (TypeError, ValueError, OverflowError):  # other numbers, or beyond floats
        return False


def _model(explainer: PGMExplainer, targets: IntArray) -> dict[str, Any]:
    module = explainer.predictor.module
    weights = {} if module is None else module.state_dict()
    if weights:
        return {"weights": digest([("architecture", repr(module)), *weights.items()])}
    probes = np.unique(np.linspace(0, len(targets) - 1, _PROBES).astype(int))
    return {"answers": [_answer(explainer, targets[probe]) for probe in probes]}


def _answer(explainer: PGMExplainer, probe: Any) -> list[float]:
    try:
        return list(explainer.predict(probe))
    except PGMExplainerError:  # this target will fail in the job, with its own error
        return []
