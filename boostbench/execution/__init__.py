"""Execution of experiments: plan, queue, workers, time limits, shards and verification."""
