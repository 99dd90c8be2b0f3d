"""Detection of a header in a CSV file."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from boostbench.data.numeric_text import is_number

#: A number with a decimal comma, with or without points between thousands: 1,5 or 1.234,5.
DECIMAL_COMMA = re.compile(r"[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?", re.ASCII)
# Maximum number of rows in which a number below a name is searched, and of cells in which words of
# the first row and labels are searched.
_N_NEAR_ROWS, _MAX_SEARCHED_CELLS = 20, 2**17


class HeaderGuess(NamedTuple):
    """Guess whether the first row of a file is a header.

    Attributes
    ----------
    is_header : bool
        True if the first row is taken for a header.
    is_sure : bool
        False if the first row may also be the opposite, so that the reader asks the user to confirm
        the guess.
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
    column_numbers = [str(j) for j in range(len(first))]
    # Column numbers are the names of columns in a file without a header, so they do not indicate
    # a header.
    if "class" in map(str.lower, first) or (
        label_column in first and label_column not in column_numbers
    ):
        return HeaderGuess(True, True)
    numbers = [cell for cell in first if cell not in missing and _is_number_or_bool(cell)]
    words = [
        j for j, cell in enumerate(first) if cell not in missing and not _is_number_or_bool(cell)
    ]
    near_rows = list(islice(rows, _N_NEAR_ROWS))
    rows = chain(near_rows, rows)
    label_index = int(label_column) if label_column in column_numbers else len(first) - 1
    if any(_is_above_numbers(j, near_rows, missing) for j in words):
        # Names of columns are distinct, so that a row with equal numbers is a sample.
        return HeaderGuess(_has_distinct_cells(numbers), not numbers)
    if words and not numbers:
        return HeaderGuess(not _is_repeated_below(first, words, rows), not near_rows)
    if not first[0]:  # the first column holds the numbers of the rows, and has no name
        del column_numbers[-1]
    # Distinct numbers, such as years, can be names of features if the labels have a word for a
    # name. Without such a word, only the numbers of the columns are names.
    if not _has_distinct_cells(numbers) if label_index in words else numbers != column_numbers:
        return HeaderGuess(False, True)
    return _guess_by_label(first, label_index, rows, missing)


def _has_distinct_cells(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells)


def _is_above_numbers(j: int, near_rows: Sequence[list[str]], missing: Collection[str]) -> bool:
    """Return whether the first cell below the first row in column j is a number.

    Missing values are skipped.
    """
    below = (row[j] for row in near_rows if j < len(row))
    return _is_number_or_bool(next((cell for cell in below if cell not in missing), ""))


def _is_repeated_below(
    first: Sequence[str], words: Sequence[int], rows: Iterator[list[str]]
) -> bool:
    """Return whether a word of the first row occurs in its column again."""
    return any(
        j < len(row) and row[j] == first[j]
        for row in islice(rows, _MAX_SEARCHED_CELLS // len(first))
        for j in words
    )


def _guess_by_label(
    first: Sequence[str], label_index: int, rows: Iterator[list[str]], missing: Collection[str]
) -> HeaderGuess:
    """Guess by the cell above the labels.

    The first row is a sample if this cell occurs among the labels. Otherwise it is a header if a
    label occurs twice: the column of a file with labels has equal cells.
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
            return HeaderGuess(False, True)
        if cell not in missing:
            labels_below.add(cell)
            n_present += 1
    return HeaderGuess(len(labels_below) < n_present, False)


def _is_number_or_bool(cell: str) -> bool:
    """Return whether a cell is a number, possibly with a decimal comma, or true or false."""
    is_bool = cell.lower() in ("true", "false")
    is_decimal_comma = DECIMAL_COMMA.fullmatch(cell) is not None
    return is_bool or is_decimal_comma or is_number(cell)
