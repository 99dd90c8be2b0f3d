"""Recorded results as numbers: frames, tables, comparisons, statistics and verdicts."""
