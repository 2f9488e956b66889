"""Between the graph and the model: what is queried, on which subgraph, and how it is read."""
