"""The commands, a file each: its docstring says what it does, `arguments` and `run` are the rest.

What `run` gives is the exit code; None is 0. They are found because they are here. The help imports
all of them, so that a command imports what is slow when it runs, and after it has checked the names
that it was given.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType


def names() -> list[str]:
    """Name all commands."""
    return sorted(file.stem for file in Path(__file__).parent.glob("[!_]*.py"))


def find(name: str) -> ModuleType:
    """Import a command."""
    return import_module(f"{__name__}.{name}")
