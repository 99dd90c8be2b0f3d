"""Text of data files: lines in UTF-8, the numbers in them, and class labels.

Python and NumPy parse ``1_1`` as 11, and digits of other scripts as numbers. In data files these
are words. Readers of all formats and the generators make their labels by `parse_labels`.
"""

import codecs
import contextlib
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np

from boostbench.spec.data import Decimal, Thousands
from boostbench.util.errors import UserError

#: Characters by which Python represents bytes that are not UTF-8 (surrogateescape).
_INVALID_BYTE = re.compile("[\udc80-\udcff]")
#: Kinds of files that are no UTF-8 text: their first bytes, and a description with advice.
_OTHER_KINDS = (
    (codecs.BOM_UTF16_LE, "UTF-16 text; save it as UTF-8"),
    (codecs.BOM_UTF16_BE, "UTF-16 text; save it as UTF-8"),
    (b"\x1f\x8b", "compressed; add .gz to its name"),
    (b"BZh", "compressed; add .bz2 to its name"),
    (b"\xfd7zXZ", "compressed; add .xz to its name"),
    (b"PK\x03\x04", "a zip archive or a workbook; save the table as text"),
    (b"PAR1", "Parquet; save the table as text"),
)


def read_lines(
    stream: BinaryIO, where: str, checked_part: Callable[[str], str] = lambda line: line
) -> Iterator[str]:
    """Yield the lines of a file from its start, with any line ending.

    Decomposed letters (Unicode NFD) are composed (NFC), so that equal texts compare as equal.

    Parameters
    ----------
    stream : binary file
        The text, not compressed.
    where : str
        Name of the file in messages.
    checked_part : callable, optional
        Function that returns the part of a line that must be UTF-8; comments need not be. Default:
        the whole line.

    Yields
    ------
    str
        A line with its line ending.

    Raises
    ------
    UserError
        If a line is not UTF-8; the message has the number of the first one. Replacement characters
        could make different classes or categories equal.
    """
    stream.seek(0)
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape")
    try:
        for number, line in enumerate(text, 1):
            invalid = None if line.isascii() else _INVALID_BYTE.search(checked_part(line))
            if invalid:
                stream.seek(0)
                raise UserError(_encoding_message(stream.read(8), invalid, number, where))
            yield line if line.isascii() else unicodedata.normalize("NFC", line)
    finally:
        with contextlib.suppress(ValueError):  # the file may be closed before its end was read
            text.detach()


def compose_letters(values: Iterable) -> list:
    r"""Return values in which letters of text are composed, as in the lines of `read_lines`.

    Examples
    --------
    >>> compose_letters(["a\u0308", 3]) == ["\xe4", 3]
    True
    """
    return [unicodedata.normalize("NFC", v) if isinstance(v, str) else v for v in values]


def check_utf8(stream: BinaryIO, where: str) -> None:
    """Check that a text is UTF-8, see `read_lines`."""
    for _ in read_lines(stream, where):
        pass


def _encoding_message(start: bytes, invalid: re.Match, number: int, where: str) -> str:
    """Return the message for a file that is not UTF-8.

    Parameters
    ----------
    start : bytes
        First bytes of the file, which show other kinds of files.
    invalid : re.Match
        First invalid byte of a line.
    number : int
        Number of the line, from 1.
    where : str
        Name of the file.
    """
    for first_bytes, description in _OTHER_KINDS:
        if start.startswith(first_bytes):
            return f"{where} is {description}"
    # surrogateescape reads the byte 0xXX as the character U+DCXX.
    byte, preceding = ord(invalid[0]) & 0xFF, invalid.string[: invalid.start()][-10:]
    return (
        f"{where}, line {number} is not UTF-8: byte 0x{byte:02x} after {preceding!r}; "
        "save it as UTF-8"
    )


# --- Numbers ---

#: Characters of each mark, as a class of a regular expression. Typesetters use narrow spaces.
_MARKS = {
    "point": r"[.]",
    "comma": r"[,]",
    "space": "[ \u00a0\u2009\u202f]",
    "apostrophe": "['\u2019]",
}


@dataclass(frozen=True)
class Notation:
    """Marks of the numbers in a file.

    Parameters
    ----------
    decimal : {"point", "comma"}, default="point"
        Mark before the fraction.
    thousands : {"point", "comma", "space", "apostrophe"}, default=None
        Mark between groups of three digits. None: there is none.
    """

    decimal: Decimal = "point"
    thousands: Thousands | None = None

    @cached_property
    def _pattern(self) -> re.Pattern:
        """Pattern of a number: sign, digits, fraction and exponent; or infinity."""
        mark = _MARKS[self.decimal]
        grouped = rf"\d{{1,3}}({_MARKS[self.thousands]}\d{{3}})+|" if self.thousands else ""
        digits = rf"({grouped}\d+)({mark}\d*)?|{mark}\d+"
        return re.compile(rf"[-+]?({digits})([eE][-+]?\d+)?|[-+]?inf(inity)?", re.ASCII | re.I)

    def normalize(self, text: str) -> str | None:
        """Return a number with a decimal point and nothing between thousands; None for other text.

        Examples
        --------
        >>> Notation("comma", "point").normalize("1.234,5"), Notation("comma").normalize("1.5")
        ('1234.5', None)
        >>> Notation(thousands="space").normalize("12 685")
        '12685'
        """
        if not self._pattern.fullmatch(text):
            return None
        if self.thousands:
            text = re.sub(_MARKS[self.thousands], "", text)
        return text.replace(",", ".")


def is_plain_ascii(text: str) -> bool:
    """Return whether a text has only ASCII characters and no underscore.

    Examples
    --------
    >>> is_plain_ascii("11"), is_plain_ascii("cat"), is_plain_ascii("1_1"), is_plain_ascii("１")
    (True, True, False, False)
    """
    return text.isascii() and "_" not in text


def is_all_plain_ascii(texts: np.ndarray) -> bool:
    """Return whether all texts have only ASCII characters and no underscore.

    Parameters
    ----------
    texts : ndarray of shape (n_texts,), str

    Examples
    --------
    >>> is_all_plain_ascii(np.array(["11", "1"])), is_all_plain_ascii(np.array(["11", "1_1"]))
    (True, False)
    """
    native = np.ascontiguousarray(texts, texts.dtype.newbyteorder("="))
    characters = native.view(np.uint32)  # An array operation is fast enough for millions of texts.
    return bool(characters.max(initial=0) < 128 and not (characters == ord("_")).any())


def is_number(text: str) -> bool:
    """Return whether a text is a number, infinite or NaN; blanks around it are allowed.

    Examples
    --------
    >>> is_number(" +1.5e3"), is_number("1_1"), is_number("cat")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return is_plain_ascii(text)


# --- Class labels: integers if all labels are whole numbers, else text ---

#: Smallest whole number that float64 cannot distinguish from its neighbours.
MIN_INEXACT = 2.0**53
#: Bytes of a character in NumPy's arrays of text, all elements of which have the longest length.
_BYTES_PER_CHARACTER = 4
#: Bytes that an array of labels may take in any case.
_SMALL_MEMORY = 80_000_000
#: Largest ratio of the characters of an array that takes more, including the padding of labels to
#: the longest one, to the characters of its labels.
_MAX_PADDING = 10


def parse_labels(values, where: str, value_of_row: np.ndarray | None = None) -> np.ndarray:
    """Return the labels of the values in a file.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Numbers or text.
    where : str
        Name of the source in messages, e.g. the file name.
    value_of_row : ndarray of shape (n_rows,), int, default=None
        Position of each row's label in `values`, which then has each distinct value once. None:
        `values` has one value per row.

    Returns
    -------
    ndarray of shape (n_rows,)
        int64 if every label is a whole number (``"+1"``, ``2.0``), else str.

    Raises
    ------
    UserError
        If a label is missing, is not UTF-8, has a fraction, or is too large for float64 to
        represent exactly.

    Examples
    --------
    >>> parse_labels(["+1", "-1.0"], "toy.csv").tolist()
    [1, -1]
    >>> parse_labels(["cat", "dog"], "toy.csv").tolist()
    ['cat', 'dog']
    >>> parse_labels(["9007199254740992", "9007199254740993"], "toy.csv").tolist()
    [9007199254740992, 9007199254740993]
    """
    # 1) Convert the values to an array of numbers or of text. The array of a list of text takes the
    #    length of the longest one for each; an array of text has its memory already.
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        _check_lengths(
            _value_per_row(np.array([*map(len, values)], dtype=np.int32), value_of_row), where
        )
    values = np.asarray(values)
    kind = values.dtype.kind
    if kind not in "biufSU":
        raise UserError(f"{where}: labels of type {values.dtype} are neither numbers nor text")
    if kind == "S":
        values = _decode(values, where)
    if kind in "bSU":
        values = np.char.strip(values.astype(str))
        if not "".join(values.tolist()).isascii():
            values = np.array(compose_letters(values.tolist()))
    # 2) Report missing labels.
    is_missing = values == "" if values.dtype.kind == "U" else np.isnan(values)
    if is_missing.any():
        is_missing = _value_per_row(is_missing, value_of_row)
        raise UserError(
            f"{where}: {int(is_missing.sum())} labels are missing, the first in row "
            f"{int(is_missing.argmax()) + 1} (counted from 1); every row needs its class"
        )
    # 3) Convert whole numbers to integers.
    if kind == "f":
        labels = _floats_to_int64(values.astype(float, copy=False), where, value_of_row)
    else:
        labels = _convert_to_int64(values, where, value_of_row)
    return _value_per_row(labels, value_of_row)


def _decode(values: np.ndarray, where: str) -> np.ndarray:
    """Return an array of bytes as text; raise a UserError for bytes that are not UTF-8."""
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        row = int((values == error.object).argmax())
        raise UserError(
            f"{where}: the label {error.object!r} in row {row + 1} (counted from 1) is not UTF-8; "
            "save labels as text, not as bytes"
        ) from None


def _value_per_row(values: np.ndarray, value_of_row: np.ndarray | None) -> np.ndarray:
    """Return the value of each row; see `parse_labels` for `value_of_row`."""
    return values if value_of_row is None else values[value_of_row]


def _check_lengths(lengths: np.ndarray, where: str) -> None:
    """Check that no label is so long that an array of all labels would fill the memory.

    Parameters
    ----------
    lengths : ndarray of shape (n_samples,), int64
        Number of characters of each label.
    where : str
        Name of the source in messages.

    Raises
    ------
    UserError
        If a label is too long; the message has its row.
    """
    longest = int(lengths.max(initial=0))
    if _BYTES_PER_CHARACTER * longest * len(lengths) > max(
        _SMALL_MEMORY, _MAX_PADDING * int(lengths.sum())
    ):
        raise UserError(
            f"{where}: the label in row {int(lengths.argmax()) + 1} (counted from 1) has {longest} "
            f"characters, and every one of {len(lengths)} would take as much memory; shorten it"
        )


def _convert_to_int64(
    values: np.ndarray, where: str, value_of_row: np.ndarray | None
) -> np.ndarray:
    """Return labels as int64 if all are whole numbers; otherwise the text unchanged.

    Text such as ``"2.0"`` is converted through float64. Other whole numbers are not, as large ones
    would become equal. ``1_1`` is text, not the class 11.

    Parameters
    ----------
    values : ndarray of shape (n_values,), bool, int or str
        Labels; each once if `value_of_row` is given.
    where : str
        Name of the source in messages.
    value_of_row : ndarray of int, or None
        See `parse_labels`; messages count rows.

    Raises
    ------
    UserError
        If a whole number does not fit into int64, or a number has a fraction.
    """
    if values.dtype.kind == "U" and not is_all_plain_ascii(values):
        return values
    try:
        integers = values.astype(np.int64)
        # Unsigned numbers from 2**63 on become negative.
        if values.dtype.kind != "u" or (integers >= 0).all():
            return integers
    except OverflowError:  # a number in text is too large
        pass
    except ValueError:  # a word, or a number with a point
        try:
            return _floats_to_int64(values.astype(float), where, value_of_row)
        except ValueError:
            return values
    raise UserError(f"{where}: labels beyond 2**63 are not supported; use shorter ones, or words")


def _floats_to_int64(
    numbers: np.ndarray, where: str, value_of_row: np.ndarray | None
) -> np.ndarray:
    """Return floats as int64; raise an error for fractions and for inexact large numbers.

    Parameters
    ----------
    numbers : ndarray of shape (n_values,), float64
    where, value_of_row
        See `_convert_to_int64`.
    """
    with np.errstate(invalid="ignore"):
        integers = numbers.astype(np.int64)
    # Two comparisons instead of np.abs, which would allocate another array of floats.
    is_large = np.isfinite(numbers) & ((numbers >= MIN_INEXACT) | (numbers <= -MIN_INEXACT))
    is_wrong = is_large | (integers != numbers)
    if not is_wrong.any():
        return integers
    row = int(_value_per_row(is_wrong, value_of_row).argmax())
    number, is_large = (
        _value_per_row(numbers, value_of_row)[row],
        _value_per_row(is_large, value_of_row)[row],
    )
    label = f"{where}: the label {number} in row {row + 1} (counted from 1)"
    if is_large:
        raise UserError(f"{label} is too large to differ from its neighbours as a float64")
    raise UserError(
        f"{label} is not a whole number, as in a regression set; write whole numbers or words for "
        "classes, or name their column in a CSV or ARFF file by data.labels"
    )
