"""Cells of CSV files: detection of a header, and columns of text.

The reader `boostbench.data.readers.csv` uses both. A column of text holds words as *codes*: a code
is the position of a word among the distinct words of the column.
"""

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from boostbench.data.text import Notation, is_number
from boostbench.util.errors import truncated_list
from boostbench.util.text_columns import classify_values

logger = logging.getLogger(__name__)

#: A number with a decimal comma, with or without points between thousands: 1,5 or 1.234,5.
DECIMAL_COMMA = re.compile(r"[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?", re.ASCII)
#: Python's None: a missing value among numbers; a category among words, as in "None, Mild".
_NONE = "None"
#: A number with a decimal point.
_DECIMAL_POINT = re.compile(r"[-+]?\d*\.\d*([eE][-+]?\d+)?", re.ASCII)
#: A number whose comma may be decimal or between thousands: 1,234.
_AMBIGUOUS_COMMA = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
#: A number whose points may be between thousands: 1.234 or 1.234.567, but not 0.125.
_GROUPED_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
#: Number of rows below the first one in which a number is searched. Missing values rarely fill all
#: of them.
_N_NEAR_ROWS = 20
#: Number of cells in which words of the first row and labels are searched, so that a large file is
#: not read twice.
_MAX_SEARCHED_CELLS = 2**17


class HeaderGuess(NamedTuple):
    """Guess whether the first row of a file is a header.

    Attributes
    ----------
    is_header : bool
        True if the first row is taken for a header.
    is_sure : bool
        False if the opposite is possible as well. The reader then logs the guess, and the setting
        that changes it.
    """

    is_header: bool
    is_sure: bool


def guess_header(
    rows: Iterator[list[str]], label_column: str | None, missing: Collection[str]
) -> HeaderGuess:
    """Return a guess whether the first row of a file is a header.

    The first of these rules that applies decides:

    1. A row with the cell ``class``, or with the name of the column of labels, is a header.
    2. A row with a word above numbers is a header, unless it has equal numbers.
    3. A row of words is a header if no word occurs in its column again.
    4. A row of numbers is a header if the numbers are distinct and the cell above the labels is a
       word, or if the numbers count the columns. In both cases the cell above the labels must not
       be a label, and a label must occur twice.
    5. Any other row is no header.

    Parameters
    ----------
    rows : iterator of list of str
        Cells of the file, row by row.
    label_column : str or None
        Name or number of the column of labels. None: unknown.
    missing : collection of str
        Words for a missing value, which count neither as words nor as numbers.

    Returns
    -------
    HeaderGuess

    Examples
    --------
    >>> guess_header(iter([["size", "kind"], ["1", "cat"]]), None, [""])
    HeaderGuess(is_header=True, is_sure=True)
    >>> guess_header(iter([["a", "x"], ["b", "x"], ["a", "y"]]), None, [""])
    HeaderGuess(is_header=False, is_sure=False)
    """
    rows = ([cell.strip(" \"'") for cell in row] for row in rows)
    first = next(rows)
    # 1) Look for the name of the column of labels. A user names the columns of a file without a
    #    header by their numbers, so that a number in `label_column` does not indicate a header.
    column_numbers = [str(j) for j in range(len(first))]
    if "class" in map(str.lower, first) or (
        label_column in first and label_column not in column_numbers
    ):
        return HeaderGuess(is_header=True, is_sure=True)
    # 2) Look for a word above numbers.
    numbers = [cell for cell in first if cell not in missing and _is_number_or_bool(cell)]
    word_columns = [
        j for j, cell in enumerate(first) if cell not in missing and not _is_number_or_bool(cell)
    ]
    near_rows = list(islice(rows, _N_NEAR_ROWS))
    rows = chain(near_rows, rows)
    if any(_is_above_numbers(j, near_rows, missing) for j in word_columns):
        # Names of columns are distinct, so that a row with equal numbers is a sample.
        return HeaderGuess(is_header=_has_distinct_cells(numbers), is_sure=not numbers)
    # 3) Compare a row of words with its columns.
    if word_columns and not numbers:
        is_header = not _is_repeated_below(first, word_columns, rows)
        # The only row of a file cannot be a sample: this guess needs no warning.
        return HeaderGuess(is_header, is_sure=not near_rows)
    # 4) Decide whether the numbers of the row may be names. Any distinct numbers, such as years,
    #    may be if the cell above the labels is a word. Without such a word, they must be the
    #    numbers of the columns.
    label_index = int(label_column) if label_column in column_numbers else len(first) - 1
    if not first[0]:
        # A first column without a name numbers the rows, and `numbers` leaves its cell out. The n
        # other columns can have the numbers from 0 to n - 1.
        del column_numbers[-1]
    if label_index in word_columns:
        may_be_names = _has_distinct_cells(numbers)
    else:
        may_be_names = numbers == column_numbers
    if not may_be_names:
        return HeaderGuess(is_header=False, is_sure=True)
    return _guess_by_label(first, label_index, rows, missing)


def _has_distinct_cells(cells: Sequence[str]) -> bool:
    """Return whether no two cells are equal."""
    return len(set(cells)) == len(cells)


def _is_above_numbers(j: int, near_rows: Sequence[list[str]], missing: Collection[str]) -> bool:
    """Return whether the first row has a number below it in column `j`.

    The next cell of the column counts that is no missing value.

    Parameters
    ----------
    j : int
        Position of the column.
    near_rows : sequence of list of str
        Rows below the first row. They may be shorter than the first row.
    missing : collection of str
        Words for a missing value.
    """
    below = (row[j] for row in near_rows if j < len(row))
    return _is_number_or_bool(next((cell for cell in below if cell not in missing), ""))


def _is_repeated_below(
    first: Sequence[str], word_columns: Sequence[int], rows: Iterator[list[str]]
) -> bool:
    """Return whether a word of the first row occurs in its column again.

    Parameters
    ----------
    first : sequence of str
        Cells of the first row.
    word_columns : sequence of int
        Columns that have a word in the first row.
    rows : iterator of list of str
        Rows below the first row.
    """
    return any(
        j < len(row) and row[j] == first[j]
        for row in islice(rows, _MAX_SEARCHED_CELLS // len(first))
        for j in word_columns
    )


def _guess_by_label(
    first: Sequence[str], label_index: int, rows: Iterator[list[str]], missing: Collection[str]
) -> HeaderGuess:
    """Return a guess about a first row of numbers, by the cell above the labels.

    The first row is a sample if this cell occurs among the labels. Otherwise it is a header if a
    label occurs twice: the column of a file with labels has equal cells.

    Parameters
    ----------
    first : sequence of str
        Cells of the first row.
    label_index : int
        Position of the column of labels.
    rows : iterator of list of str
        Rows below the first row.
    missing : collection of str
        Words for a missing value.
    """
    below = (
        row[label_index]
        for row in islice(rows, _MAX_SEARCHED_CELLS // len(first))
        if label_index < len(row)
    )
    labels_below: set[str] = set()
    n_present = 0
    for cell in below:
        if cell == first[label_index]:
            return HeaderGuess(is_header=False, is_sure=True)
        if cell not in missing:
            labels_below.add(cell)
            n_present += 1
    return HeaderGuess(is_header=len(labels_below) < n_present, is_sure=False)


def _is_number_or_bool(cell: str) -> bool:
    """Return whether a cell is a number, possibly with a decimal comma, or true or false."""
    is_bool = cell.lower() in ("true", "false")
    is_decimal_comma = DECIMAL_COMMA.fullmatch(cell) is not None
    return is_bool or is_decimal_comma or is_number(cell)


@dataclass
class TextColumn:
    """Distinct words of a column of text, and their frequencies.

    Attributes
    ----------
    index : int
        Position of the column in the file.
    words : list of str
        Distinct words. The position of a word is its code.
    counts : ndarray of shape (n_words,), int
        Number of rows with each word.
    """

    index: int
    words: list[str]
    counts: np.ndarray

    @classmethod
    def count_words(cls, index: int, words: Iterable[str], column: np.ndarray) -> "TextColumn":
        """Return the words of a column of codes, with their frequencies.

        Parameters
        ----------
        index : int
            Position of the column in the file.
        words : iterable of str
            Distinct words, in the order of their codes.
        column : ndarray of shape (n_rows,), float64
            Code of each row, NaN for a missing value.
        """
        words, present = list(words), column[~np.isnan(column)].astype(np.int32)
        return cls(index, words, np.bincount(present, minlength=len(words)))

    def replace_none(self, column: np.ndarray, notation: Notation | None) -> None:
        """Replace the word None by a missing value if all other words are numbers.

        Parameters
        ----------
        column : ndarray of shape (n_rows,), float64
            Codes of the column, which are changed in place.
        notation : Notation or None
            Notation of numbers that the user gave. None: numbers may have points or commas.
        """
        if _NONE not in self.words:
            return
        if notation:
            is_text = non_number_mask(self.words, notation)
        else:
            is_text = classify_values(self.words).is_other_text
        # The word None is the only text that is allowed beside numbers, and there must be numbers.
        if is_text.sum() > 1 or is_text.all():
            return
        code = self.words.index(_NONE)
        del self.words[code]
        self.counts = np.delete(self.counts, code)
        column[column == code] = np.nan
        column[column > code] -= 1

    def sort_words(self) -> tuple[np.ndarray, list[str]]:
        """Return the sorted words, and their codes; the column itself is not changed.

        Returns
        -------
        new_codes : ndarray of shape (n_words + 1,), float64
            New code of each old code. The last entry is NaN, for the code -1 of missing values.
        words : list of str
            Sorted words.
        """
        words, codes = np.unique(np.array(self.words, dtype=object), return_inverse=True)
        return np.append(codes.astype(float), np.nan), words.tolist()


def non_number_mask(words: Sequence[str], notation: Notation | None = None) -> np.ndarray:
    """Return a mask, of shape (n_words,), of the words that are not numbers.

    Parameters
    ----------
    words : sequence of str
        Distinct words of a column.
    notation : Notation, default=None
        Notation that the user gave. None: any notation with points and commas.

    Examples
    --------
    >>> non_number_mask(["cat", "1.5", "1,5", "1.234.567"]).tolist()
    [True, False, False, False]
    """
    if notation:
        return np.array([notation.normalize(word) is None for word in words], dtype=bool)
    return classify_values(words).is_other_text & ~_full_matches(words, _GROUPED_THOUSANDS)


def convert_decimal_commas(
    texts: Sequence[TextColumn], names: Sequence[str], where: str
) -> list[int]:
    """Replace decimal commas by points if the commas cannot have another meaning.

    This is the case if each number with commas has a single one, no number of these columns has a
    decimal point, and the commas of at least one column cannot separate thousands. A warning lists
    the columns. Points of the converted numbers separate thousands, and are removed.

    Parameters
    ----------
    texts : sequence of TextColumn
        Text columns, the words of which are changed in place.
    names : sequence of str
        Names of the columns.
    where : str
        Name of the file in messages.

    Returns
    -------
    list of int
        Positions of the columns with decimal commas.
    """
    comma_texts = _find_decimal_commas(texts)
    if comma_texts:
        listed = truncated_list([names[text.index] for text in comma_texts])
        logger.warning("%s: decimal commas, read as points: %s", where, listed)
    for text in comma_texts:
        text.words = [
            word.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(word) else word
            for word in text.words
        ]
    return [text.index for text in comma_texts]


class AmbiguousPoint(NamedTuple):
    """Column whose points may be decimal points, or separate thousands.

    Attributes
    ----------
    column : int
        Position of the column in the file.
    example : str
        Its first number with a point.
    """

    column: int
    example: str


def find_ambiguous_points(
    texts: Iterable[TextColumn], numbers: Iterable[tuple[int, Any]]
) -> list[AmbiguousPoint]:
    """Return the columns whose points may separate thousands, in a file with decimal commas.

    In 1.234 the point may be a decimal point or not; in 0.125 it is one.

    Parameters
    ----------
    texts : iterable of TextColumn
        Text columns without decimal commas.
    numbers : iterable of (int, pandas.Series)
        Position and text of each column of numbers that may have points, in chunks of rows.

    Returns
    -------
    list of AmbiguousPoint
        Columns in the order of the file, in which all points may separate thousands.
    """
    text_words = ((text.index, text.words) for text in texts if _has_only_numbers(text.words))
    number_words = ((j, column.dropna().str.strip().unique()) for j, column in numbers)
    # Columns are known by their positions; an example is a word with a point.
    examples, decimal_columns = {}, set()
    for j, words in chain(text_words, number_words):
        with_points = [word for word in words if "." in word]
        if with_points and not _full_matches(with_points, _GROUPED_THOUSANDS).all():
            decimal_columns.add(j)
        elif with_points:
            examples.setdefault(j, with_points[0])
    return [AmbiguousPoint(j, examples[j]) for j in sorted(examples.keys() - decimal_columns)]


def _find_decimal_commas(texts: Sequence[TextColumn]) -> list[TextColumn]:
    """Return the columns with decimal commas; none if all commas may separate thousands.

    A column has decimal commas if more of its rows hold numbers with commas than words, each such
    number has a single comma, and no number has a decimal point. One column with a comma that
    cannot separate thousands, as in 1,5, decides for all: a file has one notation.
    """
    comma_texts, is_clear = [], False
    for text in texts:
        _, has_comma, is_other_text = classify_values(text.words)
        n_commas, n_words = text.counts[has_comma].sum(), text.counts[is_other_text].sum()
        is_decimal = _full_matches(text.words, DECIMAL_COMMA)
        has_point = _full_matches(text.words, _DECIMAL_POINT)
        if n_commas > n_words and is_decimal[has_comma].all() and not has_point.any():
            comma_texts.append(text)
            is_clear |= not _full_matches(text.words, _AMBIGUOUS_COMMA)[has_comma].all()
    return comma_texts if is_clear else []


def _has_only_numbers(words: Sequence[str]) -> bool:
    """Return whether all words are numbers with points, of any meaning."""
    return bool((classify_values(words).is_number | _full_matches(words, _GROUPED_THOUSANDS)).all())


def _full_matches(words: Sequence[str], pattern: re.Pattern) -> np.ndarray:
    """Return a mask of the words that a pattern matches from start to end."""
    return np.array([pattern.fullmatch(word) is not None for word in words], dtype=bool)
