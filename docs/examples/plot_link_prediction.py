"""
Link prediction: why should these two be linked?
================================================

A friendship network in which two people become friends if they have a hobby in common *and* a friend in common. A
graph autoencoder is trained to find missing friendships, and one that it suggests is explained: by people, and by
existing friendships.
"""

import torch
from torch_geometric.nn import GCN
from torch_geometric.utils import negative_sampling, to_undirected

from pgm_explainer import PGMExplainer

torch.manual_seed(0)
people = [f"P{number:02}" for number in range(40)]
hobby = torch.randint(4, (40,))
circles = torch.randint(5, (40,))
pairs = [
    (a, b)
    for a in range(40)
    for b in range(a)
    if torch.rand(1) < 0.04 + 0.5 * bool(hobby[a] == hobby[b]) * bool(circles[a] == circles[b])
    or (circles[a] == circles[b] and torch.rand(1) < 0.25)
]
edge_index = to_undirected(torch.tensor(pairs).T)
x = torch.nn.functional.one_hot(hobby, 4).float()

# %%


class Friends(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = GCN(4, hidden_channels=16, num_layers=2)

    def forward(self, x, edge_index, edge_label_index):
        h = self.encoder(x, edge_index)
        return (h[edge_label_index[0]] * h[edge_label_index[1]]).sum(-1)


model = Friends()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    others = negative_sampling(edge_index, 40, num_neg_samples=edge_index.shape[1])
    scores = model(x, edge_index, torch.cat((edge_index, others), dim=1))
    exists = torch.cat((torch.ones(edge_index.shape[1]), torch.zeros(others.shape[1])))
    torch.nn.functional.binary_cross_entropy_with_logits(scores, exists).backward()
    optimizer.step()

# %%
# The friendship that the model expects most among those that do not exist:

missing = negative_sampling(edge_index, 40, num_neg_samples=400)
with torch.no_grad():
    source, target = missing[:, model(x, edge_index, missing).argmax()].tolist()

options = {
    "task": "edge",
    "scores": "logits",
    "names": people,
    "feature_names": ["chess", "music", "running", "cooking"],
    "class_names": ["no friends", "friends"],
}
explanation = PGMExplainer(model, x, edge_index, **options).explain((source, target))
print(explanation.reason(templates={"part": "{name}"}))

# %%
explanation.plot("neighbourhood")

# %%
# Which existing friendships does it rest on? The parts are edges now, which are removed:

by_edges = PGMExplainer(model, x, edge_index, parts="edges", **options).explain((source, target))
by_edges.plot("effects", max_shown=8)
