"""Weak learners other than stumps: a learner, its stack and its search, one file per kind."""
