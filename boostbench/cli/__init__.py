"""The command line: ``boostbench run|table|list|data``."""

from boostbench.cli.main import main

__all__ = ["main"]
