"""Effects, rankings and conditional tables as pandas data frames."""

from __future__ import annotations

import numpy as np

from ..effects import Effects
from ..errors import PGMExplainerError
from ..network import ConditionalTable, NoisyOr
from ..selection import Ranking

try:
    import pandas as pd
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PGMExplainerError(f"data frames need pandas: pip install pandas ({error})") from error

__all__ = ["nodes_to_pandas", "table_to_pandas"]

_DEPENDENCE = ("statistic", "dof", "log_p", "effect_size", "significant")
_MISSING_IN = {"rank": "Int64", "dof": "Int64", "significant": "boolean"}
"""Column types that allow missing values."""


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


def table_to_pandas(table: ConditionalTable | NoisyOr) -> pd.DataFrame:
    """Return a column for each state of the variable, a row for each configuration of its parents.

    Examples:
        >>> import numpy as np
        >>> from pgm_explainer.sampling import Variable
        >>> a, b = Variable(1, True, 1), Variable(2, False, 2)
        >>> table = ConditionalTable.fit(b, [a], np.array([[0, 0], [1, 0], [1, 1]]), 0)
        >>> table.to_pandas().loc["perturbed"].to_dict()
        {'kept': 0.5, 'changed': 0.5}
    """
    columns = pd.Index(table.variable.states, name=table.variable.id)
    rows = table.values.reshape(-1, table.variable.cardinality)
    if not table.parents:
        return pd.DataFrame(rows, columns=columns)
    states = [parent.states for parent in table.parents]
    names = [parent.id for parent in table.parents]
    index = pd.MultiIndex.from_product(states, names=names)
    if len(names) == 1:  # a plain index is simpler than a MultiIndex of one level
        index = index.get_level_values(0)
    return pd.DataFrame(rows, index=index, columns=columns)
