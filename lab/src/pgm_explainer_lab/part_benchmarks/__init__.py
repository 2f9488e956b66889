"""Benchmarks of parts other than nodes of one graph: edges, and the atoms of many molecules."""
