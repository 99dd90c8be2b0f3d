"""Explanations of fitted sums of stumps: rules, shape functions, sizes of terms."""
