"""Packages whose names are imported on first access."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


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
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        # Later accesses find the value without this function.
        setattr(sys.modules[package], name, value)
        return value

    return import_attribute, lambda: [*modules]
