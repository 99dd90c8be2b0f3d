"""Splits, preparation, fits, tuning and measures; records are unknown here."""
