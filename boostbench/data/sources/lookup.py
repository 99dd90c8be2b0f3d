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
from boostbench.data.sources import archives
from boostbench.data.sources.generators import generate, load_builtin, rescale_like_libsvm
from boostbench.data.sources.local_files import (
    data_folder,
    local_file,
    read_file,
)
from boostbench.data.sources.openml_client import Unreachable, download
from boostbench.spec.data import DataSpec
from boostbench.util import configs
from boostbench.util.errors import UserError

logger = logging.getLogger(__name__)


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
    spec : DataSpec
        Specification with the features, training rows and counts for this source.
    is_prepared : bool
        Whether the data set is prepared already, as in a bundle.
    kept_rows : ndarray of shape (n_rows,), bool, or None
        Mask of the rows that were not dropped. None: all rows.
    """

    dataset: Dataset
    spec: DataSpec
    is_prepared: bool = False
    kept_rows: np.ndarray | None = None


def fetch_first(spec: DataSpec) -> SourceResult:
    """Return a data set from the first source that has it.

    Parameters
    ----------
    spec : DataSpec
        Specification of the data set.

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
        f"data set {spec.name!r} is not available: "
        f"{'; '.join(map(str, filter(None, reasons)))}. "
        f"Put {file_names(spec.file_stem)} into $BOOSTBENCH_DATA, or give "
        f"data.path=FILE{offline_text}"
    )


def first_available_source(spec: DataSpec | Mapping[str, Any]) -> str:
    """Return the first source of a data set, without loading the data.

    Parameters
    ----------
    spec : DataSpec or mapping
        Specification of the data set, or its config.

    Returns
    -------
    str
        ``"bundle"``, ``"file NAME"`` (such as ``"file vowel.svm.gz"``), ``"cache"``,
        ``"scikit-learn"``, ``"generated"``, or the result of `openml_name`. ``""``: no source has
        the data set, and the user has to provide a file.
    """
    return next((name for name, _ in _sources(DataSpec.from_config(spec)) if name), "")


def openml_name(spec: DataSpec) -> str:
    """Return the name of a data set on OpenML: ``"OpenML 307"``, ``"OpenML task 3"`` or ``""``."""
    if spec.openml_task:
        return f"OpenML task {spec.openml_task}"
    return f"OpenML {spec.openml.id}" if spec.openml else ""


def _sources(
    spec: DataSpec,
) -> Iterator[tuple[str | None, Callable[[], SourceResult | str | Exception]]]:
    """Yield the name of each source and a function that loads the data from it.

    The name is None if the source certainly does not have the data. The function returns a
    `SourceResult`, or the reason why the source does not have the data; ``""`` if the user does
    not expect data there.
    """
    folder, name, seed = data_folder(), spec.name, spec.seed or 0
    if folder and not spec.path:
        exists = os.path.isfile(archives.bundle_path(folder, name))
        yield "bundle" if exists else None, lambda: _load_bundle(folder, spec)
    path = local_file(spec)
    yield f"file {path.name}" if path else None, lambda: _load_file(path, spec)
    if spec.openml_query:
        exists = os.path.isfile(archives.cache_path(spec.file_stem))
        yield "cache" if exists else None, lambda: _load_cached(spec)
    if spec.sklearn:
        yield "scikit-learn", lambda: _load_builtin_data(spec)
    if spec.generate:
        yield "generated", lambda: SourceResult(generate(name, spec.generate, seed), spec)
    if spec.openml_query:
        yield openml_name(spec), lambda: _load_from_openml(spec)


def _load_bundle(folder: Path, spec: DataSpec) -> SourceResult | str:
    dataset = archives.read_bundle(folder, spec)
    if dataset is not None:
        return SourceResult(dataset, spec, is_prepared=True)
    path = archives.bundle_path(folder, spec.name)
    return f"{path} was made for other settings of data" if os.path.isfile(path) else ""


def _load_file(path: Path | None, spec: DataSpec) -> SourceResult | str:
    options = read_options(spec)
    if path is None:
        check_options(options, None, "give such a file by data.path=FILE")
        return _missing_file_reason(spec)
    data = read_file(path, options, spec.effective_missing)
    fields = data.X, data.y, f"file {path}", data.splits
    dataset = Dataset(spec.name, *fields, categories=data.categories, names=data.names)
    if not spec.path or spec.features:
        dataset = dataset.one_hot_encoded()
    return SourceResult(dataset, spec, kept_rows=data.kept_rows)


def read_options(spec: DataSpec) -> ReadOptions:
    """Return the settings of a specification on the content of a file."""
    return ReadOptions(
        labels=None if spec.labels is None else str(spec.labels),
        drop=tuple(map(str, spec.drop or ())),
        na_values=tuple(spec.na_values or ()),
        header=spec.header,
        decimal=spec.decimal,
        thousands=spec.thousands,
    )


def _missing_file_reason(spec: DataSpec) -> str:
    folder = data_folder()
    if folder is None:
        return "$BOOSTBENCH_DATA is not set"
    if not os.path.isdir(folder):
        return f"$BOOSTBENCH_DATA is {folder}, which is not a folder"
    return f"no {file_names(spec.file_stem)} in {folder}"


def file_names(stem: str) -> str:
    """Return the names of a data set's files, such as ``wine.svm, .arff, .csv or .npz``."""
    suffixes = [suffix for suffix in main_suffixes() if suffix.startswith(".")]
    return f"{stem}{', '.join(suffixes[:-1])} or {suffixes[-1]}"


def _load_cached(spec: DataSpec) -> SourceResult | str | Exception:
    _forbid_dropping_counted_rows(spec)
    try:
        dataset = archives.read_from_cache(spec.file_stem, spec.openml_query)
    except ValueError as error:
        logger.warning("%s; it is not used", error)
        return error
    return "not in the cache" if dataset is None else SourceResult(dataset, spec.openml_version())


def _load_builtin_data(spec: DataSpec) -> SourceResult:
    dataset = load_builtin(spec.name, spec.sklearn)
    return SourceResult(rescale_like_libsvm(dataset) if spec.as_in_libsvm else dataset, spec)


def _load_from_openml(spec: DataSpec) -> SourceResult | Exception:
    _forbid_dropping_counted_rows(spec)
    try:
        dataset = download(spec.file_stem, spec.openml_query)
    except ConnectionError as error:
        return error
    archives.write_to_cache(dataset, spec.openml_query)
    return SourceResult(dataset, spec.openml_version())


def _forbid_dropping_counted_rows(spec: DataSpec) -> None:
    """Raise UserError if ``missing=drop`` could drop rows that ``train_rows`` counts.

    The cache does not store the dropped rows, so that the training rows could not be found again.
    """
    if spec.openml and spec.openml.train_rows and spec.missing == "drop":
        raise UserError(
            f"data.missing=drop leaves rows out, which openml.train_rows of {openml_name(spec)} "
            "counts; take data.missing=median"
        )


def _offline_data_sets() -> list[str]:
    """List the data sets that need neither a file nor a download."""
    specs = {name: configs.read_option("data", name) for name in configs.list_options("data")}
    return [name for name, spec in specs.items() if spec.get("sklearn") or spec.get("generate")]
