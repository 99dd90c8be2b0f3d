"""Our own checked copies of downloaded data sets: one npz file each, with a checksum inside."""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostbench.data.dataset import Dataset
from boostbench.data.decompression import read_arrays
from boostbench.paths import user_path
from boostbench.whole import write_whole

logger = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return ``$BOOSTBENCH_CACHE``; without it, ``boostbench`` in the user's cache folder."""
    folder = os.environ.get("BOOSTBENCH_CACHE")
    if folder:
        return user_path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boostbench"


def cache_path(name: str) -> Path:
    """Return where the copy of a data set is, or would be."""
    return cache_folder() / f"{name}.npz"


def store(dataset: Dataset, origin: Mapping) -> None:
    """Write the copy of a downloaded data set; a kill at any moment leaves a whole file or none.

    Parameters
    ----------
    dataset : Dataset
        What was downloaded.
    origin : mapping
        How it was asked for; `fetch` returns the copy to the same question only.
    """
    try:
        write(cache_path(dataset.name), dataset, origin)
    except OSError as error:
        logger.warning("%s is not kept for the next time: %s", dataset.name, error)


def write(path: Path, dataset: Dataset, origin: Mapping) -> None:
    """Write a data set and how it was asked for, as `write_whole` does."""
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
    write_whole(path, lambda stream: np.savez_compressed(stream, **arrays))


def read(path: Path, name: str, origin: Mapping) -> Dataset | None:
    """Undo `write`; None for another origin.

    Raises
    ------
    Exception
        Whatever zip, zlib, NumPy and JSON find in a damaged file; ValueError for another checksum.
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
    """Read the copy of a data set.

    Parameters
    ----------
    name : str
        The data set.
    origin : mapping
        How it would be asked for.

    Returns
    -------
    Dataset or None
        None when there is no copy, or only that of another origin.

    Raises
    ------
    ValueError
        The copy is damaged.
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
