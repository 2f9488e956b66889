"""
MNIST: which superpixels make this a 3?
=======================================

The paper explains digits as graphs: an image is divided into superpixels, which are the nodes, and each has edges to
the nearest ones. The network is the one of the paper, with the weights that ``pgm-explainer reproduce mnist --train``
produced.

The data are read from the folder that the variable ``PGM_EXPLAINER_DATA`` names.
"""

import matplotlib.pyplot as plt

from pgm_explainer import PGMExplainer
from pgm_explainer.report.plots import draw_superpixels
from pgm_explainer_lab.superpixel_gnn import load_superpixel_gcn
from pgm_explainer_lab.superpixels import mnist_images, superpixel_graph

images, labels = mnist_images("test")
model = load_superpixel_gcn()
numbers = [int((labels == digit).nonzero()[0][0]) for digit in (3, 7)]
graphs = [superpixel_graph(images[number] / 255, int(labels[number])) for number in numbers]
print([len(graph.x) for graph in graphs], "superpixels")

# %%
# The explained parts are superpixels; perturbing one gives it the mean intensity of the image. Only the first
# feature, the intensity, is perturbed: the position of a superpixel stays what it is.

fig, axes = plt.subplots(2, 3, figsize=(7.5, 5), layout="constrained")
for (original, effects, dependence), graph in zip(axes, graphs, strict=True):
    explainer = PGMExplainer(
        model, graph.x, graph.edge_index, task="graph", features=[0], num_samples=500
    )
    explanation = explainer.explain()
    original.imshow(graph.image, cmap="gray")
    original.set_title(f"predicted: {explanation.explained_class}")
    original.axis("off")
    strongest = explanation.effects.parts[:5]
    draw_superpixels(effects, graph.image, graph.segments, strongest, title="effects")
    ranked = [each.node for each in explanation.ranking[:5]]
    draw_superpixels(dependence, graph.image, graph.segments, ranked, title="dependence")

# %%
# The reason for the last digit, in words. Superpixels are identified by numbers:

print(explanation.reason(templates={"noun_node": "superpixel", "nouns_node": "superpixels"}))
