"""A data set in a few lines, for ``boostbench data NAME``."""

import numpy as np

from boostbench.data.dataset import COUNTS, Dataset
from boostbench.data.missing import KEEP, OF_OTHERS, imputation

#: Classes that are listed one by one; of more, only the range of their sizes is given.
MAX_CLASSES = 30


def describe(dataset: Dataset) -> list[tuple[str, str]]:
    """Describe a data set.

    Parameters
    ----------
    dataset : Dataset
        As `boostbench.data.load` returns it, or not validated.

    Returns
    -------
    list of (str, str)
        Label and value, in the order to print them.
    """
    values, counts = dataset.values, dataset.class_counts
    n_entries = dataset.n_samples * dataset.n_features
    zeros = 1 - np.count_nonzero(values) / n_entries
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if values.size < n_entries:
        low, high = min(low, 0.0), max(high, 0.0)
    rows = [
        ("name", dataset.name),
        ("source", dataset.source),
        ("samples", str(dataset.n_samples)),
        ("features", f"{dataset.n_features} ({'sparse' if dataset.is_sparse else 'dense'})"),
        ("classes", _classes(counts)),
        ("values", f"{low:g} to {high:g}, {zeros:.1%} of them zero"),
        *([("missing", _missing(dataset, values))] if np.isnan(values).any() else []),
        ("expected", _expected(dataset)),
        ("checksum", dataset.checksum),
    ]
    if dataset.splits:
        train, test = dataset.splits[0]
        sizes = f"{len(train)} training and {len(test)} test rows"
        rows.append(("fixed splits", f"{len(dataset.splits)}, {sizes}"))
    return rows


def _missing(dataset: Dataset, values: np.ndarray) -> str:
    absent = np.isnan(values)
    how = imputation(dataset)
    if how:
        others = " for algorithms that take none" if how == KEEP else ""
        how = f", filled by {OF_OTHERS if others else how} of the training part{others}"
    return f"{int(absent.sum())} values in {int(absent.any(axis=1).sum())} rows{how or ''}"


def _classes(counts: dict[int | str, int]) -> str:
    if len(counts) > MAX_CLASSES:
        return f"{len(counts)}, of {min(counts.values())} to {max(counts.values())} samples"
    return f"{len(counts)}: " + ", ".join(f"{label} ({n})" for label, n in counts.items())


def _expected(dataset: Dataset) -> str:
    parts = []
    for key, attribute in COUNTS.items():
        expected, number = dataset.expect.get(key), getattr(dataset, attribute)
        if expected is not None:
            parts.append(f"{expected} {key}" + (f" (found {number})" if number != expected else ""))
    return ", ".join(parts) or "nothing said"
