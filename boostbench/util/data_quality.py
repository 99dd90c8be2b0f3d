"""Faults of training data that a careful colleague would name: leaks, ids, constants, rare classes.

A *leak* is a column that alone separates the classes. The command line judges the user's files by
these rules, and estimators judge data frames.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from boostbench.util.errors import truncated_list

#: Entries (rows times columns) of the sample that selects suspicious columns in a short time.
#: All rows then decide on the selected columns.
_SAMPLE_ENTRIES = 100_000
#: Minimum number of rows of this sample: fewer rows select too many columns by chance.
_MIN_SAMPLE_ROWS = 200
#: Maximum number of rows of this sample: more rows cost time and hardly change the selection.
_MAX_SAMPLE_ROWS = 2000
#: Area under the ROC curve above which a column separates two classes, on all rows.
_MIN_AUC = 0.999
#: The same on the sample, lower so that the sample loses no column that all rows would name.
_MIN_SAMPLE_AUC = 0.99
#: Natural logarithm of the probability below which a separation is not due to chance.
_LOG_CHANCE = math.log(1e-3)
#: Minimum mean number of rows per category: with fewer, categories have one class each by chance.
_MIN_CATEGORY_ROWS = 20
#: Minimum number of rows: in fewer rows, measured whole numbers may be distinct as well.
_MIN_ID_ROWS = 50
#: Range of unordered ids, in whole numbers per row: distinct amounts of money, for instance, spread
#: more widely.
_MAX_ID_RANGE = 2
#: Share of the samples below which one of two classes is rare.
_RARE_SHARE = 0.05
#: Number of samples below which one of several classes is rare.
_RARE_COUNT = 10
#: Maximum number of entries in which equal rows are searched: more take seconds.
_MAX_HASHED_ENTRIES = 5_000_000
#: Share of repeated rows from which a warning names them.
_REPEATED_SHARE = 0.01
#: Maximum expected number of rows that equal a given row by chance. With more, repeated rows are
#: not taken for copies.
_CHANCE_REPEATS = 0.01
#: Number of distinct rows, 125 000 pairs of them, that estimate the probability of equal values.
_CHANCE_SAMPLE_ROWS = 500
#: Number of columns whose agreement is multiplied as if they were independent. The columns of a
#: table depend on each other, so that the product over all columns would be far too small.
_N_RAREST_AGREEING_COLUMNS = 3


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
    n_rows, n_columns = X.shape
    if not n_columns or n_rows < 2:
        return []
    n_categories = np.zeros(n_columns, dtype=int)  # 0 for a column of numbers
    for column, count in category_counts:
        n_categories[column] = count
    # 1) Select suspicious columns on a sample of rows.
    size = min(max(_SAMPLE_ENTRIES // n_columns, _MIN_SAMPLE_ROWS), _MAX_SAMPLE_ROWS)
    rows = np.linspace(0, n_rows - 1, min(n_rows, size)).astype(np.intp)
    sample = _missing_as_largest(X[rows])
    # Masks of shape (n_columns,).
    is_constant = (sample == sample[0]).all(axis=0)
    is_whole = (sample == np.floor(sample)).all(axis=0)
    has_distinct_values = _count_equal_pairs(sample) == 0

    # 2) Decide on all rows.
    faults = []
    if y is not None and _is_separation_beyond_chance(np.bincount(y), n_columns):
        for j in _separating_columns(sample, y[rows], n_categories, _MIN_SAMPLE_AUC):
            column = _missing_as_largest(X[:, [j]])
            if _separating_columns(column, y, n_categories[[j]], _MIN_AUC):
                question = "is its value known before the class is?"
                text = f"column {names[j]!r} alone separates the classes; {question}"
                faults.append(DataFault("leak", text))
    may_be_id = is_whole & has_distinct_values & (n_categories == 0)
    ids = [names[j] for j in np.flatnonzero(may_be_id) if _is_id(X[:, j])]
    if ids:
        text = f"{_list_columns(ids)}: a different whole number in each row, as of ids"
        faults.append(DataFault("ids", text))
    constants = [names[j] for j in np.flatnonzero(is_constant) if _is_constant(X[:, j])]
    if constants:
        text = f"{_list_columns(constants)}: the same value in all rows"
        faults.append(DataFault("constants", text))
    if y is not None:
        faults += _rare_class_faults(np.bincount(y, minlength=len(classes)), classes)
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
    # 2) Ignore repeats that chance explains: rows of few values, such as yes and no, are often
    #    equal without being copies.
    if n_rows * _chance_of_equal_rows(X, distinct_rows) > _CHANCE_REPEATS:
        return 0
    # 3) Count the repeats, and ignore a few of them.
    if split is None:
        n_repeated = n_rows - len(distinct_rows)
        n_candidates = n_rows
    else:
        train, test = split
        n_repeated = int(np.isin(hashes[test], hashes[train]).sum())
        n_candidates = len(test)
    return n_repeated if n_repeated >= _REPEATED_SHARE * n_candidates else 0


def _chance_of_equal_rows(X: np.ndarray, distinct_rows: np.ndarray) -> float:
    """Return an upper estimate of the probability that two independent samples are equal.

    The share of pairs of rows with equal values estimates the probability that two samples agree
    in a column. The product of the shares of the three columns that agree most rarely is returned.
    It is an upper estimate, since equal samples agree in the other columns, too.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
    distinct_rows : ndarray of int
        Number of one of each set of equal rows, so that copies of rows do not count as chance.
    """
    size = min(len(distinct_rows), _CHANCE_SAMPLE_ROWS)
    positions = np.linspace(0, len(distinct_rows) - 1, size).astype(np.intp)
    n_equal_pairs = _count_equal_pairs(_missing_as_largest(X[distinct_rows[positions]]))
    n_pairs = max(1, size * (size - 1) / 2)
    return np.prod(np.sort(n_equal_pairs / n_pairs)[:_N_RAREST_AGREEING_COLUMNS])


def _missing_as_largest(X: np.ndarray) -> np.ndarray:
    """Return X with infinity for missing values, which are then equal and have an order."""
    return np.where(np.isnan(X), np.inf, X)


def _separating_columns(
    X: np.ndarray, y: np.ndarray, n_categories: np.ndarray, min_auc: float
) -> list[int]:
    """Return the indices of the columns each of which alone separates the classes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Numbers and codes of categories; infinity for missing values.
    y : ndarray of shape (n_samples,), int
        Index of each sample's class.
    n_categories : ndarray of shape (n_columns,), int
        Number of categories of each column of codes; 0 for a column of numbers.
    min_auc : float
        Area under the ROC curve above which a column of numbers separates two classes.

    Returns
    -------
    list of int
        Sorted indices. Two classes may overlap a little, as `min_auc` allows; several may not.
    """
    codes = np.flatnonzero(n_categories).tolist()
    separating = [j for j in codes if _is_category_pure(X[:, j], n_categories[j], y)]
    numbers = np.flatnonzero(n_categories == 0)
    if not len(numbers):
        return separating
    if y.max() == 1:
        is_separating = _separates_two_classes(X[:, numbers], y, min_auc)
    else:
        is_separating = _separates_several_classes(X[:, numbers], y)
    return sorted([*separating, *numbers[is_separating].tolist()])


def _separates_two_classes(X: np.ndarray, y: np.ndarray, min_auc: float) -> np.ndarray:
    """Return whether each column of numbers orders the samples by class 0 and 1.

    The area under the ROC curve is the share of pairs of a positive and a negative sample in which
    the positive one has the larger number (Mann-Whitney U, a tie counts one half). The sum of the
    ranks of the n positive samples exceeds U by n (n + 1) / 2, the pairs among themselves. A column
    in descending order, whose area is near 0, separates the classes as well.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Numbers; infinity for missing values.
    y : ndarray of shape (n_samples,), int
        Classes 0 and 1.
    min_auc : float
        Area above which a column separates the classes.

    Returns
    -------
    ndarray of shape (n_columns,), bool
    """
    from scipy.stats import rankdata  # slow to import

    is_positive = y == 1
    n_positive = int(is_positive.sum())
    n_pairs = n_positive * (len(y) - n_positive)
    if not n_pairs:
        return np.zeros(X.shape[1], dtype=bool)
    rank_sums = rankdata(X, axis=0)[is_positive].sum(axis=0)
    auc = (rank_sums - n_positive * (n_positive + 1) / 2) / n_pairs
    return np.maximum(auc, 1 - auc) > min_auc


def _separates_several_classes(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return whether each column of numbers has an interval for each class.

    In the order of the column, the class then changes once less than there are classes, and never
    between equal numbers.

    Returns
    -------
    ndarray of shape (n_columns,), bool
    """
    order = np.argsort(X, axis=0, kind="stable")
    values, labels = np.take_along_axis(X, order, axis=0), y[order]
    is_change = labels[1:] != labels[:-1]
    has_tied_change = (is_change & (values[1:] == values[:-1])).any(axis=0)
    n_classes = len(np.unique(y))
    return ~has_tied_change & (is_change.sum(axis=0) == n_classes - 1) & (n_classes > 1)


def _is_category_pure(codes: np.ndarray, n_categories: int, y: np.ndarray) -> bool:
    """Return whether the samples of each category have one class, and not all the same one.

    Missing values form one more category.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Code of each sample's category; infinity for a missing value.
    n_categories : int
        Number of categories.
    y : ndarray of shape (n_samples,), int
        Index of each sample's class.

    Returns
    -------
    bool
        False as well if there are fewer than 20 samples per category: chance would explain it.
    """
    if (n_categories + 1) * _MIN_CATEGORY_ROWS > len(codes):
        return False
    categories = np.where(np.isfinite(codes), codes, n_categories).astype(np.intp)
    has_samples = np.zeros((n_categories + 1, int(y.max()) + 1), dtype=bool)
    has_samples[categories, y] = True
    has_several_classes = has_samples.any(axis=0).sum() > 1
    return bool(has_several_classes and (has_samples.sum(axis=1) <= 1).all())


def _is_separation_beyond_chance(counts: np.ndarray, n_columns: int) -> bool:
    r"""Return whether a column that separates the classes is hardly due to chance.

    The n labels can be arranged in :math:`n! / \prod_k n_k!` ways along the order of a column. In
    :math:`K!` of them the samples of each of the K classes are neighbours. A column without
    relation to the classes has all arrangements equally often, so that the quotient is its
    probability to separate the classes. With m columns, the probability that one of them does is
    at most m times as large.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,), int
        Number of samples of each class.
    n_columns : int
        Number m of columns.
    """
    counts = counts[counts > 0]
    # The logarithm of n! is lgamma(n + 1).
    log_arrangements = math.lgamma(counts.sum() + 1) - sum(math.lgamma(n + 1) for n in counts)
    log_separations = math.lgamma(len(counts) + 1)
    log_probability = math.log(n_columns) + log_separations - log_arrangements
    return log_probability < _LOG_CHANCE


def _is_id(column: np.ndarray) -> bool:
    """Return whether a column has a different whole number in each row, as ids have.

    The numbers rise or fall from row to row, or have a narrow range, as shuffled ids have.
    """
    is_whole = np.isfinite(column).all() and (column == np.floor(column)).all()
    if len(column) < _MIN_ID_ROWS or not is_whole:
        return False
    steps = np.diff(column)
    if (steps > 0).all() or (steps < 0).all():
        return True
    if column.max() - column.min() >= _MAX_ID_RANGE * len(column):
        return False
    is_distinct = (np.diff(np.sort(column)) > 0).all()
    return bool(is_distinct)


def _is_constant(column: np.ndarray) -> bool:
    """Return whether all values of a column are equal or all are missing."""
    return bool((column == column[0]).all() or np.isnan(column).all())


def _rare_class_faults(counts: np.ndarray, classes: Sequence[object]) -> list[DataFault]:
    """Return a fault if the smallest class is rare, else an empty list.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,), int
        Number of samples of each class.
    classes : sequence
        Labels of the classes.
    """
    smallest, n_rows = int(counts.argmin()), int(counts.sum())
    if len(counts) == 2:
        is_rare = counts[smallest] < _RARE_SHARE * n_rows
        limit = f"{_RARE_SHARE:.0%} of the samples"
    else:
        is_rare = counts[smallest] < _RARE_COUNT
        limit = f"{_RARE_COUNT} samples"
    if not is_rare or len(counts) < 2:
        return []
    # The text has no exact numbers, so that Python shows it once for all folds.
    text = (
        f"class {_plain(classes[smallest])!r} has fewer than {limit}, and may never be predicted; "
        "class_weight=balanced or another threshold helps"
    )
    return [DataFault("rare_class", text)]


def _plain(label: object) -> object:
    """Return a label of NumPy as an object of Python, whose text is shorter."""
    return label.item() if isinstance(label, np.generic) else label


def _list_columns(names: Sequence[str]) -> str:
    """Return the subject of a sentence, such as ``columns 'a', 'b'``."""
    listed = truncated_list([repr(name) for name in names])
    return f"column{'s' * (len(names) > 1)} {listed}"


def _count_equal_pairs(X: np.ndarray) -> np.ndarray:
    """Return the number of pairs of rows with equal values in each column.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Numbers without NaN, which is not equal to itself.

    Returns
    -------
    ndarray of shape (n_columns,), int
    """
    n_rows, n_columns = X.shape
    ordered = np.sort(X, axis=0)
    is_run_start = np.ones((n_rows, n_columns), dtype=bool)
    is_run_start[1:] = ordered[1:] != ordered[:-1]
    # Row r of a run of equal values that starts at row s forms r - s pairs with earlier rows.
    positions = np.arange(n_rows)[:, None]
    run_starts = np.maximum.accumulate(np.where(is_run_start, positions, 0), axis=0)
    return (positions - run_starts).sum(axis=0)


def _row_hashes(X: np.ndarray) -> np.ndarray:
    """Return a hash of each row, equal for equal rows.

    The bits of each number are multiplied by an odd number of its column, so that exchanged values
    change the hash. The hash of a row is the sum over its columns, modulo 2**64.

    Returns
    -------
    ndarray of shape (n_samples,), uint64
    """
    # Adding 0.0 turns -0.0, which is equal to 0.0, into the same bits.
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)
    factors = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) | 1
    # A product moves bits upwards only, and the low bits of whole numbers are 0: shifts move the
    # high bits down.
    mixed = (bits ^ (bits >> np.uint64(29))) * factors
    return (mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
