"""Benchmarks whose ground truth is the model: the true effect of perturbing a node."""
