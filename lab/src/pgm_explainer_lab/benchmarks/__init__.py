"""Benchmarks against other packages, as ratios of times in one run to cancel the machine's load."""
