"""Files: atomic replacement, locks, safe opening, appending, checksums, and paths from users.

A folder of results may be somebody else's, and archives preserve symbolic links. Therefore no
function follows a link when it writes a file.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from boostbench.util.errors import (
    UserError,
    first_line,
    invalid_folder_error,
    os_error_reason,
)

#: Advice if results cannot be written.
RESULTS_ELSEWHERE = "choose another folder by results="

#: Number of characters of a file's name in the name of its temporary file, as file systems limit
#: the length of names.
_PREFIX_LENGTH = 50


def atomic_write(path: Path, save: Callable[[BinaryIO], None]) -> None:
    """Write a file by `save` so that a kill at any moment leaves the old or the new content.

    A symbolic link of this name is replaced, not followed.

    Raises
    ------
    OSError
        If the file cannot be written.
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
    """Write a text in UTF-8 by `atomic_write`, with its own line endings."""
    atomic_write(path, lambda stream: stream.write(text.encode()))


def write_output(path: Path, save: Callable[[BinaryIO], None]) -> None:
    """Write a file that the user named, by `atomic_write` or, for a device or pipe, directly.

    ``/dev/stdout`` and named pipes cannot be replaced; ``/dev/stdout`` is a link, even to a file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    if path.absolute().is_relative_to("/dev") or (path.exists() and not path.is_file()):
        with path.open("wb") as stream:
            save(stream)
    else:
        atomic_write(path, save)


def open_in_place(path: Path, mode: str) -> BinaryIO:
    """Open a file that grows instead of being replaced, such as a record file or a lock file.

    Raises
    ------
    OSError
        If the file cannot be opened, or the path is a symbolic link, a pipe or a device: a link
        leads to another file, and a pipe blocks until another process reads it.
    """
    with contextlib.suppress(FileNotFoundError):
        kind = path.lstat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            name = "symbolic link" if stat.S_ISLNK(kind) else "pipe or a device"
            raise OSError(f"{path} is a {name}, not a file; remove it")
    return path.open(mode)


def check_folders(path: Path, depth: int) -> None:
    """Check that the lowest folders of a path are not symbolic links.

    Parameters
    ----------
    path : Path
        Path of a file.
    depth : int
        Number of folders to check, which belong to a folder of results. The folder that the user
        named may be a link.

    Raises
    ------
    OSError
        If a folder is a link.
    """
    for folder in list(path.parents)[:depth]:
        if folder.is_symlink():
            raise OSError(f"{folder} is a symbolic link, not a folder; remove it")


@contextmanager
def writing_to(
    path: Path, remedy: str = RESULTS_ELSEWHERE, subject: str = "", depth: int = 0
) -> Iterator[None]:
    """Create the folder of a file that the block writes, and convert its OSErrors to UserErrors.

    Parameters
    ----------
    path : Path
        Path of the file, or the common start of the paths of several files.
    remedy : str, default=RESULTS_ELSEWHERE
        Advice for the user.
    subject : str, default=""
        Words before the path in the message, e.g. ``"records to "`` for "cannot write records to
        PATH". Empty: the name of the file is enough.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `check_folders`.

    Raises
    ------
    UserError
        If the folder or the file cannot be written.
    """
    try:
        check_folders(path, depth)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UserError(
            f"cannot write {subject}{path}: {os_error_reason(error)}; {remedy}"
        ) from error


@contextmanager
def file_lock(
    path: Path, subject: str = "", remedy: str = RESULTS_ELSEWHERE, depth: int = 0
) -> Iterator[None]:
    """Hold an exclusive lock for writing or replacing a file; reading remains possible.

    The lock is on an empty file ``.lock`` in the same folder, as a locked file can be neither read
    nor replaced on Windows.

    Parameters
    ----------
    path : Path
        Path of the file; its folder is created if it is missing.
    subject, remedy : str
        Parts of the error message, see `writing_to`.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `check_folders`.

    Raises
    ------
    UserError
        If the folder or the lock cannot be written, or its file system does not support locks.
    """
    with writing_to(path, remedy, subject, depth), open_in_place(lock_path(path), "ab") as lock:
        acquire_file_lock(lock, path.parent, remedy)
        yield


def lock_path(path: Path) -> Path:
    """Return the path of the lock file of a file."""
    return path.with_name(".lock")


def acquire_file_lock(file: BinaryIO, folder: Path, remedy: str = RESULTS_ELSEWHERE) -> None:
    """Wait for the lock of a file.

    Parameters
    ----------
    file : binary file
        Open lock file.
    folder : Path
        Folder that the lock protects, for the message.
    remedy : str, default=RESULTS_ELSEWHERE
        Advice for the user.

    Raises
    ------
    UserError
        If the file system does not support locks.
    """
    import portalocker  # slow to import

    while True:
        try:
            return portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        except portalocker.AlreadyLocked:  # on Windows, which gives up after ten seconds
            time.sleep(0.05)
        except portalocker.LockException as error:
            raise UserError(f"cannot lock {folder}: {first_line(error)}; {remedy}") from error


@contextmanager
def open_append(
    path: Path, subject: str, is_complete: Callable[[bytes], bool], depth: int = 0
) -> Iterator[BinaryIO]:
    """Open a file to append lines, which are on disk when the context ends.

    Appending is safe against other writers and against a kill at any moment. The file is locked. A
    last line that a kill has torn is repaired first: it is cut off, or ended if only its line end
    was lost.

    Parameters
    ----------
    path : Path
        File to append to; the file and its folder are made if they do not exist.
    subject : str
        Words before the path in the error message: ``"records to "``.
    is_complete : callable
        Function that returns True for a last line that lacks its line end only.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `check_folders`.

    Yields
    ------
    binary file
        File at its end, open to read and append.

    Raises
    ------
    UserError
        See `file_lock`.
    """
    with file_lock(path, subject, depth=depth), open_in_place(path, "ab+") as file:
        repair_last_line(file, is_complete)
        yield file
        file.flush()
        os.fsync(file.fileno())


def repair_last_line(file: BinaryIO, is_complete: Callable[[bytes], bool]) -> None:
    """Cut off an incomplete last line of a file, or end it if only its line end is missing.

    Parameters
    ----------
    file : binary file
        File that is open to read and append.
    is_complete : callable
        See `open_append`.
    """
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


def retry_while_in_use(change: Callable[[], None]) -> None:
    """Replace or remove a file; on Windows, retry for two seconds.

    Windows refuses to replace a file while another process reads it.

    Parameters
    ----------
    change : callable
        Function without arguments that replaces or removes the file.
    """
    end = time.monotonic() + 2
    while True:
        try:
            return change()
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > end:
                raise
            time.sleep(0.05)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def user_path(text: str) -> Path:
    """Return a path in which ``~`` is replaced by the home folder.

    ``~`` with an unknown user name is not replaced; `Path.expanduser` raises a RuntimeError then.
    """
    return Path(os.path.expanduser(text))


def is_regular_file(path: Path) -> bool:
    """Return True if a path leads to a regular file, and False if nothing is there.

    From Python 3.14 on, `Path.is_file` returns False for a path that cannot be read, too.

    Raises
    ------
    OSError
        If the path cannot be read, such as in a folder without permission.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        raise


def slug(text: str, punctuation: str, substitute: str = "_") -> str:
    """Return a text in which each run of characters unsuitable for file names is replaced.

    Parameters
    ----------
    text : str
        Any text.
    punctuation : str
        Characters to keep in addition to letters, digits and ``_``. Combining marks count as
        letters: without them, names in Indic scripts and in Thai would become equal.
    substitute : str, default="_"
        Replacement of each run.

    Examples
    --------
    >>> slug("my = data.csv", "."), slug("कि.csv", ".")
    ('my_data.csv', 'कि.csv')
    """
    characters = (
        character
        if character.isalnum()
        or character in f"_{punctuation}"
        or unicodedata.category(character).startswith("M")
        else "\0"
        for character in text
    )
    return re.sub("\0+", substitute, "".join(characters))


def parse_names_and_results(command: str, words: Sequence[str]) -> tuple[list[str], Path]:
    """Separate names from ``results=DIR`` in the words of a command that only reads records.

    Parameters
    ----------
    command : str
        Name of the command, for messages.
    words : sequence of str
        Words of the command line.

    Returns
    -------
    names : list of str
    results : pathlib.Path
        Folder of the records, by default ``results``.

    Raises
    ------
    UserError
        If there is another override, or the folder is empty.
    """
    names, results = [], Path("results")
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            names.append(word)
        elif word == "results=":
            raise invalid_folder_error(value)
        elif key == "results":
            results = user_path(value)
        else:
            raise UserError(
                f"{command} goes by what is on record and takes results=DIR alone, not {word!r}; "
                f"'boostbench table NAME {word}' shows what that gives"
            )
    return names, results
