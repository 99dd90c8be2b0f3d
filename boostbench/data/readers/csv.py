"""CSV files."""

import csv
import io
import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

import numpy as np

from boostbench.data.labels import INEXACT
from boostbench.data.table import MANY, UNIQUE, DataTable, check_dates, label_column, no_category
from boostbench.errors import UserError, some

logger = logging.getLogger(__name__)

#: Besides pandas' own words for "missing".
MISSING = ["?"]
#: Columns that a file may have.
MOST = 100_000
# Cells that are read at a time, and bytes.
_CELLS, _BLOCK = 2**19, 2**20
#: A number with a decimal comma, or with commas between thousands.
_COMMA = re.compile(r"[-+]?(?=[.\d]*,)(?=,*\d)[\d.,]+([eE][-+]?\d+)?")
#: With a decimal comma, and perhaps points between thousands: 1,5 or 1.234,5.
_DECIMAL = re.compile(r"[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?")
#: With a point.
_POINT = re.compile(r"[-+]?\d*\.\d*([eE][-+]?\d+)?")
#: What may be either: 1,234.
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


def read_csv(
    stream: BinaryIO,
    where: str,
    labels: str | None = None,
    na_values: Sequence[str | float] = (),
) -> DataTable:
    """Read a CSV file: separated by comma, semicolon or tab, with or without a header line.

    The first line is a header when it names the column of labels, holds no number, or holds a word
    where the second has a number. Without a header the columns are called ``0``, ``1``, ... A first
    column without a name, as pandas writes it, numbers the rows and is left out.

    Parameters
    ----------
    stream : binary file
        The text, not compressed.
    where : str
        What to call the file in messages.
    labels : str, default=None
        Name of the column of labels, where known.
    na_values : sequence of str or float, default=()
        What means a missing value, besides an empty cell, ``?`` and pandas' own words.

    Returns
    -------
    DataTable

    Raises
    ------
    UserError
        With the number of the first line that does not parse, has more or fewer cells than the
        first, or holds a word among numbers or a number with a comma that is not clearly a decimal
        one.
    """
    import pandas as pd  # slow to import

    lines = [stream.readline().decode("utf-8-sig", errors="replace").strip() for _ in range(2)]
    if not lines[0]:
        raise UserError(f"{where} is empty, or its first line is")
    separator = _separator(lines[0])
    if lines[0].count(separator) >= MOST:
        raise UserError(
            f"{where} has more than {MOST} columns, and pandas takes long for each; write it as a "
            "LIBSVM or npz file"
        )
    if separator not in lines[0] and separator not in lines[1]:
        raise UserError(f"{where} has no column of features beside the labels")
    first, second = ([cell.strip(" \"'") for cell in line.split(separator)] for line in lines)
    header = _is_header(first, second, labels)
    rows = _RowsAgain(stream, separator, header, where)
    unnamed = header and first[0] == ""
    reading = _Reading(_count_lines(stream), unnamed, set(), labels, where)
    try:
        with warnings.catch_warnings():
            # What pandas says when it leaves the last cells of long rows out.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            about = stream, separator, header, len(first), [*MISSING, *map(str, na_values)]
            while not all(map(reading.add, _frames(*about, reading.text))):
                # Once more, as what was taken for numbers may not be as it was written.
                reading = reading.again()
    except UserError:
        raise
    except Exception as error:  # ParserWarning, and whatever pandas' parsers raise
        rows.check_widths()
        raise UserError(f"{where} does not parse: {' '.join(str(error).split())}") from None
    if not reading.n_rows:
        raise UserError(f"{where} holds no samples")
    if np.isnan(reading.values[: reading.n_rows, -1:]).any():
        rows.check_widths()  # pandas fills short rows up
    return reading.table(rows)


def _frames(
    stream: BinaryIO,
    separator: str,
    header: bool,
    n_columns: int,
    na_values: list[str],
    text: set[int],
):
    """Let pandas read the file some rows at a time, columns of text as it is written."""
    import pandas as pd

    about = {
        "sep": separator,
        "header": 0 if header else None,
        "na_values": na_values,
        "skipinitialspace": True,
        "low_memory": False,  # else a large column of words may come out half as numbers
        "index_col": False,
        "encoding": "utf-8-sig",
        "encoding_errors": "replace",
    }
    stream.seek(0)
    if text:
        names = pd.read_csv(stream, nrows=1, **about).columns
        stream.seek(0)
        # Of categories pandas makes numbers, where all words of some rows are.
        about["dtype"] = {names[j]: str for j in text}
    yield from pd.read_csv(stream, chunksize=max(1, _CELLS // n_columns), **about)


def _count_lines(stream: BinaryIO) -> int:
    """Count the lines; there are no more rows."""
    stream.seek(0)
    blocks = iter(lambda: stream.read(_BLOCK), b"")
    return 1 + sum(max(block.count(b"\n"), block.count(b"\r")) for block in blocks)


class _Reading:
    """What has been read of a file: numbers, and codes of words, which are kept once each.

    Parameters
    ----------
    n_lines : int
        Rows that there may be.
    unnamed : bool
        Whether the first column has no name, and is left out.
    text : set of int
        Columns that hold words.
    labels : str or None
        Name of the column of labels, where known.
    where : str
        What to call the file in messages.
    """

    def __init__(self, n_lines: int, unnamed: bool, text: set[int], labels, where: str):
        self.n_lines, self.text, self.labels, self.where = n_lines, text, labels, where
        self.first = int(unnamed)
        self.n_rows = 0
        self.codes: dict[int, dict[str, int]] = {j: {} for j in text}
        self._are_bool: dict[int, bool] = {}

    def again(self) -> "_Reading":
        """Start from the first row, with what is known of the columns."""
        return _Reading(self.n_lines, self.first > 0, self.text, self.labels, self.where)

    def add(self, frame) -> bool:
        """Take some rows; False if columns hold words that were not known to."""
        columns = {j: frame.iloc[:, j] for j in range(self.first, frame.shape[1])}
        if not self.n_rows:
            self.names = [str(name).strip() for name in frame.columns[self.first :]]
            # Room for all rows; what is never written takes none.
            self.values = np.empty((self.n_lines, len(self.names)))
        new_text = {
            j for j, column in columns.items() if j not in self.text and self._is_text(j, column)
        }
        self.text = self.text | new_text
        if new_text:
            return False
        start, self.n_rows = self.n_rows, self.n_rows + len(frame)
        for j, column in columns.items():
            numbers = self._coded(j, column) if j in self.text else column.to_numpy(dtype=float)
            self.values[start : self.n_rows, j - self.first] = numbers
        return True

    def _is_text(self, j: int, column) -> bool:
        kind = column.dtype.kind
        if kind not in "biuf" or self._are_bool.setdefault(j, kind == "b") != (kind == "b"):
            return True
        # Whole numbers that float64 does not hold become words, so that none merge as labels.
        return kind in "iu" and max(-int(column.min()), int(column.max())) >= INEXACT

    def _coded(self, j: int, column) -> np.ndarray:
        import pandas as pd

        known = self.codes[j]
        codes, words = pd.factorize(column)
        own = np.array([known.setdefault(word, len(known)) for word in words] + [np.nan])
        if len(known) > max(MANY, UNIQUE * self.n_lines) and not self._is_label(j):
            n_words = int(_kinds(list(known))[2].sum())
            if n_words > max(MANY, UNIQUE * self.n_lines):
                name = self.names[j - self.first]
                check_dates(self.where, name, list(known))
                raise no_category(self.where, name, f"more than {n_words - 1}", self.n_lines)
        return own[codes]

    def _is_label(self, j: int) -> bool:
        return j - self.first == label_column(self.names, self.labels, self.where)

    def table(self, rows: "_RowsAgain") -> DataTable:
        """Give all that was read."""
        values = self.values[: self.n_rows]
        texts = {
            j - self.first: _Text.of(self.codes.pop(j), values[:, j - self.first])
            for j in sorted(self.codes)
        }
        _put_points(texts, self.names, self.where)
        categories: list = [None] * len(self.names)
        for j, text in texts.items():
            text.check(values[:, j], self.names[j], rows)
            codes, categories[j] = text.sorted()
            values[:, j] = codes[np.nan_to_num(values[:, j], nan=-1).astype(np.int32)]
        return DataTable(self.names, categories, values, self.where)


def _separator(line: str) -> str:
    """Choose what separates cells: the most frequent, but no commas inside of numbers."""
    for separator in ";\t":
        cells = [cell.strip(" \"'") for cell in line.split(separator)]
        if len(cells) > 1 and all("," not in cell or _DECIMAL.fullmatch(cell) for cell in cells):
            return separator
    return max(",;\t", key=line.count)


def _kinds(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Say which of some words are numbers, have commas as numbers have, or neither; as masks."""
    import pandas as pd

    text = pd.Series(words, dtype="string")
    is_number = pd.to_numeric(text, errors="coerce").notna().to_numpy(dtype=bool)
    has_comma = _matches(words, _COMMA)
    return is_number, has_comma, ~is_number & ~has_comma


def _matches(words: Sequence[str], pattern: re.Pattern) -> np.ndarray:
    return np.array([pattern.fullmatch(word) is not None for word in words], dtype=bool)


@dataclass
class _Text:
    """The words of a column, of shape (n_words,), and how many rows have each."""

    words: list[str]
    counts: np.ndarray

    @classmethod
    def of(cls, codes: dict[str, int], column: np.ndarray) -> "_Text":
        present = column[~np.isnan(column)].astype(np.int32)
        return cls(list(codes), np.bincount(present, minlength=len(codes)))

    def check(self, column: np.ndarray, name: str, rows: "_RowsAgain") -> None:
        """Refuse words among numbers, and numbers with commas that are not clearly decimal."""
        is_number, has_comma, _ = kinds = _kinds(self.words)
        n_numbers, n_commas, n_words = (self.counts[of_kind].sum() for of_kind in kinds)
        if n_commas > n_words:
            wrong, what = has_comma, "has a comma"
            advice = "write a decimal point, and nothing between thousands"
        elif n_numbers > self.counts[~is_number].sum() and not is_number.all():
            wrong, what = ~is_number, "is a word among numbers"
            advice = "correct it, or add 'data.na_values=[{}]' if it means a missing value"
        else:
            return
        codes = np.nan_to_num(column, nan=-1).astype(np.int32)
        sample = int(np.append(wrong, False)[codes].argmax())
        cell = self.words[codes[sample]]
        advice = advice.format(cell)
        raise UserError(f"{rows.line(sample)}: {cell!r} in column {name!r} {what}; {advice}")

    def sorted(self) -> tuple[np.ndarray, list[str]]:
        """Give the codes of the words when sorted, with NaN at the end, and the sorted words."""
        words, codes = np.unique(np.array(self.words, dtype=object), return_inverse=True)
        return np.append(codes.astype(float), np.nan), words.tolist()


def _put_points(texts: dict[int, _Text], names: list[str], where: str) -> None:
    """Put points in the place of decimal commas, where nothing else can be meant.

    That is, if each number of a column with commas has one such comma, none has a point alone, and
    the commas of one column at least cannot stand between thousands.
    """
    decimal, is_clear = [], False
    for j, text in texts.items():
        _, has_comma, is_word = _kinds(text.words)
        n_commas, n_words = text.counts[has_comma].sum(), text.counts[is_word].sum()
        is_decimal = _matches(text.words, _DECIMAL)
        with_point = _matches(text.words, _POINT)
        if n_commas > n_words and is_decimal[has_comma].all() and not with_point.any():
            decimal.append(j)
            is_clear |= not _matches(text.words, _EITHER)[has_comma].all()
    if not is_clear:
        return
    shown = some([names[j] for j in decimal])
    logger.warning("%s: decimal commas, read as points: %s", where, shown)
    for j in decimal:
        texts[j].words = [
            word.replace(".", "").replace(",", ".") if _DECIMAL.fullmatch(word) else word
            for word in texts[j].words
        ]


def _is_header(first: list[str], second: list[str], labels: str | None) -> bool:
    numbers = [_is_number(cell) for cell in first]
    below = [_is_number(cell) for cell in second]
    return (
        labels in first
        or not any(numbers)
        or any(under and not above for above, under in zip(numbers, below, strict=False))
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return _DECIMAL.fullmatch(cell) is not None
    return True


class _RowsAgain:
    """The rows of a file read once more, to tell where a mistake is."""

    def __init__(self, stream: BinaryIO, separator: str, header: bool, where: str):
        self.where = where
        self._stream, self._separator, self._header = stream, separator, header

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows, the header as well, each with the number of its line."""
        self._stream.seek(0)
        text = io.TextIOWrapper(self._stream, "utf-8-sig", errors="replace", newline="")
        try:
            rows = csv.reader(text, delimiter=self._separator, skipinitialspace=True)
            for row in rows:
                if len(row) > 1 or any(map(str.strip, row)):
                    yield rows.line_num, row
        except csv.Error as error:
            raise UserError(f"{self.where}, line {rows.line_num}: {error}") from None
        finally:
            text.detach()

    def line(self, sample: int) -> str:
        """Say where a sample is: file and line."""
        number, _ = next(islice(self, sample + self._header, None))
        return f"{self.where}, line {number}"

    def check_widths(self) -> None:
        """Refuse rows with fewer cells than the first, or more that are not empty."""
        width = None
        for number, row in self:
            if width is None:
                width = len(row)
            if len(row) < width or any(map(str.strip, row[width:])):
                raise UserError(
                    f"{self.where}, line {number} has {len(row)} cells, but the first line "
                    f"{width}; every row needs one cell for each column"
                )
