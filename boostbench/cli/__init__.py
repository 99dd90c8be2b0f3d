"""The command line: ``boostbench run|table|figure|list|data``."""

from boostbench.cli.main import main

__all__ = ["main"]
