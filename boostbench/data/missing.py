"""What ``data.missing`` may say, and what it comes to."""

from dataclasses import replace

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError

#: Ways to fill missing values, within each trial.
IMPUTATIONS = ("mean", "median", "most_frequent")
#: Besides null: missing values are an error.
CHOICES = ("drop", *IMPUTATIONS)


def imputation(dataset: Dataset) -> str | None:
    """Say how missing values of a data set are to be filled; None where it has none."""
    choice = (dataset.spec or {}).get("missing")
    if choice not in IMPUTATIONS or dataset.is_sparse:
        return None
    return choice if np.isnan(dataset.X).any() else None


def validate(dataset: Dataset, missing: str | None) -> Dataset:
    """Check a data set as `Dataset.validate` does, but for missing values that will be filled.

    Raises
    ------
    UserError
        As there; or if sparse features are to be filled.
    """
    if missing not in IMPUTATIONS:
        return dataset.validate()
    absent = np.isnan(dataset.values)
    if absent.any() and dataset.is_sparse:
        raise UserError(
            f"data.missing={missing} takes dense features, and those of data set {dataset.name!r} "
            "are sparse; take data.missing=drop"
        )
    if absent.any():
        replace(dataset, X=np.where(absent, 0.0, dataset.X)).validate()
        return dataset
    return dataset.validate()
