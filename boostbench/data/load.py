"""Data as a config asks for them: rows, features and classes of what a source has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from boostbench import configs
from boostbench.data.dataset import Dataset
from boostbench.data.fixed_splits import draw_pools, official_split, remap_rows
from boostbench.data.missing_values import missing_setting, validate
from boostbench.data.sources.local_files import local_file
from boostbench.data.sources.lookup import fetch_first
from boostbench.data.spec import check_spec, config_overrides
from boostbench.errors import UserError, first_line
from boostbench.util.spinner import spinner


def load(spec: Mapping[str, Any]) -> Dataset:
    """Load and validate a data set.

    The first source that has it is taken: the file ``path``; a bundle in ``$BOOSTBENCH_DATA``
    (`boostbench.data.sources.bundles`), if it was made for the same config; ``NAME.svm``,
    ``.arff``, ``.csv`` or ``.npz``, perhaps compressed, in ``$BOOSTBENCH_DATA``; the local cache;
    scikit-learn; a generator; OpenML, which fills the cache.

    Parameters
    ----------
    spec : mapping
        A config of ``conf/data/``, resolved. Keys, of which only ``name`` is required:

        - ``name``: what to call the data set;
        - ``path``: a file, taken before all else;
        - ``openml_task``: number of a task of OpenML, whose splits are the fixed splits;
        - ``labels``: the column of a CSV or ARFF file that holds the classes;
        - ``missing``: ``drop``, which leaves rows with missing values out; ``mean``, ``median``,
          ``most_frequent``, by which they are filled when it is fitted; ``keep``, which does so for
          algorithms that take no missing values, by the median; or null, an error, and of the file
          ``path`` ``keep``;
        - ``na_values``: what else means a missing value in a CSV file, a list of words or numbers;
        - ``header``: whether the first line of a CSV file is a header; null, a guess;
        - ``file``: stem of the file in ``$BOOSTBENCH_DATA`` and in the cache, default ``name``;
        - ``features``: ``[start, stop]``, the features to take; ``openml.features`` takes its place
          for data from OpenML;
        - ``rows``: ``[start, stop]``, the rows to take;
        - ``classes``: the classes to take, a list of labels or the number of the first ones;
        - ``positive``: the labels that are class 1, and all others class -1;
          ``expect`` is of the data before that;
        - ``pools``: ``[number, splits, per_class]``, so many drawings of so many rows of each
          class, each divided so many times: the fixed splits, drawn by ``seed``;
        - ``redraw``: so many rows of each class, drawn with replacement by ``seed``; ``expect`` is
          of the data before that;
        - ``train_rows``: the official training part is that many first rows of the file,
          those that ``missing`` leaves out among them; splits of a file take the place of what the
          config of its name says here, and whoever says it besides is refused;
        - ``openml``: ``id``, ``target``, ``keep``, ``drop``, ``features``, ``train_rows``,
          ``expect``;
        - ``sklearn``: a loader, e.g. ``load_wine``;
        - ``as_in_libsvm``: whether scikit-learn's copy is scaled as the file of LIBSVM's collection
          is, and so equal to it;
        - ``generate``: ``function`` and its arguments;
        - ``descriptor``: ``kind`` (gist, hog or hog_pyramid) and ``shape`` of the images that it
          takes the place of; ``expect`` is of what comes out;
        - ``seed``: of the generator, of ``pools`` and of ``redraw``, default 0;
        - ``expect``: numbers of ``samples``, ``features``, ``classes``, as far as known;
          ``openml.expect`` takes its place for data from OpenML.

    Returns
    -------
    Dataset

    Raises
    ------
    boostbench.data.sources.lookup.DataNotAvailable
        No source has the data; ``Offline`` where OpenML, which has them, cannot be reached.
    UserError
        The data cannot be read or used, do not fit in memory, or are not as expected.
    """
    check_spec(spec)
    absolute_path = {"path": str(local_file(spec).absolute())} if spec.get("path") else {}
    try:
        return replace(_load(spec), spec={**spec, **absolute_path})
    except MemoryError as error:
        raise UserError(
            f"{spec['name']} does not fit in memory: {first_line(error)}; fewer rows may fit"
        ) from error


def load_each(data: Sequence[Mapping[str, Any]]) -> list[Dataset]:
    """Load the data of configs, as `load` does; equal data once."""
    unique_specs = {repr(spec): spec for spec in data}
    with spinner("loading data"):
        datasets = {text: load(spec) for text, spec in unique_specs.items()}
    return [datasets[repr(spec)] for spec in data]


def _load(spec: Mapping[str, Any]) -> Dataset:
    dataset, source_spec, is_prepared, kept_rows = fetch_first(spec)
    if is_prepared:
        return dataset
    features = source_spec.get("features", spec.get("features"))
    if features:
        columns = dataset.checked_slice("features", features)
        names = dataset.names and dataset.names[columns]
        dataset = replace(dataset, X=dataset.X[:, columns], names=names)
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
    if spec.get("rows"):
        dataset = dataset.select_rows(dataset.checked_slice("rows", spec["rows"]))
    if spec.get("descriptor"):
        from boostbench.data.descriptors.registry import compute_descriptors  # slow to import

        kind, shape = (spec["descriptor"][key] for key in ("kind", "shape"))
        X = compute_descriptors(dataset.X, kind, tuple(shape))
        dataset = replace(dataset, X=X, one_hot_ranges=(), names=None)
    expect = source_spec.get("expect", spec.get("expect")) or {}
    dataset = validate(replace(dataset, name=spec["name"], expect=expect), missing_setting(spec))
    if spec.get("classes") is not None:
        dataset = dataset.select_classes(spec["classes"])
    if spec.get("redraw"):
        dataset = dataset.bootstrap(spec["redraw"], spec.get("seed") or 0)
    if spec.get("pools"):
        pools = draw_pools(dataset.y, *spec["pools"], spec.get("seed") or 0)
        dataset = replace(dataset, splits=pools)
    return dataset.one_vs_rest(spec["positive"]) if spec.get("positive") else dataset


def _check_divided_once(spec: Mapping[str, Any], dataset: Dataset) -> None:
    """Refuse training rows that a user gave beside splits, which would be taken without a word.

    Those of a data set's config are another thing: splits beside a copy of the file are a choice.
    """
    has_config = spec.get("path") or spec["name"] in configs.list_options("data")
    if has_config and "train_rows" in config_overrides(spec):
        raise UserError(
            f"data.train_rows is {spec['train_rows']}, but {dataset.source} has splits already, in "
            "it or in .splits.npz beside it; leave out data.train_rows, or take these away"
        )
