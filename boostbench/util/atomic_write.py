"""Files that are replaced whole, or stay as they are; and files that only grow.

A folder of results may come from elsewhere, and archives keep symbolic links. So a link in the
place of a file is never followed when that file is written.
"""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

# Characters of a file's name in the name of its temporary file, which must not become too long.
_PREFIX_LENGTH = 50


def atomic_write(path: Path, save: Callable[[BinaryIO], None]) -> None:
    """Let `save` write a file; a kill at any moment leaves a whole file or none.

    A symbolic link in its place is replaced, not followed.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    temporary = path.with_name(f"{path.name[:_PREFIX_LENGTH]}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        with open(temporary, "xb") as stream:  # "x" does not follow a link either
            save(stream)
            stream.flush()
            os.fsync(stream.fileno())
        retry_while_in_use(lambda: os.replace(temporary, path))
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def atomic_write_text(path: Path, text: str) -> None:
    """Write a text as `atomic_write` does, in UTF-8 and with the line ends that it has."""
    atomic_write(path, lambda stream: stream.write(text.encode()))


def write_output(path: Path, save: Callable[[BinaryIO], None]) -> None:
    """Write the file that a user named as `atomic_write` does, or to the device of that name.

    ``/dev/stdout`` and named pipes are not replaced. The first is a link, perhaps to a file.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    if path.absolute().is_relative_to("/dev") or (path.exists() and not path.is_file()):
        with path.open("wb") as stream:
            save(stream)
    else:
        atomic_write(path, save)


def open_in_place(path: Path, mode: str) -> BinaryIO:
    """Open a file that is not replaced but grows, such as one of records or of a lock.

    Raises
    ------
    OSError
        If it cannot be opened, or if a symbolic link, a pipe or a device is in its place: a link
        would lead to another file, and a pipe blocks until somebody reads it.
    """
    with contextlib.suppress(FileNotFoundError):
        kind = path.lstat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            name = "symbolic link" if stat.S_ISLNK(kind) else "pipe or a device"
            raise OSError(f"{path} is a {name}, not a file; remove it")
    return path.open(mode)


def check_folders(path: Path, depth: int) -> None:
    """Check that the lowest folders of a path are no symbolic links.

    Parameters
    ----------
    path : Path
        Path of a file.
    depth : int
        Number of its folders that belong to a folder of results. A folder that the user named may
        be a link.

    Raises
    ------
    OSError
        If one of them is a link.
    """
    for folder in list(path.parents)[:depth]:
        if folder.is_symlink():
            raise OSError(f"{folder} is a symbolic link, not a folder; remove it")


def retry_while_in_use(change: Callable[[], None]) -> None:
    """Replace or remove a file; where Windows refuses that, try again for two seconds.

    There nobody can while another process reads the file.
    """
    end = time.monotonic() + 2
    while True:
        try:
            return change()
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > end:
                raise
            time.sleep(0.05)
