"""Tables of ARFF and CSV files with named columns, and their conversion to features and labels."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from boostbench.data.labels import parse_labels
from boostbench.data.missing_values import FALLBACK, IMPUTATIONS, KEEP
from boostbench.data.numeric_text import is_number
from boostbench.data.text_lines import compose_letters
from boostbench.util.dates import days_conversion_code, is_all_dates
from boostbench.util.errors import UserError, truncated_list, unknown_name_error
from boostbench.util.text_columns import MAX_CATEGORIES, is_identifier_column, text_problem

logger = logging.getLogger(__name__)

#: Number of entries (80 MB) above which a matrix may stay sparse.
MAX_DENSE_ENTRIES = 10_000_000
#: Largest share of nonzero entries of a matrix that stays sparse.
MAX_SPARSE_DENSITY = 0.1
#: Fault of a text value and advice for messages, by `TextProblem.kind`.
TEXT_ADVICE = {
    "commas": ("has a comma", "write a decimal point, and nothing between thousands"),
    "mostly_numbers": ("is a word among numbers", "correct it, or mark it as a missing value"),
}


@dataclass(frozen=True, eq=False)
class DataTable:
    """Table of numbers; columns of nominal attributes hold positions in their categories.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    categories : list of (list of str or None)
        Categories of each column, whose positions are its values. None: the column is numeric.
    values : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_columns), float64
        Values, with NaN for missing ones.
    where : str
        Name of the source in messages.
    strings : frozenset of int, default=frozenset()
        Columns of text whose categories are not declared, and which were not checked yet.
    """

    names: list[str]
    categories: list[list[str] | None]
    values: Any
    where: str
    strings: frozenset[int] = frozenset()

    def column(self, j: int) -> np.ndarray:
        """Return column `j` as a dense vector of shape (n_samples,)."""
        if isinstance(self.values, np.ndarray):
            return self.values[:, j]
        return self.values[:, [j]].toarray().ravel()

    def labels(self, j: int) -> np.ndarray:
        """Return column `j` as labels."""
        codes, where = self.column(j), f"{self.where}, column {self.names[j]!r}"
        if self.categories[j] is None:
            return parse_labels(codes, where)
        words = [*map(unquote, self.categories[j]), ""]
        occurring, codes = _renumber(np.nan_to_num(codes, nan=len(words) - 1).astype(np.int32))
        return parse_labels([words[code] for code in occurring], where, codes)


def features_and_labels(
    table: DataTable,
    target: str | None = None,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: str | None = None,
):
    """Return the numeric features and the labels of a table.

    A nominal attribute becomes one column if its categories are numbers, or if at most two occur
    (0 and 1). Otherwise it is encoded one-hot, with a column for each category that occurs.

    Parameters
    ----------
    table : DataTable
        Table of the file.
    target : str, default=None
        Column of the labels. None: the column named ``class`` in any case, else the last one.
    ignore : sequence of str, default=()
        Columns that are not features, such as row ids; the target may be among them.
    keep, drop : sequence of str, default=()
        Patterns of `fnmatch` for the columns to use as features (none: all) and to leave out.
    missing : {None, "drop", "keep", "mean", "median", "most_frequent"}, default=None
        Treatment of rows with missing features. None: an error. ``"drop"``: they are removed. Any
        other setting: they stay, and a fit may replace missing values. A missing category is NaN
        in all its one-hot columns.

    Returns
    -------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,), int64 or str
    one_hot_ranges : tuple of (int, int)
        Half-open range of the one-hot features of each column with 3 to 255 categories.
    names : list of str
        Names of the features: the column names, and ``colour=red`` for one-hot features.
    kept_rows : ndarray of shape (n_rows,), bool, or None
        Mask of the rows that were not dropped. None: all rows.

    Raises
    ------
    UserError
        If a column is unknown, values are missing, or labels cannot be used.
    """
    ignore, keep, drop = compose_letters(ignore), compose_letters(keep), compose_letters(drop)
    label = label_column(table.names, target, table.where)
    if target is None and "null" in table.names and table.names[label] != "null":
        # Hydra reads data.labels=null as None, and not as the name of this column.
        template = "%s: column %r holds the classes; 'data.labels=\"null\"' takes column 'null'"
        logger.warning(template, table.where, table.names[label])
    columns = [
        j
        for j, name in enumerate(table.names)
        if j != label and name not in ignore and not _matches_any(name, drop)
    ]
    for pattern in keep:
        if not any(_matches_any(table.names[j], [pattern]) for j in columns):
            raise unknown_name_error(
                f"column of {table.where}", pattern, table.names, is_listed=False
            )
    if keep:
        columns = [j for j in columns if _matches_any(table.names[j], keep)]
    if not columns:
        raise UserError(f"{table.where} has no column of features beside the labels")

    is_complete = _rows_to_keep(table, columns, missing)
    if missing in (KEEP, *IMPUTATIONS):
        if not is_complete.all():
            template = "%s: %d of %d rows have missing values, filled by %s of the training part"
            filling = missing
            if missing == KEEP:
                template, filling = f"{template} for algorithms that take none", FALLBACK
            logger.warning(template, table.where, (~is_complete).sum(), len(is_complete), filling)
        is_complete[:] = True
    kept_rows = None
    if not is_complete.all():
        warn_dropped_rows(is_complete, table.where)
        kept_rows = is_complete
        table = replace(table, values=table.values[is_complete])
    X, one_hot_ranges, names = _encode_columns(table, columns)
    return X, table.labels(label), one_hot_ranges, names, kept_rows


def rows_without_missing(X) -> np.ndarray:
    """Return a mask of the rows without missing values of a dense or sparse matrix."""
    if isinstance(X, np.ndarray):
        return ~np.isnan(X).any(axis=1)
    entries = X.tocoo()
    return np.bincount(entries.row, np.isnan(entries.data), X.shape[0]) == 0


def dense_unless_large(X):
    """Return a matrix as dense, unless it is sparse, large and nearly empty.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features)
        Matrix of features.

    Returns
    -------
    ndarray or scipy.sparse.csr_matrix
        Matrix of the same values.
    """
    if not hasattr(X, "toarray"):
        return X
    entries = X.shape[0] * X.shape[1]
    return (
        X if entries > MAX_DENSE_ENTRIES and X.nnz <= MAX_SPARSE_DENSITY * entries else X.toarray()
    )


def warn_dropped_rows(is_complete: np.ndarray, where: str) -> None:
    """Log a warning with the number of rows that are dropped for missing values.

    Raises
    ------
    UserError
        If no row is complete.
    """
    if not is_complete.any():
        raise UserError(f"{where} has no row without missing values")
    logger.warning("%s: %d of %d rows are left out", where, (~is_complete).sum(), len(is_complete))


def unquote(word: str) -> str:
    """Return a word without blanks and quote marks around it.

    Examples
    --------
    >>> unquote("'build wind float'")
    'build wind float'
    """
    word = word.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return word[1:-1].strip()
    return word


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def label_column(names: Sequence[str], target: str | None, where: str) -> int:
    """Return the column of labels: `target`, else the one named ``class``, else the last."""
    if target is None:
        candidates = [column for column, name in enumerate(names) if name.lower() == "class"]
        if len(candidates) > 1:
            listed = ", ".join(names[column] for column in candidates)
            raise UserError(f"{where} has the columns {listed}; data.labels says which is meant")
        return candidates[0] if candidates else len(names) - 1
    [target] = compose_letters([target])
    if target not in names:
        raise unknown_name_error(f"column of {where}", target, names, is_listed=False)
    return names.index(target)


def _rows_to_keep(table: DataTable, columns: list[int], missing: str | None) -> np.ndarray:
    """Return a mask of rows without missing features; raise an error if `missing` is None."""
    if isinstance(table.values, np.ndarray):
        is_incomplete = np.zeros(len(table.values), dtype=bool)
        for j in columns:
            is_incomplete |= np.isnan(table.values[:, j])
    else:
        is_incomplete = ~rows_without_missing(table.values[:, columns])
    if is_incomplete.any() and missing is None:
        row = int(is_incomplete.argmax())
        column = next(table.names[j] for j in columns if np.isnan(table.column(j)[row]))
        raise UserError(
            f"{table.where}: {int(is_incomplete.sum())} rows have missing values, the first in row "
            f"{row + 1} (counted from 1), column {column!r}; data.missing=drop leaves them out, "
            "data.missing=median fills them"
        )
    return ~is_incomplete


def _encode_columns(table: DataTable, columns: list[int]):
    """Return columns encoded as numbers, the ranges of one-hot features, and feature names."""
    if all(table.categories[j] is None for j in columns):
        return table.values[:, columns], (), [table.names[j] for j in columns]
    blocks, names = [], []
    for j in columns:
        block, block_names = table.values[:, [j]], [table.names[j]]
        if table.categories[j] is not None:
            block, block_names = _encode_column(table, j)
        blocks.append(block)
        names += block_names
    summaries = [
        _column_summary(table, j, block.shape[1])
        for j, block in zip(columns, blocks, strict=True)
        if table.categories[j] is not None and not _has_only_numbers(table.categories[j])
    ]
    if summaries:
        template = "%s: words become a column of 0 and 1 each: %s"
        logger.warning(template, table.where, truncated_list(summaries))
    from scipy.sparse import csr_matrix, hstack, issparse

    widths = [block.shape[1] for block in blocks]
    n_entries = table.values.shape[0] * sum(widths)
    ends = np.cumsum(widths).tolist()
    ends_and_widths = zip(ends, widths, strict=True)
    one_hot_ranges = tuple((end - n, end) for end, n in ends_and_widths if 1 < n <= MAX_CATEGORIES)
    if issparse(table.values) or n_entries > MAX_DENSE_ENTRIES:
        return hstack([csr_matrix(block) for block in blocks], format="csr"), one_hot_ranges, names
    return np.hstack([b.toarray() if issparse(b) else b for b in blocks]), one_hot_ranges, names


def _encode_column(table: DataTable, j: int):
    """Encode a nominal column: as the numbers that its categories are, as 0/1, or one-hot.

    Returns
    -------
    block : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_columns), float64
    names : list of str
        Names of the columns of `block`.

    Raises
    ------
    UserError
        If nearly every row has a text of its own, as names and dates are, or the text consists of
        numbers with commas or of numbers and a few words.
    """
    column, name = table.column(j), table.names[j]
    is_missing = np.isnan(column)
    if _has_only_numbers(table.categories[j]):
        values = np.array([float(unquote(category)) for category in table.categories[j]])
        numbers = np.where(is_missing, np.nan, values[np.where(is_missing, 0, column).astype(int)])
        return numbers[:, None], [name]
    occurring, present_codes = _renumber(column[~is_missing].astype(np.int32))
    codes = np.zeros(len(column), dtype=np.int32)
    codes[~is_missing] = present_codes
    words = [table.categories[j][code] for code in occurring]
    check_dates(table.where, name, words)
    problem = text_problem([*map(unquote, words)], np.bincount(present_codes), len(codes))
    if j in table.strings and problem and problem.kind in TEXT_ADVICE:
        fault, advice = TEXT_ADVICE[problem.kind]
        raise UserError(f"{table.where}: {problem.example!r} in column {name!r} {fault}; {advice}")
    if len(occurring) <= 2:
        return np.where(is_missing, np.nan, codes)[:, None], [name]
    if is_identifier_column(len(occurring), len(codes)):
        raise not_categorical_error(table.where, name, len(occurring), len(codes))
    from scipy.sparse import csr_matrix

    # A dense matrix of many categories may not fit in memory.
    ones, starts = np.ones(len(codes)), np.arange(len(codes) + 1, dtype=np.int32)
    block = csr_matrix((ones, codes, starts), shape=(len(codes), len(occurring)))
    names = [f"{name}={unquote(word)}" for word in words]
    if not is_missing.any():
        return block, names
    if len(codes) * len(occurring) > MAX_DENSE_ENTRIES:
        raise UserError(
            f"{table.where}: column {name!r} has {len(occurring)} categories, too many "
            f"for {len(codes)} rows of which some miss it; data.missing=drop leaves these out"
        )
    block = block.toarray()
    block[is_missing] = np.nan
    return block, names


def _renumber(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, and the position of each code among them."""
    is_present = np.bincount(codes) > 0
    return np.flatnonzero(is_present), (np.cumsum(is_present, dtype=np.int32) - 1)[codes]


def check_dates(where: str, name: str, words: Collection[str]) -> None:
    """Check that a column does not hold dates, each of which would become a one-hot feature.

    Raises
    ------
    UserError
        If all words are dates, with or without times.
    """
    words = [unquote(word) for word in words]
    if is_all_dates(words):
        raise date_column_error(where, name, words)


def date_column_error(where: str, name: str, words: Collection[str] = ()) -> UserError:
    """Return the error for a column of dates; see `days_conversion_code` for `words`."""
    return UserError(
        f"{where}: column {name!r} holds dates, which are no categories; take it out, or make "
        f"days of it: {days_conversion_code(name, words)}"
    )


def not_categorical_error(where: str, name: str, n_different: int | str, n_rows: int) -> UserError:
    """Return the error for a column of text that differs in nearly every row."""
    return UserError(
        f"{where}: the text of column {name!r} is different in {n_different} of {n_rows} rows, as "
        "of names or dates, and means no category; take the column out (openml.drop does for data "
        "from OpenML)"
    )


def _has_only_numbers(categories: Sequence[str]) -> bool:
    return all(is_number(unquote(category)) for category in categories)


def _column_summary(table: DataTable, j: int, n_columns: int) -> str:
    """Return ``"colour (3)"``, or for two categories the one that is 1: ``"flag (yes=1)"``."""
    if n_columns > 1:
        return f"{table.names[j]} ({n_columns})"
    present = np.unique(table.column(j))
    occurring = [unquote(table.categories[j][int(code)]) for code in present[~np.isnan(present)]]
    if not occurring:
        return f"{table.names[j]} (all missing)"
    return f"{table.names[j]} ({occurring[-1]}={len(occurring) - 1})"
