"""One writer of a file at a time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from boostbench.util.atomic_write import open_in_place
from boostbench.util.errors import RESULTS_ELSEWHERE, UserError, first_line, writing_to


@contextmanager
def file_lock(
    path: Path, what: str = "", remedy: str = RESULTS_ELSEWHERE, depth: int = 0
) -> Iterator[None]:
    """Let nobody else write to a file, or put another into its place; anybody may read it.

    The lock is on an empty file ``.lock`` beside it, as Windows lets nobody read or replace a file
    that is locked itself.

    Parameters
    ----------
    path : Path
        The file; its folder is made, if it is not there.
    what, remedy : str
        Parts of the message of the error, see `boostbench.util.errors.writing_to`.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `boostbench.util.atomic_write.check_folders`.

    Raises
    ------
    UserError
        If the file cannot be written to, such as on a full disk, or the folder has no locks.
    """
    with writing_to(path, remedy, what, depth), open_in_place(lock_path(path), "ab") as lock:
        acquire_file_lock(lock, path.parent, remedy)
        yield


def lock_path(path: Path) -> Path:
    """Name the file whose lock is on another."""
    return path.with_name(".lock")


def acquire_file_lock(file: BinaryIO, folder: Path, remedy: str = RESULTS_ELSEWHERE) -> None:
    """Lock a file of a folder when nobody else does; raise a `UserError` if it has no locks."""
    import portalocker  # slow to import

    while True:
        try:
            return portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        except portalocker.AlreadyLocked:  # on Windows, where it gives up after ten seconds
            time.sleep(0.05)
        except portalocker.LockException as error:
            raise UserError(f"cannot lock {folder}: {first_line(error)}; {remedy}") from error
