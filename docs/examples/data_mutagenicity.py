"""
Mutagenicity: which atoms make a molecule mutagenic?
====================================================

A graph isomorphism network is trained on molecules that are or are not mutagenic. For one of them, the explanation
names the atoms whose replacement lowers the probability of *mutagenic*, and the smallest replacement that changes
the prediction. Chemists know two groups that make molecules mutagenic, NO₂ and NH₂, so the result can be checked.

The data are read from the folder that the variable ``PGM_EXPLAINER_DATA`` names.
"""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_add_pool

from pgm_explainer import PGMExplainer
from pgm_explainer_lab.mutagenicity import ATOMS, load_mutagenicity

molecules = [each for each in load_mutagenicity() if len(each.x) <= 25][:800]
graphs = [
    Data(
        x=torch.tensor(each.x),
        edge_index=torch.tensor(each.edge_index),
        y=torch.tensor([1 - each.label]),  # 1 for mutagenic
        node_names=[f"{ATOMS[row.argmax()]}{number}" for number, row in enumerate(each.x)],
    )
    for each in molecules
]

# %%
# A model
# -------


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = GIN(len(ATOMS), hidden_channels=32, num_layers=3)
        self.head = torch.nn.Linear(32, 2)

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.layers(x, edge_index), batch))


torch.manual_seed(0)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for _ in range(12):
    for batch in DataLoader(graphs[:600], batch_size=32, shuffle=True):
        optimizer.zero_grad()
        scores = model(batch.x, batch.edge_index, batch.batch)
        torch.nn.functional.cross_entropy(scores, batch.y).backward()
        optimizer.step()

model.eval()
with torch.no_grad():
    (test,) = DataLoader(graphs[600:], batch_size=200)
    predicted = model(test.x, test.edge_index, test.batch).argmax(-1)
print(f"accuracy on 200 other molecules: {(predicted == test.y).float().mean():.1%}")

# %%
# An explanation
# --------------
# All molecules are passed, because an atom is replaced by an atom of any of them. The molecule explained here is the
# first one of the test set that is mutagenic, has such a group and is predicted correctly.

chosen = next(
    600 + number
    for number, found in enumerate(predicted.tolist())
    if found == 1 and graphs[600 + number].y == 1 and molecules[600 + number].motif
)
explainer = PGMExplainer(
    model, graphs, task="graph", feature_names=ATOMS, class_names=["harmless", "mutagenic"]
)
explanation = explainer.explain(chosen)
print(explanation.reason(templates={"noun_node": "atom", "nouns_node": "atoms"}))

# %%
# The atoms of its NO₂ and NH₂ groups, according to the data set, and the atoms with the strongest effects:

motif = {graphs[chosen].node_names[atom] for atom in molecules[chosen].motif}
print("known:", ", ".join(sorted(motif)))
print("found:", ", ".join(str(part) for part in explanation.effects.parts[:4]))

# %%
symbols = [ATOMS[row.argmax()] for row in molecules[chosen].x]
explanation.plot("neighbourhood", atoms=symbols)

# %%
# The smallest change
# -------------------
# Which replacement of as few atoms as possible changes the prediction?

print(explanation.counterfactual())
