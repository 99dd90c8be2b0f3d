"""Reader of CSV files."""

import csv
import logging
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from boostbench.data.column_problems import ColumnProblem, override
from boostbench.data.csv_cells import (
    DECIMAL_COMMA,
    TextColumn,
    convert_decimal_commas,
    find_ambiguous_points,
    guess_header,
    word_mask,
)
from boostbench.data.data_table import DataTable, label_column, select_columns
from boostbench.data.labels import MIN_INEXACT
from boostbench.data.readers.base import Reader, ReadOptions
from boostbench.data.text import Notation, check_utf8, compose_letters, read_lines
from boostbench.util.errors import UserError
from boostbench.util.text_columns import is_identifier_column

logger = logging.getLogger(__name__)

#: Words for a missing value in any column.
MISSING_WORDS = ("", "NA", "?")
#: Further words for a missing value in columns of features; classes may have these names.
MISSING_FEATURE_WORDS = (
    *("N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "NULL", "null"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
# Name that pandas gives a first column without a name.
_UNNAMED = "Unnamed: 0"
# Hint for a cell that extends over several lines.
_QUOTE_HINT = "; is a quote mark not closed?"
#: Largest number of columns: pandas takes long for each.
MAX_COLUMNS = 100_000
# Cells per chunk of pandas, and bytes per block when lines are counted.
_CHUNK_CELLS, _BLOCK_BYTES = 2**19, 2**20
#: A first line that names the separator for Excel.
_SEPARATOR_LINE = re.compile(r'("?)sep=([^\w\s"\'.+-]|\t)\1', re.IGNORECASE)
#: A cell between quotes.
_QUOTED = re.compile(r'(?<![^,;\t ])"(?:[^"]|"")*"')


class Csv(Reader):
    """Cells between commas, semicolons or tabs, with or without a header."""

    title = "CSV"
    content = "cells between commas, semicolons or tabs, with or without a header"
    suffixes = (".csv", ".data")
    options = ("labels", "drop", "na_values", "header", "decimal", "thousands")
    rank = 3

    def read(self, stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
        """Load a CSV file.

        A first line ``sep=;``, as for Excel, names the separator and is skipped. Without a header,
        the columns are named ``0``, ``1``, ... A first column without a name that numbers the rows
        from 0 or 1, as pandas writes it, is dropped. The words of
        `MISSING_WORDS` and `options` mean a missing value; in columns of features, so do
        `MISSING_FEATURE_WORDS`.

        Parameters and result are described in `Reader.read`.

        Raises
        ------
        UserError
            If a line is not UTF-8, does not parse, or has more or fewer cells than the first; the
            message has the number of the first such line.
        """
        return _read(stream, where, options)


def _notation(options: ReadOptions, where: str) -> Notation | None:
    """Return the notation of numbers that a user gave; None: it is recognised."""
    if options.decimal is None and options.thousands is None:
        return None
    # Points between thousands leave the comma for the fraction.
    default = "comma" if options.thousands == "point" else "point"
    notation = Notation(options.decimal or default, options.thousands)
    if notation.decimal == notation.thousands:
        raise UserError(
            f"{where}: data.decimal and data.thousands are both {notation.decimal}; name "
            "different marks, or leave one of them out"
        )
    return notation


def _read(stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
    import pandas as pd  # slow to import

    [labels] = compose_letters([options.labels])
    notation, na_values, header = _notation(options, where), options.na_values, options.header
    lines = list(islice(read_lines(stream, where), 3))
    separator_line = _SEPARATOR_LINE.fullmatch(lines[0].rstrip("\r\n")) if lines else None
    n_skipped = int(separator_line is not None)
    lines = [line.strip() for line in lines[n_skipped : n_skipped + 2]]
    if not lines or not lines[0]:
        raise UserError(f"{where} is empty, or its first line is")
    separator = separator_line[2] if separator_line else _guess_separator(lines)
    n_separators = [line.count(separator) for line in lines]
    if lines[0].startswith("#") and (not n_separators[0] or len(set(n_separators)) > 1):
        raise UserError(
            f"{where}, line {1 + n_skipped} begins with '#', as a comment does, and CSV files have "
            "none; take such lines out"
        )
    if lines[0].count(separator) >= MAX_COLUMNS:
        raise UserError(
            f"{where} has more than {MAX_COLUMNS} columns, and pandas takes long for each; write "
            "it as a LIBSVM or npz file"
        )
    if not any(separator in line for line in lines):
        expected = (
            f"{separator!r}, which line 1 names," if separator_line else "comma, semicolon or tab"
        )
        raise UserError(
            f"{where} has no column of features beside the labels: no {expected} is in its first "
            "lines; put one between cells"
        )
    scanner = _RowScanner(stream, separator, where, n_skipped)
    # Numbers in `na_values` may be written with a decimal point or a decimal comma.
    commas = [str(float(v)).replace(".", ",") for v in na_values if not isinstance(v, str)]
    missing_words = [*MISSING_WORDS, *map(str, na_values), *commas]
    missing_feature_words = [*missing_words, *MISSING_FEATURE_WORDS]
    if header is None:
        header = _detect_header(scanner, labels, missing_feature_words)
    scanner.has_header = header
    pandas_options = {
        "sep": separator,
        "skiprows": n_skipped,
        "header": 0 if header else None,
        "keep_default_na": False,
        "na_values": missing_feature_words,
        "skipinitialspace": True,
        "low_memory": False,  # else pandas may convert a part of a large text column to numbers
        "index_col": False,
        "encoding": "utf-8-sig",
    }
    try:
        with warnings.catch_warnings():
            # pandas warns when it drops the last cells of long rows.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            n_rows = max(1, _CHUNK_CELLS // (1 + lines[0].count(separator)))
            missing = frozenset(missing_words), frozenset(missing_feature_words)
            # Cells with decimal commas are all read as text: "1.200" is 1200 perhaps, and not 1.2.
            text_columns = None if notation and notation.decimal == "comma" else set()
            settings = where, missing, labels, options.drop, notation
            builder = _TableBuilder(_count_lines(stream), text_columns, *settings)
            builder = _build_table(stream, n_rows, pandas_options, builder)
            if np.isnan(builder.values[: builder.n_rows, builder.label]).any():
                # Read again, as a class may have the name of a missing feature value. Options by
                # position are slow for many columns, hence the first attempt without them. There is
                # one extra position, as rows may end with an additional empty cell.
                by_position = dict.fromkeys(range(len(builder.names) + 1), missing_feature_words)
                pandas_options["na_values"] = by_position | {builder.label: missing_words}
                builder = _build_table(stream, n_rows, pandas_options, builder.restarted())
    except UserError:
        raise
    except Exception as error:  # ParserWarning, and any error of pandas' parsers and decoders
        check_utf8(stream, where)
        if "EOF inside string" in str(error):
            raise scanner.open_quote_error() from None
        scanner.check_widths()
        raise UserError(f"{where} does not parse: {' '.join(str(error).split())}") from None
    if not builder.n_rows:
        raise UserError(f"{where} holds no samples")
    if builder.is_last_incomplete:
        scanner.check_widths()  # pandas fills short rows with missing values
    if header:
        scanner.check_label(builder.label)
    return builder.table(
        scanner, partial(_read_columns, stream, n_rows, pandas_options, builder.floats)
    )


def _detect_header(rows: "_RowScanner", labels: str | None, missing: Sequence[str]) -> bool:
    """Return whether there is a header, by a guess; log a warning if the guess is uncertain."""
    is_header, is_sure = guess_header((row for _, row in rows), labels, missing)
    if not is_sure:
        reading, alternative = "a header", "a sample"
        if not is_header:
            reading, alternative = alternative, reading
        template = "%s: the first line is taken for %s; if it is %s, add data.header=%s"
        logger.warning(template, rows.where, reading, alternative, str(not is_header).lower())
    return is_header


def _build_table(
    stream: BinaryIO, chunk_rows: int, pandas_options: dict[str, Any], builder: "_TableBuilder"
) -> "_TableBuilder":
    while not all(
        map(
            builder.add_rows, _read_chunks(stream, chunk_rows, pandas_options, builder.text_columns)
        )
    ):
        # Read again: a column of text was parsed as numbers, which lose the original text.
        builder = builder.restarted()
    return builder


def _read_chunks(
    stream: BinaryIO, chunk_rows: int, pandas_options: dict[str, Any], text_columns: set[int] | None
):
    """Yield the file in chunks of rows, with the columns `text_columns` (None: all) as text."""
    import pandas as pd

    stream.seek(0)
    dtype = str if text_columns is None else None
    if text_columns:
        names = pd.read_csv(stream, nrows=1, **pandas_options).columns
        stream.seek(0)
        # The type "category" would parse numbers in chunks that have no words.
        dtype = {names[j]: str for j in text_columns}
    yield from pd.read_csv(stream, chunksize=chunk_rows, dtype=dtype, **pandas_options)


def _read_columns(
    stream: BinaryIO, chunk_rows: int, pandas_options: dict[str, Any], columns: set[int]
):
    """Yield columns as text, as mappings by column, in chunks of rows."""
    for frame in _read_chunks(stream, chunk_rows, pandas_options, columns):
        yield {j: frame.iloc[:, j] for j in columns}


def _count_lines(stream: BinaryIO) -> int:
    """Return the number of lines with any line ending: an upper bound on the number of rows."""
    stream.seek(0)
    n_lines, last = 1, b""
    for block in iter(lambda: stream.read(_BLOCK_BYTES), b""):
        pairs = (last + block).count(b"\r\n")  # a pair may be divided by a block boundary
        n_lines += block.count(b"\n") + block.count(b"\r") - pairs
        last = block[-1:]
    return n_lines


class _TableBuilder:
    """Accumulator of the rows of a file: numbers, and codes of words, which are stored once.

    Parameters
    ----------
    n_lines : int
        Upper bound on the number of rows.
    text_columns : set of int, or None
        Columns that are known to hold words. None: all columns.
    where : str
        Name of the file in messages.
    missing : tuple of (set of str, set of str)
        Words for a missing label, and for a missing feature.
    labels : str or None
        Name of the column of labels. None: unknown.
    drop : sequence of str
        Names and patterns of the columns to leave out.
    notation : Notation or None
        Notation of numbers that the user gave.
    """

    def __init__(
        self,
        n_lines: int,
        text_columns: set[int] | None,
        where: str,
        missing: tuple[frozenset[str], frozenset[str]],
        labels: str | None,
        drop: Sequence[str],
        notation: Notation | None,
    ):
        self.n_lines, self.text_columns = n_lines, text_columns
        self.settings = self.where, self.missing, self.labels, self.drop, self.notation = (
            *(where, missing, labels),
            *(drop, notation),
        )
        self.n_rows = 0
        # Columns of numbers whose text may have points.
        self.floats: set[int] = set()
        # True if a cell of the last column is missing. The row may then be too short.
        self.is_last_incomplete = False
        self.word_codes: dict[int, dict[str, int]] = {}
        # Columns of ids, of which no further words are stored.
        self.id_columns: set[int] = set()
        # Number of words of each column that are not numbers, and words that are not counted yet.
        self._n_texts: Counter[int] = Counter()
        self._uncounted: dict[int, list[str]] = {}
        self._are_bool: dict[int, bool] = {}

    def restarted(self) -> "_TableBuilder":
        """Return an empty builder that knows the text columns found so far."""
        return _TableBuilder(self.n_lines, self.text_columns, *self.settings)

    def add_rows(self, frame) -> bool:
        """Add a chunk of rows; return False if it has words in a column of numbers."""
        if not self.n_rows:
            self.names = compose_letters(str(name).strip() for name in frame.columns)
            self.label = label_column(self.names, self.labels, self.where)
            self.columns = select_columns(self.names, self.drop, self.label, self.where)
            # Memory for all rows; pages that are never written take none.
            self.values = np.empty((self.n_lines, len(self.names)))
        self.is_last_incomplete |= bool(frame.iloc[:, -1].isna().any())
        columns = {j: frame.iloc[:, j] for j in self.columns}
        text_columns = set(self.columns) if self.text_columns is None else self.text_columns
        new_text_columns = {
            j for j, column in columns.items() if j not in text_columns and self._is_text(j, column)
        }
        if new_text_columns:
            self.text_columns = text_columns | new_text_columns
            return False
        self.floats |= {j for j, column in columns.items() if column.dtype.kind == "f"}
        start, self.n_rows = self.n_rows, self.n_rows + len(frame)
        for j, column in columns.items():
            numbers = self._coded(j, column) if j in text_columns else column.to_numpy(dtype=float)
            self.values[start : self.n_rows, j] = numbers
        return True

    def _is_text(self, j: int, column) -> bool:
        kind = column.dtype.kind
        if kind not in "biuf" or self._are_bool.setdefault(j, kind == "b") != (kind == "b"):
            return True
        # Whole numbers that float64 cannot represent stay text, so that labels do not merge.
        return kind in "iu" and max(-int(column.min()), int(column.max())) >= MIN_INEXACT

    def _coded(self, j: int, column) -> np.ndarray:
        """Return the codes of a chunk of words; new words of a column of ids get the code 0."""
        import pandas as pd

        word_codes = self.word_codes.setdefault(j, {})
        codes, words = pd.factorize(column)
        missing = self.missing[j != self.label]
        # pandas strips the blanks before a word, but not after it.
        words = compose_letters(word.strip() for word in words)
        if j not in self.id_columns:
            new_words = [word for word in words if word not in missing and word not in word_codes]
            for word in new_words:
                word_codes.setdefault(word, len(word_codes))
            self._uncounted.setdefault(j, []).extend(new_words)
            if is_identifier_column(len(word_codes), self.n_lines) and j != self.label:
                # Numbers in columns of text, such as with commas, may all differ.
                uncounted = list(dict.fromkeys(self._uncounted.pop(j)))
                self._n_texts[j] += int(word_mask(uncounted, self.notation).sum())
                if is_identifier_column(self._n_texts[j], self.n_lines):
                    self.id_columns.add(j)
        codes_of_words = [np.nan if word in missing else word_codes.get(word, 0) for word in words]
        return np.array([*codes_of_words, np.nan])[codes]

    def table(self, rows: "_RowScanner", cells: Callable[[], Iterable]) -> DataTable:
        """Return the table; see `find_ambiguous_points` for `cells`."""
        values = self.values[: self.n_rows]
        texts = {
            j: TextColumn.from_codes(self.word_codes.pop(j), values[:, j])
            for j in sorted(self.word_codes)
        }
        for j, text in texts.items():
            if j != self.label:
                text.drop_none(values[:, j], self.notation)
        decimal, problems = self.notation.decimal if self.notation else "point", []
        if self.notation is None:
            comma_columns = convert_decimal_commas(texts, self.names, self.where)
            if comma_columns:
                decimal, problems = "comma", self._point_problems(texts, comma_columns, cells())
        categories: list = [None] * len(self.names)
        for j, text in texts.items():
            codes, categories[j] = text.sorted()
            values[:, j] = codes[np.nan_to_num(values[:, j], nan=-1).astype(np.int32)]
        columns = self.columns
        if columns[0] == 0 and self._numbers_rows(values[:, 0], categories[0]):
            columns = columns[1:]
        return DataTable(
            [self.names[j] for j in columns],
            [categories[j] for j in columns],
            values if len(columns) == len(self.names) else values[:, columns],
            self.where,
            strings=frozenset(i for i, j in enumerate(columns) if categories[j] is not None),
            notation=self.notation,
            decimal=decimal,
            line_of=rows.line_of,
            problems=tuple(problems),
        )

    def _point_problems(
        self, texts: Mapping[int, TextColumn], comma_columns: Sequence[int], cells: Iterable
    ) -> list[ColumnProblem]:
        """Return the columns whose points may separate thousands beside decimal commas."""
        point_texts = {j: text for j, text in texts.items() if j not in comma_columns}
        settings = (("decimal", "comma"), ("thousands", "point"))
        marks = " ".join(override(*setting) for setting in settings)
        return [
            ColumnProblem(
                f"{self.where}: {example!r} in column {self.names[j]!r} has a point, and other "
                "columns have decimal commas",
                f"{marks} reads {Notation('comma', 'point').normalize(example)}; else write a "
                "decimal comma",
                settings,
            )
            for j, example in sorted(find_ambiguous_points(point_texts, cells).items())
        ]

    def _numbers_rows(self, column: np.ndarray, words: list[str] | None) -> bool:
        """Return whether the first column has no name and numbers the rows; log its treatment."""
        if self.names[0] != _UNNAMED or self.label == 0:
            return False
        is_row_number = words is None and column[0] in (0, 1)
        is_row_number = is_row_number and np.array_equal(column, column[0] + np.arange(len(column)))
        explanation = "counts the rows; it is left out"
        if not is_row_number:
            explanation = f"does not count the rows; it is the feature {_UNNAMED!r}"
        logger.warning("%s: the first column has no name and %s", self.where, explanation)
        return is_row_number


def _guess_separator(lines: Sequence[str]) -> str:
    """Return the most frequent separator outside of quotes and numbers."""
    lines = [_QUOTED.sub('""', line) for line in lines if line]
    for separator in ";\t":
        cells = [cell.strip(" \"'") for cell in lines[0].split(separator)]
        if len(cells) > 1 and all(
            "," not in cell or DECIMAL_COMMA.fullmatch(cell) for cell in cells
        ):
            return separator
    return max(";\t,", key=lambda one: _separator_rank([line.count(one) for line in lines]))


def _separator_rank(counts: Sequence[int]) -> tuple[int, bool, int]:
    """Return a sort key that ranks a separator by its counts in the first lines."""
    # Column names may hold commas which the rows below lack, or have in their numbers.
    return min(counts), 0 < min(counts) == max(counts), counts[0]


class _RowScanner:
    """Iterator over the rows of a file with their line numbers, for error messages."""

    has_header = False

    def __init__(self, stream: BinaryIO, separator: str, where: str, n_skipped: int):
        self.where = where
        self._stream, self._separator, self._n_skipped = stream, separator, n_skipped

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row, including the header, with the number of its first line."""
        for number, _, row in self._rows():
            yield number, row

    def _rows(self) -> Iterator[tuple[int, int, list[str]]]:
        lines = islice(read_lines(self._stream, self.where), self._n_skipped, None)
        rows = csv.reader(lines, delimiter=self._separator, skipinitialspace=True)
        number = self._n_skipped + 1
        try:
            for row in rows:
                last = self._n_skipped + rows.line_num
                if len(row) > 1 or any(map(str.strip, row)):
                    yield number, last, row
                number = last + 1
        except csv.Error as error:
            hint = _QUOTE_HINT if "field limit" in str(error) else ""
            raise UserError(f"{self.where}, line {number}: {error}{hint}") from None

    def line_of(self, sample: int) -> str:
        """Return the position of a sample for messages: file and line."""
        number, _ = next(islice(self, sample + self.has_header, None))
        return f"{self.where}, line {number}"

    def check_label(self, label: int) -> None:
        """Check that only one column has the labels' name; another might reveal the classes."""
        names = [cell.strip() for cell in next(iter(self))[1]]
        if names[label] and names.count(names[label]) > 1:
            raise UserError(
                f"{self.where}: {names.count(names[label])} columns are called {names[label]!r}, "
                "and one of them holds the classes; give each a name of its own"
            )

    def open_quote_error(self) -> UserError:
        """Return the error for an open quote, which is in the last row."""
        *_, (number, _) = self
        return UserError(
            f"{self.where}, line {number}: a quote mark opens a cell, and none closes it; close "
            "it, or take it out"
        )

    def check_widths(self) -> None:
        """Check that all rows have as many cells as the first row.

        After a header, rows may have an additional empty cell if the first sample has one, as
        pandas accepts this.
        """
        width = most = len(next(iter(self))[1])
        for sample, (number, last, row) in enumerate(self._rows(), -self.has_header):
            if sample == 0 and self.has_header and len(row) == width + 1:
                most = len(row)
            if not width <= len(row) <= most or any(map(str.strip, row[width:])):
                hint = f" (it goes on to line {last}{_QUOTE_HINT})" if last > number else ""
                raise UserError(
                    f"{self.where}, line {number} has {len(row)} cells{hint}, but the first row "
                    f"{width}; every row needs one cell for each column"
                )
