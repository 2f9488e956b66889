"""The three explainers of the paper's human test."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgm_explainer_lab.rivals import Rival

__all__ = ["compared_explainers"]


def compared_explainers(num_samples: int, options: argparse.Namespace) -> dict[str, Rival]:
    """Return the explainers by the names of their arms; the lab must be installed.

    Args:
        num_samples: model calls of PGM-Explainer and of SHAP for each prediction.
        options: ``parts``, how many nodes each of them highlights, and ``seed``.
    """
    from pgm_explainer_lab.rivals import Gradient, Pgm, Shapley

    pgm = Pgm(
        num_samples=num_samples,
        max_nodes=options.parts,
        only_significant=False,
        structure=None,
        seed=options.seed,
        progress=False,
    )
    return {"pgm": pgm, "shap": Shapley(num_samples, options.seed), "grad": Gradient()}
