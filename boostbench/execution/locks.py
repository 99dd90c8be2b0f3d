"""Locks by which concurrent runs share their work."""

import contextlib
import errno
from pathlib import Path

from boostbench.util.files import open_in_place

try:
    import fcntl
except ImportError:  # Windows: each run does all of its work
    fcntl = None


class Locks:
    """The locks of a run on pieces of work, each on a byte of a file.

    The system gives up the locks of a process when it ends, however it ends. So no lock outlives
    its run, and nothing has to be cleaned up. Where such locks do not work, each is granted: then
    runs at once do the same work, as they would without, and lose nothing.

    Parameters
    ----------
    results : Path
        Folder of the records; ``.claims`` in it is the file, which stays empty.
    """

    def __init__(self, results: Path):
        # All locks share one descriptor: closing another one of the same file would release them.
        try:
            self._file = open_in_place(Path(results) / ".claims", "ab+")
        except OSError:
            self._file = None

    def take(self, key: str) -> bool:
        """Lock a piece of work by its key, of hex digits; whether no other run has it."""
        if fcntl is None or self._file is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte_offset(key))
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        return True

    def release(self, key: str) -> None:
        """Let another run have a piece of work; nothing happens where this one has no lock."""
        if fcntl is not None and self._file is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _byte_offset(key))

    def close(self) -> None:
        """Give up all locks."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _byte_offset(key: str) -> int:
    """Return the byte that stands for a piece of work."""
    return int(key[:15], 16)
