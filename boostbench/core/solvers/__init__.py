"""Solvers of the problems for the coefficients."""
