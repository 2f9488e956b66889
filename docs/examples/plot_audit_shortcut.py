"""
Audit: finding a shortcut that a model has learned
==================================================

A model decides about loans. It is accurate on test data, but did it learn the right thing? In this example we *plant*
a shortcut: in the training data, the code of the branch happens to agree with the outcome. A model that uses it will
fail when branches change. The audit explains many decisions at once and shows what they rest on.
"""

import numpy as np
import torch
from torch_geometric.nn import GraphSAGE

from pgm_explainer import PGMExplainer

COLUMNS = ["income", "debt", "years employed", "branch code"]
rng = np.random.default_rng(0)
n = 300
source = rng.integers(n, size=900)
edge_index = torch.tensor(np.stack((source, rng.integers(n, size=900))))  # who vouches for whom

x = rng.normal(size=(n, 4)).astype(np.float32)
vouched = np.zeros(n)
np.add.at(vouched, edge_index[1].numpy(), x[edge_index[0].numpy(), 0])
outcome = (x[:, 0] - x[:, 1] + 0.4 * vouched + rng.normal(size=n) > 0).astype(int)
x[:, 3] = 2.0 * (2 * outcome - 1) + 0.5 * rng.normal(size=n)  # the planted shortcut
honest = x.copy()
honest[:, 3] = rng.normal(size=n)  # the same people with a code that means nothing


# %%
# We train two models on data that differ only in that column. Both look accurate on their training data.


def train(features):
    torch.manual_seed(0)
    model = GraphSAGE(4, hidden_channels=16, num_layers=1, out_channels=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    inputs, target = torch.tensor(features), torch.tensor(outcome)
    for _ in range(80):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs, edge_index), target).backward()
        optimizer.step()
    with torch.no_grad():
        share = (model(inputs, edge_index).argmax(-1) == target).float().mean()
    print(f"accuracy: {share:.1%}")
    return model.eval()


shortcut, sound = train(x), train(honest)

# %%
# The audit
# ---------
# ``parts="features"`` perturbs a whole column at a time: it asks what a decision rests on, person by person. Forty
# decisions are explained from one set of samples.


def audit(model, features):
    explainer = PGMExplainer(
        model,
        features,
        edge_index,
        parts="features",
        feature_names=COLUMNS,
        perturb_probability=0.3,
    )
    found = explainer.explain_many(range(40))
    strongest = [each.effects[0].node for each in found]
    for name in COLUMNS:
        sizes = [abs(e.effect) for each in found for e in each.effects if e.node == name]
        share = strongest.count(name)
        print(
            f"  {name:15} strongest in {share:2} of 40, mean |effect| {100 * np.mean(sizes):4.1f} points"
        )
    return found


print("trained with the shortcut")
by_shortcut = audit(shortcut, x)
print("trained without it")
by_sound = audit(sound, honest)

# %%
# The planted column is the strongest cause of nearly every decision of the first model and of hardly any of the
# second. One decision, as the person concerned would be told:

print(by_shortcut[5].reason())

# %%
by_shortcut[5].plot("effects")

# %%
# The consequence
# ---------------
# When branches change, the codes no longer agree with the outcome. The audit predicted what happens then:

with torch.no_grad():
    for name, model in (("with the shortcut", shortcut), ("without it", sound)):
        right = model(torch.tensor(honest), edge_index).argmax(-1).numpy() == outcome
        print(f"accuracy {name} after the change: {right.mean():.1%}")
