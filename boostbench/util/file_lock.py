"""Locks for exclusive writing of files."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from boostbench.util.errors import RESULTS_ELSEWHERE, UserError, first_line, writing_to
from boostbench.util.files import open_in_place


@contextmanager
def file_lock(
    path: Path, content: str = "", remedy: str = RESULTS_ELSEWHERE, depth: int = 0
) -> Iterator[None]:
    """Hold an exclusive lock for writing or replacing a file; reading remains possible.

    The lock is on an empty file ``.lock`` in the same folder, as a locked file can be neither read
    nor replaced on Windows.

    Parameters
    ----------
    path : Path
        Path of the file; its folder is created if it is missing.
    content, remedy : str
        Parts of the error message, see `boostbench.util.errors.writing_to`.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `boostbench.util.files.check_folders`.

    Raises
    ------
    UserError
        If the folder or the lock cannot be written, or its file system does not support locks.
    """
    with writing_to(path, remedy, content, depth), open_in_place(lock_path(path), "ab") as lock:
        acquire_file_lock(lock, path.parent, remedy)
        yield


def lock_path(path: Path) -> Path:
    """Return the path of the lock file of a file."""
    return path.with_name(".lock")


def acquire_file_lock(file: BinaryIO, folder: Path, remedy: str = RESULTS_ELSEWHERE) -> None:
    """Wait for the lock of a file; raise a `UserError` if the folder does not support locks."""
    import portalocker  # slow to import

    while True:
        try:
            return portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        except portalocker.AlreadyLocked:  # on Windows, which gives up after ten seconds
            time.sleep(0.05)
        except portalocker.LockException as error:
            raise UserError(f"cannot lock {folder}: {first_line(error)}; {remedy}") from error
