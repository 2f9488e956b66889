"""The versions that an explanation records."""

from __future__ import annotations

import platform

import numpy as np

__all__ = ["current_versions"]


def current_versions() -> dict[str, str]:
    """Return the versions of this package, NumPy and Python."""
    from . import __version__  # not above: the package imports this module while it is made

    return {
        "pgm_explainer": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
