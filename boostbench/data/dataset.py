"""Data sets: a feature matrix, a label for each row, and their origin."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from boostbench.data.text import compose_letters
from boostbench.spec.data import IMPUTATIONS, KEEP_MISSING, DataCounts, DataSpec
from boostbench.util.errors import UserError

#: Number of rows per chunk: sorting labels and encoding categories need copies, which stay small.
_CHUNK_SIZE = 2**18


class CategoricalColumn(NamedTuple):
    """Column of a feature matrix that holds codes of categories.

    Attributes
    ----------
    column : int
        Index of the column.
    words : tuple of str
        Categories. A value of the column is the index of its category, or NaN if it is missing.
    """

    column: int
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification data set.

    Parameters
    ----------
    name : str
        Name of the data set in ``conf/data/``.
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_columns), float64
        Numbers, and codes of categories in the columns of `categories`. A sparse matrix is used
        only if a dense one would be large and nearly empty; it has no categories.
    y : ndarray of shape (n_samples,), int64 or str
        Class labels of the source.
    source : str
        Description of the origin: ``"file /x/vowel.svm.gz"``, ``"OpenML 307 v2"``.
    splits : list of (ndarray, ndarray), default=None
        Row numbers of the training part and of the test part for each fixed split of the source.
        None: the source has no splits.
    expect : DataCounts, default=DataCounts()
        Expected counts, which `validate` checks.
    categories : tuple of CategoricalColumn, default=()
        Columns of `X` with codes of 3 to 255 categories, from a user's file. An algorithm that
        supports categories gets them as such; for others, each category becomes a feature.
    names : list of str, default=None
        Names of the columns of `X`. None: the source has no names.
    spec : DataSpec, default=None
        Specification from which `boostbench.data.load` returns the same data set. None: none
        describes it, for example after a selection of rows.
    """

    name: str
    X: Any
    y: np.ndarray
    source: str
    splits: list[tuple[np.ndarray, np.ndarray]] | None = None
    expect: DataCounts = field(default_factory=DataCounts)
    categories: tuple[CategoricalColumn, ...] = ()
    names: list[str] | None = None
    spec: DataSpec | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features after one-hot encoding."""
        return self.X.shape[1] + sum(n_categories - 1 for _, n_categories in self.category_counts)

    @property
    def category_counts(self) -> tuple[tuple[int, int], ...]:
        """Index and number of categories of each column of codes."""
        return tuple((column, len(words)) for column, words in self.categories)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features after one-hot encoding, such as ``colour=red``.

        A column without a name has its number, from 1.
        """
        names = self.names or [str(number) for number in range(1, self.X.shape[1] + 1)]
        words = dict(self.categories)
        return [
            f"{name}={word}" if word is not None else name
            for column, name in enumerate(names)
            for word in words.get(column, [None])
        ]

    @property
    def n_classes(self) -> int:
        """Number of distinct labels."""
        return len(self.classes)

    @property
    def is_sparse(self) -> bool:
        """True if `X` is a sparse matrix."""
        return not isinstance(self.X, np.ndarray)

    @property
    def values(self) -> np.ndarray:
        """Stored features: all of a dense matrix, the explicit entries of a sparse one."""
        return self.X.data if self.is_sparse else self.X

    @property
    def classes(self) -> np.ndarray:
        """Distinct labels, sorted."""
        return self._counted_labels[0]

    @property
    def class_counts(self) -> dict[int | str, int]:
        """Number of rows of each label."""
        labels, counts = self._counted_labels
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @cached_property
    def class_indices(self) -> np.ndarray:
        """Index of each row's label in `classes`, for classifiers that need numbers."""
        return np.searchsorted(self.classes, self.y)

    @cached_property
    def _counted_labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct labels, sorted, and the number of rows of each."""
        # np.unique sorts a copy: chunks keep it small.
        chunks = [np.unique(chunk, return_counts=True) for chunk in self._chunks(self.y)]
        chunk_labels, chunk_counts = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
        labels, positions = np.unique(chunk_labels, return_inverse=True)
        counts = np.zeros(len(labels), dtype=int)
        np.add.at(counts, positions, chunk_counts)
        return labels, counts

    @staticmethod
    def _chunks(values: np.ndarray) -> Iterator[np.ndarray]:
        """Yield consecutive rows of an array; one empty chunk if it has none."""
        for start in range(0, max(len(values), 1), _CHUNK_SIZE):
            yield values[start : start + _CHUNK_SIZE]

    @cached_property
    def checksum(self) -> str:
        """First 16 hexadecimal digits of a SHA-256 of shape, one-hot features and labels.

        Equal data have equal checksums, whichever file format they come from.
        """
        digest = hashlib.sha256(repr((self.n_samples, self.n_features)).encode())
        # 1) Add the features.
        if self.is_sparse:
            X = self.X.sorted_indices()
            parts = iter((X.data, X.indices.astype("<i8"), X.indptr.astype("<i8")))
        elif self.categories:  # chunks keep the one-hot matrix small
            parts = (encode_one_hot(rows, self.category_counts) for rows in self._chunks(self.X))
        else:
            parts = iter((self.X,))
        for part in parts:
            digest.update(np.ascontiguousarray(part))
        # 2) Add the labels as text, with a zero byte between two of them.
        separator = ""
        for chunk in self._chunks(self.y):
            digest.update((separator + "\0".join(map(str, chunk.tolist()))).encode())
            separator = "\0"
        return digest.hexdigest()[:16]

    def one_hot_encoded(self) -> "Dataset":
        """Return the data set with a feature for each category, and numbers only.

        Examples
        --------
        >>> colours = (CategoricalColumn(0, ("blue", "green", "red")),)
        >>> toy = Dataset("toy", np.array([[2.0], [0.0]]), np.array([1, 2]), "made here")
        >>> replace(toy, categories=colours).one_hot_encoded().X
        array([[0., 0., 1.],
               [1., 0., 0.]])
        """
        X = encode_one_hot(self.X, self.category_counts)
        return replace(self, X=X, names=self.names and self.feature_names, categories=())

    def slice_of_range(self, axis: str, bounds: Collection[int]) -> slice:
        """Return a half-open range of ``rows`` or ``features`` as a slice, after a check.

        Parameters
        ----------
        axis : {"rows", "features"}
            Axis of the range; features count one-hot columns.
        bounds : (int, int)
            First number, from 0, and the number behind the last one.

        Raises
        ------
        UserError
            If the range exceeds the data.

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 1, 2]), "made here")
        >>> toy.slice_of_range("rows", [0, 2])
        slice(0, 2, None)
        """
        (start, stop), size = bounds, {"rows": self.n_samples, "features": self.n_features}[axis]
        if stop > size:
            raise UserError(
                f"data.{axis} is [{start}, {stop}], but {self.source} has {size} {axis}"
            )
        return slice(start, stop)

    def select_rows(self, rows: slice | np.ndarray) -> "Dataset":
        """Return the data set with a subset of the rows, without its fixed splits.

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 1, 2]), "made here")
        >>> toy.select_rows(slice(0, 2)).n_samples
        2
        """
        return replace(self, X=self.X[rows], y=self.y[rows], splits=None, spec=None)

    def select_classes(self, which: int | Collection[int | str]) -> "Dataset":
        """Return the rows of a subset of the classes, without the fixed splits.

        Parameters
        ----------
        which : int or collection of labels
            Number of classes to select, in the order of `classes`, or their labels.

        Raises
        ------
        UserError
            If fewer than two classes or more than all are selected, or a label does not occur.

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 3, 1]), "made here")
        >>> toy.select_classes(2).n_samples
        3
        """
        classes = self.classes.tolist()
        if isinstance(which, int):
            selected = set(classes[: max(which, 0)])
            all_exist = which <= len(classes)
        else:
            selected = set(compose_letters(which))
            all_exist = selected <= set(classes)
        if len(selected) < 2 or not all_exist:
            labels = ", ".join(map(str, classes))
            raise UserError(
                f"data.classes is {which}; it may be a number from 2 to {len(classes)}, or a list "
                f"of two or more of the labels {labels}"
            )
        return replace(self.select_rows(np.isin(self.y, list(selected))), expect=DataCounts())

    def bootstrap(self, per_class: int, seed: int = 0) -> "Dataset":
        """Draw rows of each class with replacement; the fixed splits are dropped.

        A row may be drawn several times. A random split can have copies of a row in both parts, so
        its test errors are too low.

        Parameters
        ----------
        per_class : int
            Number of rows per class.
        seed : int, default=0

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 2, 2]), "made here")
        >>> toy.bootstrap(3).y
        array([1, 1, 1, 2, 2, 2])
        """
        rng = np.random.default_rng(seed)
        rows = [
            rng.choice(np.flatnonzero(self.class_indices == index), per_class)
            for index in range(self.n_classes)
        ]
        return replace(self.select_rows(np.concatenate(rows)), expect=DataCounts())

    def one_vs_rest(self, positive: Collection[int | str]) -> "Dataset":
        """Return a two-class problem: 1 for the positive labels, -1 for all others.

        Parameters
        ----------
        positive : collection of labels
            Labels that become class 1.

        Raises
        ------
        UserError
            If a label does not occur, or one of the two classes would be empty.

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 3, 1]), "made here")
        >>> toy.one_vs_rest([1, 3]).y
        array([ 1, -1,  1,  1])
        """
        classes, positive = self.classes.tolist(), compose_letters(positive)
        if not 0 < len(set(positive)) < len(classes) or not set(positive) <= set(classes):
            labels = ", ".join(map(str, classes))
            raise UserError(
                f"data.positive is {list(positive)}; it must be some of the labels {labels}, "
                "not all"
            )
        y = np.where(np.isin(self.y, list(positive)), 1, -1)
        return replace(self, y=y, expect=DataCounts(), spec=None)

    @property
    def imputation(self) -> str | None:
        """Setting of ``data.missing`` by which a fit treats missing values; None: none is missing.

        It is ``"keep"``, ``"mean"``, ``"median"`` or ``"most_frequent"``.
        """
        setting = self.spec.effective_missing if self.spec else None
        if setting not in (KEEP_MISSING, *IMPUTATIONS) or self.is_sparse:
            return None
        return setting if np.isnan(self.X).any() else None

    def validate(self, missing: str | None = None) -> "Dataset":
        """Check that the data set can be used in experiments.

        Parameters
        ----------
        missing : str, default=None
            Setting of ``data.missing``. Missing values that a fit handles are no fault.

        Returns
        -------
        Dataset
            The data set itself.

        Raises
        ------
        UserError
            If a count differs from `expect`, there are no features, infinite features, missing
            values that no fit handles, or fewer than two classes.
        """
        where = f"data set {self.name!r} ({self.source})"
        # 1) Compare the counts with the expected ones.
        for key in DataCounts.__struct_fields__:
            expected, number = getattr(self.expect, key), getattr(self, f"n_{key}")
            if expected is not None and expected != number:
                raise UserError(
                    f"{where} has {number} {key}, but {expected} are expected; "
                    "use another file, or correct data.expect"
                )
        if not self.n_features:
            raise UserError(f"{where} has no features; each row needs at least one")
        # 2) Check the features; a sparse matrix has its stored entries as `values`.
        is_bad = ~np.isfinite(self.values)
        if missing in (KEEP_MISSING, *IMPUTATIONS):
            is_missing = np.isnan(self.values)
            if is_missing.any() and self.is_sparse:
                raise UserError(
                    f"data.missing={missing} takes dense features, and those of data set "
                    f"{self.name!r} are sparse; take data.missing=drop"
                )
            is_bad &= ~is_missing
        if is_bad.any():
            row, column = self._first_position(is_bad)
            raise UserError(
                f"{where} has {int(is_bad.sum())} NaN or infinite features, the first in row "
                f"{row + 1}, feature {column + 1} (counted from 1); replace or remove them"
            )
        # 3) Check the classes.
        if self.n_classes < 2:
            raise UserError(f"{where} has only one class, {self.classes.tolist()}; two are needed")
        return self

    def _first_position(self, mask: np.ndarray) -> tuple[int, int]:
        """Return row and column of `X`, from 0, of the first True in a mask of `values`."""
        first = int(mask.argmax())
        if not self.is_sparse:
            return divmod(first, self.X.shape[1])
        # Row i has the stored entries from indptr[i] to indptr[i + 1].
        return int(np.searchsorted(self.X.indptr, first, side="right")) - 1, self.X.indices[first]


def encode_one_hot(X: np.ndarray, category_counts: Sequence[tuple[int, int]]) -> np.ndarray:
    """Replace each column of codes by a column of 0 and 1 for each category.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns), float64
        Numbers and codes.
    category_counts : sequence of (int, int)
        Column of codes and number of its categories, in the order of the columns.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float64
        X itself if there are no columns of codes. A missing category is NaN in all its columns.

    Examples
    --------
    >>> encode_one_hot(np.array([[7.0, 2.0], [8.0, 0.0], [9.0, np.nan]]), [(1, 3)])
    array([[ 7.,  0.,  0.,  1.],
           [ 8.,  1.,  0.,  0.],
           [ 9., nan, nan, nan]])
    """
    if not category_counts:
        return X
    # 1) Copy the numbers. Column j of X becomes `widths[j]` columns from `starts[j]` on.
    columns, counts = np.transpose(category_counts)
    widths = np.ones(X.shape[1], dtype=np.intp)
    widths[columns] = counts
    starts = np.cumsum(widths) - widths
    encoded = np.zeros((len(X), widths.sum()))
    numbers = np.setdiff1d(np.arange(X.shape[1]), columns)
    encoded[:, starts[numbers]] = X[:, numbers]
    # 2) Set the column of each category that is present to 1.
    codes = X[:, columns]
    is_missing = np.isnan(codes)
    rows, positions = np.nonzero(~is_missing)
    encoded[rows, starts[columns][positions] + codes[rows, positions].astype(np.intp)] = 1
    # 3) Set all columns of a missing category to NaN.
    if is_missing.any():
        is_one_hot = np.repeat(np.isin(np.arange(X.shape[1]), columns), widths)
        block = encoded[:, is_one_hot]
        block[np.repeat(is_missing, counts, axis=1)] = np.nan
        encoded[:, is_one_hot] = block
    return encoded
