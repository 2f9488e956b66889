"""The versions that an explanation records."""

from __future__ import annotations

import platform

import numpy as np

__all__ = ["__version__", "current_versions"]

__version__ = "0.1.0"


def current_versions() -> dict[str, str]:
    """Return the versions of this package, NumPy and Python."""
    return {
        "pgm_explainer": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
