"""Lines of text files in UTF-8, and the numbers in them.

Python and NumPy parse ``1_1`` as 11, and digits of other scripts as numbers. In data files these
are words.
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
