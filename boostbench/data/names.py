"""What the features of a data set are called, where its source says so."""

from collections.abc import Mapping
from typing import Any

from boostbench.data.bundled import function_of
from boostbench.data.files import local_file, read_names
from boostbench.errors import UserError


def feature_names(spec: Mapping[str, Any], n_features: int) -> list[str]:
    """Name the features of a data set.

    Parameters
    ----------
    spec : mapping
        As for `boostbench.data.load`.
    n_features : int
        How many it has.

    Returns
    -------
    list of str
        Columns of a CSV or ARFF file, ``colour=red`` for one of the columns of words; what
        scikit-learn calls the features of its own data sets; else the numbers from 1.
    """
    names = _given(spec)
    if names is None or len(names) != n_features:
        return [str(number) for number in range(1, n_features + 1)]
    return names


def _given(spec: Mapping[str, Any]) -> list[str] | None:
    path = local_file(spec)
    if path is not None:
        labels = None if spec.get("labels") is None else str(spec["labels"])
        return read_names(path, labels, spec.get("na_values") or ())
    if not spec.get("sklearn"):
        return None
    try:
        return [str(name) for name in function_of(spec["sklearn"], "load_")().feature_names]
    except (AttributeError, UserError):
        return None
