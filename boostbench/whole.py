"""Files that are replaced whole, or stay as they are."""

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, save: Callable[[BinaryIO], None]) -> None:
    """Let `save` write a file; a kill at any moment leaves a whole file or none.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as stream:
            save(stream)
            stream.flush()
            os.fsync(stream.fileno())
        in_time(lambda: os.replace(temporary, path))
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def in_time(change: Callable[[], None]) -> None:
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
