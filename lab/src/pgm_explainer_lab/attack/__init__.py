"""Attacks on the guarantees of the library: malformed calls, mutated files, kills and loads.

``python -m pgm_explainer_lab.attack --seed 7`` runs a full round and prints what it found. Every
case is a function of the seed and its number, so each finding can be repeated alone.
"""
