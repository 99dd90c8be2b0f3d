"""Settings of ``data.missing`` and their effect."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.util.errors import UserError

#: Statistics of the training part that replace missing values, within each trial.
IMPUTATIONS = ("mean", "median", "most_frequent")
#: Missing values are kept for algorithms that support them. For other algorithms, the statistic
#: FALLBACK replaces them.
KEEP, FALLBACK = "keep", "median"
#: Settings besides null, which means `KEEP` for a user's file and an error for other data.
CHOICES = ("drop", KEEP, *IMPUTATIONS)


def missing_setting(spec: Mapping[str, Any]) -> str | None:
    """Return the effective setting of a config: one of `CHOICES`, or None for an error.

    Examples
    --------
    >>> missing_setting({"name": "mine", "path": "mine.csv", "missing": None})
    'keep'
    """
    return spec.get("missing") or (KEEP if spec.get("path") else None)


def imputation(dataset: Dataset) -> str | None:
    """Return the setting for the missing values of a data set; None if it has none."""
    setting = missing_setting(dataset.spec or {})
    if setting not in (KEEP, *IMPUTATIONS) or dataset.is_sparse:
        return None
    return setting if np.isnan(dataset.X).any() else None


def validate(dataset: Dataset, setting: str | None) -> Dataset:
    """Check a data set by `Dataset.validate`, but accept missing values that `setting` handles.

    Raises
    ------
    UserError
        If `Dataset.validate` raises it, or sparse features have missing values.
    """
    if setting not in (KEEP, *IMPUTATIONS):
        return dataset.validate()
    is_missing = np.isnan(dataset.values)
    if is_missing.any() and dataset.is_sparse:
        raise UserError(
            f"data.missing={setting} takes dense features, and those of data set {dataset.name!r} "
            "are sparse; take data.missing=drop"
        )
    if is_missing.any():
        replace(dataset, X=np.where(is_missing, 0.0, dataset.X)).validate()
        return dataset
    return dataset.validate()
