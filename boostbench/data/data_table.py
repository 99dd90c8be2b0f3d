"""Content of data files, and its conversion to features and labels.

A reader (`boostbench.data.readers`) returns a `DataTable`. `features_and_labels` selects its
columns and rows, and encodes words. Columns of words hold *codes*: positions in a list of
categories. Words of *free text* come from the cells of the file; other formats, such as ARFF,
declare the categories of a column in a header.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from boostbench.data.column_problems import ColumnProblem, UnreadableColumns, find_problem
from boostbench.data.dataset import CategoricalColumn
from boostbench.data.fixed_splits import Split, remap_rows
from boostbench.data.text import Notation, compose_letters, is_number, parse_labels
from boostbench.spec.data import FALLBACK_IMPUTATION, IMPUTATIONS, KEEP_MISSING, Decimal
from boostbench.util.errors import UserError, truncated_list, unknown_name_error
from boostbench.util.text_columns import MAX_CATEGORIES

logger = logging.getLogger(__name__)

#: Number of entries (80 MB as float64) above which a matrix may stay sparse.
MAX_DENSE_ENTRIES = 10_000_000
#: Largest share of nonzero entries of a matrix that stays sparse.
MAX_SPARSE_DENSITY = 0.1


@dataclass(frozen=True, eq=False)
class DataTable:
    """Content of a data file, as its reader returns it.

    Parameters
    ----------
    names : list of str
        Names of the columns. Empty: the format has no names.
    categories : list of (list of str or None)
        Categories of each column, whose positions are its codes. None: the column is numeric.
    values : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_columns), float64
        Numbers and codes, with NaN for missing values.
    where : str
        Name of the source in messages.
    free_text_columns : frozenset of int, default=frozenset()
        Positions of the columns of text whose words come from the cells, and not from a declaration
        in the file: they may also be numbers, dates or ids.
    y : ndarray of shape (n_samples,), int64 or str, default=None
        Class labels. None: one of the columns holds them.
    splits : list of (ndarray, ndarray), default=None
        Row numbers of the training part and of the test part for each fixed split. None: the file
        has no splits.
    notation : Notation, default=None
        Notation of numbers in columns of text, if the user gave it. None: numbers have a decimal
        point and nothing between thousands.
    decimal : {"point", "comma"}, default="point"
        Mark before the fraction of the numbers in the file.
    line_of : callable, default=None
        Function from the number of a row, from 0, to its file and line for messages. None: messages
        name `where` only.
    problems : tuple of ColumnProblem, default=()
        Problems that the reader found.
    """

    names: list[str]
    categories: list[list[str] | None]
    values: Any
    where: str
    free_text_columns: frozenset[int] = frozenset()
    y: np.ndarray | None = None
    splits: list[Split] | None = None
    notation: Notation | None = None
    decimal: Decimal = "point"
    line_of: Callable[[int], str] | None = None
    problems: tuple[ColumnProblem, ...] = ()

    @classmethod
    def from_arrays(
        cls, X, y: np.ndarray, where: str, splits: list[Split] | None = None
    ) -> "DataTable":
        """Return the content of a format that has features and labels, and no names.

        Parameters
        ----------
        X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
            Features.
        y : ndarray of shape (n_samples,), int64 or str
            Class labels.
        where : str
            Name of the source in messages.
        splits : list of (ndarray, ndarray), default=None
            See `DataTable`.
        """
        return cls([], [], X, where, y=y, splits=splits)

    @classmethod
    def from_frame(cls, frame, where: str) -> "DataTable":
        """Return the content of a pandas data frame: numbers, and columns of text.

        Parameters
        ----------
        frame : pandas.DataFrame of shape (n_samples, n_columns)
            Columns of numbers and truth values; all other columns are text.
        where : str
            Name of the file in messages.
        """
        import pandas as pd  # slow to import

        columns, categories = [], []
        for _, column in frame.items():
            if column.dtype.kind in "biuf":
                columns.append(column.to_numpy(dtype=float))
                categories.append(None)
                continue
            text = column.map(str, na_action="ignore")
            codes, words = pd.factorize(text, sort=True)
            columns.append(np.where(codes < 0, np.nan, codes))
            categories.append(words.tolist())
        free_text_columns = frozenset(j for j, words in enumerate(categories) if words is not None)
        names = compose_letters(map(str, frame.columns))
        return cls(
            names,
            categories,
            values=np.column_stack(columns),
            where=where,
            free_text_columns=free_text_columns,
        )

    def column(self, j: int) -> np.ndarray:
        """Return column `j` as a dense vector of shape (n_samples,)."""
        if isinstance(self.values, np.ndarray):
            return self.values[:, j]
        return self.values[:, [j]].toarray().ravel()

    def labels(self, j: int) -> np.ndarray:
        """Return column `j` as labels of shape (n_samples,), int64 or str."""
        codes, where = self.column(j), f"{self.where}, column {self.names[j]!r}"
        if self.categories[j] is None:
            return parse_labels(codes, where)
        words = [*map(unquote, self.categories[j])]
        if self.notation:
            numbers = [self.notation.normalize(word) for word in words]
            words = words if None in numbers else numbers
        # An empty word stands for missing labels, which `parse_labels` reports.
        words.append("")
        occurring, codes = _renumber(np.nan_to_num(codes, nan=len(words) - 1).astype(np.int32))
        return parse_labels([words[code] for code in occurring], where, codes)

    def category_numbers(self, j: int) -> np.ndarray | None:
        """Return the categories of column `j` as numbers, of shape (n_categories,).

        None: some categories are words.
        """
        words = [*map(unquote, self.categories[j])]
        # The user's notation is for words in cells. Declared categories follow the file's format.
        if self.notation and j in self.free_text_columns:
            words = [self.notation.normalize(word) for word in words]
            return None if None in words else np.array(words, dtype=float)
        return np.array(words, dtype=float) if all(map(is_number, words)) else None

    def column_problem(self, j: int, is_label: bool, drop_key: str) -> ColumnProblem | None:
        """Return the reason why column `j` cannot be used; None: it can be used.

        Parameters
        ----------
        j : int
            Position of the column.
        is_label : bool
            Whether the column holds the labels instead of a feature.
        drop_key : str
            Key of ``data`` that leaves columns out, for messages.
        """
        # Numbers can be used, and so can any categories that a file declares as its classes.
        if self.categories[j] is None or (is_label and j not in self.free_text_columns):
            return None
        codes = np.nan_to_num(self.column(j), nan=-1).astype(np.int32)
        rows = np.flatnonzero(codes >= 0)
        # 1) Find the first row of each category; a category that does not occur gets the number of
        #    rows. Rows are assigned from the last to the first, so that the first one stays.
        first_rows = np.full(len(self.categories[j]), len(codes))
        first_rows[codes[rows[::-1]]] = rows[::-1]
        # 2) List the categories that occur, in the order of their first rows.
        n_occurring = np.count_nonzero(first_rows < len(codes))
        codes_by_first_row = np.argsort(first_rows, kind="stable")[:n_occurring]
        words = [unquote(self.categories[j][code]) for code in codes_by_first_row]
        is_free_text = j in self.free_text_columns

        def locate(word: str | None) -> str:
            """Return the file and the line of a word; None: the file alone."""
            if word is None or self.line_of is None:
                return self.where
            return self.line_of(int(first_rows[codes_by_first_row[words.index(word)]]))

        # 3) Judge the words.
        counts = np.bincount(codes[rows], minlength=len(first_rows))
        return find_problem(
            self.names[j],
            words,
            counts=counts[codes_by_first_row],
            n_rows=len(codes),
            locate=locate,
            notation=self.notation if is_free_text else None,
            is_label=is_label,
            drop_key=drop_key,
            is_declared=not is_free_text,
        )

    def drop_columns(self, patterns: Sequence[str], target: str | None) -> "DataTable":
        """Return the table without the columns of ``data.drop``, see `select_columns`.

        `target` is the column of the labels as in `label_column`, which stays in any case.
        """
        label_index = label_column(self.names, target, self.where)
        columns = select_columns(self.names, patterns, label_index, self.where)
        if len(columns) == len(self.names):
            return self
        return replace(
            self,
            names=[self.names[j] for j in columns],
            categories=[self.categories[j] for j in columns],
            values=self.values[:, columns],
            free_text_columns=frozenset(
                i for i, j in enumerate(columns) if j in self.free_text_columns
            ),
        )


def select_columns(
    names: Sequence[str], patterns: Sequence[str], label_index: int, where: str
) -> list[int]:
    """Return the columns that remain, among them the column of labels.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    patterns : sequence of str
        Names and patterns of `fnmatch` of the columns to leave out.
    label_index : int
        Position of the column of labels.
    where : str
        Name of the file in messages.

    Raises
    ------
    UserError
        If no column has a name or matches a pattern, or it is the name of the column of labels.
    """
    patterns = compose_letters(patterns)
    for pattern in patterns:
        if pattern == names[label_index]:
            raise UserError(
                f"{where}: data.drop names the column {pattern!r}, which holds the classes; "
                "data.labels names another one"
            )
        if not any(matches_any(name, [pattern]) for name in names):
            raise unknown_name_error(f"column of {where}", pattern, names, is_listed=False)
    return [
        j for j, name in enumerate(names) if j == label_index or not matches_any(name, patterns)
    ]


class LabelledData(NamedTuple):
    """Features and classes of a file.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_columns), float64
        Numbers, and codes of categories.
    y : ndarray of shape (n_samples,), int64 or str
        Class labels.
    splits : list of (ndarray, ndarray), or None
        Row numbers of the training part and of the test part for each fixed split. None: the file
        has no splits.
    categories : tuple of CategoricalColumn
        Columns of codes.
    names : list of str, or None
        Names of the columns of `X`. None: the format has no names, or the file has no header.
    kept_rows : ndarray of shape (n_rows,), bool, or None
        Mask of the rows of the file that were not dropped. None: all rows.
    """

    X: Any
    y: np.ndarray
    splits: list[Split] | None = None
    categories: tuple[CategoricalColumn, ...] = ()
    names: list[str] | None = None
    kept_rows: np.ndarray | None = None

    def drop_incomplete_rows(self, where: str) -> "LabelledData":
        """Return the rows without missing features, and log the number of the others.

        Raises
        ------
        UserError
            If no row remains, or a part of a split has none.
        """
        is_complete = complete_row_mask(self.X)
        if is_complete.all():
            return self
        warn_dropped_rows(is_complete, where)
        splits = self.splits and remap_rows(self.splits, is_complete, where)
        X, y = self.X[is_complete], self.y[is_complete]
        return self._replace(X=X, y=y, splits=splits, kept_rows=is_complete)


def features_and_labels(
    table: DataTable,
    target: str | None = None,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: str | None = None,
    drop_key: str = "drop",
) -> LabelledData:
    """Return the features and the labels of a table.

    A column of words becomes numbers if all its categories are numbers, or if at most two occur (0
    and 1). Codes of 3 to 255 categories stay codes. More categories become a column of 0 and 1 for
    each that occurs.

    Parameters
    ----------
    table : DataTable
        Table of the file.
    target : str, default=None
        Column of the labels. None: the column named ``class`` in any case, else the last one.
    ignore : sequence of str, default=()
        Exact names of columns that the file's format declares as no features, such as row ids; the
        target may be among them.
    keep, drop : sequence of str, default=()
        The user's patterns of `fnmatch` for the columns to use as features (none: all) and to leave
        out.
    missing : {None, "drop", "keep", "mean", "median", "most_frequent"}, default=None
        Treatment of rows with missing features. None: an error. ``"drop"``: they are removed. Any
        other setting: they stay, and a fit may replace missing values.
    drop_key : str, default="drop"
        Key of ``data`` that leaves columns out, for messages.

    Returns
    -------
    LabelledData

    Raises
    ------
    UnreadableColumns
        If columns of text hold dates, ids, or numbers in another notation.
    UserError
        If a column is unknown, values are missing, or labels cannot be used.
    """
    if table.y is not None:
        data = LabelledData(dense_unless_large(table.values), table.y, table.splits)
        return data.drop_incomplete_rows(table.where) if missing == "drop" else data
    # 1) Select the columns of labels and features.
    label_index = label_column(table.names, target, table.where)
    if target is None and "null" in table.names and table.names[label_index] != "null":
        # Hydra reads data.labels=null as None, and not as the name of this column.
        template = "%s: column %r holds the classes; 'data.labels=\"null\"' takes column 'null'"
        logger.warning(template, table.where, table.names[label_index])
    columns = _feature_columns(table, label_index, ignore=ignore, keep=keep, drop=drop)
    problems = [
        table.column_problem(j, j == label_index, drop_key) for j in sorted({*columns, label_index})
    ]
    problems = [*table.problems, *filter(None, problems)]
    if problems:
        raise UnreadableColumns(table.where, problems, table.decimal)
    # 2) Select the rows. Missing values stay if a fit handles them.
    is_complete = _complete_rows(table, columns, missing)
    kept_rows = None
    if missing in (KEEP_MISSING, *IMPUTATIONS):
        _log_imputation(is_complete, missing, table.where)
    elif not is_complete.all():
        warn_dropped_rows(is_complete, table.where)
        kept_rows = is_complete
        table = replace(table, values=table.values[is_complete])
    # 3) Encode the words.
    X, categories, names = _encode_columns(table, columns)
    return LabelledData(
        X, table.labels(label_index), categories=categories, names=names, kept_rows=kept_rows
    )


def _feature_columns(
    table: DataTable,
    label_index: int,
    *,
    ignore: Sequence[str],
    keep: Sequence[str],
    drop: Sequence[str],
) -> list[int]:
    """Return the columns of features; see `features_and_labels` for the parameters.

    Raises
    ------
    UserError
        If no column remains, or a pattern of `keep` matches none.
    """
    ignore, keep, drop = compose_letters(ignore), compose_letters(keep), compose_letters(drop)
    columns = [
        j
        for j, name in enumerate(table.names)
        if j != label_index and name not in ignore and not matches_any(name, drop)
    ]
    for pattern in keep:
        if not any(matches_any(table.names[j], [pattern]) for j in columns):
            raise unknown_name_error(
                f"column of {table.where}", pattern, table.names, is_listed=False
            )
    if keep:
        columns = [j for j in columns if matches_any(table.names[j], keep)]
    if not columns:
        raise UserError(f"{table.where} has no column of features beside the labels")
    return columns


def _log_imputation(is_complete: np.ndarray, missing: str, where: str) -> None:
    """Log a warning with the number of incomplete rows, and the statistic that fills them.

    Parameters
    ----------
    is_complete : ndarray of shape (n_rows,), bool
        Mask of the rows without missing features.
    missing : {"keep", "mean", "median", "most_frequent"}
        Setting of ``data.missing``.
    where : str
        Name of the source in messages.
    """
    if is_complete.all():
        return
    template = "%s: %d of %d rows have missing values, filled by %s of the training part"
    statistic = missing
    if missing == KEEP_MISSING:
        template, statistic = f"{template} for algorithms that take none", FALLBACK_IMPUTATION
    logger.warning(template, where, (~is_complete).sum(), len(is_complete), statistic)


def complete_row_mask(X) -> np.ndarray:
    """Return a mask of the rows without missing values of a dense or sparse matrix."""
    if isinstance(X, np.ndarray):
        return ~np.isnan(X).any(axis=1)
    entries = X.tocoo()
    # The weights of the count are 1 for missing entries and 0 for others.
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
    n_entries = X.shape[0] * X.shape[1]
    is_nearly_empty = X.nnz <= MAX_SPARSE_DENSITY * n_entries
    return X if n_entries > MAX_DENSE_ENTRIES and is_nearly_empty else X.toarray()


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


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name is, or matches by `fnmatch`, one of the patterns."""
    return name in patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def label_column(names: Sequence[str], target: str | None, where: str) -> int:
    """Return the column of labels: `target`, else the one named ``class``, else the last.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    target : str or None
        Name of the column that the user gave.
    where : str
        Name of the source in messages.

    Raises
    ------
    UserError
        If there is no column `target`, or several columns are named ``class``.
    """
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


def _complete_rows(table: DataTable, columns: list[int], missing: str | None) -> np.ndarray:
    """Return a mask of the rows without missing values in some columns.

    Parameters
    ----------
    table : DataTable
    columns : list of int
        Columns that are examined.
    missing : str or None
        Setting of ``data.missing``, see `features_and_labels`.

    Raises
    ------
    UserError
        If a row has missing values and `missing` is None.
    """
    if isinstance(table.values, np.ndarray):
        is_incomplete = np.zeros(len(table.values), dtype=bool)
        for j in columns:
            is_incomplete |= np.isnan(table.values[:, j])
    else:
        is_incomplete = ~complete_row_mask(table.values[:, columns])
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
    """Encode the columns of words.

    The codes of 3 to 255 categories stay codes, unless the one-hot matrix would be large and nearly
    empty; then it is returned, as a sparse matrix.

    Returns
    -------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
    categories : tuple of CategoricalColumn
        Columns of `X` that hold codes.
    names : list of str
        Names of the columns of `X`.
    """
    # 1) Columns of numbers need no encoding.
    names = [table.names[j] for j in columns]
    if all(table.categories[j] is None for j in columns):
        return dense_unless_large(table.values[:, columns]), (), names
    # 2) Return the one-hot matrix if it has to be sparse.
    encoded = [_encode_column(table, j) for j in columns]
    _log_words(table, encoded)
    n_rows, widths = table.values.shape[0], [column.n_features for column in encoded]
    is_dense = isinstance(table.values, np.ndarray)
    if not is_dense or n_rows * sum(widths) > MAX_DENSE_ENTRIES:
        from scipy.sparse import csr_matrix, hstack

        X = hstack([csr_matrix(column.one_hot()) for column in encoded], format="csr")
        if not isinstance(dense_unless_large(X), np.ndarray):
            return X, (), [name for column in encoded for name in column.feature_names]
    # 3) Keep the codes of 3 to 255 categories, one-hot encode more, and join the columns. Two
    #    categories are the numbers 0 and 1.
    blocks, names, categories, width = [], [], [], 0
    for column in encoded:
        stays_code = 2 < len(column.words) <= MAX_CATEGORIES
        if stays_code:
            categories.append(CategoricalColumn(width, tuple(map(unquote, column.words))))
        needs_one_hot = len(column.words) > 2 and not stays_code
        block = column.one_hot() if needs_one_hot else column.values
        blocks.append(block if isinstance(block, np.ndarray) else block.toarray())
        names += column.feature_names if needs_one_hot else [column.name]
        width += blocks[-1].shape[1]
    return np.hstack(blocks), tuple(categories), names


@dataclass(frozen=True, eq=False)
class _EncodedColumn:
    """Column as numbers, or as codes of the words that occur, with NaN for missing values.

    Parameters
    ----------
    name : str
        Name of the column.
    values : ndarray or sparse matrix of shape (n_samples, 1), float64
        Numbers or codes; codes are dense.
    words : sequence of str, default=()
        Words that occur. Empty: the values are numbers.
    is_text : bool, default=False
        True if the column holds words, perhaps only missing ones.
    """

    name: str
    values: Any
    words: Sequence[str] = ()
    is_text: bool = False

    @property
    def n_features(self) -> int:
        """Number of features after one-hot encoding; a column of two words is one feature."""
        return len(self.words) if len(self.words) > 2 else 1

    @property
    def feature_names(self) -> list[str]:
        """Names of the features after one-hot encoding."""
        if len(self.words) <= 2:
            return [self.name]
        return [f"{self.name}={unquote(word)}" for word in self.words]

    @property
    def summary(self) -> str:
        """Name and number of words: ``"colour (3)"``.

        Two words become 0 and 1; the text names the one that is 1: ``"flag (yes=1)"``.
        """
        if not self.words:
            return f"{self.name} (all missing)"
        if len(self.words) <= 2:
            return f"{self.name} ({unquote(self.words[-1])}={len(self.words) - 1})"
        return f"{self.name} ({len(self.words)})"

    def one_hot(self):
        """Return the features after one-hot encoding, of shape (n_samples, n_features).

        The matrix of several columns is sparse if no value is missing: a dense one may not fit in
        memory. With missing values it is dense, with rows of NaN.
        """
        if len(self.words) <= 2:
            return self.values
        from scipy.sparse import csr_matrix

        codes = self.values.ravel()
        is_missing, n_rows = np.isnan(codes), len(codes)
        codes = np.where(is_missing, 0, codes).astype(np.int32)
        # Each row has one entry, in the column of its code.
        starts = np.arange(n_rows + 1, dtype=np.int32)
        block = csr_matrix((np.ones(n_rows), codes, starts), shape=(n_rows, len(self.words)))
        if not is_missing.any():
            return block
        block = block.toarray()
        block[is_missing] = np.nan
        return block


def _log_words(table: DataTable, encoded: Sequence[_EncodedColumn]) -> None:
    """Log the columns of words in one line."""
    summaries = [column.summary for column in encoded if column.is_text]
    if summaries:
        template = "%s: words become categories: %s"
        logger.warning(template, table.where, truncated_list(summaries))


def _encode_column(table: DataTable, j: int) -> _EncodedColumn:
    """Return a column as numbers if all its categories are numbers, else as codes.

    Raises
    ------
    UserError
        If some of many categories are missing, so that the one-hot matrix would be large.
    """
    name = table.names[j]
    if table.categories[j] is None:
        return _EncodedColumn(name, table.values[:, [j]])
    column = table.column(j)
    is_missing = np.isnan(column)
    numbers = table.category_numbers(j)
    if numbers is not None:
        # The appended NaN has the index -1, which stands for missing values.
        numbers = np.append(numbers, np.nan)[np.where(is_missing, -1, column).astype(int)]
        return _EncodedColumn(name, numbers[:, None])
    occurring, present_codes = _renumber(column[~is_missing].astype(np.int32))
    codes = np.full(len(column), np.nan)
    codes[~is_missing] = present_codes
    words = [table.categories[j][code] for code in occurring]
    if len(words) > 2 and is_missing.any() and len(codes) * len(words) > MAX_DENSE_ENTRIES:
        raise UserError(
            f"{table.where}: column {name!r} has {len(words)} categories, too many "
            f"for {len(codes)} rows of which some miss it; data.missing=drop leaves these out"
        )
    return _EncodedColumn(name, codes[:, None], words, is_text=True)


def _renumber(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, and the position of each row's code among them.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), int

    Returns
    -------
    occurring : ndarray of int
        Sorted codes that occur.
    positions : ndarray of shape (n_rows,), int32
        Position of each row's code in `occurring`.
    """
    is_present = np.bincount(codes) > 0
    return np.flatnonzero(is_present), (np.cumsum(is_present, dtype=np.int32) - 1)[codes]
