"""Explanations of fitted sums of stumps: rules, shape functions, mean absolute terms."""

# The base classes import modules of this package, which import modules of the base in turn. They
# must come first, so that each module of this package can be imported before any other.
import boostbench.algorithms.base  # noqa: F401
