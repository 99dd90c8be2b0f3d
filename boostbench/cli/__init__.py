"""The command line: ``main`` calls the commands, each of which is a file."""

from boostbench.cli.main import main

__all__ = ["main"]
