"""NumPy archives of arrays, fixed splits in such archives, and the IDX files of MNIST."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from boostbench.errors import UserError

#: Row numbers of training and test part, for each split.
Splits = list[tuple[np.ndarray, np.ndarray]]


def read_npz(stream: BinaryIO, where: str) -> tuple[np.ndarray, np.ndarray, Splits | None]:
    """Read arrays ``x_train, y_train, x_test, y_test``, or ``x, y`` and perhaps ``is_test``.

    Images are flattened to rows. The parts become one fixed split.

    Parameters
    ----------
    stream : binary file
        An archive as of `numpy.savez`.
    where : str
        What to call the file in messages.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,)
        As stored.
    splits : list of one (train, test), or None

    Raises
    ------
    UserError
        The file is no such archive, or its arrays do not fit together.
    """
    try:
        with np.load(stream, allow_pickle=False) as archive:
            arrays = {key.lower(): archive[key] for key in archive.files}
    except Exception as error:  # zip, zlib, pickle and header errors: all mean a bad file
        raise UserError(f"{where} is not a readable npz archive ({error})") from None
    if {"x_train", "y_train", "x_test", "y_test"} <= arrays.keys():
        parts = [(arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])]
        return join_parts(parts, where)
    if not {"x", "y"} <= arrays.keys():
        raise UserError(
            f"{where} holds {sorted(arrays)}, but x and y (or x_train, y_train, x_test, y_test) "
            "are needed"
        )
    X, y, _ = join_parts([(arrays["x"], arrays["y"])], where)
    if "is_test" not in arrays:
        return X, y, None
    is_test = arrays["is_test"].astype(bool)
    return X, y, [(np.flatnonzero(~is_test), np.flatnonzero(is_test))]


def read_idx(stream: BinaryIO, where: str) -> np.ndarray:
    """Read one IDX file of bytes.

    Returns
    -------
    ndarray of uint8
        Of the shape that the file says.

    Raises
    ------
    UserError
        The file is something else, or not complete.
    """
    content = stream.read()
    n_dimensions = content[3] if content[:3] == b"\0\0\x08" and len(content) > 3 else 0
    start = 4 + 4 * n_dimensions
    shape = tuple(np.frombuffer(content[4:start], ">u4").tolist())
    if not n_dimensions or len(content) != start + np.prod(shape, dtype=int):
        raise UserError(f"{where} is not a complete IDX file of bytes")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def join_parts(parts: list[tuple[np.ndarray, np.ndarray]], where: str):
    """Stack parts of a data set; two of them also make a fixed split.

    Returns
    -------
    X, y, splits
        As from `read_npz`.
    """
    for x, y in parts:
        if y.ndim != 1 or len(x) != len(y) or not len(y):
            raise UserError(f"{where}: x of shape {x.shape} does not fit y of shape {y.shape}")
    X = np.concatenate([x.reshape(len(x), -1) for x, _ in parts]).astype(float)
    y = np.concatenate([y for _, y in parts])
    return X, y, [first_rows(len(parts[0][1]), len(y))] if len(parts) == 2 else None


def first_rows(n_train: int, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Make the split whose training part is the first `n_train` rows.

    Examples
    --------
    >>> first_rows(2, 3)
    (array([0, 1]), array([2]))
    """
    return np.arange(n_train), np.arange(n_train, n_samples)


def read_splits(path: Path, n_samples: int) -> Splits:
    """Read fixed splits: arrays ``train`` and ``test``, one row of row numbers for each split.

    Parameters
    ----------
    path : Path
        ``NAME.splits.npz``.
    n_samples : int
        Rows of the data set that the numbers, from 0, point to.

    Returns
    -------
    list of (ndarray, ndarray)

    Raises
    ------
    UserError
        The file is no such archive, or it points to rows that do not exist.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            train, test = archive["train"].astype(np.int64), archive["test"].astype(np.int64)
    except Exception as error:  # zip, zlib, pickle, header and key errors: all mean a bad file
        raise UserError(f"{path} does not hold fixed splits train and test ({error})") from None
    largest = max(train.max(initial=-1), test.max(initial=-1))
    if len(train) != len(test) or largest >= n_samples or min(train.min(), test.min()) < 0:
        raise UserError(f"{path}: its row numbers do not fit the {n_samples} rows of the data set")
    return list(zip(train, test, strict=True))
