"""Effect of the settings of ``data.missing`` on a data set."""

from dataclasses import replace

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.spec.data import IMPUTATIONS, KEEP
from boostbench.util.errors import UserError


def imputation(dataset: Dataset) -> str | None:
    """Return the setting for the missing values of a data set; None if it has none."""
    setting = dataset.spec.effective_missing if dataset.spec else None
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
