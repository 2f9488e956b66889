"""
Cora: why does an attention network put a paper into this field?
================================================================

Cora is a graph of 2,708 papers that cite each other, with 1,433 words as features and seven fields as classes. A
graph attention network is trained on 140 labelled papers, and one of its predictions is explained: which cited
papers, and which words, does it rest on?

The data are read from the folder that the variable ``PGM_EXPLAINER_DATA`` names.
"""

import torch
from torch_geometric.nn import GAT

from pgm_explainer import PGMExplainer
from pgm_explainer_lab.cora import load_cora

FIELDS = [
    "theory",
    "reinforcement learning",
    "genetic algorithms",
    "neural networks",
    "probabilistic methods",
    "case-based",
    "rule learning",
]

cora = load_cora()
x, edge_index = torch.tensor(cora.x), torch.tensor(cora.edge_index)
y, train = torch.tensor(cora.y), torch.tensor(cora.train)

# %%
# A model
# -------
# Two layers of attention, trained as usual.

torch.manual_seed(0)
model = GAT(x.shape[1], hidden_channels=16, num_layers=2, out_channels=7, heads=4, dropout=0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(30):
    model.train()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x, edge_index)[train], y[train]).backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    right = model(x, edge_index).argmax(-1) == y
print(f"accuracy on papers without a label: {right[~train].float().mean():.1%}")

# %%
# An explanation
# --------------
# The explainer counts the two layers and calls the model only on the papers within reach of the target.
# ``with_features=True`` adds the effects of single words.

explainer = PGMExplainer(model, x, edge_index, class_names=FIELDS)
explanation = explainer.explain(100, with_features=True)
print(explanation.reason())

# %%
explanation.plot()

# %%
# Words have numbers in this version of Cora, not names. Positive bars are words whose loss would *raise* the
# probability of the field.

explanation.plot("features", max_shown=8)

# %%
# Check it
# --------
# Compare with the model itself: replace the features of the strongest paper by those of other papers, one at a
# time, and look at the probability.

strongest = explanation.effects[0]
with torch.no_grad():
    before = model(x, edge_index).softmax(-1)[100, explanation.explained_class]
    changed = []
    for other in range(0, 2700, 90):
        features = x.clone()
        features[strongest.node] = x[other]
        after = model(features, edge_index).softmax(-1)[100, explanation.explained_class]
        changed.append(float(after - before))
print(
    f"mean change if paper {strongest.node} is replaced alone: {sum(changed) / len(changed):+.3f}"
)
print(f"the explanation, while others vary too: {strongest.effect:+.3f}")
