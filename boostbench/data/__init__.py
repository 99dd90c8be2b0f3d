"""Data sets from local files, OpenML, scikit-learn and generators.

Functions are imported on first access, so that modules that need one file of this package, such as
the reader of records, do not import the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

# Editors and type checkers read these imports, which `__getattr__` makes at run time.
if TYPE_CHECKING:
    from boostbench.data.dataset import Dataset
    from boostbench.data.description import describe
    from boostbench.data.loading import load
    from boostbench.data.sources.lookup import first_available_source

__all__ = ["Dataset", "describe", "first_available_source", "load"]

_MODULES = {
    "Dataset": "dataset",
    "describe": "description",
    "first_available_source": "sources.lookup",
    "load": "loading",
}


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return globals()[name]


def __dir__():
    return [*__all__]
