"""Tables with named columns, as in ARFF and CSV files, and how they become features and labels."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from boostbench.data.labels import as_labels
from boostbench.data.missing_values import IMPUTATIONS, KEEP, OF_OTHERS
from boostbench.data.numeric_text import is_number
from boostbench.data.readers.text_lines import composed
from boostbench.errors import UserError, some, unknown
from boostbench.util.dates import are_dates, as_days
from boostbench.util.text_columns import are_identifiers, find_problem

logger = logging.getLogger(__name__)

#: A column of more words is none of categories: as many as scikit-learn's
#: HistGradientBoostingClassifier takes.
MOST_CATEGORIES = 255
#: Dense matrices above this number of entries (80 MB) may stay sparse ...
LARGE = 10_000_000
#: ... if at most this share of them is not zero.
SPARSE = 0.1
#: What is wrong with a value of text, and what to do, by `TextProblem.kind`.
TEXT_ADVICE = {
    "commas": ("has a comma", "write a decimal point, and nothing between thousands"),
    "words": ("is a word among numbers", "correct it, or mark it as a missing value"),
}


@dataclass(frozen=True, eq=False)
class DataTable:
    """Columns of numbers; those of nominal attributes hold positions in their categories.

    Parameters
    ----------
    names : list of str
        The columns.
    categories : list of (list of str or None)
        For each column what the codes 0, 1, ... stand for; None where the numbers mean themselves.
    values : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_columns), float64
        NaN where a value is missing.
    where : str
        What to call the source in messages.
    strings : frozenset of int, default=frozenset()
        Columns of text that is neither declared as categories nor checked.
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
            return as_labels(codes, where)
        words = [*map(unquote, self.categories[j]), ""]
        occurring, codes = _renumbered(np.nan_to_num(codes, nan=len(words) - 1).astype(np.int32))
        return as_labels([words[code] for code in occurring], where, codes)


def features_and_labels(
    table: DataTable,
    target: str | None = None,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: str | None = None,
):
    """Split a table into features, all of them numbers, and labels.

    A nominal attribute becomes one column where its categories are numbers (their values) or two
    (0 and 1), and otherwise one column of 0 and 1 for each category that occurs.

    Parameters
    ----------
    table : DataTable
        What was read.
    target : str, default=None
        Column of the labels. None: the one called ``class`` in any case, else the last.
    ignore : sequence of str, default=()
        Columns that are no features (row ids and the like); the target may be among them.
    keep, drop : sequence of str, default=()
        Patterns as of `fnmatch`: the only columns to use as features, and those not to use.
    missing : {None, "drop", "keep", "mean", "median", "most_frequent"}, default=None
        Whether rows with missing features are an error, left out, or kept, perhaps to be filled
        later. A missing word is missing in all columns of its own.

    Returns
    -------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,), int64 or str
    words : tuple of (int, int)
        Of each column of 3 to 255 words its features, from the one number to before the other.
    names : list of str
        Of the features: that of the column, and ``colour=red`` for one of a column of words.
    kept : ndarray of shape (n_rows,), bool, or None
        Which rows of the table these are; None: all of them.

    Raises
    ------
    UserError
        Unknown column, missing values, labels that cannot be used.
    """
    ignore, keep, drop = composed(ignore), composed(keep), composed(drop)
    labels = label_column(table.names, target, table.where)
    if target is None and "null" in table.names and table.names[labels] != "null":
        # Hydra reads data.labels=null as None, and not as the name of this column.
        template = "%s: column %r holds the classes; 'data.labels=\"null\"' takes column 'null'"
        logger.warning(template, table.where, table.names[labels])
    columns = [
        j
        for j, name in enumerate(table.names)
        if j != labels and name not in ignore and not _matches(name, drop)
    ]
    for pattern in keep:
        if not any(_matches(table.names[j], [pattern]) for j in columns):
            raise unknown(f"column of {table.where}", pattern, table.names, listed=False)
    if keep:
        columns = [j for j in columns if _matches(table.names[j], keep)]
    if not columns:
        raise UserError(f"{table.where} has no column of features beside the labels")

    complete = _complete_rows(table, columns, missing)
    if missing in (KEEP, *IMPUTATIONS):
        if not complete.all():
            template = "%s: %d of %d rows have missing values, filled by %s of the training part"
            how = missing
            if missing == KEEP:
                template, how = f"{template} for algorithms that take none", OF_OTHERS
            logger.warning(template, table.where, (~complete).sum(), len(complete), how)
        complete[:] = True
    kept = None
    if not complete.all():
        tell_left_out(complete, table.where)
        kept = complete
        table = replace(table, values=table.values[complete])
    X, words, names = _features(table, columns)
    return X, table.labels(labels), words, names, kept


def complete_rows(X) -> np.ndarray:
    """Find the rows of a matrix, sparse or not, of which no value is missing."""
    if isinstance(X, np.ndarray):
        return ~np.isnan(X).any(axis=1)
    entries = X.tocoo()
    return np.bincount(entries.row, np.isnan(entries.data), X.shape[0]) == 0


def dense_unless_large(X):
    """Make a sparse matrix dense, unless it is both large and nearly empty.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features)
        Any matrix.

    Returns
    -------
    ndarray or scipy.sparse.csr_matrix
        The same values.
    """
    if not hasattr(X, "toarray"):
        return X
    entries = X.shape[0] * X.shape[1]
    return X if entries > LARGE and X.nnz <= SPARSE * entries else X.toarray()


def tell_left_out(complete: np.ndarray, where: str) -> None:
    """Say how many rows are left out, as values are missing.

    Raises
    ------
    UserError
        None is left.
    """
    if not complete.any():
        raise UserError(f"{where} has no row without missing values")
    logger.warning("%s: %d of %d rows are left out", where, (~complete).sum(), len(complete))


def unquote(word: str) -> str:
    """Strip blanks, and quote marks that stand around the whole word.

    Examples
    --------
    >>> unquote("'build wind float'")
    'build wind float'
    """
    word = word.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return word[1:-1].strip()
    return word


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def label_column(names: Sequence[str], target: str | None, where: str) -> int:
    """Find the column of labels: `target`, or the one called ``class``, or the last."""
    if target is None:
        found = [column for column, name in enumerate(names) if name.lower() == "class"]
        if len(found) > 1:
            called = ", ".join(names[column] for column in found)
            raise UserError(f"{where} has the columns {called}; data.labels says which is meant")
        return found[0] if found else len(names) - 1
    [target] = composed([target])
    if target not in names:
        raise unknown(f"column of {where}", target, names, listed=False)
    return names.index(target)


def _complete_rows(table: DataTable, columns: list[int], missing: str | None) -> np.ndarray:
    """Find the rows without missing features: all of them, unless they may be dropped."""
    if isinstance(table.values, np.ndarray):
        absent = np.zeros(len(table.values), dtype=bool)
        for j in columns:
            absent |= np.isnan(table.values[:, j])
    else:
        absent = ~complete_rows(table.values[:, columns])
    if absent.any() and missing is None:
        row = int(absent.argmax())
        column = next(table.names[j] for j in columns if np.isnan(table.column(j)[row]))
        raise UserError(
            f"{table.where}: {int(absent.sum())} rows have missing values, the first in row "
            f"{row + 1} (counted from 1), column {column!r}; data.missing=drop leaves them out, "
            "data.missing=median fills them"
        )
    return ~absent


def _features(table: DataTable, columns: list[int]):
    """Code the chosen columns as numbers, in their order; say which are of words, and name them."""
    if all(table.categories[j] is None for j in columns):
        return table.values[:, columns], (), [table.names[j] for j in columns]
    blocks, names = [], []
    for j in columns:
        block, own = table.values[:, [j]], [table.names[j]]
        if table.categories[j] is not None:
            block, own = _code(table, j)
        blocks.append(block)
        names += own
    coded = [
        _told(table, j, block.shape[1])
        for j, block in zip(columns, blocks, strict=True)
        if table.categories[j] is not None and not _are_numbers(table.categories[j])
    ]
    if coded:
        template = "%s: words become a column of 0 and 1 each: %s"
        logger.warning(template, table.where, some(coded))
    from scipy.sparse import csr_matrix, hstack, issparse

    widths = [block.shape[1] for block in blocks]
    n_entries = table.values.shape[0] * sum(widths)
    ends = np.cumsum(widths).tolist()
    spans = zip(ends, widths, strict=True)
    words = tuple((end - n, end) for end, n in spans if 1 < n <= MOST_CATEGORIES)
    if issparse(table.values) or n_entries > LARGE:
        return hstack([csr_matrix(block) for block in blocks], format="csr"), words, names
    return np.hstack([b.toarray() if issparse(b) else b for b in blocks]), words, names


def _code(table: DataTable, j: int):
    """Code a nominal column: the categories' own numbers, 0/1, or one column each.

    Returns
    -------
    block : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_columns), float64
    names : list of str
        Of its columns.

    Raises
    ------
    UserError
        Nearly every row has another text, as with names or dates; the text is numbers with commas,
        or a few words among numbers.
    """
    column, name = table.column(j), table.names[j]
    absent = np.isnan(column)
    if _are_numbers(table.categories[j]):
        values = np.array([float(unquote(category)) for category in table.categories[j]])
        coded = np.where(absent, np.nan, values[np.where(absent, 0, column).astype(int)])
        return coded[:, None], [name]
    occurring, present = _renumbered(column[~absent].astype(np.int32))
    codes = np.zeros(len(column), dtype=np.int32)
    codes[~absent] = present
    words = [table.categories[j][code] for code in occurring]
    check_dates(table.where, name, words)
    problem = find_problem([*map(unquote, words)], np.bincount(present), len(codes))
    if j in table.strings and problem and problem.kind in TEXT_ADVICE:
        what, advice = TEXT_ADVICE[problem.kind]
        raise UserError(f"{table.where}: {problem.example!r} in column {name!r} {what}; {advice}")
    if len(occurring) <= 2:
        return np.where(absent, np.nan, codes)[:, None], [name]
    if are_identifiers(len(occurring), len(codes)):
        raise no_category(table.where, name, len(occurring), len(codes))
    from scipy.sparse import csr_matrix

    # Sparse, as a dense matrix of many categories may not fit into memory.
    ones, starts = np.ones(len(codes)), np.arange(len(codes) + 1, dtype=np.int32)
    block = csr_matrix((ones, codes, starts), shape=(len(codes), len(occurring)))
    names = [f"{name}={unquote(word)}" for word in words]
    if not absent.any():
        return block, names
    if len(codes) * len(occurring) > LARGE:
        raise UserError(
            f"{table.where}: column {name!r} has {len(occurring)} categories, too many "
            f"for {len(codes)} rows of which some miss it; data.missing=drop leaves these out"
        )
    block = block.toarray()
    block[absent] = np.nan
    return block, names


def _renumbered(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the codes that occur, and for each code its place among them."""
    occurs = np.bincount(codes) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[codes]


def check_dates(where: str, name: str, words: Collection[str]) -> None:
    """Refuse a column of dates, which would become as many columns of 0 and 1.

    Raises
    ------
    UserError
        All words are dates, perhaps with times.
    """
    words = [unquote(word) for word in words]
    if are_dates(words):
        raise no_dates(where, name, words)


def no_dates(where: str, name: str, words: Collection[str] = ()) -> UserError:
    """Say that a column holds dates, and what to do; `words` as of `as_days`."""
    return UserError(
        f"{where}: column {name!r} holds dates, which are no categories; take it out, or make "
        f"days of it: {as_days(name, words)}"
    )


def no_category(where: str, name: str, n_different: int | str, n_rows: int) -> UserError:
    """Say that nearly every row of a column has a text of its own."""
    return UserError(
        f"{where}: the text of column {name!r} is different in {n_different} of {n_rows} rows, as "
        "of names or dates, and means no category; take the column out (openml.drop does for data "
        "from OpenML)"
    )


def _are_numbers(categories: Sequence[str]) -> bool:
    return all(is_number(unquote(category)) for category in categories)


def _told(table: DataTable, j: int, n_columns: int) -> str:
    """``"colour (3)"``, or which of two words is 1: ``"flag (yes=1)"``; one alone is 0."""
    if n_columns > 1:
        return f"{table.names[j]} ({n_columns})"
    present = np.unique(table.column(j))
    occurring = [unquote(table.categories[j][int(code)]) for code in present[~np.isnan(present)]]
    if not occurring:
        return f"{table.names[j]} (all missing)"
    return f"{table.names[j]} ({occurring[-1]}={len(occurring) - 1})"
