"""Reader of NumPy archives of features and labels."""

from typing import BinaryIO

import numpy as np

from boostbench.data.data_table import DataTable
from boostbench.data.fixed_splits import Split, official_split, split_from_mask
from boostbench.data.readers.base import Reader, ReadOptions
from boostbench.data.text import parse_labels
from boostbench.util.decompression import read_arrays
from boostbench.util.errors import UserError


class Npz(Reader):
    """Archive of NumPy arrays."""

    title = "npz"
    content = "arrays x and y, perhaps is_test; or x_train, y_train, x_test, y_test"
    suffixes = (".npz",)
    rank = 4  # position in the search for a data set's file

    def read(self, stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
        """Load arrays ``x_train, y_train, x_test, y_test``, or ``x, y``, perhaps with ``is_test``.

        Images are flattened to rows. The training and the test part become a fixed split.

        Parameters and result are described in `Reader.read`.

        Raises
        ------
        UserError
            If the file is not such an archive, or its arrays do not match or are not numeric.
        """
        X, y, splits = _read(stream, where)
        return DataTable.from_arrays(X, y, where, splits)


def _read(stream: BinaryIO, where: str) -> tuple[np.ndarray, np.ndarray, list[Split] | None]:
    """Return features, labels and fixed splits, which are None if there is a single part."""
    try:
        arrays = {key.lower(): array for key, array in read_arrays(stream, where).items()}
    except UserError:
        raise
    except Exception as error:  # zip, zlib, pickle and header errors: all mean a bad file
        reason = str(error)
        if "Object arrays" in reason:  # NumPy creates them from arrays of several sizes
            reason = (
                "it holds Python objects; images must be of one size, and labels numbers or text"
            )
        raise UserError(f"{where} is not a readable npz archive ({reason})") from None
    # Archives have two layouts. The first one has a training and a test part.
    if {"x_train", "y_train", "x_test", "y_test"} <= arrays.keys():
        parts = [(arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])]
        return join_parts(parts, where)
    # The second one has a single part, perhaps with marks of the test rows.
    if not {"x", "y"} <= arrays.keys():
        raise UserError(
            f"{where} holds {sorted(arrays)}, but x and y (or x_train, y_train, x_test, y_test) "
            "are needed"
        )
    X, y, _ = join_parts([(arrays["x"], arrays["y"])], where)
    if "is_test" not in arrays:
        return X, y, None
    return X, y, [split_from_mask(arrays["is_test"], len(y), where)]


def join_parts(parts: list[tuple[np.ndarray, np.ndarray]], where: str):
    """Join the parts of a data set; two parts also define a fixed split.

    Parameters
    ----------
    parts : list of (ndarray, ndarray)
        Features of shape (n_samples, ...) and labels of shape (n_samples,).
    where : str
        Name of the file in messages.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,), int64 or str
    splits : list of one (train, test), or None

    Raises
    ------
    UserError
        If the arrays do not match, or the features are not real numbers.
    """
    for x, y in parts:
        if not x.size or x.ndim == 0 or y.shape != x.shape[:1]:
            raise UserError(f"{where}: x of shape {x.shape} does not fit y of shape {y.shape}")
        if x.dtype.kind not in "biuf":
            raise UserError(f"{where}: features of type {x.dtype} are no real numbers")
    matrices = [x.reshape(len(x), -1) for x, _ in parts]
    if len({x.shape[1] for x in matrices}) > 1:
        widths = " and ".join(str(x.shape[1]) for x in matrices)
        raise UserError(f"{where}: the training and the test part have {widths} features")
    with np.errstate(over="ignore"):  # the check of the data set reports infinite values
        X = np.concatenate(matrices).astype(float)
    y = np.concatenate([parse_labels(y, where) for _, y in parts])
    splits = [official_split(len(parts[0][1]), len(y))] if len(parts) == 2 else None
    return X, y, splits
