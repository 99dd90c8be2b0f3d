"""Tests, ranks and effect sizes of numbers as they are printed."""
