"""Tests, ranks and effect sizes of numbers as they are printed."""

#: Significance level of all tests.
LEVEL = 0.05
