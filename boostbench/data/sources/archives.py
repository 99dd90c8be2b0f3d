"""Data sets in npz files with a checksum inside: the cache of downloads, and bundles.

The *cache* is a folder of the user with one file for each download. A *bundle* makes results
reproducible after a server is gone: a folder for ``$BOOSTBENCH_DATA`` with a file
``NAME.bundle.npz`` for each data set, and ``SHA256SUMS`` for ``sha256sum -c``.
"""

import json
import logging
import os
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from msgspec import UNSET

from boostbench.data.dataset import Dataset
from boostbench.data.decompression import read_arrays
from boostbench.spec.data import DataQuery, DataSpec, TaskQuery
from boostbench.util.errors import UserError, os_error_reason
from boostbench.util.files import atomic_write, file_lock, file_sha256, user_path

logger = logging.getLogger(__name__)

#: Name of the file with the checksums of a bundle.
CHECKSUM_FILE = "SHA256SUMS"
_BUNDLE_SUFFIX = ".bundle.npz"
_BUNDLE_ADVICE = "fetch the bundle again, or create it by boostbench data --bundle"


def write_archive(path: Path, dataset: Dataset, origin: msgspec.Struct) -> None:
    """Write a data set to a file, by an atomic write.

    Parameters
    ----------
    path : Path
    dataset : Dataset
        Categories are stored as columns of 0 and 1.
    origin : DataQuery, TaskQuery or DataSpec
        Request that `read_archive` answers with the data set.
    """
    dataset = dataset.one_hot_encoded()
    metadata = {name: getattr(dataset, name) for name in ("source", "checksum", "names")}
    metadata["origin"] = _to_json_types(origin)
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


def read_archive(path: Path, name: str, origin: msgspec.Struct) -> Dataset | None:
    """Load a data set that `write_archive` wrote; None if it has another origin.

    Raises
    ------
    Exception
        If the file is damaged: any error of zip, zlib, NumPy or JSON, or ValueError for a wrong
        checksum.
    """
    with path.open("rb") as stream:
        arrays = read_arrays(stream, path)
    metadata = json.loads(str(arrays["meta"]))
    if metadata["origin"] != _to_json_types(origin):
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
    dataset = Dataset(name, X, arrays["y"], metadata["source"], splits, names=names)
    if dataset.checksum != metadata["checksum"]:
        raise ValueError(f"its checksum is not {metadata['checksum']}")
    return dataset


def _to_json_types(origin: msgspec.Struct) -> object:
    """Return the fields of an origin as JSON reads them: without tuples."""
    return json.loads(msgspec.json.encode(origin))


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


def write_to_cache(dataset: Dataset, origin: DataQuery | TaskQuery) -> None:
    """Write a downloaded data set to the cache; log a warning if it cannot be written.

    Parameters
    ----------
    dataset : Dataset
        Downloaded data set.
    origin : DataQuery or TaskQuery
        Query of the download; `read_from_cache` returns the data set for an equal query only.
    """
    try:
        write_archive(cache_path(dataset.name), dataset, origin)
    except OSError as error:
        logger.warning("%s is not cached: %s", dataset.name, error)


def read_from_cache(name: str, origin: DataQuery | TaskQuery) -> Dataset | None:
    """Load a data set from the cache.

    Parameters
    ----------
    name : str
        Name of the data set.
    origin : DataQuery or TaskQuery
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
        return read_archive(path, name, origin)
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
        checksums = _read_checksums(path.parent) | {path.name: file_sha256(path)}
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(checksums.items()))
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
    expected = _read_checksums(path.parent).get(path.name)
    if expected is None:
        raise UserError(f"{path} is not in {path.parent / CHECKSUM_FILE}; {_BUNDLE_ADVICE}")
    if file_sha256(path) != expected:
        sums = path.parent / CHECKSUM_FILE
        raise UserError(f"{path} differs from its checksum in {sums}; {_BUNDLE_ADVICE}")


def _identifying_spec(spec: DataSpec) -> DataSpec:
    """Return the settings that determine the data, without expected counts."""
    openml = spec.openml
    if openml:
        features = UNSET if openml.features is None else openml.features
        openml = msgspec.structs.replace(openml, expect=UNSET, features=features)
    return msgspec.structs.replace(spec, openml=openml, expect=None)


def _read_checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a bundle by the name of the file."""
    path = folder / CHECKSUM_FILE
    if not os.path.isfile(path):
        return {}
    text = path.read_text(encoding="utf-8", errors="replace")
    entries = re.findall(r"^([0-9a-f]{64}) [ *](.+)$", text, re.MULTILINE)
    return {name: digest for digest, name in entries}
