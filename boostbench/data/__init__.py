"""Data sets from local files, OpenML, scikit-learn and generators.

Functions are imported on first access, so that modules that need one file of this package, such as
the reader of records, do not import the others.
"""

from typing import TYPE_CHECKING

from boostbench.util.process import lazy_attributes

# Editors and type checkers read these imports, which `__getattr__` makes at run time.
if TYPE_CHECKING:
    from boostbench.data.dataset import Dataset
    from boostbench.data.loading import describe, load
    from boostbench.data.sources import first_available_source

__all__ = ["Dataset", "describe", "first_available_source", "load"]

_MODULES = {
    "Dataset": "dataset",
    "describe": "loading",
    "first_available_source": "sources",
    "load": "loading",
}

__getattr__, __dir__ = lazy_attributes(__name__, _MODULES)
