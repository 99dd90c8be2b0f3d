"""Faults of training data that a careful colleague would name: leaks, ids, constants, rare classes.

The command line judges the user's files by these rules, and estimators judge data frames.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from boostbench.util.errors import truncated_list

#: Entries of the sample of rows that selects suspicious columns; all rows then decide.
_SAMPLE_ENTRIES = 100_000
#: Rows of the sample: fewer hardly separate columns, and more cost time.
_MIN_SAMPLE_ROWS, _MAX_SAMPLE_ROWS = 200, 2000
#: Area under the ROC curve above which a column separates two classes: on all rows, on the sample.
_MIN_AUC, _MIN_SAMPLE_AUC = 0.999, 0.99
#: Natural logarithm of the probability below which a separation is not due to chance.
_LOG_CHANCE = math.log(1e-3)
#: Rows per category below which a pure category says nothing.
_MIN_CATEGORY_ROWS = 20
#: Rows below which distinct whole numbers are no ids.
_MIN_ID_ROWS = 50
#: Share below which one of two classes is rare, and samples below which one of several is.
_RARE_SHARE, _RARE_COUNT = 0.05, 10
#: Entries above which equal rows are not searched: more take seconds.
_MAX_HASHED_ENTRIES = 5_000_000
#: Share of repeated rows above which they are named, and number of them that chance may explain.
_REPEATED_SHARE, _CHANCE_REPEATS = 0.01, 0.01


class DataFault(NamedTuple):
    """Fault of training data.

    Attributes
    ----------
    kind : {"leak", "ids", "constants", "rare_class"}
        Kind of the fault.
    text : str
        Sentence without a final point.
    """

    kind: Literal["leak", "ids", "constants", "rare_class"]
    text: str


def find_faults(
    X: np.ndarray,
    names: Sequence[str],
    category_counts: Sequence[tuple[int, int]],
    y: np.ndarray | None = None,
    classes: Sequence[object] | None = None,
) -> list[DataFault]:
    """Return the faults of training data.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns), float64
        Numbers, and codes of categories; NaN for missing values.
    names : sequence of str
        Names of the columns.
    category_counts : sequence of (int, int)
        Index and number of categories of each column of codes.
    y : ndarray of shape (n_samples,), int, default=None
        Index of each sample's class. None: a regression problem.
    classes : sequence, default=None
        Labels of the classes. None: a regression problem.

    Returns
    -------
    list of DataFault

    Examples
    --------
    >>> X = np.c_[np.arange(100) % 2, np.ones(100)]
    >>> find_faults(X, ["sold", "country"], [], np.arange(100) % 2, ["no", "yes"])[0].text
    "column 'sold' alone separates the classes; is its value known before the class is?"
    """
    # 1) Select suspicious columns on a sample of rows. A missing value is the largest one.
    n_rows, n_columns = X.shape
    if not n_columns or n_rows < 2:
        return []
    size = min(max(_SAMPLE_ENTRIES // n_columns, _MIN_SAMPLE_ROWS), _MAX_SAMPLE_ROWS)
    rows = np.linspace(0, n_rows - 1, min(n_rows, size)).astype(np.intp)
    sample = np.where(np.isnan(X[rows]), np.inf, X[rows])
    is_code = np.isin(np.arange(n_columns), [column for column, _ in category_counts])
    is_constant = (sample == sample[0]).all(axis=0)
    is_distinct = _pairs_of_equal_values(np.sort(sample, axis=0)) == 0
    may_be_id = (sample == np.floor(sample)).all(axis=0) & is_distinct & ~is_code

    # 2) Decide on all rows.
    faults = []
    if y is not None and _is_beyond_chance(np.bincount(y), n_columns):
        sizes = dict(category_counts)
        candidates = _separating_columns(sample, y[rows], sizes, len(rows), _MIN_SAMPLE_AUC)
        for j in candidates:
            column = np.where(np.isnan(X[:, [j]]), np.inf, X[:, [j]])
            column_sizes = {0: sizes[j]} if j in sizes else {}
            if _separating_columns(column, y, column_sizes, n_rows, _MIN_AUC):
                question = "is its value known before the class is?"
                text = f"column {names[j]!r} alone separates the classes; {question}"
                faults.append(DataFault("leak", text))
    ids = [names[j] for j in np.flatnonzero(may_be_id) if _is_id(X[:, j])]
    if ids:
        text = f"{_list_columns(ids)}: a different whole number in each row, as of ids"
        faults.append(DataFault("ids", text))
    constants = [names[j] for j in np.flatnonzero(is_constant) if _is_constant(X[:, j])]
    if constants:
        text = f"{_list_columns(constants)}: the same value in all rows"
        faults.append(DataFault("constants", text))
    if y is not None:
        faults += _rare_class(np.bincount(y, minlength=len(classes)), classes)
    return faults


def count_repeated_rows(X: np.ndarray, split: tuple[np.ndarray, np.ndarray] | None = None) -> int:
    """Return the number of rows that equal an earlier row.

    The result is 0 if they are few, if chance explains them, or if X has more than 5 million
    entries, which takes seconds.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns), float64
        Features.
    split : (ndarray, ndarray), default=None
        Row numbers of a training and a test part. The result is then the number of test rows that
        equal a training row.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> count_repeated_rows(X), count_repeated_rows(np.r_[X, X[:5]])
    (0, 5)
    """
    n_rows = len(X)
    if X.size > _MAX_HASHED_ENTRIES:
        return 0
    # 1) Find equal rows by their hashes.
    hashes = _row_hashes(X)
    _, distinct_rows = np.unique(hashes, return_index=True)
    if len(distinct_rows) == n_rows:
        return 0
    # 2) Rows of few values, such as yes and no, are often equal without being copies: judge by the
    #    probability that two distinct rows agree in the columns of most values.
    positions = np.linspace(0, len(distinct_rows) - 1, min(len(distinct_rows), 500))
    sample = X[distinct_rows[positions.astype(np.intp)]]
    n_equal = _pairs_of_equal_values(np.sort(np.where(np.isnan(sample), np.inf, sample), axis=0))
    shares = np.sort(n_equal / max(1, len(sample) * (len(sample) - 1) / 2))
    if n_rows * np.prod(shares[:3]) > _CHANCE_REPEATS:
        return 0
    if split is None:
        n_repeated = n_rows - len(distinct_rows)
        n_tested = n_rows
    else:
        train, test = split
        n_repeated = int(np.isin(hashes[test], hashes[train]).sum())
        n_tested = len(test)
    return n_repeated if n_repeated >= _REPEATED_SHARE * n_tested else 0


def _separating_columns(
    X: np.ndarray, y: np.ndarray, sizes: dict[int, int], n_rows: int, min_auc: float
) -> list[int]:
    """Return the columns that alone separate two classes, or all of several."""
    n_classes = int(y.max()) + 1
    columns = []
    numbers = [j for j in range(X.shape[1]) if j not in sizes]
    if numbers and n_classes == 2:
        from scipy.stats import rankdata  # slow to import

        is_positive = y == 1
        n_positive = int(is_positive.sum())
        n_pairs = n_positive * (len(y) - n_positive)
        if n_pairs:
            ranks = rankdata(X[:, numbers], axis=0)[is_positive].sum(axis=0)
            auc = (ranks - n_positive * (n_positive + 1) / 2) / n_pairs
            is_separating = np.maximum(auc, 1 - auc) > min_auc
            columns += np.array(numbers)[is_separating].tolist()
    elif numbers:
        order = np.argsort(X[:, numbers], axis=0, kind="stable")
        values, labels = np.take_along_axis(X[:, numbers], order, axis=0), y[order]
        changes = labels[1:] != labels[:-1]
        is_tied = (changes & (values[1:] == values[:-1])).any(axis=0)
        n_present = len(np.unique(y))
        is_separating = ~is_tied & (changes.sum(axis=0) == n_present - 1) & (n_present > 1)
        columns += np.array(numbers)[is_separating].tolist()
    for j, n_categories in sizes.items():
        if (n_categories + 1) * _MIN_CATEGORY_ROWS > n_rows:
            continue
        codes = np.where(np.isfinite(X[:, j]), X[:, j], n_categories).astype(np.intp)
        table = np.zeros((n_categories + 1, n_classes))
        np.add.at(table, (codes, y), 1)
        if (table > 0).any(axis=0).sum() > 1 and ((table > 0).sum(axis=1) <= 1).all():
            columns.append(j)
    return sorted(columns)


def _is_beyond_chance(counts: np.ndarray, n_columns: int) -> bool:
    """Return whether a column that orders the samples by class is hardly due to chance."""
    counts = counts[counts > 0]
    log_arrangements = math.lgamma(counts.sum() + 1) - sum(math.lgamma(n + 1) for n in counts)
    log_successes = math.lgamma(len(counts) + 1) + math.log(n_columns)
    return log_successes - log_arrangements < _LOG_CHANCE


def _is_id(column: np.ndarray) -> bool:
    """Return whether a column has a different whole number in each row, in order or dense."""
    is_whole = np.isfinite(column).all() and (column == np.floor(column)).all()
    if len(column) < _MIN_ID_ROWS or not is_whole:
        return False
    steps = np.diff(column)
    if (steps > 0).all() or (steps < 0).all():
        return True
    if column.max() - column.min() >= 2 * len(column):
        return False
    return bool((np.diff(np.sort(column)) > 0).all())


def _is_constant(column: np.ndarray) -> bool:
    return bool((column == column[0]).all() or np.isnan(column).all())


def _rare_class(counts: np.ndarray, classes: Sequence[object]) -> list[DataFault]:
    """Return the fault of a smallest class that is rare."""
    smallest, n_rows = int(counts.argmin()), int(counts.sum())
    if len(counts) == 2:
        is_rare, size = counts[smallest] < _RARE_SHARE * n_rows, f"{_RARE_SHARE:.0%} of the samples"
    else:
        is_rare, size = counts[smallest] < _RARE_COUNT, f"{_RARE_COUNT} samples"
    if not is_rare or len(counts) < 2:
        return []
    # The text has no exact numbers, so that Python shows it once for all folds.
    text = (
        f"class {_plain(classes[smallest])!r} has fewer than {size}, and may never be predicted; "
        "class_weight=balanced or another threshold helps"
    )
    return [DataFault("rare_class", text)]


def _plain(label: object) -> object:
    """Return a label of NumPy as an object of Python, whose text is shorter."""
    return label.item() if isinstance(label, np.generic) else label


def _list_columns(names: Sequence[str]) -> str:
    listed = truncated_list([repr(name) for name in names])
    return f"column{'s' * (len(names) > 1)} {listed}"


def _pairs_of_equal_values(ordered: np.ndarray) -> np.ndarray:
    """Return the number of pairs of equal values in each sorted column."""
    n_rows, n_columns = ordered.shape
    is_first = np.ones((n_rows, n_columns), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    # Row r of a run that begins at row s forms r - s pairs with the rows before it.
    positions = np.arange(n_rows)[:, None]
    starts = np.maximum.accumulate(np.where(is_first, positions, 0), axis=0)
    return (positions - starts).sum(axis=0)


def _row_hashes(X: np.ndarray) -> np.ndarray:
    """Return a hash of each row, equal for equal rows."""
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)  # 0.0 and -0.0 are equal
    factors = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) | 1
    mixed = (bits ^ (bits >> np.uint64(29))) * factors
    return (mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
