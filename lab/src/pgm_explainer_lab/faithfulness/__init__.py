"""Benchmarks whose truth is the model: what perturbing a node really does to a prediction."""
