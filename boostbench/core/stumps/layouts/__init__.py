"""Arrangements of the training data from which the edges of all stumps are computed."""
