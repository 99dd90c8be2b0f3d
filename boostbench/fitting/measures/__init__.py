"""Measures of a fit: classes that `boostbench.spec.measures` finds by their names."""
