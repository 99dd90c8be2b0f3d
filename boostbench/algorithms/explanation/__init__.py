"""Explanations of fitted sums of stumps: rules, shape functions, mean absolute terms."""
