"""Effects, rankings and features as pandas data frames."""

from __future__ import annotations

import numpy as np

from ...effects import Effects
from ...errors import PGMExplainerError
from ...selection import Ranking
from ..feature_effects import FeatureEffects

try:
    import pandas as pd
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PGMExplainerError(f"data frames need pandas: pip install pandas ({error})") from error

__all__ = ["features_to_pandas", "nodes_to_pandas"]

_DEPENDENCE = ("statistic", "dof", "log_p", "effect_size", "significant")
_MISSING_IN = {"rank": "Int64", "dof": "Int64", "significant": "boolean"}
"""Nullable types for columns that are not floats."""


def features_to_pandas(features: FeatureEffects) -> pd.DataFrame:
    """Return a row for each feature of each node, the strongest effect first."""
    return pd.DataFrame(features.columns)


def nodes_to_pandas(effects: Effects, ranking: Ranking) -> pd.DataFrame:
    """Return a row for each node that was perturbed, the strongest effect first.

    The columns of the effects come first, then those of the ranking as ``dependence_...``, and
    ``selected``. The target of a node task is not ranked and has missing values there.
    """
    known = {name: column for name, column in ranking.columns.items() if name in _DEPENDENCE}
    ranked = pd.DataFrame({"rank": range(1, len(ranking) + 1), **known}, index=ranking.nodes)
    ranked = ranked.astype(_MISSING_IN).reindex(effects.nodes).add_prefix("dependence_")
    frame = pd.DataFrame(effects.columns).join(ranked.reset_index(drop=True))
    frame["selected"] = np.isin(effects.nodes, ranking.selected_nodes)
    return frame
