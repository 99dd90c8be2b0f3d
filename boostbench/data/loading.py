"""Loading of a data set by its specification, and its description for ``boostbench data NAME``.

A source (`boostbench.data.sources`) has the whole data set; `load` selects its rows, features and
classes.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from boostbench.data.column_problems import UnreadableColumns
from boostbench.data.dataset import Dataset
from boostbench.data.fixed_splits import draw_pools, official_split, remap_rows
from boostbench.data.sources import fetch_first
from boostbench.data.sources.local_files import local_file
from boostbench.spec.data import FALLBACK_IMPUTATION, KEEP_MISSING, DataCounts, DataSpec
from boostbench.util import configs
from boostbench.util.data_quality import count_repeated_rows, find_faults
from boostbench.util.errors import UserError, first_line
from boostbench.util.terminal import spinner

logger = logging.getLogger(__name__)

#: Fields of a `DataSpec` that decide how a file is read, for the command that a message proposes.
_READING_KEYS = ("labels", "missing", "header", "decimal", "thousands", "na_values", "drop")
#: Number of classes up to which each is listed, in a few lines; for more, the range of their sizes
#: is shown.
MAX_CLASSES = 30


def load(spec: DataSpec | Mapping[str, Any]) -> Dataset:
    """Load and validate a data set.

    The data set is taken from the first source that has it: the file ``path``; a bundle in
    ``$BOOSTBENCH_DATA`` (`boostbench.data.sources.local_files`) for an equal config; ``NAME.svm``,
    ``.arff``, ``.csv`` or ``.npz``, compressed or not, in ``$BOOSTBENCH_DATA``; the local cache;
    scikit-learn; a generator; OpenML, whose data sets are stored in the cache.

    Parameters
    ----------
    spec : DataSpec or mapping
        Specification, or a resolved config of ``conf/data/``, which has the fields of
        `boostbench.spec.data.DataSpec` as keys. Only ``name`` is required. Splits of a file replace
        the ``train_rows`` of a data set's own config; a user who sets ``train_rows`` beside such
        splits gets an error.

    Returns
    -------
    Dataset

    Raises
    ------
    boostbench.data.sources.DataNotAvailable
        If no source has the data; ``Offline`` if OpenML has them, but cannot be reached.
    UserError
        If the data cannot be read or used, do not fit in memory, or differ from ``expect``.
    """
    spec = DataSpec.from_config(spec)
    path = str(local_file(spec).absolute()) if spec.path else None
    try:
        return replace(_load(spec), spec=msgspec.structs.replace(spec, path=path))
    except UnreadableColumns as error:
        given = [(key, getattr(spec, key)) for key in _READING_KEYS]
        raise error.add_command(spec.path or spec.name, given) from None
    except MemoryError as error:
        raise UserError(
            f"{spec.name} does not fit in memory: {first_line(error)}; fewer rows may fit"
        ) from error


def load_each(data: Sequence[DataSpec]) -> list[Dataset]:
    """Load several data sets; equal specifications are loaded once."""
    unique_specs = {repr(spec): spec for spec in data}
    with spinner("loading data"):
        datasets = {text: load(spec) for text, spec in unique_specs.items()}
    return [datasets[repr(spec)] for spec in data]


def _load(spec: DataSpec) -> Dataset:
    """Return the data set of a specification, without it; see `load`."""
    # `source_spec` has the features, training rows and counts of the source. `is_prepared` is True
    # for a bundle, which has the result of all steps below. `kept_rows` is a mask of the rows of a
    # file that were not dropped for missing values.
    dataset, source_spec, is_prepared, kept_rows = fetch_first(spec)
    if is_prepared:
        return dataset
    # 1) Select features.
    if source_spec.features:
        columns = dataset.slice_of_range("features", source_spec.features)
        names = dataset.names and dataset.names[columns]
        dataset = replace(dataset, X=dataset.X[:, columns], names=names)
    # 2) Set the official split. Its row numbers count dropped rows, so it precedes the next step.
    n_train = source_spec.train_rows
    n_rows = dataset.n_samples if kept_rows is None else len(kept_rows)
    if n_train and dataset.splits is not None:
        _forbid_train_rows_beside_splits(spec, dataset)
    elif n_train:
        if n_train >= n_rows:
            raise UserError(
                f"data.train_rows is {n_train}, but {dataset.source} has {n_rows} rows; some must "
                "be left to test"
            )
        official = [official_split(n_train, n_rows)]
        dataset = replace(dataset, splits=remap_rows(official, kept_rows, dataset.source))
    # 3) Select rows, replace images by descriptors, and compare the counts with the config.
    if spec.rows:
        dataset = dataset.select_rows(dataset.slice_of_range("rows", spec.rows))
    if spec.descriptor:
        from boostbench.data.descriptors import compute_descriptors  # slow to import

        X = compute_descriptors(dataset.X, spec.descriptor.kind, tuple(spec.descriptor.shape))
        dataset = replace(dataset, X=X, categories=(), names=None)
    expect = source_spec.expect or DataCounts()
    dataset = replace(dataset, name=spec.name, expect=expect).validate(spec.effective_missing)
    # 4) Select or merge classes, and draw rows.
    if spec.classes is not None:
        dataset = dataset.select_classes(spec.classes)
    if spec.redraw:
        dataset = dataset.bootstrap(spec.redraw, spec.seed or 0)
    if spec.pools:
        dataset = replace(dataset, splits=draw_pools(dataset.y, *spec.pools, spec.seed or 0))
    if spec.positive:
        dataset = dataset.one_vs_rest(spec.positive)
    if spec.path:
        _warn_of_faults(dataset)
    return dataset


def _warn_of_faults(dataset: Dataset) -> None:
    """Log a warning for each fault of a user's file, and for rows that are not independent."""
    if dataset.is_sparse:
        return
    names = dataset.names or [str(number) for number in range(1, dataset.X.shape[1] + 1)]
    for fault in find_faults(
        dataset.X, names, dataset.category_counts, y=dataset.class_indices, classes=dataset.classes
    ):
        logger.warning("%s: %s", dataset.source.removeprefix("file "), fault.text)
    split = dataset.splits[0] if dataset.splits else None
    n_repeated = count_repeated_rows(dataset.X, split)
    if n_repeated:
        n_candidates = dataset.n_samples
        text = "rows equal an earlier row, so that random splits test on rows that they train on"
        if split is not None:
            _, test = split
            n_candidates = len(test)
            text = "test rows of the first fixed split equal a training row"
        file = dataset.source.removeprefix("file ")
        logger.warning("%s: %d of %d %s", file, n_repeated, n_candidates, text)


def _forbid_train_rows_beside_splits(spec: DataSpec, dataset: Dataset) -> None:
    """Raise an error if a user set training rows for data with splits, which would replace them.

    Training rows of a shipped config may be replaced, as a user chose to put splits beside a file.
    """
    # The data have a user's file, or a shipped config, which an override changes.
    has_config = spec.path or spec.name in configs.list_options("data")
    if has_config and "train_rows" in spec.differences_from_shipped:
        raise UserError(
            f"data.train_rows is {spec.train_rows}, but {dataset.source} has splits already, in "
            "it or in .splits.npz beside it; leave out data.train_rows, or take these away"
        )


def describe(dataset: Dataset) -> list[tuple[str, str]]:
    """Return a description of a data set, line by line.

    Parameters
    ----------
    dataset : Dataset
        Result of `load`.

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
        ("classes", _describe_classes(dataset)),
        *([("categories", ", ".join(sizes))] if sizes else []),
        ("values", _describe_values(dataset)),
        *([("missing", _describe_missing(dataset, values))] if np.isnan(values).any() else []),
        ("expected", _describe_expected(dataset)),
        ("checksum", dataset.checksum),
    ]
    if dataset.splits:
        train, test = dataset.splits[0]
        sizes = f"{len(train)} training and {len(test)} test rows"
        rows.append(("fixed splits", f"{len(dataset.splits)}, {sizes}"))
    return rows


def _describe_values(dataset: Dataset) -> str:
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


def _describe_missing(dataset: Dataset, values: np.ndarray) -> str:
    """Return the number of missing values, and the statistic that a fit replaces them by."""
    is_missing = np.isnan(values)
    filling = dataset.imputation
    if filling:
        restriction = " for algorithms that take none" if filling == KEEP_MISSING else ""
        statistic = FALLBACK_IMPUTATION if restriction else filling
        filling = f", filled by {statistic} of the training part{restriction}"
    return (
        f"{int(is_missing.sum())} values in {int(is_missing.any(axis=1).sum())} rows{filling or ''}"
    )


def _describe_classes(dataset: Dataset) -> str:
    """Return the number of classes, and the number of samples of each class or their range."""
    counts = dataset.class_counts
    if len(counts) > MAX_CLASSES:
        return f"{len(counts)}, of {min(counts.values())} to {max(counts.values())} samples"
    return f"{len(counts)}: " + ", ".join(f"{label} ({n})" for label, n in counts.items())


def _describe_expected(dataset: Dataset) -> str:
    """Return the counts that the config of the data set states."""
    counts = msgspec.structs.asdict(dataset.expect)
    parts = [f"{number} {key}" for key, number in counts.items() if number is not None]
    return ", ".join(parts) or "nothing said"
