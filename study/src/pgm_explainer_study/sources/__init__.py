"""Where studies come from: the paper's digits, nodes of a graph, saved explanations."""
