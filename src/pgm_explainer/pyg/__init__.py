"""PGM-Explainer as an algorithm for ``torch_geometric.explain.Explainer``.

The thresholds, subgraphs, plots and metrics of PyTorch Geometric then work for its explanations::

    from torch_geometric.explain import Explainer
    from pgm_explainer.pyg import PGMExplainerAlgorithm

    explainer = Explainer(
        model,
        algorithm=PGMExplainerAlgorithm(num_samples=800),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config=dict(mode="multiclass_classification", task_level="node", return_type="raw"),
    )
    explanation = explainer(x, edge_index, index=10)
    explanation.visualize_graph()
    explanation.pgm[10].query({7: "kept"})
"""

from .algorithm import ByTarget, PGMExplainerAlgorithm

__all__ = ["ByTarget", "PGMExplainerAlgorithm"]
