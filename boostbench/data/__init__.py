"""Data sets: local files, OpenML, scikit-learn's own, generated ones.

Importing this package is quick: pandas, scikit-learn and openml are imported where they are used.
"""

from boostbench.data.dataset import Dataset
from boostbench.data.description import describe
from boostbench.data.load import load
from boostbench.data.sources.lookup import first_available_source

__all__ = ["Dataset", "describe", "first_available_source", "load"]
