"""Losses, and the weights that they give to the search for weak learners."""
