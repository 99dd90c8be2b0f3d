"""One fit: splits, preparation, trials, tuning and measures, without records."""
