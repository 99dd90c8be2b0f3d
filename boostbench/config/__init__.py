"""Configs of experiments and tables: grammar, composition and validation."""
