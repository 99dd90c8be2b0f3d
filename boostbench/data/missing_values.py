"""What ``data.missing`` may say, and what it comes to."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError

#: Ways to fill missing values, within each trial.
IMPUTATIONS = ("mean", "median", "most_frequent")
#: They stay as they are for algorithms that take them, and are filled for others, by this.
KEEP, FALLBACK = "keep", "median"
#: Besides null: missing values are an error, but of a file of the user's own they are kept.
CHOICES = ("drop", KEEP, *IMPUTATIONS)


def missing_setting(spec: Mapping[str, Any]) -> str | None:
    """Say what the config of a data set comes to: one of `CHOICES`, or None.

    Examples
    --------
    >>> missing_setting({"name": "mine", "path": "mine.csv", "missing": None})
    'keep'
    """
    return spec.get("missing") or (KEEP if spec.get("path") else None)


def imputation(dataset: Dataset) -> str | None:
    """Say how missing values of a data set are filled, or `KEEP`; None where it has none."""
    setting = missing_setting(dataset.spec or {})
    if setting not in (KEEP, *IMPUTATIONS) or dataset.is_sparse:
        return None
    return setting if np.isnan(dataset.X).any() else None


def validate(dataset: Dataset, setting: str | None) -> Dataset:
    """Check a data set as `Dataset.validate` does, but for missing values that may stay.

    Raises
    ------
    UserError
        As there; or if sparse features have missing values.
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
