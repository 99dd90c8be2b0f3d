"""Data sets in local files: files of any format, the cache of downloads, and bundles.

The cache and bundles are npz files with a checksum inside. The *cache* is a folder of the user with
one file for each download. A *bundle* makes results reproducible after a server is gone: a folder
for ``$BOOSTBENCH_DATA`` with a file ``NAME.bundle.npz`` for each data set, and ``SHA256SUMS`` for
``sha256sum -c``.

Modules of this folder test for a file by `os.path`: `Path` raises an error if a folder may not be
entered, or a name is too long.
"""

import json
import logging
import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET

from boostbench.data.data_table import LabelledData, features_and_labels
from boostbench.data.dataset import Dataset
from boostbench.data.fixed_splits import read_splits, remap_rows
from boostbench.data.readers import (
    check_options,
    main_suffixes,
    reader_of,
    stem_and_suffix,
    unknown_suffix_error,
)
from boostbench.data.readers.base import ReadOptions
from boostbench.spec.data import DataQuery, DataSpec, TaskQuery
from boostbench.util.decompression import OPENERS, open_file, read_arrays
from boostbench.util.errors import UserError, os_error_reason
from boostbench.util.files import atomic_write, file_lock, file_sha256, slug, user_path

logger = logging.getLogger(__name__)

#: Name of the file with the checksums of a bundle.
CHECKSUM_FILE = "SHA256SUMS"
#: Ending of the file of a data set in a bundle, and advice for a file that is not valid.
_BUNDLE_SUFFIX = ".bundle.npz"
_BUNDLE_ADVICE = "fetch the bundle again, or create it by boostbench data --bundle"


# --- Files of any format ---


def data_folder() -> Path | None:
    """Return the folder of data files, ``$BOOSTBENCH_DATA``; None if it is not set."""
    folder = os.environ.get("BOOSTBENCH_DATA")
    return user_path(folder) if folder else None


def local_file(spec: DataSpec) -> Path | None:
    """Return the local file of a data set.

    Parameters
    ----------
    spec : DataSpec
        Settings of the data set.

    Returns
    -------
    Path or None
        ``data.path`` if the user gave it, also if no such file exists; otherwise the file of the
        data set's name in the folder of data files. None: there is no such file or folder.
    """
    if spec.path:
        return user_path(spec.path)
    folder = data_folder()
    return find_file(spec.file_stem, folder) if folder else None


def find_file(stem: str, folder: Path) -> Path | None:
    """Return the file of a data set in a folder.

    Parameters
    ----------
    stem : str
        File name without endings.
    folder : Path
        Folder of data files.

    Returns
    -------
    Path or None
        First existing file among the formats and their compressions, such as ``STEM.svm`` and
        ``STEM.svm.gz``. IDX files come in fours, of which the images of the training part are
        returned. None: there is no such file.
    """
    for suffix in main_suffixes():
        for compression in OPENERS:
            path = folder / f"{stem}{suffix}{compression}"
            if os.path.isfile(path):
                return path
    return None


def read_file(path: Path, options: ReadOptions, missing: str | None = None) -> LabelledData:
    """Load a data file, compressed or not.

    Fixed splits are read from ``STEM.splits.npz`` in the same folder, if it exists.

    Parameters
    ----------
    path : Path
        Path of the file. Its ending names the format.
    options : ReadOptions
        Settings of the user on the content of the file.
    missing : str, default=None
        Treatment of rows with missing features, see
        `boostbench.data.data_table.features_and_labels`. None: an error in formats with names.

    Returns
    -------
    LabelledData

    Raises
    ------
    UserError
        If the file does not exist, its format is unknown, or it cannot be read.
    """
    # 1) Find the reader of the format.
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}; check the path")
    reader = reader_of(path)
    if reader is None:
        raise unknown_suffix_error(path)
    check_options(options, reader, f"{path.name} has another format")
    # 2) Read features and labels.
    with open_file(path) as stream:
        table = reader.read(stream, str(path), options)
        # Messages on the table read the file again, for the numbers of lines.
        data = features_and_labels(table, options.labels, missing=missing)
    # 3) Read the splits. They count the rows of the file, some of which may be left out of the data
    #    because of missing features.
    splits_path = path.with_name(f"{stem_and_suffix(path)[0]}.splits.npz")
    if os.path.isfile(splits_path):
        n_file_rows = len(data.y) if data.kept_rows is None else len(data.kept_rows)
        splits = read_splits(splits_path, n_file_rows)
        data = data._replace(splits=remap_rows(splits, data.kept_rows, str(splits_path)))
    # 4) Ignore names that only number the columns of a file without categories.
    if data.names and not data.categories and _is_column_numbering(data.names):
        data = data._replace(names=None)
    return data


def _is_column_numbering(names: Sequence[str]) -> bool:
    """Return whether n names are n of the n + 1 numbers from 0 to n, in ascending order.

    The absent number belongs to the class column if a header counts from 0. It is 0 if the header
    counts from 1 and the class column is the last one.

    Examples
    --------
    >>> _is_column_numbering(["0", "1", "3"]), _is_column_numbering(["1", "2", "3"])
    (True, True)
    """
    distinct_names = set(names)
    numbers = map(str, range(len(names) + 1))
    return names == [number for number in numbers if number in distinct_names]


def data_set_name(path: Path) -> str:
    """Return the name of the data set in a file, which its records are filed under.

    Different files may have equal names: `boostbench.records.index.title_data_sets` distinguishes
    their records.

    Examples
    --------
    >>> [data_set_name(Path(name)) for name in ("x/v1.0.csv.gz", "my = data.csv", "..x.csv")]
    ['v1.0', 'my_data', '_x']
    """
    # File systems may decompose accented letters.
    name = slug(unicodedata.normalize("NFC", stem_and_suffix(path)[0]), ".+-")
    return name if re.match(r"\w", name) else f"_{name.lstrip('.+-')}"


# --- Archives: npz files with a checksum, of the cache and of bundles ---


def write_archive(path: Path, dataset: Dataset, request: msgspec.Struct) -> None:
    """Write a data set to an npz file, by an atomic write.

    Parameters
    ----------
    path : Path
        The file; it is replaced if it exists.
    dataset : Dataset
        Categories are stored as columns of 0 and 1.
    request : DataQuery, TaskQuery or DataSpec
        Request that `read_archive` answers with the data set.
    """
    dataset = dataset.one_hot_encoded()
    metadata = {name: getattr(dataset, name) for name in ("source", "checksum", "names")}
    metadata["origin"] = _json_fields(request)
    arrays = {"y": dataset.y, "meta": np.array(json.dumps(metadata))}
    if dataset.splits is not None:
        parts = [np.asarray(part, dtype=np.int64) for split in dataset.splits for part in split]
        arrays["split_sizes"] = np.array([*map(len, parts)]).reshape(-1, 2)
        arrays["split_rows"] = np.concatenate(parts)
    X = dataset.X
    if dataset.is_sparse:
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        arrays["X"] = X
    atomic_write(path, lambda stream: np.savez_compressed(stream, **arrays))


def read_archive(path: Path, name: str, request: msgspec.Struct) -> Dataset | None:
    """Load a data set that `write_archive` wrote; None if it was written for another request.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Name of the data set.
    request : DataQuery, TaskQuery or DataSpec
        Request; it must equal the one with which the file was written.

    Raises
    ------
    Exception
        If the file is damaged: any error of zip, zlib, NumPy or JSON, or ValueError for a wrong
        checksum.
    """
    with path.open("rb") as stream:
        arrays = read_arrays(stream, path)
    metadata = json.loads(str(arrays["meta"]))
    if metadata["origin"] != _json_fields(request):
        return None
    if "X" in arrays:
        X = arrays["X"]
    else:
        from scipy.sparse import csr_matrix  # slow to import

        fields = (arrays["data"], arrays["indices"], arrays["indptr"])
        X = csr_matrix(fields, shape=tuple(arrays["shape"]))
    splits = None
    if "split_sizes" in arrays:
        ends = np.cumsum(arrays["split_sizes"].ravel())[:-1]
        parts = np.split(arrays["split_rows"], ends)
        splits = list(zip(parts[::2], parts[1::2], strict=True))
    names = metadata.get("names")
    dataset = Dataset(name, X, arrays["y"], source=metadata["source"], splits=splits, names=names)
    if dataset.checksum != metadata["checksum"]:
        raise ValueError(f"its checksum is not {metadata['checksum']}")
    return dataset


def _json_fields(request: msgspec.Struct) -> object:
    """Return the fields of a request as JSON reads them: lists instead of tuples."""
    return json.loads(msgspec.json.encode(request))


# --- The cache of downloads ---


def cache_folder() -> Path:
    """Return ``$BOOSTBENCH_CACHE``, or ``boostbench`` in the user's cache folder."""
    folder = os.environ.get("BOOSTBENCH_CACHE")
    if folder:
        return user_path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boostbench"


def cache_path(name: str) -> Path:
    """Return the path of a cached data set, whether it exists or not."""
    return cache_folder() / f"{name}.npz"


def write_to_cache(dataset: Dataset, request: DataQuery | TaskQuery) -> None:
    """Write a downloaded data set to the cache; log a warning if it cannot be written.

    Parameters
    ----------
    dataset : Dataset
        Downloaded data set.
    request : DataQuery or TaskQuery
        Query of the download; `read_from_cache` returns the data set for an equal query only.
    """
    try:
        write_archive(cache_path(dataset.name), dataset, request)
    except OSError as error:
        logger.warning("%s is not cached: %s", dataset.name, error)


def read_from_cache(name: str, request: DataQuery | TaskQuery) -> Dataset | None:
    """Load a data set from the cache.

    Parameters
    ----------
    name : str
        Name of the data set.
    request : DataQuery or TaskQuery
        Query of the download.

    Returns
    -------
    Dataset or None
        None if the cache has no data set of this name and query.

    Raises
    ------
    ValueError
        If the cached file is damaged.
    """
    path = cache_path(name)
    try:
        return read_archive(path, name, request)
    except FileNotFoundError:
        return None
    except Exception as error:
        raise ValueError(f"{path} is damaged ({error})") from None


# --- Bundles ---


def bundle_path(folder: Path, name: str) -> Path:
    """Return the path of a data set in a bundle."""
    return Path(folder) / f"{name}{_BUNDLE_SUFFIX}"


def write_bundle(folder: Path, spec: DataSpec, dataset: Dataset) -> Path:
    """Add a data set to a bundle.

    Parameters
    ----------
    folder : Path
        Folder of the bundle; created if it is missing.
    spec : DataSpec
        Specification; `read_bundle` returns the data set for an equal one only.
    dataset : Dataset
        Result of `boostbench.data.load` for this specification.

    Returns
    -------
    Path
        Path of the written file.

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    path = bundle_path(folder, dataset.name)
    # A lock keeps one of two concurrent writers from dropping the other's checksum.
    with file_lock(path, remedy="choose another folder"):
        # The folder of the source means nothing on another machine.
        portable = replace(dataset, source=re.sub(r"^file .*[/\\]", "file ", dataset.source))
        write_archive(path, portable, _identifying_spec(spec))
        checksums = [other for other in _read_checksums(path.parent) if other.name != path.name]
        checksums.append(_FileChecksum(path.name, file_sha256(path)))
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(checksums))
        atomic_write(path.parent / CHECKSUM_FILE, lambda stream: stream.write(lines.encode()))
    return path


def read_bundle(folder: Path, spec: DataSpec) -> Dataset | None:
    """Load a data set from a bundle.

    Parameters
    ----------
    folder : Path
        Folder, with or without a bundle.
    spec : DataSpec
        Specification of the data set.

    Returns
    -------
    Dataset or None
        None if the folder has no data set of this name, or one for another specification.

    Raises
    ------
    UserError
        If the file cannot be read, or differs from its checksum.
    """
    path = bundle_path(folder, spec.name)
    if not os.path.isfile(path):
        return None
    try:
        _verify_checksum(path)
        dataset = read_archive(path, spec.name, _identifying_spec(spec))
    except UserError:
        raise
    except OSError as error:
        raise UserError(
            f"{error.filename or path} cannot be read: {os_error_reason(error)}"
        ) from None
    except Exception as error:
        raise UserError(f"{path} cannot be read ({error}); {_BUNDLE_ADVICE}") from None
    return dataset and replace(dataset, source=f"file {path}, of {dataset.source}")


def _verify_checksum(path: Path) -> None:
    """Raise a UserError if a file of a bundle lacks a checksum, or differs from it."""
    checksum_file, checksums = path.parent / CHECKSUM_FILE, _read_checksums(path.parent)
    if path.name not in {recorded.name for recorded in checksums}:
        raise UserError(f"{path} is not in {checksum_file}; {_BUNDLE_ADVICE}")
    if _FileChecksum(path.name, file_sha256(path)) not in checksums:
        raise UserError(f"{path} differs from its checksum in {checksum_file}; {_BUNDLE_ADVICE}")


def _identifying_spec(spec: DataSpec) -> DataSpec:
    """Return the settings that determine the data, without expected counts."""
    openml = spec.openml
    if openml:
        # Earlier versions left ``features: null`` out of bundles, which must still be found.
        features = UNSET if openml.features is None else openml.features
        openml = msgspec.structs.replace(openml, expect=UNSET, features=features)
    return msgspec.structs.replace(spec, openml=openml, expect=None)


class _FileChecksum(NamedTuple):
    """Name of a file of a bundle, and its SHA-256 as 64 hexadecimal digits."""

    name: str
    digest: str


def _read_checksums(folder: Path) -> list[_FileChecksum]:
    """Return the checksums of the bundles in a folder; empty if it has no file of checksums."""
    path = folder / CHECKSUM_FILE
    if not os.path.isfile(path):
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    # The format is the output of sha256sum: an asterisk before the name marks binary mode.
    lines = re.finditer(r"^(?P<digest>[0-9a-f]{64}) [ *](?P<name>.+)$", text, re.MULTILINE)
    return [_FileChecksum(**line.groupdict()) for line in lines]
