"""What one experiment is: protocol, splits, preparation, trials, tuning."""
