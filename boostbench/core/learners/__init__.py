"""Weak learners other than stumps: each file has a learner, its stack and its search."""
