"""Reader of ARFF files, dense and sparse.

liac-arff, which openml uses, parses the file. The reader changes lines that it does not support,
and adds line numbers to its errors.
"""

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import BinaryIO

import numpy as np

from boostbench.data.column_problems import UnreadableColumns, date_problem
from boostbench.data.data_table import DataTable, matches_any, unquote
from boostbench.data.readers.base import Reader, ReadOptions
from boostbench.data.text import read_lines
from boostbench.util.errors import UserError

#: A keyword and the blank after it, where liac-arff does not accept a tab.
_KEYWORD = re.compile(r"^(\s*@\w+)\s+")
#: A range after the type of a number, as in "INTEGER [0,9]", which liac-arff does not support.
_RANGE = r"(?:\s*\[[^\]]*\])"
#: Numbers that are declared as integer may have fractions, which liac-arff would truncate.
_INTEGER_OR_RANGE = re.compile(
    rf"^(\s*@attribute\b.*[\s'\"])(?:integer|(?:integer|real|numeric){_RANGE})\s*$", re.IGNORECASE
)
#: Quoted text, and an attribute up to its type.
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_QUOTED_TEXT = re.compile(_QUOTED)
_ATTRIBUTE = rf"\s*@attribute\s+({_QUOTED}|[^\s'\"{{}}%,]+)\s+"
#: An attribute of dates, which liac-arff does not support.
_DATE_ATTRIBUTE = re.compile(rf"{_ATTRIBUTE}date\b", re.IGNORECASE)
#: A comment after a type, which liac-arff would parse as a part of the type.
_TRAILING_COMMENT = re.compile(
    rf"({_ATTRIBUTE}(?:(?:numeric|real|integer){_RANGE}?|string|\{{(?:{_QUOTED}|[^'\"}}])*\}}))\s*%.*",
    re.IGNORECASE | re.DOTALL,
)
#: The weight of a sample after its values, as Weka writes it.
_WEIGHT = re.compile(r".*,\s*(\{[^{},]*\})\s*")
#: The index of each value of a sparse sample, after its quoted values were removed.
_INDEX = re.compile(r"[{,]\s*(\d+)")
#: Rows per conversion: enough for NumPy's speed, few enough to hold as Python objects.
CHUNK_ROWS = 2000


class Arff(Reader):
    """Attribute-relation files of Weka and OpenML, dense or sparse."""

    title = "ARFF"
    content = "attributes with their types, and rows; dense or sparse"
    suffixes = (".arff",)
    options = ("labels", "drop")
    rank = 2  # position in the search for a data set's file

    def read(self, stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
        """Load a dense or sparse ARFF file.

        A value that a sparse row omits is zero, or the first category of a nominal attribute, as
        the format defines. Columns that every row omits are kept.

        Parameters and result are described in `Reader.read`.

        Raises
        ------
        UserError
            If a line is not UTF-8 or does not parse; the message has its number.
        """
        table = _read(stream, where, options.drop)
        return table.drop_columns(options.drop, options.labels) if options.drop else table


def _read(stream: BinaryIO, where: str, drop: Sequence[str]) -> DataTable:
    """Return the content of a file, see `Arff.read`."""
    import arff  # liac-arff, as openml uses it

    # 1) Read the header, and find out whether the rows are sparse.
    lines = _FileLines(stream, where, drop)
    header = list(lines.header_lines())
    first = next(lines.sample_lines(), None)
    if first is None:
        raise UserError(f"{where} holds no samples (no rows after @DATA)")
    is_sparse = first.startswith("{")
    # 2) Let liac-arff parse header and rows.
    try:
        decoded = arff.ArffDecoder().decode(
            chain(lines.replay(header, first), lines.sample_lines()),
            encode_nominal=True,
            return_type=arff.LOD_GEN if is_sparse else arff.DENSE_GEN,
        )
        # The type of an attribute is the list of its categories, or the name of a type.
        attributes, rows = decoded["attributes"], decoded["data"]
        text_codes = [_TextCodes() if kind == "STRING" else None for _, kind in attributes]
        if is_sparse:
            values = _read_sparse(rows, text_codes, lines)
        else:
            values = _read_dense(rows, text_codes)
    except arff.ArffException as error:
        weight = _WEIGHT.fullmatch(lines.line)
        if weight:
            raise UserError(
                f"{where}, line {lines.number} gives the sample the weight {weight[1]}, which is "
                "not read; take the weights out"
            ) from None
        # liac-arff numbers the lines of the header only, and cannot print words with a '%'.
        message = error.message.replace("%d", str(lines.number))
        raise UserError(f"{where}: {message.rstrip('.')}: {lines.excerpt()!r}") from None
    except UserError:
        raise
    except Exception as error:  # liac-arff does not wrap the errors of its parser
        raise UserError(
            f"{where}, line {lines.number} does not parse: {lines.excerpt()!r}"
        ) from error
    # 3) Make the table.
    categories: list[list[str] | None] = []
    for (_, kind), codes in zip(attributes, text_codes, strict=True):
        if codes is not None:
            categories.append(list(codes.code_of))
        elif isinstance(kind, list):
            # liac-arff reads a "?" among the categories as None; a row cannot have this category,
            # as "?" in a row means a missing value.
            categories.append(["?" if category is None else category for category in kind])
        else:
            categories.append(None)
    return DataTable(
        [name for name, _ in attributes],
        categories,
        values,
        where,
        free_text_columns=frozenset(j for j, codes in enumerate(text_codes) if codes is not None),
    )


class _TextCodes:
    """Codes of the texts of an attribute, in the order in which the texts first occur.

    Attributes
    ----------
    code_of : dict of str to int
        Code of each text so far.
    """

    def __init__(self):
        self.code_of = {}

    def encode(self, text: str | None) -> int | None:
        """Return the code of a text, which may be new; None for a missing value."""
        return None if text is None else self.code_of.setdefault(text, len(self.code_of))


class _FileLines:
    """Iterator over the lines of a file.

    Parameters
    ----------
    stream : binary file
    where : str
        Name of the file in messages.
    drop : sequence of str
        Patterns of the columns to leave out: dates in other columns are an error.

    Attributes
    ----------
    number : int
        Number of the current line, from 1.
    line : str
        Current line.
    """

    def __init__(self, stream: BinaryIO, where: str, drop: Sequence[str]):
        self.number, self.line = 0, ""
        self._where, self._drop = where, drop
        self._lines = read_lines(stream, where, _blank_comment_line)

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            self.line = line
            yield line

    def header_lines(self) -> Iterator[str]:
        """Yield the header, including ``@DATA``, in a form that liac-arff supports."""
        for line in self:
            date_attribute = _DATE_ATTRIBUTE.match(line)
            if date_attribute:
                name = unquote(date_attribute[1])
                if not matches_any(name, self._drop):
                    problem = date_problem(f"{self._where}, line {self.number}", name)
                    raise UnreadableColumns(self._where, [problem])
                line = f"@attribute {date_attribute[1]} string\n"
            line = _TRAILING_COMMENT.sub(r"\1", line)
            yield _INTEGER_OR_RANGE.sub(r"\1real", _KEYWORD.sub(r"\1 ", line))
            if line.lstrip().upper().startswith("@DATA"):
                return

    def replay(self, header: list[str], first: str) -> Iterator[str]:
        """Yield the header and the first sample once more, for liac-arff.

        liac-arff takes the form of the rows, dense or sparse, as an argument before it reads the
        header, and the first sample shows the form.
        """
        number = self.number
        # The attributes are the loop variables, so that errors of liac-arff get the current line.
        for self.number, self.line in enumerate(header, 1):
            yield self.line
        self.number, self.line = number, first
        yield first

    def excerpt(self) -> str:
        """Return the start of the current line."""
        return self.line.strip()[:60]

    def check_indices(self, parsed: Collection[int]) -> None:
        """Raise an error if the current line, a sparse row, has an index twice.

        Parameters
        ----------
        parsed : collection of int
            Distinct indices of the row.
        """
        indices = [int(index) for index in _INDEX.findall(_QUOTED_TEXT.sub("", self.line))]
        if len(indices) > len(parsed):
            repeated = next(index for index in parsed if indices.count(index) > 1)
            raise UserError(f"{self._where}, line {self.number} gives index {repeated} twice")

    def sample_lines(self) -> Iterator[str]:
        """Yield the lines of samples, without comments and empty lines."""
        return (line for line in map(str.strip, self) if line and not line.startswith("%"))


def _blank_comment_line(line: str) -> str:
    """Return the part of a line that must be UTF-8: nothing of a line that is a comment."""
    return "" if line.lstrip().startswith("%") else line


def _read_dense(rows: Iterator[list], text_codes: Sequence[_TextCodes | None]) -> np.ndarray:
    """Return the matrix of dense rows, of shape (n_rows, n_columns).

    Parameters
    ----------
    rows : iterator of list
        Values of each row, None for missing ones.
    text_codes : sequence of (_TextCodes or None)
        Codes of each column of text, to which new texts are added. None: another column.
    """
    chunks = []
    while chunk := list(islice(rows, CHUNK_ROWS)):
        for j, codes in enumerate(text_codes):
            if codes is not None:
                for row in chunk:
                    row[j] = codes.encode(row[j])
        chunks.append(np.array(chunk, dtype=float))
    return np.vstack(chunks)


def _read_sparse(rows: Iterable, text_codes: Sequence[_TextCodes | None], lines: _FileLines):
    """Return the matrix of sparse rows, a `scipy.sparse.csr_matrix`.

    Parameters
    ----------
    rows : iterable of dict of int to (float, str or None)
        Values of each row by the index of their column.
    text_codes
        See `_read_dense`. The code 0 stands for the text that a row omits.
    lines : _FileLines
        Lines, of which the current one is the row.
    """
    from scipy.sparse import csr_matrix

    # Arrays, as a list keeps an object for each number.
    values, indices, indptr = array("d"), array("q"), array("q", [0])
    for codes in text_codes:
        if codes is not None:
            codes.encode("")
    for row in rows:
        lines.check_indices(row)
        for j in sorted(row):
            codes = text_codes[j]
            value = row[j] if codes is None else codes.encode(row[j])
            values.append(float("nan") if value is None else value)
            indices.append(j)
        indptr.append(len(values))
    shape = (len(indptr) - 1, len(text_codes))
    return csr_matrix((np.array(values), np.array(indices), np.array(indptr)), shape=shape)
