"""Loading of a data set by its config: rows, features and classes of a source's data."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from boostbench.data.column_problems import UnreadableColumns
from boostbench.data.dataset import Dataset
from boostbench.data.fixed_splits import draw_pools, official_split, remap_rows
from boostbench.data.missing_values import validate
from boostbench.data.sources.local_files import local_file
from boostbench.data.sources.lookup import fetch_first
from boostbench.spec.data import check_spec, config_overrides, missing_setting
from boostbench.util import configs
from boostbench.util.data_quality import count_repeated_rows, find_faults
from boostbench.util.errors import UserError, first_line
from boostbench.util.spinner import spinner

logger = logging.getLogger(__name__)

#: Keys of a config that decide how a file is read.
_READING_KEYS = ("labels", "missing", "header", "decimal", "thousands", "na_values", "drop")


def load(spec: Mapping[str, Any]) -> Dataset:
    """Load and validate a data set.

    The data set is taken from the first source that has it: the file ``path``; a bundle in
    ``$BOOSTBENCH_DATA`` (`boostbench.data.sources.bundles`) for an equal config; ``NAME.svm``,
    ``.arff``, ``.csv`` or ``.npz``, compressed or not, in ``$BOOSTBENCH_DATA``; the local cache;
    scikit-learn; a generator; OpenML, whose data sets are stored in the cache.

    Parameters
    ----------
    spec : mapping
        A config of ``conf/data/``, resolved. Only ``name`` is required. Keys:

        - ``name``: name of the data set;
        - ``path``: a file, which has priority over all other sources;
        - ``openml_task``: number of an OpenML task, whose splits become the fixed splits;
        - ``labels``: column of the classes in a CSV or ARFF file;
        - ``missing``: ``drop`` removes rows with missing values; ``mean``, ``median`` and
          ``most_frequent`` replace missing values in each fit; ``keep`` leaves them to algorithms
          that support missing values, and means the median for the others; null means ``keep`` for
          a file ``path``, and an error for other data;
        - ``drop``: columns of a CSV or ARFF file to leave out, names or patterns of `fnmatch`;
        - ``na_values``: further words or numbers that mark missing values in a CSV file;
        - ``decimal``, ``thousands``: marks of the numbers in a CSV file, see
          `boostbench.data.readers.base.ReadOptions`;
        - ``header``: whether the first line of a CSV file is a header; null: guessed;
        - ``file``: stem of the file in ``$BOOSTBENCH_DATA`` and in the cache, default ``name``;
        - ``features``: range ``[start, stop]`` of the features to use; ``openml.features`` for data
          from OpenML;
        - ``rows``: range ``[start, stop]`` of the rows to use;
        - ``classes``: classes to use, a list of labels or the number of the first ones;
        - ``positive``: labels that become class 1, and all others class -1; ``expect`` describes
          the data before this step;
        - ``pools``: ``[pools, splits, per_class]``: draw pools with a number of rows per class, and
          split each pool several times by ``seed``; these are the fixed splits;
        - ``redraw``: number of rows of each class to draw with replacement by ``seed``; ``expect``
          describes the data before this step;
        - ``train_rows``: number of first rows of the file, including rows that ``missing`` drops,
          that are the official training part. Splits of a file replace the ``train_rows`` of a
          data set's own config; a user who sets ``train_rows`` beside such splits gets an error;
        - ``openml``: ``id``, ``target``, ``keep``, ``drop``, ``features``, ``train_rows``,
          ``expect``;
        - ``sklearn``: a loader, e.g. ``load_wine``;
        - ``as_in_libsvm``: whether scikit-learn's data set is scaled to equal the file of LIBSVM's
          collection;
        - ``generate``: ``function`` and its arguments;
        - ``descriptor``: ``kind`` (gist, hog or hog_pyramid) and ``shape`` of the images, which
          their descriptors replace; ``expect`` describes the descriptors;
        - ``seed``: seed of the generator, of ``pools`` and of ``redraw``, default 0;
        - ``expect``: known numbers of ``samples``, ``features``, ``classes``; ``openml.expect`` for
          data from OpenML.

    Returns
    -------
    Dataset

    Raises
    ------
    boostbench.data.sources.lookup.DataNotAvailable
        If no source has the data; ``Offline`` if OpenML has them, but cannot be reached.
    UserError
        If the data cannot be read or used, do not fit in memory, or differ from ``expect``.
    """
    check_spec(spec)
    absolute_path = {"path": str(local_file(spec).absolute())} if spec.get("path") else {}
    try:
        return replace(_load(spec), spec={**spec, **absolute_path})
    except UnreadableColumns as error:
        given = [(key, spec.get(key)) for key in _READING_KEYS]
        raise error.add_command(spec.get("path") or spec["name"], given) from None
    except MemoryError as error:
        raise UserError(
            f"{spec['name']} does not fit in memory: {first_line(error)}; fewer rows may fit"
        ) from error


def load_each(data: Sequence[Mapping[str, Any]]) -> list[Dataset]:
    """Load the data sets of several configs; equal configs are loaded once."""
    unique_specs = {repr(spec): spec for spec in data}
    with spinner("loading data"):
        datasets = {text: load(spec) for text, spec in unique_specs.items()}
    return [datasets[repr(spec)] for spec in data]


def _load(spec: Mapping[str, Any]) -> Dataset:
    dataset, source_spec, is_prepared, kept_rows = fetch_first(spec)
    if is_prepared:
        return dataset
    # 1) Select features.
    features = source_spec.get("features", spec.get("features"))
    if features:
        columns = dataset.checked_slice("features", features)
        names = dataset.names and dataset.names[columns]
        dataset = replace(dataset, X=dataset.X[:, columns], names=names)
    # 2) Set the official split. Its row numbers count dropped rows, so it precedes the next step.
    n_train = source_spec.get("train_rows")
    n_rows = dataset.n_samples if kept_rows is None else len(kept_rows)
    if n_train and dataset.splits is not None:
        _check_divided_once(spec, dataset)
    elif n_train:
        if n_train >= n_rows:
            raise UserError(
                f"data.train_rows is {n_train}, but {dataset.source} has {n_rows} rows; some must "
                "be left to test"
            )
        official = [official_split(n_train, n_rows)]
        dataset = replace(dataset, splits=remap_rows(official, kept_rows, dataset.source))
    # 3) Select rows, replace images by descriptors, and compare the counts with the config.
    if spec.get("rows"):
        dataset = dataset.select_rows(dataset.checked_slice("rows", spec["rows"]))
    if spec.get("descriptor"):
        from boostbench.data.descriptors.registry import compute_descriptors  # slow to import

        kind, shape = (spec["descriptor"][key] for key in ("kind", "shape"))
        X = compute_descriptors(dataset.X, kind, tuple(shape))
        dataset = replace(dataset, X=X, categories=(), names=None)
    expect = source_spec.get("expect", spec.get("expect")) or {}
    dataset = validate(replace(dataset, name=spec["name"], expect=expect), missing_setting(spec))
    # 4) Select or merge classes, and draw rows.
    if spec.get("classes") is not None:
        dataset = dataset.select_classes(spec["classes"])
    if spec.get("redraw"):
        dataset = dataset.bootstrap(spec["redraw"], spec.get("seed") or 0)
    if spec.get("pools"):
        pools = draw_pools(dataset.y, *spec["pools"], spec.get("seed") or 0)
        dataset = replace(dataset, splits=pools)
    if spec.get("positive"):
        dataset = dataset.one_vs_rest(spec["positive"])
    if spec.get("path"):
        _warn_of_faults(dataset)
    return dataset


def _warn_of_faults(dataset: Dataset) -> None:
    """Log a warning for each fault of a user's file, and for rows that are not independent."""
    if dataset.is_sparse:
        return
    names = dataset.names or [str(number) for number in range(1, dataset.X.shape[1] + 1)]
    about = names, dataset.category_counts, dataset.class_indices, dataset.classes
    for fault in find_faults(dataset.X, *about):
        logger.warning("%s: %s", dataset.source.removeprefix("file "), fault.text)
    split = dataset.splits[0] if dataset.splits else None
    n_repeated = count_repeated_rows(dataset.X, split)
    if n_repeated:
        rows = f"{n_repeated} of {dataset.n_samples if split is None else len(split[1])}"
        text = "rows equal an earlier row, so that random splits test on rows that they train on"
        if split is not None:
            text = "test rows of the first fixed split equal a training row"
        logger.warning("%s: %s %s", dataset.source.removeprefix("file "), rows, text)


def _check_divided_once(spec: Mapping[str, Any], dataset: Dataset) -> None:
    """Raise an error if a user set training rows for data with splits, which would replace them.

    Training rows of a data set's own config may be replaced: splits beside a file are a choice.
    """
    has_config = spec.get("path") or spec["name"] in configs.list_options("data")
    if has_config and "train_rows" in config_overrides(spec):
        raise UserError(
            f"data.train_rows is {spec['train_rows']}, but {dataset.source} has splits already, in "
            "it or in .splits.npz beside it; leave out data.train_rows, or take these away"
        )
