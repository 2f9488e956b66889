"""Benchmarks against other packages, as ratios of times in one run to cancel out machine load."""
