"""Floor 3: splits, tuning, fan-out and the records on disk."""
