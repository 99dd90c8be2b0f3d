"""Where the data of a config come from: the order of sources, and what is said when none has it."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boostbench.data import cache
from boostbench.data.bundled import bundled, generate
from boostbench.data.dataset import Dataset
from boostbench.data.files import data_folder, find_file, read_file
from boostbench.data.fixed_splits import first_rows
from boostbench.data.openml_source import download
from boostbench.data.spec import check
from boostbench.errors import UserError

logger = logging.getLogger(__name__)


def load(spec: Mapping[str, Any]) -> Dataset:
    """Load and validate a data set.

    The first source that has it is taken: the file ``path``; ``NAME.svm``, ``.arff``, ``.csv`` or
    ``.npz``, perhaps compressed, in ``$BOOSTBENCH_DATA``; the local cache; OpenML, which fills the
    cache; scikit-learn; a generator.

    Parameters
    ----------
    spec : mapping
        A config of ``conf/data/``, resolved. Keys, of which only ``name`` is required:

        - ``name``: what to call the data set;
        - ``path``: a file, taken before all else;
        - ``labels``: the column of a CSV or ARFF file that holds the classes;
        - ``missing``: null or ``drop``, what happens to rows with missing values;
        - ``file``: stem of the file in ``$BOOSTBENCH_DATA`` and in the cache, default ``name``;
        - ``rows``: ``[start, stop]``, the rows to take;
        - ``classes``: the classes to take, a list of labels or the number of the first ones;
          ``expect`` is of the data before that;
        - ``train_rows``: the official training part is that many first rows of the file;
        - ``openml``: ``id``, ``target``, ``keep``, ``drop``, ``train_rows``, ``expect``;
        - ``sklearn``: a loader, e.g. ``load_wine``;
        - ``generate``: ``function`` and its arguments;
        - ``seed``: of the generator, default 0;
        - ``expect``: numbers of ``samples``, ``features``, ``classes``, as far as known;
          ``openml.expect`` takes its place for data from OpenML.

    Returns
    -------
    Dataset

    Raises
    ------
    UserError
        The data cannot be had, read or used, or are not as expected.
    """
    check(spec)
    name, openml = spec["name"], spec.get("openml") or {}
    path = _local_file(spec)
    if path is not None:
        labels = None if spec.get("labels") is None else str(spec["labels"])
        X, y, splits = read_file(path, labels, spec.get("missing"))
        dataset, about = Dataset(name, X, y, f"file {path}", splits), spec
    else:
        dataset, about = _without_file(spec, openml)
    n_train, n_samples = about.get("train_rows"), dataset.n_samples
    if n_train and dataset.splits is None:
        if n_train >= n_samples:
            raise UserError(
                f"data.train_rows is {n_train}, but {dataset.source} has {n_samples} rows; some "
                "must be left to test"
            )
        dataset = replace(dataset, splits=[first_rows(n_train, n_samples)])
    if spec.get("rows"):
        start, stop = spec["rows"]
        if stop > n_samples:
            raise UserError(
                f"data.rows is [{start}, {stop}], but {dataset.source} has {n_samples} rows"
            )
        dataset = dataset.take(start, stop)
    expect = about.get("expect", spec.get("expect")) or {}
    dataset = replace(dataset, name=name, expect=expect).validate()
    return dataset if spec.get("classes") is None else dataset.take_classes(spec["classes"])


def available(spec: Mapping[str, Any]) -> str:
    """Say where `load` would look first, without loading anything.

    Parameters
    ----------
    spec : mapping
        As for `load`.

    Returns
    -------
    str
        ``"file vowel.svm.gz"``, ``"cache"``, ``"OpenML 307"``, ``"scikit-learn"``,
        ``"generated"``, or ``""``: a file is needed.
    """
    path = _local_file(spec)
    if path is not None:
        return f"file {path.name}"
    if spec.get("openml"):
        is_cached = cache.cache_path(_stem(spec)).is_file()
        return "cache" if is_cached else f"OpenML {spec['openml']['id']}"
    if spec.get("sklearn"):
        return "scikit-learn"
    return "generated" if spec.get("generate") else ""


def _stem(spec: Mapping[str, Any]) -> str:
    return spec.get("file") or spec["name"]


def _local_file(spec: Mapping[str, Any]) -> Path | None:
    if spec.get("path"):
        return Path(spec["path"]).expanduser()
    folder = data_folder()
    return find_file(_stem(spec), folder) if folder else None


def _without_file(spec: Mapping[str, Any], openml: Mapping[str, Any]):
    """Load from the cache, OpenML or scikit-learn; also return the part of the config that fits."""
    tried = [_no_file(spec)]
    if openml:
        try:
            return _cached_or_downloaded(spec, openml), openml
        except ConnectionError as error:
            tried.append(str(error))
    if spec.get("sklearn"):
        dataset = bundled(spec["name"], spec["sklearn"])
    elif spec.get("generate"):
        dataset = generate(spec["name"], spec["generate"], spec.get("seed", 0))
    else:
        raise UserError(
            f"data set {spec['name']!r} cannot be had: {'; '.join(tried)}. "
            f"Put {_stem(spec)}.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA, "
            "or give data.path=FILE"
        )
    if len(tried) > 1:
        logger.warning("%s; taking %s instead", tried[-1], dataset.source)
    return dataset, {}


def _no_file(spec: Mapping[str, Any]) -> str:
    folder = data_folder()
    if folder is None:
        return "$BOOSTBENCH_DATA is not set"
    if not folder.is_dir():
        return f"$BOOSTBENCH_DATA is {folder}, which is no folder"
    return f"no {_stem(spec)}.svm, .arff, .csv or .npz in {folder}"


def _cached_or_downloaded(spec: Mapping[str, Any], openml: Mapping[str, Any]) -> Dataset:
    stem, missing = _stem(spec), spec.get("missing")
    asked = {key: openml.get(key) for key in ("id", "target", "keep", "drop")}
    origin = asked | {"missing": missing}
    damage = ""
    try:
        dataset = cache.fetch(stem, origin)
        if dataset is not None:
            return dataset
    except ValueError as error:
        logger.warning("%s; downloading it again", error)
        damage = f"{error}; "
    try:
        dataset = download(stem, asked, missing)
    except ConnectionError as error:
        raise ConnectionError(f"{damage or 'not in the cache; '}{error}") from error
    cache.store(dataset, origin)
    return dataset
