"""Lines of text files: UTF-8, or refused with the number of the line that is not."""

import codecs
import contextlib
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from boostbench.errors import UserError

#: How Python writes bytes that are not UTF-8.
_INVALID_BYTE = re.compile("[\udc80-\udcff]")
_UTF16 = "UTF-16 text; save it as UTF-8"
_OTHER = "; save the table as text"
#: What files of other kinds begin with, what they are and what to do.
_KINDS = {
    codecs.BOM_UTF16_LE: _UTF16,
    codecs.BOM_UTF16_BE: _UTF16,
    b"\x1f\x8b": "compressed; add .gz to its name",
    b"BZh": "compressed; add .bz2 to its name",
    b"\xfd7zXZ": "compressed; add .xz to its name",
    b"PK\x03\x04": f"a zip archive or a workbook{_OTHER}",
    b"PAR1": f"Parquet{_OTHER}",
}


def read_lines(
    stream: BinaryIO, where: str, part: Callable[[str], str] = lambda line: line
) -> Iterator[str]:
    """Yield the lines of a file from its start, whichever characters end them.

    Composed and decomposed letters (NFC and NFD of Unicode) become the same: the former.

    Parameters
    ----------
    stream : binary file
        The text, not compressed.
    where : str
        What to call the file in messages.
    part : callable, optional
        Gives what of a line must be UTF-8: comments may hold anything. By default all of it.

    Yields
    ------
    str
        A line with its end.

    Raises
    ------
    UserError
        With the number of the first line that is not UTF-8. With other characters in their place
        classes and categories could become one.
    """
    stream.seek(0)
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape")
    try:
        for number, line in enumerate(text, 1):
            invalid = None if line.isascii() else _INVALID_BYTE.search(part(line))
            if invalid:
                stream.seek(0)
                raise UserError(_encoding_message(stream.read(8), invalid, number, where))
            yield line if line.isascii() else unicodedata.normalize("NFC", line)
    finally:
        with contextlib.suppress(ValueError):  # the file is closed, where nobody reads to its end
            text.detach()


def compose_letters(values: Iterable) -> list:
    r"""Return values with composed letters in those that are text, as `read_lines` gives them.

    Examples
    --------
    >>> compose_letters(["a\u0308", 3]) == ["\xe4", 3]
    True
    """
    return [unicodedata.normalize("NFC", v) if isinstance(v, str) else v for v in values]


def check_utf8(stream: BinaryIO, where: str) -> None:
    """Refuse a text that is not UTF-8, as `read_lines` does."""
    for _ in read_lines(stream, where):
        pass


def _encoding_message(start: bytes, invalid: re.Match, number: int, where: str) -> str:
    for mark, kind in _KINDS.items():
        if start.startswith(mark):
            return f"{where} is {kind}"
    byte, preceding = ord(invalid[0]) & 0xFF, invalid.string[: invalid.start()][-10:]
    return (
        f"{where}, line {number} is not UTF-8: byte 0x{byte:02x} after {preceding!r}; "
        "save it as UTF-8"
    )
