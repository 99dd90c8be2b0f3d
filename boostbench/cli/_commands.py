"""Discovery of the commands: each file of this folder without an underscore is one.

The first line of a command's docstring is its help text. The module defines

- ``arguments(parser)``, which adds its arguments to an `argparse.ArgumentParser`;
- ``run(args)``, which returns the exit code, or None for 0;
- perhaps ``complete(before, word)``, which returns candidates for the word that a shell completes;
- perhaps ``epilog()``, which returns text below the help.

The help of the program imports all commands, so that a command imports slow modules in its
functions, after it has checked the names that it was given.
"""

import pkgutil
from importlib import import_module
from types import ModuleType


def command_names() -> list[str]:
    """Return the names of all commands."""
    modules = pkgutil.iter_modules(import_module(__package__).__path__)
    return sorted(module.name for module in modules if not module.name.startswith("_"))


def find_command(name: str) -> ModuleType:
    """Import a command."""
    return import_module(f"{__package__}.{name}")
