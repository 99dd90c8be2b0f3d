"""The command line: `main` runs the commands, each of which is a file of this folder."""

from boostbench.cli._main import main

__all__ = ["main"]
