"""Access to private names of other packages: scikit-learn, SciPy and openml-python.

No other module of boostbench imports a private name, so that a new version of a package can break
this module only.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_monotonic_cst as check_monotonic_cst
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from boostbench.util.process import temporarily_set

try:
    from scipy.sparse._sparsetools import csc_matvec, csc_matvecs, csr_matvec, csr_matvecs
except ImportError:
    #: Compiled loops for products of sparse and dense matrices, by format: one loop for a single
    #: column and one for several columns. None if SciPy lacks them.
    LOOPS = None
else:
    LOOPS = {"csc": (csc_matvec, csc_matvecs), "csr": (csr_matvec, csr_matvecs)}

__all__ = [
    "LOOPS",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "check_feature_names",
    "check_monotonic_cst",
    "check_parameters",
    "check_sample_weight",
    "download_openml_text",
    "openml_requests_by",
    "openml_root_messages_dropped",
    "read_openml_task",
    "safe_indexing",
]


def check_parameters(estimator):
    """Check the values of an estimator's parameters, which scikit-learn does in `fit` only.

    Parameters
    ----------
    estimator : object
        An object that declares no constraints passes.

    Raises
    ------
    ValueError
        If a parameter has a value that the estimator does not accept.
    """
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()


# The functions below import openml themselves: it is slow to import, and makes its cache folder
# then.


def download_openml_text(url: str) -> str:
    """Return the text of a file on OpenML's server."""
    import openml

    return openml._api_calls._download_text_file(url)


def read_openml_task(number: int):
    """Return openml's description of a task, without the data set of the task."""
    import openml

    return openml.tasks.functions._get_task_description(number)


def openml_requests_by(requests):
    """Return a context in which openml makes its requests by a module like `requests`.

    openml itself sets no time limit. `boostbench.data.sources.openml_client` passes a copy of the
    module with time limits and checks of the status.
    """
    import openml

    return temporarily_set(vars(openml._api_calls), requests=requests)


@contextmanager
def openml_root_messages_dropped() -> Iterator[None]:
    """Drop openml's messages on the root logger: a warning about each uncompressed response."""

    def is_not_from_openml(record: logging.LogRecord) -> bool:
        return record.module != "_api_calls"

    logging.root.addFilter(is_not_from_openml)
    try:
        yield
    finally:
        logging.root.removeFilter(is_not_from_openml)
