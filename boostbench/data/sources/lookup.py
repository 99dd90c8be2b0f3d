"""Look-up of a data set in its sources, in a fixed order."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.data.readers import check_options, main_suffixes
from boostbench.data.readers.base import ReadOptions
from boostbench.data.sources import bundles, cache
from boostbench.data.sources.builtin import generate, load_builtin, rescale_like_libsvm
from boostbench.data.sources.local_files import (
    data_folder,
    file_stem,
    local_file,
    read_file,
)
from boostbench.data.sources.openml_client import Unreachable, download
from boostbench.spec.data import missing_setting
from boostbench.util import configs
from boostbench.util.errors import UserError

logger = logging.getLogger(__name__)

# Keys of a query to OpenML. A cached data set is used only if all of them are equal.
_QUERY_KEYS = ("id", "target", "keep", "drop")


class DataNotAvailable(UserError):
    """Error for a data set that no source has."""


class Offline(DataNotAvailable):
    """Error for a data set that only OpenML has, when its server cannot be reached."""


class SourceResult(NamedTuple):
    """Data set of a source.

    Attributes
    ----------
    dataset : Dataset
        Data set before its preparation by `boostbench.data.load`, unless `is_prepared`.
    source_spec : mapping
        Mapping with the keys that select features and rows, and the expected counts: the config,
        or its part on OpenML if the data set is from there.
    is_prepared : bool
        Whether the data set is prepared already, as in a bundle.
    kept_rows : ndarray of shape (n_rows,), bool, or None
        Mask of the rows that were not dropped. None: all rows.
    """

    dataset: Dataset
    source_spec: Mapping[str, Any]
    is_prepared: bool = False
    kept_rows: np.ndarray | None = None


def fetch_first(spec: Mapping[str, Any]) -> SourceResult:
    """Return a data set from the first source that has it.

    Parameters
    ----------
    spec : mapping
        Config of the data set, see `boostbench.data.load`.

    Returns
    -------
    SourceResult

    Raises
    ------
    DataNotAvailable
        If no source has the data set; `Offline` if OpenML cannot be reached.
    UserError
        If the data cannot be read.
    """
    reasons: list[str | Exception] = []
    for _, fetch_data in _sources(spec):
        result = fetch_data()
        if isinstance(result, SourceResult):
            return result
        reasons.append(result)
    is_offline = any(isinstance(reason, Unreachable) for reason in reasons)
    offline_text = f"; {', '.join(_offline_data_sets())} need no download" if is_offline else ""
    raise (Offline if is_offline else DataNotAvailable)(
        f"data set {spec['name']!r} is not available: "
        f"{'; '.join(map(str, filter(None, reasons)))}. "
        f"Put {file_names(file_stem(spec))} into $BOOSTBENCH_DATA, or give "
        f"data.path=FILE{offline_text}"
    )


def first_available_source(spec: Mapping[str, Any]) -> str:
    """Return the first source of a data set, without loading the data.

    Parameters
    ----------
    spec : mapping
        Config of the data set, see `boostbench.data.load`.

    Returns
    -------
    str
        ``"bundle"``, ``"file NAME"`` (such as ``"file vowel.svm.gz"``), ``"cache"``,
        ``"scikit-learn"``, ``"generated"``, or the result of `openml_name`. ``""``: no source has
        the data set, and the user has to provide a file.
    """
    return next((name for name, _ in _sources(spec) if name), "")


def openml_name(spec: Mapping[str, Any]) -> str:
    """Return the name of a data set on OpenML: ``"OpenML 307"``, ``"OpenML task 3"`` or ``""``."""
    if spec.get("openml_task"):
        return f"OpenML task {spec['openml_task']}"
    return f"OpenML {spec['openml']['id']}" if spec.get("openml") else ""


def _sources(
    spec: Mapping[str, Any],
) -> Iterator[tuple[str | None, Callable[[], SourceResult | str | Exception]]]:
    """Yield the name of each source and a function that loads the data from it.

    The name is None if the source certainly does not have the data. The function returns a
    `SourceResult`, or the reason why the source does not have the data; ``""`` if the user does
    not expect data there.
    """
    folder, name, seed = data_folder(), spec["name"], spec.get("seed") or 0
    if folder and not spec.get("path"):
        exists = os.path.isfile(bundles.bundle_path(folder, name))
        yield "bundle" if exists else None, lambda: _load_bundle(folder, spec)
    path = local_file(spec)
    yield f"file {path.name}" if path else None, lambda: _load_file(path, spec)
    openml = _openml_spec(spec)
    if openml:
        exists = os.path.isfile(cache.cache_path(file_stem(spec)))
        yield "cache" if exists else None, lambda: _load_cached(openml, spec)
    if spec.get("sklearn"):
        yield "scikit-learn", lambda: _load_builtin_data(spec)
    if spec.get("generate"):
        yield "generated", lambda: SourceResult(generate(name, spec["generate"], seed), spec)
    if openml:
        yield openml_name(spec), lambda: _load_from_openml(openml, spec)


def _load_bundle(folder: Path, spec: Mapping[str, Any]) -> SourceResult | str:
    dataset = bundles.read_bundle(folder, spec)
    if dataset is not None:
        return SourceResult(dataset, spec, is_prepared=True)
    path = bundles.bundle_path(folder, spec["name"])
    return f"{path} was made for other settings of data" if os.path.isfile(path) else ""


def _load_file(path: Path | None, spec: Mapping[str, Any]) -> SourceResult | str:
    options = read_options(spec)
    if path is None:
        check_options(options, None, "give such a file by data.path=FILE")
        return _missing_file_reason(spec)
    data = read_file(path, options, missing_setting(spec))
    fields = data.X, data.y, f"file {path}", data.splits
    dataset = Dataset(spec["name"], *fields, categories=data.categories, names=data.names)
    if not spec.get("path") or spec.get("features"):
        dataset = dataset.one_hot_encoded()
    return SourceResult(dataset, spec, kept_rows=data.kept_rows)


def read_options(spec: Mapping[str, Any]) -> ReadOptions:
    """Return the settings of a config on the content of a file."""
    labels = None if spec.get("labels") is None else str(spec["labels"])
    drop, na_values = map(str, spec.get("drop") or ()), spec.get("na_values") or ()
    marks = (spec.get(key) for key in ("header", "decimal", "thousands"))
    return ReadOptions(labels, tuple(drop), tuple(na_values), *marks)


def _missing_file_reason(spec: Mapping[str, Any]) -> str:
    folder = data_folder()
    if folder is None:
        return "$BOOSTBENCH_DATA is not set"
    if not os.path.isdir(folder):
        return f"$BOOSTBENCH_DATA is {folder}, which is not a folder"
    return f"no {file_names(file_stem(spec))} in {folder}"


def file_names(stem: str) -> str:
    """Return the names of a data set's files, such as ``wine.svm, .arff, .csv or .npz``."""
    suffixes = [suffix for suffix in main_suffixes() if suffix.startswith(".")]
    return f"{stem}{', '.join(suffixes[:-1])} or {suffixes[-1]}"


def _openml_spec(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a config that describes the data on OpenML; empty if there is none."""
    task = spec.get("openml_task")
    return {"task": task} if task else spec.get("openml") or {}


def _forbid_dropping_counted_rows(openml: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
    """Raise UserError if ``missing=drop`` could drop rows that ``train_rows`` counts.

    The cache does not store the dropped rows, so that the training rows could not be found again.
    """
    if openml.get("train_rows") and spec.get("missing") == "drop":
        raise UserError(
            f"data.missing=drop leaves rows out, which openml.train_rows of {openml_name(spec)} "
            "counts; take data.missing=median"
        )


def _load_cached(
    openml: Mapping[str, Any], spec: Mapping[str, Any]
) -> SourceResult | str | Exception:
    _forbid_dropping_counted_rows(openml, spec)
    try:
        dataset = cache.fetch(file_stem(spec), _cache_key(openml, spec))
    except ValueError as error:
        logger.warning("%s; it is not used", error)
        return error
    return "not in the cache" if dataset is None else SourceResult(dataset, openml)


def _load_builtin_data(spec: Mapping[str, Any]) -> SourceResult:
    dataset = load_builtin(spec["name"], spec["sklearn"])
    return SourceResult(rescale_like_libsvm(dataset) if spec.get("as_in_libsvm") else dataset, spec)


def _load_from_openml(
    openml: Mapping[str, Any], spec: Mapping[str, Any]
) -> SourceResult | Exception:
    _forbid_dropping_counted_rows(openml, spec)
    try:
        dataset = download(file_stem(spec), _openml_query(openml), spec.get("missing"))
    except ConnectionError as error:
        return error
    cache.store(dataset, _cache_key(openml, spec))
    return SourceResult(dataset, openml)


def _openml_query(openml: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the keys that determine the download."""
    return openml if "task" in openml else {key: openml.get(key) for key in _QUERY_KEYS}


def _cache_key(openml: Mapping[str, Any], spec: Mapping[str, Any]) -> dict:
    """Return the mapping that identifies a download in the cache."""
    return {**_openml_query(openml), "missing": spec.get("missing")}


def _offline_data_sets() -> list[str]:
    """List the data sets that need neither a file nor a download."""
    specs = {name: configs.read_option("data", name) for name in configs.list_options("data")}
    return [name for name, spec in specs.items() if spec.get("sklearn") or spec.get("generate")]
