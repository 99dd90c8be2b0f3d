"""Reader of CSV files.

pandas parses the cells in chunks of rows. Numbers become a matrix. Words become *codes*, numbers in
the order in which the words of a column first occur.
"""

import csv
import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from boostbench.data.column_problems import ColumnProblem, format_setting
from boostbench.data.csv_cells import (
    DECIMAL_COMMA,
    TextColumn,
    convert_decimal_commas,
    find_ambiguous_points,
    guess_header,
    non_number_mask,
)
from boostbench.data.data_table import DataTable, label_column, select_columns
from boostbench.data.readers.base import Reader, ReadOptions
from boostbench.data.text import MIN_INEXACT, Notation, check_utf8, compose_letters, read_lines
from boostbench.util.errors import UserError
from boostbench.util.text_columns import is_identifier_column

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

#: Words for a missing value in any column.
MISSING_WORDS = ("", "NA", "?")
#: Further words for a missing value in columns of features, as in pandas; classes may have these
#: names.
MISSING_FEATURE_WORDS = (
    *("N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "NULL", "null"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
#: Name that pandas gives a first column without a name.
_UNNAMED = "Unnamed: 0"
#: Hint for a cell that extends over several lines.
_QUOTE_HINT = "; is a quote mark not closed?"
#: Largest number of columns: pandas takes long for each.
MAX_COLUMNS = 100_000
#: Number of cells that pandas parses at a time: a few MB, and enough for its speed.
_CHUNK_CELLS = 2**19
#: Number of bytes that are read at a time when lines are counted.
_BLOCK_BYTES = 2**20
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
    rank = 3  # position in the search for a data set's file

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


@dataclass(frozen=True)
class _CellRules:
    """Settings by which the cells of a file are read.

    Parameters
    ----------
    where : str
        Name of the file in messages.
    missing_labels, missing_features : list of str
        Words for a missing label, and for a missing feature.
    labels : str or None
        Name of the column of labels. None: unknown.
    drop : tuple of str
        Names and patterns of the columns to leave out.
    notation : Notation or None
        Notation of numbers that the user gave. None: it is recognised.
    """

    where: str
    missing_labels: list[str]
    missing_features: list[str]
    labels: str | None
    drop: tuple[str, ...]
    notation: Notation | None


def _make_cell_rules(options: ReadOptions, where: str) -> _CellRules:
    """Return the rules for the settings of a user."""
    [labels] = compose_letters([options.labels])
    numbers = [value for value in options.na_values if not isinstance(value, str)]
    # Numbers in `na_values` may be written with a decimal point or a decimal comma.
    with_commas = [str(float(number)).replace(".", ",") for number in numbers]
    missing_labels = [*MISSING_WORDS, *map(str, options.na_values), *with_commas]
    return _CellRules(
        where=where,
        missing_labels=missing_labels,
        missing_features=[*missing_labels, *MISSING_FEATURE_WORDS],
        labels=labels,
        drop=options.drop,
        notation=_notation(options, where),
    )


def _read(stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
    """Return the content of a file, see `Csv.read`."""
    import pandas as pd  # slow to import

    # 1) Recognise the separator and the header.
    rules = _make_cell_rules(options, where)
    scanner = _RowScanner(stream, where, _find_layout(stream, where))
    has_header = options.header
    if has_header is None:
        has_header = _detect_header(scanner, rules)
    scanner.has_header = has_header
    # 2) Parse the cells.
    parser = _PandasParser(scanner, rules.missing_features)
    has_decimal_commas = rules.notation is not None and rules.notation.decimal == "comma"
    builder = _TableBuilder(
        rules,
        n_lines=_count_lines(stream),
        # A file with decimal commas is read as text (None), as "1.200" may be 1200, and not 1.2. In
        # any other file no column is known to be text before its words are met.
        text_columns=None if has_decimal_commas else set(),
    )
    try:
        with warnings.catch_warnings():
            # pandas warns when it drops the last cells of long rows.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            builder = _add_all_rows(parser, builder)
            if np.isnan(builder.values[: builder.n_rows, builder.label_index]).any():
                # Read again, as a class may have the name of a missing feature value.
                parser.set_missing_labels(builder.label_index, len(builder.names), rules)
                builder = _add_all_rows(parser, builder.empty_copy())
    except UserError:
        raise
    except Exception as error:  # ParserWarning, and any error of pandas' parsers and decoders
        check_utf8(stream, where)
        if "EOF inside string" in str(error):
            raise scanner.open_quote_error() from None
        scanner.check_widths()
        raise UserError(f"{where} does not parse: {' '.join(str(error).split())}") from None
    # 3) Check the rows, and make the table.
    if not builder.n_rows:
        raise UserError(f"{where} holds no samples")
    if builder.is_last_incomplete:
        scanner.check_widths()  # pandas fills short rows with missing values
    if has_header:
        scanner.check_label(builder.label_index)
    return builder.make_table(scanner, parser)


class _Layout(NamedTuple):
    """Layout of a file, as its first lines show it.

    Attributes
    ----------
    separator : str
        Character between two cells.
    n_skipped : int
        1 if the first line only names the separator, else 0.
    n_cells : int
        Number of cells in the first row.
    """

    separator: str
    n_skipped: int
    n_cells: int


def _find_layout(stream: BinaryIO, where: str) -> _Layout:
    """Return the layout of a file, after checking its first lines.

    Raises
    ------
    UserError
        If the first line is empty or a comment, or has no separator or too many of them.
    """
    # 1) Find the separator: the one that the first line names, or the most likely one.
    lines = list(islice(read_lines(stream, where), 3))
    separator_line = _SEPARATOR_LINE.fullmatch(lines[0].rstrip("\r\n")) if lines else None
    n_skipped = int(separator_line is not None)
    lines = [line.strip() for line in lines[n_skipped : n_skipped + 2]]
    if not lines or not lines[0]:
        raise UserError(f"{where} is empty, or its first line is")
    separator = separator_line[2] if separator_line else _guess_separator(lines)
    # 2) Check the first two rows.
    n_separators = [line.count(separator) for line in lines]
    # A name may begin with '#', too: then both lines have equally many separators.
    if lines[0].startswith("#") and (not n_separators[0] or len(set(n_separators)) > 1):
        raise UserError(
            f"{where}, line {1 + n_skipped} begins with '#', as a comment does, and CSV files have "
            "none; take such lines out"
        )
    if n_separators[0] >= MAX_COLUMNS:
        raise UserError(
            f"{where} has more than {MAX_COLUMNS} columns, and pandas takes long for each; write "
            "it as a LIBSVM or npz file"
        )
    if not any(n_separators):
        expected = (
            f"{separator!r}, which line 1 names," if separator_line else "comma, semicolon or tab"
        )
        raise UserError(
            f"{where} has no column of features beside the labels: no {expected} is in its first "
            "lines; put one between cells"
        )
    return _Layout(separator, n_skipped, n_cells=1 + n_separators[0])


def _detect_header(scanner: "_RowScanner", rules: _CellRules) -> bool:
    """Return whether there is a header, by a guess; log a warning if the guess is uncertain."""
    rows = (row for _, row in scanner)
    is_header, is_sure = guess_header(rows, rules.labels, rules.missing_features)
    if not is_sure:
        reading, alternative = "a header", "a sample"
        if not is_header:
            reading, alternative = alternative, reading
        template = "%s: the first line is taken for %s; if it is %s, add data.header=%s"
        logger.warning(template, rules.where, reading, alternative, str(not is_header).lower())
    return is_header


class _PandasParser:
    """Parser of a file by pandas, in chunks of rows.

    Parameters
    ----------
    scanner : _RowScanner
        The file, its separator and whether it has a header.
    missing : list of str
        Words for a missing value in any column.
    """

    def __init__(self, scanner: "_RowScanner", missing: list[str]):
        self._stream = scanner.stream
        self._n_chunk_rows = max(1, _CHUNK_CELLS // scanner.n_cells)
        self._options = {
            "sep": scanner.separator,
            "skiprows": scanner.n_skipped,
            "header": 0 if scanner.has_header else None,
            "keep_default_na": False,
            "na_values": missing,
            "skipinitialspace": True,
            "low_memory": False,  # else pandas may convert a part of a text column to numbers
            "index_col": False,
            "encoding": "utf-8-sig",
        }

    def set_missing_labels(self, label_index: int, n_columns: int, rules: _CellRules) -> None:
        """Give the column of labels its own words for a missing value.

        Words by position are slow for many columns, hence the first attempt without them. There is
        one extra position, as rows may end with an additional empty cell.

        Parameters
        ----------
        label_index : int
            Position of the column of labels.
        n_columns : int
            Number of columns of the file.
        rules : _CellRules
            Words for missing labels and for missing features.
        """
        by_position = dict.fromkeys(range(n_columns + 1), rules.missing_features)
        self._options["na_values"] = by_position | {label_index: rules.missing_labels}

    def chunks(self, text_columns: set[int] | None) -> "Iterator[pd.DataFrame]":
        """Yield data frames of consecutive rows.

        Parameters
        ----------
        text_columns : set of int, or None
            Columns that are read as text. None: all.
        """
        import pandas as pd

        self._stream.seek(0)
        dtype = str if text_columns is None else None
        if text_columns:
            names = pd.read_csv(self._stream, nrows=1, **self._options).columns
            self._stream.seek(0)
            # The type "category" would parse numbers in chunks that have no words.
            dtype = {names[j]: str for j in text_columns}
        size = self._n_chunk_rows
        yield from pd.read_csv(self._stream, chunksize=size, dtype=dtype, **self._options)

    def text_columns(self, columns: set[int]) -> Iterator[tuple[int, Any]]:
        """Yield each column as a pandas series of text, with its position, chunk by chunk."""
        for frame in self.chunks(columns):
            yield from ((j, frame.iloc[:, j]) for j in columns)


def _add_all_rows(parser: _PandasParser, builder: "_TableBuilder") -> "_TableBuilder":
    """Add all rows to a builder, and return it.

    If a later chunk has words in a column of numbers, the text of the earlier numbers is lost. The
    file is then read again with this column as text, into a new builder, until no such column is
    left.
    """
    is_complete = False
    while not is_complete:
        is_complete = True
        for frame in parser.chunks(builder.text_columns):
            if not builder.add_rows(frame):
                builder, is_complete = builder.empty_copy(), False
                break
    return builder


def _count_lines(stream: BinaryIO) -> int:
    """Return the number of lines with any line ending: an upper bound on the number of rows."""
    stream.seek(0)
    n_lines, last = 1, b""
    while block := stream.read(_BLOCK_BYTES):
        # A line may end with \n, \r or the pair \r\n, which two blocks may share.
        n_pairs = (last + block).count(b"\r\n")
        n_lines += block.count(b"\n") + block.count(b"\r") - n_pairs
        last = block[-1:]
    return n_lines


class _WordCodes:
    """Codes of the words of a column, in the order in which the words first occur.

    Parameters
    ----------
    missing : list of str
        Words for a missing value.
    notation : Notation or None
        Notation of numbers that the user gave.
    max_rows : int
        Upper bound on the number of rows.
    may_be_ids : bool
        Whether the column may hold ids. Columns of labels may not.
    """

    def __init__(
        self, missing: Sequence[str], notation: Notation | None, max_rows: int, may_be_ids: bool
    ):
        self.codes = {}
        self._missing, self._notation = frozenset(missing), notation
        self._max_rows, self._may_be_ids = max_rows, may_be_ids
        # True if no further words are stored: they would fill the memory.
        self._holds_ids = False
        # Number of words that are not numbers, and the words that were not examined for it yet.
        self._n_texts = 0
        self._unclassified: list[str] = []

    def encode(self, column) -> np.ndarray:
        """Return the codes of a pandas series of words, as float64 with NaN for missing values.

        New words of a column of ids get the code 0.
        """
        import pandas as pd

        positions, words = pd.factorize(column)
        # pandas strips the blanks before a word, but not after it.
        words = compose_letters(word.strip() for word in words)
        if not self._holds_ids:
            self._add(word for word in words if word not in self._missing)
        codes = [np.nan if word in self._missing else self.codes.get(word, 0) for word in words]
        return np.array([*codes, np.nan])[positions]  # the position of a missing value is -1

    def _add(self, words: Iterable[str]) -> None:
        """Give new words their codes, and find out whether the column holds ids."""
        for word in words:
            if word not in self.codes:
                self.codes[word] = len(self.codes)
                self._unclassified.append(word)
        if self._may_be_ids and is_identifier_column(len(self.codes), self._max_rows):
            # Numbers in columns of text, such as with commas, may all differ.
            self._n_texts += int(non_number_mask(self._unclassified, self._notation).sum())
            self._unclassified = []
            self._holds_ids = is_identifier_column(self._n_texts, self._max_rows)


class _TableBuilder:
    """Accumulator of the rows of a file: numbers, and codes of words, which are stored once.

    `add_rows` is called for each chunk of rows; the first call sets `names`, `label_index`,
    `columns` and `values`. `make_table` returns the result. If a column turns out to hold words
    after rows were stored as numbers, their text is lost: `_add_all_rows` then reads the file again
    into `empty_copy()`, which knows the column as text.

    Parameters
    ----------
    rules : _CellRules
    n_lines : int
        Upper bound on the number of rows.
    text_columns : set of int, or None
        Columns that are known to hold words. None: all columns.

    Attributes
    ----------
    n_rows : int
        Number of added rows.
    names : list of str
        Names of the columns of the file.
    label_index : int
        Column of labels.
    columns : list of int
        Columns that are not left out.
    values : ndarray of shape (n_lines, n_columns), float64
        Numbers and codes, of which the first `n_rows` rows are set.
    is_last_incomplete : bool
        True if a cell of the last column is missing. The row may then be too short.
    """

    def __init__(self, rules: _CellRules, n_lines: int, text_columns: set[int] | None):
        self.rules, self.n_lines, self.text_columns = rules, n_lines, text_columns
        self.n_rows = 0
        self.is_last_incomplete = False
        # Columns of numbers whose text may have points, and columns of truth values.
        self._floats: set[int] = set()
        self._bools: set[int] = set()
        # Words of each column; None: a column of numbers.
        self._word_codes: list[_WordCodes | None] = []

    def empty_copy(self) -> "_TableBuilder":
        """Return an empty builder that knows the text columns found so far."""
        return _TableBuilder(self.rules, self.n_lines, self.text_columns)

    def _set_columns(self, frame) -> None:
        """Set the attributes that depend on the columns of the file."""
        rules = self.rules
        self.names = compose_letters(str(name).strip() for name in frame.columns)
        self.label_index = label_column(self.names, rules.labels, rules.where)
        self.columns = select_columns(self.names, rules.drop, self.label_index, rules.where)
        # Memory for all rows; pages that are never written take none.
        self.values = np.empty((self.n_lines, len(self.names)))
        self._word_codes = [None] * len(self.names)

    def add_rows(self, frame) -> bool:
        """Add a data frame of rows.

        Returns
        -------
        bool
            False if the rows have words in a column that was read as numbers. Nothing is added
            then; `text_columns` has the column, for a new start.
        """
        # 1) Prepare the attributes by the first rows.
        if not self.n_rows:
            self._set_columns(frame)
        self.is_last_incomplete |= bool(frame.iloc[:, -1].isna().any())
        columns = [(j, frame.iloc[:, j]) for j in self.columns]
        if not self.n_rows:
            self._bools = {j for j, column in columns if column.dtype.kind == "b"}
        # 2) Stop if a column turns out to hold words.
        text_columns = set(self.columns) if self.text_columns is None else self.text_columns
        new_text_columns = {
            j for j, column in columns if j not in text_columns and self._is_text(j, column)
        }
        if new_text_columns:
            self.text_columns = text_columns | new_text_columns
            return False
        # 3) Store numbers, and codes of words.
        self._floats |= {j for j, column in columns if column.dtype.kind == "f"}
        start, self.n_rows = self.n_rows, self.n_rows + len(frame)
        for j, column in columns:
            numbers = self._encode(j, column) if j in text_columns else column.to_numpy(float)
            self.values[start : self.n_rows, j] = numbers
        return True

    def _encode(self, j: int, column) -> np.ndarray:
        """Return the codes of a pandas series of words in column `j`."""
        words = self._word_codes[j]
        if words is None:
            is_label = j == self.label_index
            words = self._word_codes[j] = _WordCodes(
                self.rules.missing_labels if is_label else self.rules.missing_features,
                self.rules.notation,
                max_rows=self.n_lines,
                may_be_ids=not is_label,
            )
        return words.encode(column)

    def _is_text(self, j: int, column) -> bool:
        """Return whether a pandas series has to be read as text, by its type and its numbers.

        `column` is the part of column `j` in a chunk of rows.
        """
        kind = column.dtype.kind
        # Truth values count as numbers only if all chunks have them, as "True" is no number.
        if kind not in "biuf" or (j in self._bools) != (kind == "b"):
            return True
        # Whole numbers that float64 cannot represent stay text, so that labels do not merge.
        return kind in "iu" and max(-int(column.min()), int(column.max())) >= MIN_INEXACT

    def make_table(self, scanner: "_RowScanner", parser: _PandasParser) -> DataTable:
        """Return the content of the file, after all rows were added.

        Parameters
        ----------
        scanner : _RowScanner
            Iterator over the rows, for messages with line numbers.
        parser : _PandasParser
            Parser that reads numbers as text again, where their notation is in doubt.
        """
        values, notation, where = self.values[: self.n_rows], self.rules.notation, self.rules.where
        # 1) Count the words of each column, and convert decimal commas.
        texts = [
            TextColumn.count_words(j, words.codes, values[:, j])
            for j, words in enumerate(self._word_codes)
            if words is not None
        ]
        self._word_codes.clear()  # the look-up tables of many words take much memory
        for text in texts:
            if text.index != self.label_index:
                text.replace_none(values[:, text.index], notation)
        decimal, problems = notation.decimal if notation else "point", []
        if notation is None:
            comma_columns = convert_decimal_commas(texts, self.names, where)
            if comma_columns:
                decimal = "comma"
                texts_without_commas = [text for text in texts if text.index not in comma_columns]
                problems = self._point_problems(texts_without_commas, parser)
        # 2) Sort the categories, and give the codes their order.
        categories: list[list[str] | None] = [None] * len(self.names)
        for text in texts:
            codes, categories[text.index] = text.sort_words()
            old_codes = np.nan_to_num(values[:, text.index], nan=-1).astype(np.int32)
            values[:, text.index] = codes[old_codes]
        # 3) Leave out a column of row numbers.
        columns = self.columns
        if columns[0] == 0 and self._is_row_number_column(values[:, 0], categories[0]):
            columns = columns[1:]
        return DataTable(
            [self.names[j] for j in columns],
            [categories[j] for j in columns],
            values if len(columns) == len(self.names) else values[:, columns],
            where,
            free_text_columns=frozenset(
                i for i, j in enumerate(columns) if categories[j] is not None
            ),
            notation=notation,
            decimal=decimal,
            line_of=scanner.line_of,
            problems=tuple(problems),
        )

    def _point_problems(
        self, texts: Sequence[TextColumn], parser: _PandasParser
    ) -> list[ColumnProblem]:
        """Return the problems of columns whose points may be decimal or between thousands.

        Parameters
        ----------
        texts : sequence of TextColumn
            Columns of text without decimal commas.
        parser : _PandasParser
            Parser that reads the columns of numbers as text again.
        """
        settings = (("decimal", "comma"), ("thousands", "point"))
        marks = " ".join(format_setting(*setting) for setting in settings)
        numbers = parser.text_columns(self._floats)
        return [
            ColumnProblem(
                f"{self.rules.where}: {example!r} in column {self.names[j]!r} has a point, and "
                "other columns have decimal commas",
                f"{marks} reads {Notation('comma', 'point').normalize(example)}; else write a "
                "decimal comma",
                settings,
            )
            for j, example in find_ambiguous_points(texts, numbers)
        ]

    def _is_row_number_column(self, column: np.ndarray, words: list[str] | None) -> bool:
        """Return whether the first column has no name and numbers the rows; log its treatment.

        Parameters
        ----------
        column : ndarray of shape (n_rows,), float64
            Numbers or codes of the column.
        words : list of str or None
            Its categories. None: it is numeric.
        """
        if self.names[0] != _UNNAMED or self.label_index == 0:
            return False
        counts_rows = (
            words is None
            and column[0] in (0, 1)
            and np.array_equal(column, column[0] + np.arange(len(column)))
        )
        explanation = "counts the rows; it is left out"
        if not counts_rows:
            explanation = f"does not count the rows; it is the feature {_UNNAMED!r}"
        logger.warning("%s: the first column has no name and %s", self.rules.where, explanation)
        return counts_rows


def _guess_separator(lines: Sequence[str]) -> str:
    """Return the most likely separator: semicolon, tab or comma.

    Parameters
    ----------
    lines : sequence of str
        First one or two lines of the file.
    """
    lines = [_QUOTED.sub('""', line) for line in lines if line]
    # Semicolons and tabs take precedence if all commas are decimal commas.
    for separator in ";\t":
        cells = [cell.strip(" \"'") for cell in lines[0].split(separator)]
        if len(cells) > 1 and all(
            "," not in cell or DECIMAL_COMMA.fullmatch(cell) for cell in cells
        ):
            return separator
    # Otherwise the counts outside of quotes decide.
    return max(";\t,", key=lambda mark: _separator_rank([line.count(mark) for line in lines]))


def _separator_rank(counts: Sequence[int]) -> tuple[int, bool, int]:
    """Return a sort key that ranks a separator by its counts in the first lines.

    A separator is in both lines, equally often, and often. The minimum comes first, as names of
    columns may hold commas that the rows below lack, and rows may have commas in their numbers.
    """
    return min(counts), 0 < min(counts) == max(counts), counts[0]


class _RowScanner:
    """Iterator over the rows of a file with their line numbers, for error messages.

    Parameters
    ----------
    stream : binary file
    where : str
        Name of the file in messages.
    layout : _Layout

    Attributes
    ----------
    separator, n_skipped, n_cells
        See `_Layout`.
    has_header : bool, default=False
        Whether the first row holds the names of the columns. The reader sets it after its guess,
        for which it iterates over the rows.
    """

    def __init__(self, stream: BinaryIO, where: str, layout: _Layout):
        self.stream, self.where = stream, where
        self.separator, self.n_skipped, self.n_cells = layout
        self.has_header = False

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row, including the header, with the number of its first line."""
        for number, _, row in self._rows():
            yield number, row

    def _rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Yield each row that is not empty, with the numbers of its first and its last line."""
        lines = islice(read_lines(self.stream, self.where), self.n_skipped, None)
        rows = csv.reader(lines, delimiter=self.separator, skipinitialspace=True)
        number = self.n_skipped + 1
        try:
            for row in rows:
                last = self.n_skipped + rows.line_num
                if len(row) > 1 or any(map(str.strip, row)):
                    yield number, last, row
                number = last + 1
        except csv.Error as error:
            hint = _QUOTE_HINT if "field limit" in str(error) else ""
            raise UserError(f"{self.where}, line {number}: {error}{hint}") from None

    def line_of(self, sample: int) -> str:
        """Return file and line of a sample for messages; samples count from 0."""
        number, _ = next(islice(self, sample + self.has_header, None))
        return f"{self.where}, line {number}"

    def check_label(self, label_index: int) -> None:
        """Check that only one column has the labels' name; another might reveal the classes."""
        names = [cell.strip() for cell in next(iter(self))[1]]
        label_name = names[label_index]
        if label_name and names.count(label_name) > 1:
            raise UserError(
                f"{self.where}: {names.count(label_name)} columns are called {label_name!r}, "
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
        width = max_width = len(next(iter(self))[1])
        # Samples count from 0, so that a header has the number -1.
        for sample, (number, last, row) in enumerate(self._rows(), -self.has_header):
            if sample == 0 and self.has_header and len(row) == width + 1:
                max_width = len(row)
            if not width <= len(row) <= max_width or any(map(str.strip, row[width:])):
                hint = f" (it goes on to line {last}{_QUOTE_HINT})" if last > number else ""
                raise UserError(
                    f"{self.where}, line {number} has {len(row)} cells{hint}, but the first row "
                    f"{width}; every row needs one cell for each column"
                )
