"""
Time steps: which moment does a forecast rest on?
=================================================

Features may have a time axis, ``[nodes, steps, features]``. Parts can then be time steps, nodes, or both. The example
is a road network in which a jam one hour ago at one sensor slows down its neighbour now.
"""

import numpy as np

from pgm_explainer import PGMExplainer

STEPS = 6
sensors = ["bridge", "station", "harbour", "market"]
edge_index = np.array([[1, 2, 3], [0, 0, 0]])
rng = np.random.default_rng(0)
x = rng.uniform(40, 60, size=(4, STEPS, 1))
x[1, 2] = 5.0  # a jam at the station, at step 2


def forecast(x, edge_index):  # x [B, N, T, F] in, speeds [B, N, 1] out
    own = x[:, :, -1, 0]
    jams = np.maximum(30 - x[..., 0], 0).max(axis=2)
    slowed = np.zeros_like(own)
    np.add.at(slowed.T, edge_index[1], jams[:, edge_index[0]].T)
    return (own - slowed)[..., None]


# %%
# By node: which sensor?

options = {"num_layers": 1, "names": sensors, "scores": "values"}
by_node = PGMExplainer(forecast, x, edge_index, **options).explain("bridge")
print(by_node.reason())

# %%
# By time: which step? With ``parts="time"``, a step is perturbed at all sensors together.

by_step = PGMExplainer(forecast, x, edge_index, parts="time", **options).explain("bridge")
by_step.plot("effects")
