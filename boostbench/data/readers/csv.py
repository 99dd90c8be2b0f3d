"""CSV files."""

import csv
import io
import logging
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import numpy as np

from boostbench.data.labels import INEXACT
from boostbench.data.table import Table
from boostbench.errors import UserError

logger = logging.getLogger(__name__)

#: So many of the columns with decimal commas are named.
_NAMED = 5
#: Besides pandas' own words for "missing".
MISSING = ["?"]
#: Columns that a file may have.
MOST = 100_000
#: A number with a decimal comma, or with commas between thousands.
_COMMA = re.compile(r"[-+]?(?=[.\d]*,)(?=,*\d)[\d.,]+([eE][-+]?\d+)?")
#: With a decimal comma, and perhaps points between thousands: 1,5 or 1.234,5.
_DECIMAL = re.compile(r"[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?")
#: What may be either: 1,234.
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


def read_csv(stream: BinaryIO, where: str, labels: str | None = None) -> Table:
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

    Returns
    -------
    Table

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
    rows = _Rows(stream, separator, header, where)
    stream.seek(0)
    try:
        with warnings.catch_warnings():
            # What pandas says when it leaves the last cells of long rows out.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                stream,
                sep=separator,
                header=0 if header else None,
                na_values=MISSING,
                skipinitialspace=True,
                low_memory=False,  # else a large column of words may come out half as numbers
                index_col=False,
                encoding="utf-8-sig",
                encoding_errors="replace",
            )
    except Exception as error:  # ParserWarning, and whatever pandas' parsers raise
        rows.check_widths()
        raise UserError(f"{where} does not parse: {' '.join(str(error).split())}") from None
    if frame.iloc[:, -1:].isna().to_numpy().any():
        rows.check_widths()  # pandas fills short rows up
    if header and first[0] == "":
        frame = frame.iloc[:, 1:]
    if frame.empty:
        raise UserError(f"{where} holds no samples")
    frame = _with_points(frame, where)
    columns = [_column(frame.iloc[:, j], rows) for j in range(frame.shape[1])]
    values, categories = zip(*columns, strict=True)
    names = [str(name).strip() for name in frame.columns]
    return Table(names, list(categories), np.column_stack(values), where)


def _separator(line: str) -> str:
    """Choose what separates cells: the most frequent, but no commas inside of numbers."""
    for separator in ";\t":
        cells = [cell.strip(" \"'") for cell in line.split(separator)]
        if len(cells) > 1 and all("," not in cell or _DECIMAL.fullmatch(cell) for cell in cells):
            return separator
    return max(",;\t", key=line.count)


def _with_points(frame, where: str):
    """Put points in the place of decimal commas, where nothing else can be meant.

    That is, if each number of a column with commas has one such comma, none has a point alone, and
    the commas of one column at least cannot stand between thousands.
    """
    import pandas as pd

    decimal, is_clear = {}, False
    for name in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[name]):
            continue
        text = frame[name].astype("string")
        cells = text[text.str.fullmatch(_COMMA).fillna(False)]
        with_point = text.str.fullmatch(r"[-+]?\d*\.\d*([eE][-+]?\d+)?").fillna(False)
        numbers = pd.to_numeric(text, errors="coerce").notna().sum()
        n_words = text.notna().sum() - numbers - len(cells)
        if len(cells) > n_words and cells.str.fullmatch(_DECIMAL).all() and not with_point.any():
            decimal[name] = text
            is_clear |= not cells.str.fullmatch(_EITHER).all()
    if not is_clear:
        return frame
    shown = ", ".join(map(str, list(decimal)[:_NAMED]))
    more = f" and {len(decimal) - _NAMED} more" if len(decimal) > _NAMED else ""
    logger.warning("%s: decimal commas, read as points: %s%s", where, shown, more)
    frame = frame.copy()
    for name, text in decimal.items():
        points = text.str.replace(".", "").str.replace(",", ".")
        frame[name] = points.where(text.str.fullmatch(_DECIMAL).fillna(False), text)
    return frame


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


class _Rows:
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


def _column(column, rows: _Rows) -> tuple[np.ndarray, list[str] | None]:
    """Turn a pandas column into numbers, or into codes and what they stand for."""
    import pandas as pd

    types = pd.api.types
    # Whole numbers that float64 does not hold become words, so that none merge as labels.
    if types.is_integer_dtype(column):
        is_plain = max(-int(column.min()), int(column.max())) < INEXACT
    else:
        is_plain = types.is_bool_dtype(column) or types.is_numeric_dtype(column)
    if is_plain:
        return column.to_numpy(dtype=float), None
    text = column.astype("string")
    is_number = pd.to_numeric(text, errors="coerce").notna()
    is_word = (text.notna() & ~is_number).to_numpy(dtype=bool)
    has_comma = text.str.fullmatch(_COMMA).fillna(False).to_numpy(dtype=bool)
    if has_comma.sum() > (is_word & ~has_comma).sum():
        wrong, what = has_comma, "has a comma"
        advice = "write a decimal point, and nothing between thousands"
    elif is_word.any() and is_number.sum() > is_word.sum():
        wrong, what = is_word, "stands among the numbers"
        advice = "correct it, or leave the cell empty if it is missing"
    else:
        codes, categories = pd.factorize(text, sort=True)
        return np.where(codes < 0, np.nan, codes), categories.tolist()
    sample = int(wrong.argmax())
    cell, name = text.iloc[sample], str(column.name)
    raise UserError(f"{rows.line(sample)}: {cell!r} in column {name!r} {what}; {advice}")
