"""Weak learners: a learner, its stack and its search, one file per kind."""
