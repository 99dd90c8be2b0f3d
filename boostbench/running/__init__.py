"""How experiments are run: plans, workers, locks, and fits made again to verify records."""
