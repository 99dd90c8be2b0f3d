"""Cache of downloaded data sets: one npz file each, with a checksum inside."""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.data.decompression import read_arrays
from boostbench.util.files import atomic_write, user_path

logger = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return ``$BOOSTBENCH_CACHE``, or ``boostbench`` in the user's cache folder."""
    folder = os.environ.get("BOOSTBENCH_CACHE")
    if folder:
        return user_path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boostbench"


def cache_path(name: str) -> Path:
    """Return the path of a cached data set, whether it exists or not."""
    return cache_folder() / f"{name}.npz"


def store(dataset: Dataset, origin: Mapping) -> None:
    """Write a downloaded data set to the cache, by an atomic write.

    Parameters
    ----------
    dataset : Dataset
        Downloaded data set.
    origin : mapping
        Query of the download; `fetch` returns the data set for an equal query only.
    """
    try:
        write(cache_path(dataset.name), dataset, origin)
    except OSError as error:
        logger.warning("%s is not cached: %s", dataset.name, error)


def write(path: Path, dataset: Dataset, origin: Mapping) -> None:
    """Write a data set and its query to a file, by an atomic write."""
    dataset = dataset.one_hot_encoded()
    metadata = {name: getattr(dataset, name) for name in ("source", "checksum", "names")}
    metadata["origin"] = dict(origin)
    arrays = {
        "y": dataset.y,
        "meta": np.array(json.dumps(metadata)),
        **_split_arrays(dataset.splits),
    }
    X = dataset.X
    if dataset.is_sparse:
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        arrays["X"] = X
    atomic_write(path, lambda stream: np.savez_compressed(stream, **arrays))


def read(path: Path, name: str, origin: Mapping) -> Dataset | None:
    """Load a data set that `write` wrote; None if its query differs from `origin`.

    Raises
    ------
    Exception
        If the file is damaged: any error of zip, zlib, NumPy or JSON, or ValueError for a wrong
        checksum.
    """
    with path.open("rb") as stream:
        arrays = read_arrays(stream, path)
    metadata = json.loads(str(arrays["meta"]))
    if metadata["origin"] != json.loads(json.dumps(dict(origin))):
        return None
    fields = _feature_matrix(arrays), arrays["y"], metadata["source"], _splits_from_arrays(arrays)
    dataset = Dataset(name, *fields, names=metadata.get("names"))
    if dataset.checksum != metadata["checksum"]:
        raise ValueError(f"its checksum is not {metadata['checksum']}")
    return dataset


def fetch(name: str, origin: Mapping) -> Dataset | None:
    """Load a data set from the cache.

    Parameters
    ----------
    name : str
        Name of the data set.
    origin : mapping
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
        return read(path, name, origin)
    except FileNotFoundError:
        return None
    except Exception as error:
        raise ValueError(f"{path} is damaged ({error})") from None


def _feature_matrix(arrays: Mapping[str, np.ndarray]):
    if "X" in arrays:
        return arrays["X"]
    from scipy.sparse import csr_matrix  # slow to import

    fields = (arrays["data"], arrays["indices"], arrays["indptr"])
    return csr_matrix(fields, shape=tuple(arrays["shape"]))


def _split_arrays(splits) -> dict[str, np.ndarray]:
    if splits is None:
        return {}
    sizes = [[len(train), len(test)] for train, test in splits]
    rows = [np.asarray(part, dtype=np.int64) for split in splits for part in split]
    return {"split_sizes": np.array(sizes), "split_rows": np.concatenate(rows)}


def _splits_from_arrays(arrays: Mapping[str, np.ndarray]):
    if "split_sizes" not in arrays:
        return None
    ends = np.cumsum(arrays["split_sizes"].ravel())[:-1]
    fields = np.split(arrays["split_rows"], ends)
    return list(zip(fields[::2], fields[1::2], strict=True))
