"""Imports of optional libraries, and of a package's public names on their first access."""

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def import_optional(name: str, prefix: str = "this needs") -> ModuleType:
    """Import a module, or raise an error that names the missing library.

    Parameters
    ----------
    name : str
        Name of a library, or of a module in it.
    prefix : str, default="this needs"
        Start of the message, in front of the name of the library.

    Raises
    ------
    ImportError
        If the library is not installed. An installed library that fails to import raises its own
        error.
    """
    library = name.partition(".")[0]
    try:
        importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise ImportError(f"{prefix} {library}; install it by 'pip install {library}'") from None
    return importlib.import_module(name)


def lazy_attributes(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Name of the package.
    modules : mapping of str to str
        For each public name, the module of the package that defines it.
    """

    def import_attribute(name: str) -> Any:
        """Import a public name from its module, and store it in the package."""
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        # Later accesses find the value without this function.
        setattr(sys.modules[package], name, value)
        return value

    return import_attribute, lambda: [*modules]
