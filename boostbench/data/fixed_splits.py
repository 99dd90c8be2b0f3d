"""Fixed splits: divisions into training and test rows that belong to a data set."""

from pathlib import Path

import numpy as np

from boostbench.util.decompression import read_arrays
from boostbench.util.errors import UserError

#: Row numbers, from 0, of the training and the test part.
Split = tuple[np.ndarray, np.ndarray]


def official_split(n_train: int, n_samples: int) -> Split:
    """Return the split whose training part is the first `n_train` rows.

    Examples
    --------
    >>> official_split(2, 3)
    (array([0, 1]), array([2]))
    """
    return np.arange(n_train), np.arange(n_train, n_samples)


def remap_rows(splits: list[Split], kept_rows: np.ndarray | None, where: str) -> list[Split]:
    """Return splits with the row numbers after the removal of rows.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Splits whose numbers count all rows.
    kept_rows : ndarray of shape (n_rows,), bool, or None
        Mask of the rows that remain. None: all.
    where : str
        Name of the source of the splits in messages.

    Returns
    -------
    list of (ndarray, ndarray)
        Splits of the remaining rows; a removed row is in no part.

    Raises
    ------
    UserError
        If a part has no remaining row.

    Examples
    --------
    >>> remap_rows([official_split(2, 4)], np.array([True, False, True, True]), "toy.csv")
    [(array([0]), array([1, 2]))]
    """
    if kept_rows is None:
        return splits
    new_numbers = np.cumsum(kept_rows) - 1
    remapped = [tuple(new_numbers[part[kept_rows[part]]] for part in split) for split in splits]
    # A part may have lost all of its rows.
    for number, split in enumerate(remapped, 1):
        for name, part in zip(("training", "test"), split, strict=True):
            if not len(part):
                raise UserError(
                    f"{where}: no row of the {name} part of split {number} is without missing "
                    "values; take data.missing=median"
                )
    return remapped


def split_from_mask(is_test: np.ndarray, n_samples: int, where: str) -> Split:
    """Return the split whose test part is marked, row by row.

    Parameters
    ----------
    is_test : ndarray of shape (n_samples,)
        1 or True for rows of the test part, else 0 or False.
    n_samples : int
        Number of rows of the data set.
    where : str
        Name of the file in messages.

    Raises
    ------
    UserError
        If the number of marks is wrong, marks are not 0 and 1 (or truth values), or all are equal.
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
    """Draw pools with the same number of rows of each class, and split each pool several times.

    A stratified quarter of a pool is its test part.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    n_pools : int
        Number of pools.
    n_splits : int
        Number of splits of each pool.
    per_class : int
        Number of rows of each class in a pool.
    seed : int, default=0
        Seed of all draws.

    Returns
    -------
    list of (ndarray, ndarray)
        The splits, pool by pool.

    Raises
    ------
    UserError
        If a class has fewer than `per_class` rows, or a test part would lack a class.
    """
    from sklearn.model_selection import StratifiedShuffleSplit  # slow to import

    rng = np.random.default_rng(seed)
    classes = [np.flatnonzero(y == label) for label in np.unique(y)]
    smallest = min(map(len, classes))
    if not 4 <= per_class <= smallest:
        raise UserError(
            f"data.pools draws {per_class} rows of each class; it must be 4 or more, so that the "
            f"test quarter has one, and at most {smallest}, the size of the smallest class"
        )
    splits = []
    for _ in range(n_pools):
        pool = np.concatenate([rng.choice(rows, per_class, replace=False) for rows in classes])
        state = int(rng.integers(2**32))
        splitter = StratifiedShuffleSplit(n_splits, test_size=0.25, random_state=state)
        splits += [(pool[train], pool[test]) for train, test in splitter.split(pool, y[pool])]
    return splits


def read_splits(path: Path, n_samples: int) -> list[Split]:
    """Load fixed splits: arrays ``train`` and ``test`` with the row numbers of one split per row.

    Parameters
    ----------
    path : Path
        ``NAME.splits.npz``.
    n_samples : int
        Number of rows of the data set.

    Returns
    -------
    list of (ndarray, ndarray)

    Raises
    ------
    UserError
        If the file has other content, a row number does not exist, or a row is twice in a split.
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
                f"{path}: {name} of shape {rows.shape} and type {rows.dtype} is not a table of "
                "row numbers, one row for each split"
            )
    if len(train) != len(test):
        raise UserError(f"{path}: train has {len(train)} splits, and test has {len(test)}")
    splits = list(zip(train.astype(np.int64), test.astype(np.int64), strict=True))
    for number, split in enumerate(splits, 1):
        check_split(split, n_samples, f"{path}, split {number} of {len(splits)}")
    return splits


def check_split(split: Split, n_samples: int, where: str) -> None:
    """Check that both parts of a split have rows, that all rows exist, and that each is unique.

    Parameters
    ----------
    split : (ndarray of int, ndarray of int)
        Row numbers, from 0, of the training and the test part.
    n_samples : int
        Number of rows of the data set.
    where : str
        Name of the split in messages.

    Raises
    ------
    UserError
        If they do not; the message begins with `where`.
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
