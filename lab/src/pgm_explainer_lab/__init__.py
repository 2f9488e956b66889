"""The lab of pgm-explainer: data sets, models, other explainers, metrics, experiments, benchmarks.

It uses the library through its public names only, and is not part of the installed package.
"""
