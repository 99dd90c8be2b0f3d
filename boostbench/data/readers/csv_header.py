"""Detection of a header in a CSV file."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from boostbench.data.numeric_text import is_number

#: A number with a decimal comma, with or without points between thousands: 1,5 or 1.234,5.
DECIMAL_COMMA = re.compile(r"[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?", re.ASCII)
# Number of rows that are searched for a value below a name, and of cells for a repeated word.
_N_NEAR_ROWS, _MAX_SEARCHED_CELLS = 20, 2**17


class HeaderGuess(NamedTuple):
    """Guess whether the first row is a header, and its certainty."""

    is_header: bool
    is_sure: bool


def guess_header(
    rows: Iterator[list[str]], label_column: str | None, missing: Collection[str]
) -> HeaderGuess:
    """Return a guess whether the first row of a file is a header.

    The first row is a header if it names the column of labels, or has a word above numbers. Else a
    row of words is a header if no word occurs in its column again. A row of distinct numbers with
    a word above the labels is a header if that word is not a label and a label occurs twice. A row
    of numbers that counts the columns is a header under the same condition.

    Parameters
    ----------
    rows : iterator of list of str
        Cells of the file, row by row.
    label_column : str or None
        Name of the column of labels. None: unknown.
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
    # Positions name the columns of a file without a header, so they are no evidence of one.
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
        return HeaderGuess(_has_distinct_cells(numbers), not numbers)
    if words and not numbers:
        return HeaderGuess(not _is_repeated_below(first, words, rows), not near_rows)
    if not first[0]:  # the first column numbers the rows
        del column_numbers[-1]
    if not _has_distinct_cells(numbers) if label_index in words else numbers != column_numbers:
        return HeaderGuess(False, True)
    return _guess_by_label(first, label_index, rows, missing)


def _has_distinct_cells(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells)


def _is_above_numbers(j: int, near_rows: Sequence[list[str]], missing: Collection[str]) -> bool:
    """Return whether the first cell of a column that is not missing is a number."""
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
    """Guess by the cell above the labels: it is a label if it occurs below, or no label repeats."""
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
    """Return whether a cell is a number or a truth value."""
    is_bool = cell.lower() in ("true", "false")
    is_decimal_comma = DECIMAL_COMMA.fullmatch(cell) is not None
    return is_bool or is_decimal_comma or is_number(cell)
