"""Completion in a shell that has evaluated ``boostbench run -sc install=bash``.

The shell function that Hydra installs calls ``boostbench -sc query=bash`` with the line typed so
far in ``COMP_LINE``. What follows ``boostbench run`` is Hydra's to complete, the rest ours.
"""

import os
from collections.abc import Sequence

from boostbench.cli import commands
from boostbench.util.printable import echo
from boostbench.util.temporary_settings import temporarily_set


def complete(argv: Sequence[str]) -> int:
    """Print the words that can be at the end of ``COMP_LINE``.

    Parameters
    ----------
    argv : sequence of str
        As the shell function passes it: ``-sc query=bash``.

    Returns
    -------
    int
        0.
    """
    line = os.environ.get("COMP_LINE", "")
    words = line.split()
    typing = not line.endswith(" ")
    before, word = (words[1:-1], words[-1]) if typing else (words[1:], "")
    candidates = known = commands.names()
    if before:
        command = commands.find(before[0]) if before[0] in known else None
        if command and commands.is_hydra(command):
            shorter = line.replace(f" {before[0]} ", " ", 1)
            with temporarily_set(os.environ, {"COMP_LINE": shorter}):
                return command.run(argv)
        candidates = command.complete(before[1:]) if hasattr(command, "complete") else []
    separator = "\n" if "query=fish" in argv else " "
    echo(separator.join(c for c in candidates if c.startswith(word)))
    return 0
