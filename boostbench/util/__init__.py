"""Helpers that know nothing of boosting: files, messages, text, optional libraries."""
