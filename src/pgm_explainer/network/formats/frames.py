"""Conditional tables as pandas data frames."""

from __future__ import annotations

from ...errors import PGMExplainerError
from ..conditional_table import ConditionalTable
from ..noisy_or import NoisyOr

try:
    import pandas as pd
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PGMExplainerError(f"data frames need pandas: pip install pandas ({error})") from error

__all__ = ["table_to_pandas"]


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
