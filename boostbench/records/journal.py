"""Files of lines that only grow, safe against a kill at any moment and against other writers."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from boostbench.util.atomic_write import open_in_place
from boostbench.util.file_lock import file_lock


@contextlib.contextmanager
def appending(
    path: Path, what: str, is_whole: Callable[[bytes], bool], depth: int = 0
) -> Iterator[BinaryIO]:
    """Open a file to add lines to it; what is written inside is on disk afterwards.

    Nobody else writes meanwhile. A last line that a kill has torn is repaired first: cut off, or
    ended where only its line end was lost.

    Parameters
    ----------
    path : Path
        The file; made, with its folder, if it is not there.
    what : str
        What is written, for the message of the error: ``"records to "``.
    is_whole : callable
        Tells whether a last line without its line end is all there.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `boostbench.util.atomic_write.check_folders`.

    Yields
    ------
    binary file
        At its end. It may be read as well; what is written goes to the end.

    Raises
    ------
    UserError
        As of `file_lock`.
    """
    with file_lock(path, what, depth=depth), open_in_place(path, "ab+") as file:
        repair(file, is_whole)
        yield file
        file.flush()
        os.fsync(file.fileno())


def repair(file: BinaryIO, is_whole: Callable[[bytes], bool]) -> None:
    """End a file with a whole line; `file` is open to read and append, `is_whole` as above."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    body = file.read()
    start = body.rfind(b"\n") + 1
    if is_whole(body[start:]):
        file.write(b"\n")
    else:
        file.truncate(start)
