"""Completion in a shell that has evaluated ``boostbench run -sc install=bash``.

The shell function that Hydra installs calls ``boostbench -sc query=bash`` with the line typed so
far in ``COMP_LINE``. What follows ``boostbench run`` is Hydra's to complete, the rest ours.
"""

import os
from collections.abc import Sequence

from boostbench import configs


def complete(argv: Sequence[str], commands: Sequence[str]) -> int:
    """Print the words that can be at the end of ``COMP_LINE``.

    Parameters
    ----------
    argv : sequence of str
        As the shell function passes it: ``-sc query=bash``.
    commands : sequence of str
        All that there are.

    Returns
    -------
    int
        0.
    """
    line = os.environ.get("COMP_LINE", "")
    words = line.split()
    typing = not line.endswith(" ")
    before, word = (words[1:-1], words[-1]) if typing else (words[1:], "")
    if before[:1] == ["run"]:
        from boostbench.cli.run import run

        os.environ["COMP_LINE"] = line.replace(" run ", " ", 1)
        return run(argv)
    separator = "\n" if "query=fish" in argv else " "
    print(separator.join(c for c in _candidates(before, commands) if c.startswith(word)))
    return 0


def _candidates(before: list[str], commands: Sequence[str]) -> Sequence[str]:
    match before:
        case []:
            return commands
        case ["table"]:
            return configs.names("table")
        case ["figure"]:
            return configs.names("figure")
        case ["compare" | "verify", *_]:
            return configs.names("algo")
        case ["report", *_]:
            return configs.names("table")
        case ["list"]:
            return ["algos", "data", "tables", "figures"]
        case ["data"]:
            return configs.names("data")
    return []
