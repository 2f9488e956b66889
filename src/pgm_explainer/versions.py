"""The versions that an explanation records."""

from __future__ import annotations

import platform

import numpy as np

__all__ = ["CURRENT_VERSIONS", "__version__"]

__version__ = "0.1.0"

CURRENT_VERSIONS = {
    "pgm_explainer": __version__,
    "numpy": np.__version__,
    "python": platform.python_version(),
}
