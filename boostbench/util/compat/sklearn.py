"""scikit-learn's checks of parameters and of input, whose names begin with an underscore."""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_monotonic_cst as check_monotonic_cst
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "check_feature_names",
    "check_monotonic_cst",
    "check_parameters",
    "check_sample_weight",
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
