"""The planted cause of every forecast, a road at a lag, is found."""

from __future__ import annotations

import numpy as np

from pgm_explainer import PGMExplainer, Time
from pgm_explainer_lab.traffic import make_traffic, train_traffic_net

STEPS, TARGETS = 8, 100


def test_the_main_inflow_at_the_lag_is_the_strongest_cause_of_the_forecast():
    traffic = make_traffic()
    model = train_traffic_net(traffic, STEPS)
    explainer = PGMExplainer(
        model,
        traffic.window(len(traffic.flows), STEPS),
        traffic.edge_index,
        inputs={"edge_weight": traffic.edge_weight},
        parts=Time(per_node=True),
        scores="values",
        structure=None,
        progress=False,
    )
    explanations = explainer.explain_many(range(TARGETS))
    found = [
        explanation.effects.parts[0] == (road, f"step {STEPS - traffic.lag}")
        for road, explanation in zip(traffic.main.tolist(), explanations, strict=False)
    ]
    assert len(found) == TARGETS
    assert np.mean(found) >= 0.95
