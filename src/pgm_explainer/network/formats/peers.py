"""Networks as objects of pgmpy and pyAgrum, with variables and states named by words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import PGMExplainerError
from ..bayesian_network import BayesianNetwork
from .naming import NETWORK_NAME
from .tables import network_in_words

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork
    from pyagrum import BayesNet

__all__ = ["network_to_pgmpy", "network_to_pyagrum"]


def network_to_pgmpy(network: BayesianNetwork) -> DiscreteBayesianNetwork:
    """Return a pgmpy network with the same edges and tables."""
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise PGMExplainerError(f"this needs pgmpy: pip install pgmpy ({error})") from error
    tables = {table.name: table for table in network_in_words(network)}
    model = DiscreteBayesianNetwork()
    model.name = NETWORK_NAME
    model.add_nodes_from(tables)
    for table in tables.values():
        model.add_edges_from((parent, table.name) for parent in table.parents)
        model.add_cpds(
            TabularCPD(
                table.name,
                len(table.states),
                np.reshape(table.numbers, (-1, len(table.states))).T,
                evidence=list(table.parents),
                evidence_card=[len(tables[parent].states) for parent in table.parents],
                state_names={
                    name: list(tables[name].states) for name in (table.name, *table.parents)
                },
            )
        )
    return model


def network_to_pyagrum(network: BayesianNetwork) -> BayesNet:
    """Return a pyAgrum network with the same edges and tables."""
    try:
        import pyagrum as gum
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise PGMExplainerError(f"this needs pyAgrum: pip install pyagrum ({error})") from error
    tables = list(network_in_words(network))
    model = gum.BayesNet(NETWORK_NAME)
    for table in tables:
        model.add(gum.LabelizedVariable(table.name, table.name, list(table.states)))
    for table in tables:
        # The last parent first: in pyAgrum the states of the first parent change fastest.
        for parent in reversed(table.parents):
            model.addArc(parent, table.name)
        model.cpt(table.name).fillWith(list(table.numbers))
    return model
