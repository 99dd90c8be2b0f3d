"""Divisions into training and test rows that come with a data set."""

from pathlib import Path

import numpy as np

from boostbench.data.decompression import read_arrays
from boostbench.errors import UserError

#: Row numbers, from 0, of the training and the test part.
Split = tuple[np.ndarray, np.ndarray]


def official_split(n_train: int, n_samples: int) -> Split:
    """Make the split whose training part is the first `n_train` rows.

    Examples
    --------
    >>> official_split(2, 3)
    (array([0, 1]), array([2]))
    """
    return np.arange(n_train), np.arange(n_train, n_samples)


def remap_rows(splits: list[Split], kept_rows: np.ndarray | None, where: str) -> list[Split]:
    """Count the rows of splits anew, where rows are left out of the data.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Their numbers count all rows.
    kept_rows : ndarray of shape (n_rows,), bool, or None
        Which of them are left; None: all.
    where : str
        What to call the source of the splits in messages.

    Returns
    -------
    list of (ndarray, ndarray)
        A row that is left out is in no part.

    Raises
    ------
    UserError
        Nothing is left of a part.

    Examples
    --------
    >>> remap_rows([official_split(2, 4)], np.array([True, False, True, True]), "toy.csv")
    [(array([0]), array([1, 2]))]
    """
    if kept_rows is None:
        return splits
    new_numbers = np.cumsum(kept_rows) - 1
    remapped = [tuple(new_numbers[part[kept_rows[part]]] for part in split) for split in splits]
    for number, split in enumerate(remapped, 1):
        for name, part in zip(("training", "test"), split, strict=True):
            if not len(part):
                raise UserError(
                    f"{where}: no row of the {name} part of split {number} is without missing "
                    "values; take data.missing=median"
                )
    return remapped


def split_from_mask(is_test: np.ndarray, n_samples: int, where: str) -> Split:
    """Make the split whose test part is marked, row by row.

    Raises
    ------
    UserError
        The marks are not one for each row, not 0 and 1 (or truth values), or all the same.
    """
    if is_test.shape != (n_samples,) or is_test.dtype.kind not in "biuf":
        raise UserError(
            f"{where}: is_test of shape {is_test.shape} and type {is_test.dtype} is not one mark "
            f"for each of the {n_samples} rows"
        )
    if np.unique(is_test).tolist() != [0, 1]:
        raise UserError(f"{where}: is_test must mark some rows by 1 or true, the others by 0")
    return np.flatnonzero(is_test == 0), np.flatnonzero(is_test)


def draw_pools(
    y: np.ndarray, n_pools: int, n_splits: int, per_class: int, seed: int = 0
) -> list[Split]:
    """Draw rows of each class several times, and divide each such pool several times.

    A quarter of a pool is its test part, with the shares of the classes.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    n_pools, n_splits, per_class : int
        How many pools, splits of each, and rows of each class in a pool.
    seed : int, default=0

    Returns
    -------
    list of (ndarray, ndarray)
        Those of a pool follow each other.

    Raises
    ------
    UserError
        A class has fewer rows, or too few are drawn for one of each class in the test part.
    """
    from sklearn.model_selection import StratifiedShuffleSplit  # slow to import

    rng = np.random.default_rng(seed)
    classes = [np.flatnonzero(y == label) for label in np.unique(y)]
    smallest = min(map(len, classes))
    if not 4 <= per_class <= smallest:
        raise UserError(
            f"data.pools draws {per_class} rows of each class; it must be 4 or more, for one in "
            f"the quarter to test, and the smallest class has {smallest}"
        )
    splits = []
    for _ in range(n_pools):
        pool = np.concatenate([rng.choice(rows, per_class, replace=False) for rows in classes])
        state = int(rng.integers(2**32))
        splitter = StratifiedShuffleSplit(n_splits, test_size=0.25, random_state=state)
        splits += [(pool[train], pool[test]) for train, test in splitter.split(pool, y[pool])]
    return splits


def read_splits(path: Path, n_samples: int) -> list[Split]:
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
        The file is no such archive, it points to rows that do not exist, or to a row twice in the
        same split.
    """
    try:
        with path.open("rb") as stream:
            arrays = read_arrays(stream, path)
        train, test = arrays["train"], arrays["test"]
    except UserError:
        raise
    except Exception as error:  # zip, zlib, pickle, header and key errors: all mean a bad file
        raise UserError(f"{path} does not hold fixed splits train and test ({error})") from None
    for name, rows in (("train", train), ("test", test)):
        if rows.ndim != 2 or rows.dtype.kind not in "iu" or not rows.size:
            raise UserError(
                f"{path}: {name} of shape {rows.shape} and type {rows.dtype} is no table of row "
                "numbers, one row for each split"
            )
    if len(train) != len(test):
        raise UserError(f"{path}: train has {len(train)} splits, and test has {len(test)}")
    splits = list(zip(train.astype(np.int64), test.astype(np.int64), strict=True))
    for number, split in enumerate(splits, 1):
        check_split(split, n_samples, f"{path}, split {number} of {len(splits)}")
    return splits


def check_split(split: Split, n_samples: int, where: str) -> None:
    """Refuse empty parts, rows that do not exist, and rows that occur twice.

    Raises
    ------
    UserError
        It begins with `where`.
    """
    for name, part in zip(("training", "test"), split, strict=True):
        if not len(part):
            raise UserError(f"{where}: its {name} part is empty")
    rows = np.concatenate(split)
    if rows.max() >= n_samples or rows.min() < 0:
        raise UserError(f"{where}: its row numbers do not fit the {n_samples} rows of the data set")
    repeated = np.flatnonzero(np.bincount(rows) > 1)
    if len(repeated):
        row = int(repeated[0])
        train, test = (int((part == row).sum()) for part in split)
        raise UserError(
            f"{where}: row {row} (counted from 0) is {train} times in train and {test} times in "
            "test; a row may be in one of them, once"
        )
