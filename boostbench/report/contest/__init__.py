"""Algorithms against each other, over the data sets on which they meet."""
