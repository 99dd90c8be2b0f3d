"""What every data source returns: a matrix of numbers, a label for each row, and where from."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from boostbench.data.readers.text_lines import compose_letters
from boostbench.errors import UserError

#: Expected number (key in a config) -> attribute of `Dataset`.
COUNTS = {"samples": "n_samples", "features": "n_features", "classes": "n_classes"}
# Rows that are looked at at a time.
_CHUNK_SIZE = 2**18


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification data set.

    Parameters
    ----------
    name : str
        As in ``conf/data/``.
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
        Features. Sparse only where a dense matrix would be large and nearly empty.
    y : ndarray of shape (n_samples,), int64 or str
        Class labels as in the source.
    source : str
        Where the data come from, for people: ``"file /x/vowel.svm.gz"``, ``"OpenML 307 v2"``.
    splits : list of (ndarray, ndarray), default=None
        Fixed splits that came with the data: row numbers of the training and of the test part.
    expect : mapping, default={}
        The counts of `COUNTS` that `validate` compares with.
    one_hot_ranges : tuple of (int, int), default=()
        Columns of words of the user's own file: features, from the one number to before the other,
        of which one is 1 and the others are 0. An algorithm that takes categories gets these.
    names : list of str, default=None
        What the source calls the features, where it says so.
    spec : mapping, default=None
        Config by which `boostbench.data.load` gives the same data again, if there is one.
    """

    name: str
    X: Any
    y: np.ndarray
    source: str
    splits: list[tuple[np.ndarray, np.ndarray]] | None = None
    expect: Mapping[str, int] = field(default_factory=dict)
    one_hot_ranges: tuple[tuple[int, int], ...] = ()
    names: list[str] | None = None
    spec: Mapping[str, Any] | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return self.X.shape[1]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; without such, their numbers from 1."""
        return self.names or [str(number) for number in range(1, self.n_features + 1)]

    @property
    def n_classes(self) -> int:
        """Number of different labels."""
        return len(self.classes)

    @property
    def is_sparse(self) -> bool:
        """Whether `X` is a sparse matrix."""
        return not isinstance(self.X, np.ndarray)

    @property
    def values(self) -> np.ndarray:
        """The features that are stored: all of them, or those of a sparse matrix."""
        return self.X.data if self.is_sparse else self.X

    @property
    def classes(self) -> np.ndarray:
        """The different labels, sorted."""
        return self._counted_labels[0]

    @property
    def class_counts(self) -> dict[int | str, int]:
        """Number of rows of each label."""
        labels, counts = self._counted_labels
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @cached_property
    def class_numbers(self) -> np.ndarray:
        """The position of each row's label in `classes`, which every classifier takes."""
        return np.searchsorted(self.classes, self.y)

    @cached_property
    def _counted_labels(self) -> tuple[np.ndarray, np.ndarray]:
        # Piece by piece, as sorting takes a copy of all.
        chunks = [np.unique(chunk, return_counts=True) for chunk in self._chunks(self.y)]
        chunk_labels, chunk_counts = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
        labels, positions = np.unique(chunk_labels, return_inverse=True)
        counts = np.zeros(len(labels), dtype=int)
        np.add.at(counts, positions, chunk_counts)
        return labels, counts

    @staticmethod
    def _chunks(values: np.ndarray) -> Iterator[np.ndarray]:
        for start in range(0, max(len(values), 1), _CHUNK_SIZE):
            yield values[start : start + _CHUNK_SIZE]

    @cached_property
    def checksum(self) -> str:
        """First 16 hexadecimal digits of a SHA-256 of shape, features and labels.

        The file format does not enter, so that equal data have equal checksums wherever they
        come from.
        """
        digest = hashlib.sha256(repr(self.X.shape).encode())
        if self.is_sparse:
            X = self.X.sorted_indices()
            parts = (X.data, X.indices.astype("<i8"), X.indptr.astype("<i8"))
        else:
            parts = (self.X,)
        for part in parts:
            digest.update(np.ascontiguousarray(part))
        separator = ""
        for chunk in self._chunks(self.y):
            digest.update((separator + "\0".join(map(str, chunk.tolist()))).encode())
            separator = "\0"
        return digest.hexdigest()[:16]

    def checked_slice(self, kind: str, bounds: Collection[int]) -> slice:
        """Give the ``rows`` or ``features`` from one number to before another, all of them there.

        Raises
        ------
        UserError
            There are fewer.

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 1, 2]), "made here")
        >>> toy.checked_slice("rows", [0, 2])
        slice(0, 2, None)
        """
        (start, stop), size = bounds, {"rows": self.n_samples, "features": self.n_features}[kind]
        if stop > size:
            raise UserError(
                f"data.{kind} is [{start}, {stop}], but {self.source} has {size} {kind}"
            )
        return slice(start, stop)

    def select_rows(self, rows: slice | np.ndarray) -> "Dataset":
        """Keep some rows; the fixed splits, which count all of them, are left behind.

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 1, 2]), "made here")
        >>> toy.select_rows(slice(0, 2)).n_samples
        2
        """
        return replace(self, X=self.X[rows], y=self.y[rows], splits=None, spec=None)

    def select_classes(self, which: int | Collection[int | str]) -> "Dataset":
        """Keep the rows of some classes; the fixed splits, which count all rows, are left behind.

        Parameters
        ----------
        which : int or collection of labels
            The first so many classes in the order of `classes`, or these.

        Raises
        ------
        UserError
            More classes than there are, fewer than two, or a label that does not occur.

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 3, 1]), "made here")
        >>> toy.select_classes(2).n_samples
        3
        """
        classes = self.classes.tolist()
        if isinstance(which, int):
            selected, exist = set(classes[: max(which, 0)]), which <= len(classes)
        else:
            selected = set(compose_letters(which))
            exist = selected <= set(classes)
        if len(selected) < 2 or not exist:
            labels = ", ".join(map(str, classes))
            raise UserError(
                f"data.classes is {which}; it may be a number from 2 to {len(classes)}, or a list "
                f"of two or more of the labels {labels}"
            )
        return replace(self.select_rows(np.isin(self.y, list(selected))), expect={})

    def bootstrap(self, per_class: int, seed: int = 0) -> "Dataset":
        """Draw rows of each class with replacement; the fixed splits are left behind.

        A row may come several times. Of a random split such rows are in both parts: its test errors
        are too low.

        Parameters
        ----------
        per_class : int
            How many rows of each class.
        seed : int, default=0

        Examples
        --------
        >>> toy = Dataset("toy", np.eye(4), np.array([1, 2, 2, 2]), "made here")
        >>> toy.bootstrap(3).y
        array([1, 1, 1, 2, 2, 2])
        """
        rng = np.random.default_rng(seed)
        classes = range(self.n_classes)
        rows = [rng.choice(np.flatnonzero(self.class_numbers == c), per_class) for c in classes]
        return replace(self.select_rows(np.concatenate(rows)), expect={})

    def one_vs_rest(self, positive: Collection[int | str]) -> "Dataset":
        """Make two classes: 1 for some labels, -1 for the others.

        Parameters
        ----------
        positive : collection of labels

        Raises
        ------
        UserError
            A label that does not occur, or none left for one of the two.

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
        return replace(self, y=y, expect={}, spec=None)

    def validate(self) -> "Dataset":
        """Check what no experiment can do without.

        Returns
        -------
        Dataset
            Itself.

        Raises
        ------
        UserError
            Counts other than expected, no features or NaN or infinite ones, fewer than two classes.
        """
        where = f"data set {self.name!r} ({self.source})"
        for key, attribute in COUNTS.items():
            expected, number = self.expect.get(key), getattr(self, attribute)
            if expected is not None and expected != number:
                raise UserError(
                    f"{where} has {number} {key}, but {expected} are expected; "
                    "use another file, or correct data.expect"
                )
        if not self.n_features:
            raise UserError(f"{where} has no features; each row needs at least one")
        is_bad = ~np.isfinite(self.values)
        if is_bad.any():
            row, column = self._position(is_bad)
            raise UserError(
                f"{where} has {int(is_bad.sum())} NaN or infinite features, the first in row "
                f"{row + 1}, feature {column + 1} (counted from 1); replace or remove them"
            )
        if self.n_classes < 2:
            raise UserError(f"{where} has only one class, {self.classes.tolist()}; two are needed")
        return self

    def _position(self, mask: np.ndarray) -> tuple[int, int]:
        """Find row and column of the first True of a mask over `values`."""
        first = int(mask.argmax())
        if not self.is_sparse:
            return divmod(first, self.n_features)
        return int(np.searchsorted(self.X.indptr, first, side="right")) - 1, self.X.indices[first]
