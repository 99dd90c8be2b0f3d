"""Data sets from local files, OpenML, scikit-learn and generators.

Importing this package is fast: pandas, scikit-learn and openml are imported on first use.
"""

from boostbench.data.dataset import Dataset
from boostbench.data.description import describe
from boostbench.data.load import load
from boostbench.data.sources.lookup import first_available_source

__all__ = ["Dataset", "describe", "first_available_source", "load"]
