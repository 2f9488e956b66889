"""
A data set of explanations, on Ray
==================================

Explain every node of a graph as a job: on Ray actors, in a folder of Parquet files that survives a crash, with an
overview at the end. The same call works on a cluster of many machines; here Ray starts two workers on this one.
"""

import tempfile
from pathlib import Path

import numpy as np

from pgm_explainer import ExplanationDataset, PGMExplainer, RayEngine, explain_dataset

rng = np.random.default_rng(0)
ring = np.arange(200)
edge_index = np.concatenate(
    (np.stack((ring, (ring + 1) % 200)), np.stack(((ring + 7) % 200, ring))), axis=1
)
x = rng.uniform(size=(200, 1))
x[[20, 120]] = 4.0  # two nodes that dominate their receivers


def model(x, edge_index):
    received = np.zeros(x.shape[:2])
    np.add.at(received.T, edge_index[1], x[:, edge_index[0], 0].T)
    return np.stack((0 * received, 2 * received - 2), axis=-1)


# %%
# The job
# -------
# All engines give the same bytes, so a job can be tried with ``engine="local"`` first. If it is interrupted, repeat
# the call to resume it.

folder = Path(tempfile.mkdtemp()) / "why"
explainer = PGMExplainer(model, x, edge_index, num_layers=1, num_samples=300)
engine = RayEngine(workers=2)
found = explain_dataset(explainer, None, folder, engine=engine, shard_size=50, progress=False)
print(sorted(path.name for path in (folder / "shards").iterdir()))

# %%
# The result
# ----------

print(found.overview())

# %%
found.overview().plot()

# %%
# Any explanation can be read back, in this process or another one:

print(ExplanationDataset(folder)[21].reason())
