"""Measures of a fit: each module but `base` holds one, see `boostbench.spec.measures`."""
