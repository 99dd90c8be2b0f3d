"""Boosting algorithms of five papers, and a runner that reproduces their tables and figures."""

__version__ = "0.1.0"
