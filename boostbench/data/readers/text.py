"""Lines of text files: UTF-8, or refused with the number of the line that is not."""

import codecs
import contextlib
import io
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from boostbench.errors import UserError

#: How Python writes bytes that are not UTF-8.
_FOREIGN = re.compile("[\udc80-\udcff]")
#: What UTF-16 begins with, written so.
_UTF16 = tuple(
    mark.decode(errors="surrogateescape") for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
)


def lines_of(
    stream: BinaryIO, where: str, part: Callable[[str], str] = lambda line: line
) -> Iterator[str]:
    """Yield the lines of a file from its start, whichever characters end them.

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
            if not line.isascii():
                _check(part(line), number, where)
            yield line
    finally:
        with contextlib.suppress(ValueError):  # the file is closed, where nobody reads to its end
            text.detach()


def check_utf8(stream: BinaryIO, where: str) -> None:
    """Refuse a text that is not UTF-8, as `lines_of` does."""
    for _ in lines_of(stream, where):
        pass


def _check(line: str, number: int, where: str) -> None:
    found = _FOREIGN.search(line)
    if found is None:
        return
    if number == 1 and line.startswith(_UTF16):
        raise UserError(f"{where} is UTF-16 text; save it as UTF-8")
    byte, before = ord(found[0]) & 0xFF, line[: found.start()][-10:]
    raise UserError(
        f"{where}, line {number} is not UTF-8: byte 0x{byte:02x} after {before!r}; save it as UTF-8"
    )
