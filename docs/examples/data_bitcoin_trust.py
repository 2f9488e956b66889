"""
Bitcoin trust: who makes an account trustworthy?
================================================

Bitcoin-Alpha is a network of 3,783 accounts that rated each other. The model learns which accounts are trustworthy
from how their neighbours rate others. An account has dozens of neighbours, so this example compares the two rankings
of an explanation: effects, which are causes, and dependence, as in the paper.

The data are read from the folder that the variable ``PGM_EXPLAINER_DATA`` names.
"""

import torch
from torch_geometric.nn import GraphSAGE

from pgm_explainer import PGMExplainer
from pgm_explainer_lab.bitcoin import load_bitcoin

alpha = load_bitcoin("alpha")
x, edge_index = torch.tensor(alpha.x), torch.tensor(alpha.edge_index)
y, train = torch.tensor(alpha.y), torch.tensor(alpha.train)

torch.manual_seed(0)
model = GraphSAGE(x.shape[1], hidden_channels=16, num_layers=2, out_channels=2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(80):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x, edge_index)[train], y[train]).backward()
    optimizer.step()
with torch.no_grad():
    right = model(x, edge_index).argmax(-1) == y
print(f"accuracy on accounts that were not trained on: {right[~train].float().mean():.1%}")

# %%
# One account
# -----------
# ``own_predictions=False`` leaves out the predictions of the candidates themselves. Effects stay the same, and the
# model is called on far fewer accounts, because accounts in this network have many neighbours.

degree = torch.bincount(edge_index[1], minlength=len(x))
with torch.no_grad():
    trusted = model(x, edge_index).softmax(-1)[:, 1]
target = int(torch.where((degree == 6) & (trusted > 0.6) & (trusted < 0.9))[0][0])

explainer = PGMExplainer(
    model, x, edge_index, class_names=["untrusted", "trusted"], own_predictions=False, hops=1
)
explanation = explainer.explain(target, with_features=True)
print(explanation.reason())

# %%
explanation.plot("neighbourhood")

# %%
# The effects of single features of the account and of its raters:

FEATURES = ["praise", "blame", "share positive", "mean", "praise·received", "blame·received"]
FEATURES += ["praise·given", "blame·given"]
named = PGMExplainer(
    model, x, edge_index, feature_names=FEATURES, own_predictions=False, hops=1
).explain(target, with_features=True)
named.plot("features", max_shown=8)
