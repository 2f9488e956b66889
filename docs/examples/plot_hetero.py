"""
Several node types: authors, papers and venues
==============================================

A graph with three types of nodes, given as ``HeteroData``. The model predicts the topic of a paper from its authors
and its venue. The explanation says which of them the prediction rests on, with their names.
"""

import torch
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

from pgm_explainer import PGMExplainer

torch.manual_seed(2)
papers, authors, venues = 60, 20, 4
topic_of_author = torch.randint(2, (authors,))
topic_of_venue = torch.tensor([0, 0, 1, 1])
topic = torch.randint(2, (papers,))
venue = torch.tensor(
    [int(torch.where(topic_of_venue == t)[0][torch.randint(2, ())]) for t in topic]
)
writes = []
for paper in range(papers):
    same = torch.where(topic_of_author == topic[paper])[0]
    writes += [(int(author), paper) for author in same[torch.randperm(len(same))[:2]]]
    writes.append((int(torch.randint(authors, ())), paper))

data = HeteroData()
data["paper"].x = torch.randn(papers, 4)
data["author"].x = torch.nn.functional.one_hot(topic_of_author, 2) + 0.3 * torch.randn(authors, 2)
data["venue"].x = torch.nn.functional.one_hot(topic_of_venue, 2).float()
data["author", "writes", "paper"].edge_index = torch.tensor(writes).T
data["venue", "prints", "paper"].edge_index = torch.stack((venue, torch.arange(papers)))

# %%


class Topics(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = HeteroConv(
            {
                ("author", "writes", "paper"): SAGEConv((2, 4), 2),
                ("venue", "prints", "paper"): SAGEConv((2, 4), 2),
            }
        )

    def forward(self, x_dict, edge_index_dict):
        return self.conv(x_dict, edge_index_dict)["paper"]


model = Topics()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(60):
    optimizer.zero_grad()
    scores = model(data.x_dict, data.edge_index_dict)
    torch.nn.functional.cross_entropy(scores, topic).backward()
    optimizer.step()

# %%
# Names are given by type. ``target_type`` says which type is predicted.

explainer = PGMExplainer(
    model,
    data,
    target_type="paper",
    names={
        "paper": [f"paper {number}" for number in range(papers)],
        "author": [f"author {number}" for number in range(authors)],
        "venue": ["JoML", "ICNN", "JoDB", "VLQ"],
    },
    class_names=["learning", "databases"],
)
explanation = explainer.explain(("paper", "paper 7"))
print(explanation.reason())

# %%
# Each type has its own shape.

explanation.plot()

# %%
# Over many papers: which type matters most?

many = explainer.explain_many([("paper", f"paper {number}") for number in range(papers)])
strongest = [each.effects[0].node[0] for each in many if each.effects[0].significant]
for kind in ("author", "venue", "paper"):
    print(f"{kind}: strongest effect on {strongest.count(kind)} of {len(strongest)} papers")
