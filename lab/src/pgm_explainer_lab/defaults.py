"""The options of the explainer and their defaults, as its signature gives them."""

from __future__ import annotations

import inspect
from typing import Any

from pgm_explainer import PGMExplainer

__all__ = ["DEFAULTS", "DEFAULT_SAMPLES"]

_NOT_OPTIONS = ("model", "x", "edge_index", "inputs", "target_type", "progress")
"""Parameters that define what is explained, or that cannot change an explanation."""

DEFAULTS: dict[str, Any] = {
    name: parameter.default
    for name, parameter in inspect.signature(PGMExplainer).parameters.items()
    if name not in _NOT_OPTIONS
}
"""All options that an explanation may depend on."""

DEFAULT_SAMPLES: int = DEFAULTS["num_samples"]
