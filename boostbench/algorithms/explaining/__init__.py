"""What a fitted model says: sums of stumps, rules, shape functions, probabilities."""
