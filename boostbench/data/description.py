"""Description of a data set in a few lines, for ``boostbench data NAME``."""

import msgspec
import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.spec.data import FALLBACK, KEEP

#: Number of classes up to which each is listed, in a few lines; for more, the range of their sizes
#: is shown.
MAX_CLASSES = 30


def describe(dataset: Dataset) -> list[tuple[str, str]]:
    """Return a description of a data set.

    Parameters
    ----------
    dataset : Dataset
        Result of `boostbench.data.load`.

    Returns
    -------
    list of (str, str)
        Labels and values, in the order of display.
    """
    values = dataset.values
    names = dataset.names or [str(number) for number in range(1, dataset.X.shape[1] + 1)]
    sizes = [f"{names[column]} ({n})" for column, n in dataset.category_counts]
    rows = [
        ("name", dataset.name),
        ("source", dataset.source),
        ("samples", str(dataset.n_samples)),
        ("features", f"{dataset.n_features} ({'sparse' if dataset.is_sparse else 'dense'})"),
        ("classes", _classes(dataset)),
        *([("categories", ", ".join(sizes))] if sizes else []),
        ("values", _values(dataset)),
        *([("missing", _missing(dataset, values))] if np.isnan(values).any() else []),
        ("expected", _expected(dataset)),
        ("checksum", dataset.checksum),
    ]
    if dataset.splits:
        train, test = dataset.splits[0]
        sizes = f"{len(train)} training and {len(test)} test rows"
        rows.append(("fixed splits", f"{len(dataset.splits)}, {sizes}"))
    return rows


def _values(dataset: Dataset) -> str:
    """Return the range of the numbers, and the share of zeros; codes of categories do not count."""
    values, n_entries = dataset.values, dataset.n_samples * dataset.n_features
    if dataset.categories:
        values = np.delete(values, [column for column, _ in dataset.categories], axis=1)
        n_entries = values.size
        if not n_entries:
            return "categories only"
    # The initial values cover matrices without stored values or with NaN only.
    low = float(np.fmin.reduce(values, axis=None, initial=np.inf))
    high = float(np.fmax.reduce(values, axis=None, initial=-np.inf))
    if values.size < n_entries:  # zeros that are not stored
        low, high = min(low, 0.0), max(high, 0.0)
    if low > high:
        return "no values, all are missing"
    zeros = 1 - np.count_nonzero(values) / n_entries
    return f"{low:g} to {high:g}, {zeros:.1%} of them zero"


def _missing(dataset: Dataset, values: np.ndarray) -> str:
    """Return the number of missing values, and the statistic that a fit replaces them by."""
    is_missing = np.isnan(values)
    filling = dataset.imputation
    if filling:
        restriction = " for algorithms that take none" if filling == KEEP else ""
        filling = (
            f", filled by {FALLBACK if restriction else filling} of the training part{restriction}"
        )
    return (
        f"{int(is_missing.sum())} values in {int(is_missing.any(axis=1).sum())} rows{filling or ''}"
    )


def _classes(dataset: Dataset) -> str:
    """Return the number of classes, and the number of samples of each class or their range."""
    counts = dataset.class_counts
    if len(counts) > MAX_CLASSES:
        return f"{len(counts)}, of {min(counts.values())} to {max(counts.values())} samples"
    return f"{len(counts)}: " + ", ".join(f"{label} ({n})" for label, n in counts.items())


def _expected(dataset: Dataset) -> str:
    """Return the counts that the config of the data set states."""
    counts = msgspec.structs.asdict(dataset.expect)
    parts = [f"{number} {key}" for key, number in counts.items() if number is not None]
    return ", ".join(parts) or "nothing said"
