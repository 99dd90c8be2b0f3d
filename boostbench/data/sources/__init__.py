"""Look-up of a data set in its sources, in a fixed order.

A source is a bundle, a local file, the cache, scikit-learn, a generator or OpenML.
`boostbench.data.load` prepares the data set that `fetch_first` finds.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.data.readers import check_options, main_suffixes
from boostbench.data.readers.base import ReadOptions
from boostbench.data.sources.generators import generate, load_builtin, rescale_like_libsvm
from boostbench.data.sources.local_files import (
    bundle_path,
    cache_path,
    data_folder,
    local_file,
    read_bundle,
    read_file,
    read_from_cache,
    write_to_cache,
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
        Specification with the features, training rows and counts for this source: the copy of
        OpenML may have other ones.
    is_prepared : bool, default=False
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
    failures: list[_SourceFailure] = []
    for source in _sources(spec):
        try:
            return source.load()
        except _SourceFailure as failure:
            failures.append(failure)
    reasons = "; ".join(filter(None, map(str, failures)))
    is_offline = any(failure.is_offline for failure in failures)
    offline_text = f"; {', '.join(_offline_data_sets())} need no download" if is_offline else ""
    raise (Offline if is_offline else DataNotAvailable)(
        f"data set {spec.name!r} is not available: {reasons}. "
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
    names = (source.name for source in _sources(DataSpec.from_config(spec)) if source.has_data)
    return next(names, "")


def openml_name(spec: DataSpec) -> str:
    """Return the name of a data set on OpenML: ``"OpenML 307"``, ``"OpenML task 3"`` or ``""``."""
    if spec.openml_task:
        return f"OpenML task {spec.openml_task}"
    return f"OpenML {spec.openml.id}" if spec.openml else ""


class _SourceFailure(Exception):
    """Failure of a source to load a data set, after which the next source is tried.

    Parameters
    ----------
    reason : str
        Reason for the message that no source has the data; ``""`` if the user does not expect the
        data in this source.
    is_offline : bool, default=False
        Whether a server could not be reached.
    """

    def __init__(self, reason: str, is_offline: bool = False):
        self.is_offline = is_offline
        super().__init__(reason)


class _Source(NamedTuple):
    """Source of a data set.

    Attributes
    ----------
    name : str
        Name, see `first_available_source`.
    load : callable
        Function that returns a `SourceResult`, or raises a `_SourceFailure`.
    has_data : bool, default=True
        False if the source certainly lacks the data. It is tried nevertheless, for its reason.
    """

    name: str
    load: Callable[[], SourceResult]
    has_data: bool = True


def _sources(spec: DataSpec) -> Iterator[_Source]:
    """Yield the sources of a data set, in the order in which they are tried."""
    folder = data_folder()
    if folder and not spec.path:
        exists = os.path.isfile(bundle_path(folder, spec.name))
        yield _Source("bundle", lambda: _load_bundle(folder, spec), has_data=exists)
    path = local_file(spec)
    file_name = f"file {path.name}" if path else "file"
    yield _Source(file_name, lambda: _load_file(path, spec), has_data=path is not None)
    if spec.openml_query:
        exists = os.path.isfile(cache_path(spec.file_stem))
        yield _Source("cache", lambda: _load_from_cache(spec), has_data=exists)
    if spec.sklearn:
        yield _Source("scikit-learn", lambda: _load_from_sklearn(spec))
    if spec.generate:
        yield _Source("generated", lambda: _generate(spec))
    if spec.openml_query:
        yield _Source(openml_name(spec), lambda: _load_from_openml(spec))


def _load_bundle(folder: Path, spec: DataSpec) -> SourceResult:
    """Return the data set of a bundle, which is prepared already."""
    dataset = read_bundle(folder, spec)
    if dataset is not None:
        return SourceResult(dataset, spec, is_prepared=True)
    path = bundle_path(folder, spec.name)
    exists = os.path.isfile(path)
    raise _SourceFailure(f"{path} was made for other settings of data" if exists else "")


def _load_file(path: Path | None, spec: DataSpec) -> SourceResult:
    """Return the data set of a local file; None: there is no file."""
    options = read_options(spec)
    if path is None:
        check_options(options, None, "give such a file by data.path=FILE")
        raise _SourceFailure(_missing_file_reason(spec))
    data = read_file(path, options, spec.effective_missing)
    dataset = Dataset(
        spec.name,
        data.X,
        data.y,
        source=f"file {path}",
        splits=data.splits,
        categories=data.categories,
        names=data.names,
    )
    # Known data sets have numbers only, and a range of features counts one-hot columns.
    if not spec.path or spec.features:
        dataset = dataset.one_hot_encoded()
    return SourceResult(dataset, spec, kept_rows=data.kept_rows)


def read_options(spec: DataSpec) -> ReadOptions:
    """Return the settings of a specification on the content of a file, in a reader's types."""
    return ReadOptions(
        labels=None if spec.labels is None else str(spec.labels),
        drop=tuple(map(str, spec.drop or ())),
        na_values=tuple(spec.na_values or ()),
        header=spec.header,
        decimal=spec.decimal,
        thousands=spec.thousands,
    )


def _missing_file_reason(spec: DataSpec) -> str:
    """Return the reason why there is no local file of a data set."""
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


def _load_from_cache(spec: DataSpec) -> SourceResult:
    """Return a data set of OpenML from the cache."""
    _forbid_dropping_counted_rows(spec)
    try:
        dataset = read_from_cache(spec.file_stem, spec.openml_query)
    except ValueError as error:
        logger.warning("%s; it is not used", error)
        raise _SourceFailure(str(error)) from None
    if dataset is None:
        raise _SourceFailure("not in the cache")
    return SourceResult(dataset, spec.openml_copy_spec())


def _load_from_sklearn(spec: DataSpec) -> SourceResult:
    """Return a data set of scikit-learn, scaled if the papers used LIBSVM's scaled file."""
    dataset = load_builtin(spec.name, spec.sklearn)
    return SourceResult(rescale_like_libsvm(dataset) if spec.as_in_libsvm else dataset, spec)


def _generate(spec: DataSpec) -> SourceResult:
    """Return an artificial data set."""
    arguments = {"random_state": spec.seed or 0} | spec.generate
    return SourceResult(generate(spec.name, arguments.pop("function"), **arguments), spec)


def _load_from_openml(spec: DataSpec) -> SourceResult:
    """Download a data set, and store it in the cache."""
    _forbid_dropping_counted_rows(spec)
    try:
        dataset = download(spec.file_stem, spec.openml_query)
    except ConnectionError as error:
        is_offline = isinstance(error, Unreachable)
        raise _SourceFailure(str(error), is_offline) from None
    write_to_cache(dataset, spec.openml_query)
    return SourceResult(dataset, spec.openml_copy_spec())


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
