"""How the commands tell what is wrong."""

import os
import sys


def debugging() -> bool:
    """Whether the user asked for tracebacks."""
    # While Hydra runs, its variable is always set; ours then says what the user wanted.
    hydra = os.environ.get("HYDRA_FULL_ERROR")
    return os.environ.get("BOOSTBENCH_DEBUG", hydra) == "1"


def complain(problem: object) -> None:
    """Print one line on stderr."""
    print(f"boostbench: {problem}", file=sys.stderr)
