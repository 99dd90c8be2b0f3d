"""Lines of text files in UTF-8; other encodings are an error with a line number."""

import codecs
import contextlib
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from boostbench.util.errors import UserError

#: Characters by which Python represents bytes that are not UTF-8 (surrogateescape).
_INVALID_BYTE = re.compile("[\udc80-\udcff]")
_UTF16 = "UTF-16 text; save it as UTF-8"
_OTHER = "; save the table as text"
#: First bytes of other kinds of files, with a description and advice.
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
    """Yield the lines of a file from its start, with any line ending.

    Decomposed letters (Unicode NFD) are composed (NFC), so that equal texts compare as equal.

    Parameters
    ----------
    stream : binary file
        The text, not compressed.
    where : str
        Name of the file in messages.
    part : callable, optional
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
            invalid = None if line.isascii() else _INVALID_BYTE.search(part(line))
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
    for mark, kind in _KINDS.items():
        if start.startswith(mark):
            return f"{where} is {kind}"
    byte, preceding = ord(invalid[0]) & 0xFF, invalid.string[: invalid.start()][-10:]
    return (
        f"{where}, line {number} is not UTF-8: byte 0x{byte:02x} after {preceding!r}; "
        "save it as UTF-8"
    )
