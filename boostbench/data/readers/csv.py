"""CSV files."""

import csv
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from boostbench.data.data_table import DataTable, check_dates, label_column, no_category
from boostbench.data.labels import INEXACT
from boostbench.data.readers.csv_header import DECIMAL, guess_header
from boostbench.data.readers.csv_text import Text, are_words, read_points
from boostbench.data.readers.text_lines import check_utf8, composed, lines_of
from boostbench.errors import UserError
from boostbench.util.text_columns import are_identifiers

logger = logging.getLogger(__name__)

#: What means a missing value in any column.
MISSING = ("", "NA", "?")
#: What does so in columns of features besides; a class may be called so.
MISSING_FEATURES = (
    *("N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "NULL", "null"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
# What pandas calls a first column without a name.
_UNNAMED = "Unnamed: 0"
# What is asked where a cell goes on for lines.
_OPEN = "; is a quote mark not closed?"
#: Columns that a file may have.
MOST = 100_000
# Cells that are read at a time, and bytes.
_CELLS, _BLOCK = 2**19, 2**20
#: A first line that tells Excel what separates cells.
_HINT = re.compile(r'("?)sep=([^\w\s"\'.+-]|\t)\1', re.IGNORECASE)
#: A cell between quotes.
_QUOTED = re.compile(r'(?<![^,;\t ])"(?:[^"]|"")*"')


def read_csv(
    stream: BinaryIO,
    where: str,
    labels: str | None = None,
    na_values: Sequence[str | float] = (),
    header: bool | None = None,
) -> DataTable:
    """Read a CSV file: separated by comma, semicolon or tab, with or without a header line.

    A first line ``sep=;``, which Excel knows, names what separates, and is passed over. Without a
    header the columns are called ``0``, ``1``, ... A first column without a name that counts the
    rows from 0 or 1, as pandas writes it, is left out.

    Parameters
    ----------
    stream : binary file
        The text, not compressed.
    where : str
        What to call the file in messages.
    labels : str, default=None
        Name of the column of labels, where known.
    na_values : sequence of str or float, default=()
        What means a missing value, besides `MISSING` and, of features, `MISSING_FEATURES`.
    header : bool, default=None
        Whether the first line is a header; None: as
        `boostbench.data.readers.csv_header.guess_header` takes it.

    Returns
    -------
    DataTable

    Raises
    ------
    UserError
        With the number of the first line that is not UTF-8, does not parse, has more or fewer cells
        than the first, or holds a word among numbers or a number with a comma that is not clearly a
        decimal one.
    """
    import pandas as pd  # slow to import

    [labels] = composed([labels])
    lines = list(islice(lines_of(stream, where), 3))
    hint = _HINT.fullmatch(lines[0].rstrip("\r\n")) if lines else None
    n_hints = int(hint is not None)
    lines = [line.strip() for line in lines[n_hints : n_hints + 2]]
    if not lines or not lines[0]:
        raise UserError(f"{where} is empty, or its first line is")
    separator = hint[2] if hint else _separator(lines)
    n_separators = [line.count(separator) for line in lines]
    if lines[0].startswith("#") and (not n_separators[0] or len(set(n_separators)) > 1):
        raise UserError(
            f"{where}, line {1 + n_hints} begins with '#', as a comment does, and CSV files have "
            "none; take such lines out"
        )
    if lines[0].count(separator) >= MOST:
        raise UserError(
            f"{where} has more than {MOST} columns, and pandas takes long for each; write it as a "
            "LIBSVM or npz file"
        )
    if not any(separator in line for line in lines):
        known = f"{separator!r}, which line 1 names," if hint else "comma, semicolon or tab"
        raise UserError(
            f"{where} has no column of features beside the labels: no {known} is in its first "
            "lines; put one between cells"
        )
    rows = _RowsAgain(stream, separator, where, n_hints)
    # As numbers are written between decimal points or, with a fraction, decimal commas.
    commas = [str(float(v)).replace(".", ",") for v in na_values if not isinstance(v, str)]
    of_all = [*MISSING, *map(str, na_values), *commas]
    of_features = [*of_all, *MISSING_FEATURES]
    if header is None:
        header = _told_header(rows, labels, of_features)
    rows.has_header = header
    about = {
        "sep": separator,
        "skiprows": n_hints,
        "header": 0 if header else None,
        "keep_default_na": False,
        "na_values": of_features,
        "skipinitialspace": True,
        "low_memory": False,  # else a large column of words may come out half as numbers
        "index_col": False,
        "encoding": "utf-8-sig",
    }
    try:
        with warnings.catch_warnings():
            # What pandas says when it leaves the last cells of long rows out.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            n_rows = max(1, _CELLS // (1 + lines[0].count(separator)))
            missing = frozenset(of_all), frozenset(of_features)
            reading = _Reading(_count_lines(stream), set(), labels, where, missing)
            reading = _read_all(stream, n_rows, about, reading)
            if np.isnan(reading.values[: reading.n_rows, reading.label]).any():
                # Once more, as classes may be called as missing values are. By position, and one
                # position more: rows may end with an empty cell that no column has. Where there are
                # many columns, pandas takes longer for this.
                by_position = dict.fromkeys(range(len(reading.names) + 1), of_features)
                about["na_values"] = by_position | {reading.label: of_all}
                reading = _read_all(stream, n_rows, about, reading.again())
    except UserError:
        raise
    except Exception as error:  # ParserWarning, and whatever pandas' parsers and decoders raise
        check_utf8(stream, where)
        if "EOF inside string" in str(error):
            raise rows.open_quote() from None
        rows.check_widths()
        raise UserError(f"{where} does not parse: {' '.join(str(error).split())}") from None
    if not reading.n_rows:
        raise UserError(f"{where} holds no samples")
    if np.isnan(reading.values[: reading.n_rows, -1:]).any():
        rows.check_widths()  # pandas fills short rows up
    if header:
        rows.check_label(reading.label)
    return reading.table(rows, partial(_cells, stream, n_rows, about, reading.floats))


def _told_header(rows: "_RowsAgain", labels: str | None, missing: Sequence[str]) -> bool:
    """Guess whether there is a header, and say so where it may be wrong."""
    is_header, is_sure = guess_header((row for _, row in rows), labels, missing)
    if not is_sure:
        taken, other = "a header", "a sample"
        if not is_header:
            taken, other = other, taken
        template = "%s: the first line is taken for %s; if it is %s, add data.header=%s"
        logger.warning(template, rows.where, taken, other, str(not is_header).lower())
    return is_header


def _read_all(
    stream: BinaryIO, n_rows: int, about: dict[str, Any], reading: "_Reading"
) -> "_Reading":
    while not all(map(reading.add, _frames(stream, n_rows, about, reading.text))):
        # Once more, as what was taken for numbers may not be as it was written.
        reading = reading.again()
    return reading


def _frames(stream: BinaryIO, n_rows: int, about: dict[str, Any], text: set[int]):
    """Let pandas read the file some rows at a time, columns of text as it is written."""
    import pandas as pd

    stream.seek(0)
    dtype = None
    if text:
        names = pd.read_csv(stream, nrows=1, **about).columns
        stream.seek(0)
        # Of categories pandas makes numbers, where all words of some rows are.
        dtype = {names[j]: str for j in text}
    yield from pd.read_csv(stream, chunksize=n_rows, dtype=dtype, **about)


def _cells(stream: BinaryIO, n_rows: int, about: dict[str, Any], columns: set[int]):
    """Let pandas read some columns as they are written, some rows at a time."""
    for frame in _frames(stream, n_rows, about, columns):
        yield {j: frame.iloc[:, j] for j in columns}


def _count_lines(stream: BinaryIO) -> int:
    """Count the lines, whichever characters end them; there are no more rows."""
    stream.seek(0)
    n_lines, last = 1, b""
    for block in iter(lambda: stream.read(_BLOCK), b""):
        pairs = (last + block).count(b"\r\n")  # one may be cut by the block
        n_lines += block.count(b"\n") + block.count(b"\r") - pairs
        last = block[-1:]
    return n_lines


class _Reading:
    """What has been read of a file: numbers, and codes of words, which are kept once each.

    Parameters
    ----------
    n_lines : int
        Rows that there may be.
    text : set of int
        Columns that hold words.
    labels : str or None
        Name of the column of labels, where known.
    where : str
        What to call the file in messages.
    missing : tuple of (set of str, set of str)
        What means a missing label, and a missing feature.
    """

    def __init__(self, n_lines: int, text: set[int], labels: str | None, where: str, missing):
        self.n_lines, self.text, self.labels, self.where = n_lines, text, labels, where
        self.missing = missing
        self.n_rows = 0
        # Columns of numbers that may be written with points.
        self.floats: set[int] = set()
        self.codes: dict[int, dict[str, int]] = {j: {} for j in text}
        self._are_bool: dict[int, bool] = {}

    def again(self) -> "_Reading":
        """Start from the first row, with what is known of the columns."""
        return _Reading(self.n_lines, self.text, self.labels, self.where, self.missing)

    def add(self, frame) -> bool:
        """Take some rows; False if columns hold words that were not known to."""
        columns = {j: frame.iloc[:, j] for j in range(frame.shape[1])}
        if not self.n_rows:
            self.names = composed(str(name).strip() for name in frame.columns)
            self.label = label_column(self.names, self.labels, self.where)
            # Room for all rows; what is never written takes none.
            self.values = np.empty((self.n_lines, len(self.names)))
        new_text = {
            j for j, column in columns.items() if j not in self.text and self._is_text(j, column)
        }
        self.text = self.text | new_text
        if new_text:
            return False
        self.floats |= {j for j, column in columns.items() if column.dtype.kind == "f"}
        start, self.n_rows = self.n_rows, self.n_rows + len(frame)
        for j, column in columns.items():
            numbers = self._coded(j, column) if j in self.text else column.to_numpy(dtype=float)
            self.values[start : self.n_rows, j] = numbers
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
        missing = self.missing[j != self.label]
        # pandas leaves out the blanks before a word, and not those behind it.
        words = composed(word.strip() for word in words)
        own = [np.nan if word in missing else known.setdefault(word, len(known)) for word in words]
        own = np.array([*own, np.nan])
        if are_identifiers(len(known), self.n_lines) and j != self.label:
            n_words = int(are_words(list(known)).sum())
            if are_identifiers(n_words, self.n_lines):
                check_dates(self.where, self.names[j], list(known))
                raise no_category(self.where, self.names[j], n_words, f"the first {self.n_rows}")
        return own[codes]

    def table(self, rows: "_RowsAgain", cells: Callable[[], Iterator]) -> DataTable:
        """Give all that was read; `cells` as of `boostbench.data.readers.csv_text.read_points`."""
        values = self.values[: self.n_rows]
        texts = {j: Text.of(self.codes.pop(j), values[:, j]) for j in sorted(self.codes)}
        for j, text in texts.items():
            if j != self.label:
                text.drop_none(values[:, j])
        read_points(texts, values, cells, self.names, self.where)
        categories: list = [None] * len(self.names)
        for j, text in texts.items():
            text.check(values[:, j], self.names[j], rows.line)
            codes, categories[j] = text.sorted()
            values[:, j] = codes[np.nan_to_num(values[:, j], nan=-1).astype(np.int32)]
        first = int(self._numbers_rows(values[:, 0], categories[0]))
        return DataTable(self.names[first:], categories[first:], values[:, first:], self.where)

    def _numbers_rows(self, column: np.ndarray, words: list[str] | None) -> bool:
        """Whether the first column has no name and counts the rows; say what becomes of it."""
        if self.names[0] != _UNNAMED or self.label == 0:
            return False
        counts = words is None and column[0] in (0, 1)
        counts = counts and np.array_equal(column, column[0] + np.arange(len(column)))
        told = "counts the rows; it is left out"
        if not counts:
            told = f"does not count the rows; it is the feature {_UNNAMED!r}"
        logger.warning("%s: the first column has no name and %s", self.where, told)
        return counts


def _separator(lines: Sequence[str]) -> str:
    """Choose what separates cells: the most frequent, but nothing inside of quotes or numbers."""
    lines = [_QUOTED.sub('""', line) for line in lines if line]
    for separator in ";\t":
        cells = [cell.strip(" \"'") for cell in lines[0].split(separator)]
        if len(cells) > 1 and all("," not in cell or DECIMAL.fullmatch(cell) for cell in cells):
            return separator
    return max(";\t,", key=lambda one: _rank([line.count(one) for line in lines]))


def _rank(counts: Sequence[int]) -> tuple[int, bool, int]:
    """Say how likely a character separates cells, by how often each of the first lines has it."""
    # Names of columns may hold commas, and rows below them none, or others in their numbers.
    return min(counts), 0 < min(counts) == max(counts), counts[0]


class _RowsAgain:
    """The rows of a file read once more, to tell where a mistake is."""

    has_header = False

    def __init__(self, stream: BinaryIO, separator: str, where: str, n_hints: int):
        self.where = where
        self._stream, self._separator, self._n_hints = stream, separator, n_hints

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows, the header as well, each with the number of its first line."""
        for number, _, row in self._rows():
            yield number, row

    def _rows(self) -> Iterator[tuple[int, int, list[str]]]:
        lines = islice(lines_of(self._stream, self.where), self._n_hints, None)
        rows = csv.reader(lines, delimiter=self._separator, skipinitialspace=True)
        number = self._n_hints + 1
        try:
            for row in rows:
                last = self._n_hints + rows.line_num
                if len(row) > 1 or any(map(str.strip, row)):
                    yield number, last, row
                number = last + 1
        except csv.Error as error:
            hint = _OPEN if "field limit" in str(error) else ""
            raise UserError(f"{self.where}, line {number}: {error}{hint}") from None

    def line(self, sample: int) -> str:
        """Say where a sample is: file and line."""
        number, _ = next(islice(self, sample + self.has_header, None))
        return f"{self.where}, line {number}"

    def check_label(self, label: int) -> None:
        """Refuse a second column of the labels' name, which may well tell the classes."""
        names = [cell.strip() for cell in next(iter(self))[1]]
        if names[label] and names.count(names[label]) > 1:
            raise UserError(
                f"{self.where}: {names.count(names[label])} columns are called {names[label]!r}, "
                "and one of them holds the classes; give each a name of its own"
            )

    def open_quote(self) -> UserError:
        """Say where a quote begins that does not end: in the last row."""
        *_, (number, _) = self
        return UserError(
            f"{self.where}, line {number}: a quote mark opens a cell, and none closes it; close "
            "it, or take it out"
        )

    def check_widths(self) -> None:
        """Refuse rows with fewer cells than the first, or more.

        Below a header rows may have one empty cell more, if the first sample does: pandas reads so.
        """
        width = most = len(next(iter(self))[1])
        for sample, (number, last, row) in enumerate(self._rows(), -self.has_header):
            if sample == 0 and self.has_header and len(row) == width + 1:
                most = len(row)
            if not width <= len(row) <= most or any(map(str.strip, row[width:])):
                hint = f" (it goes on to line {last}{_OPEN})" if last > number else ""
                raise UserError(
                    f"{self.where}, line {number} has {len(row)} cells{hint}, but the first row "
                    f"{width}; every row needs one cell for each column"
                )
