"""
As an algorithm of PyTorch Geometric's Explainer
================================================

If you already use ``torch_geometric.explain``, replace the algorithm and keep everything else: thresholds, subgraphs,
plots and metrics. The result also holds the full explanation, with intervals and the Bayesian network.
"""

import torch
from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import fidelity
from torch_geometric.nn import GCN
from torch_geometric.utils import barabasi_albert_graph

from pgm_explainer.pyg import PGMExplainerAlgorithm

torch.manual_seed(0)
edge_index = barabasi_albert_graph(60, 2)
x = torch.randn(60, 6)
y = (x[:, 0] + 0.5 * torch.randn(60) > 0).long()

model = GCN(6, hidden_channels=16, num_layers=2, out_channels=2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(60):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x, edge_index), y).backward()
    optimizer.step()

# %%
# The explainer is PyTorch Geometric's. Only the algorithm comes from this package.

explainer = Explainer(
    model,
    algorithm=PGMExplainerAlgorithm(num_samples=500),
    explanation_type="model",
    node_mask_type="object",
    edge_mask_type="object",
    model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
)
found = explainer(x, edge_index, index=10)
print(found)

# %%
# The mask holds the strength of each significant effect; nodes without one have 0.

values, nodes = found.node_mask.flatten().topk(5)
for node, value in zip(nodes.tolist(), values.tolist(), strict=True):
    print(f"node {node:2}: {value:.3f}")

# %%
# PyTorch Geometric's metrics work as for any other algorithm:

positive, negative = fidelity(explainer, found)
print(f"fidelity+ {positive:.2f}, fidelity- {negative:.2f}")

# %%
# And the full explanation is in ``found.pgm``, by target:

explanation = found.pgm[10]
explanation.plot("effects", max_shown=8)

# %%
print(explanation.reason())
