"""Append-only files of lines, safe against a kill at any moment and against other writers."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from boostbench.util.files import file_lock, open_in_place


@contextlib.contextmanager
def open_append(
    path: Path, content: str, is_complete: Callable[[bytes], bool], depth: int = 0
) -> Iterator[BinaryIO]:
    """Open a file to append lines, which are on disk when the context ends.

    The file is locked. A last line that a kill has torn is repaired first: it is cut off, or ended
    if only its line end was lost.

    Parameters
    ----------
    path : Path
        File to append to; the file and its folder are made if they do not exist.
    content : str
        Description of the lines for the error message: ``"records to "``.
    is_complete : callable
        Function that returns True for a last line that lacks its line end only.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `boostbench.util.files.check_folders`.

    Yields
    ------
    binary file
        File at its end, open to read and append.

    Raises
    ------
    UserError
        See `boostbench.util.files.file_lock`.
    """
    with file_lock(path, content, depth=depth), open_in_place(path, "ab+") as file:
        repair(file, is_complete)
        yield file
        file.flush()
        os.fsync(file.fileno())


def repair(file: BinaryIO, is_complete: Callable[[bytes], bool]) -> None:
    """End a file with a complete line; `file` is open to read and append, see `open_append`."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    body = file.read()
    start = body.rfind(b"\n") + 1
    if is_complete(body[start:]):
        file.write(b"\n")
    else:
        file.truncate(start)
