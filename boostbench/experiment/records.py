"""Records on disk: one JSON line per finished piece of work, appended and flushed at once.

``<results>/records/<data>/<algo>.jsonl`` holds splits, ``<algo>.tuning.jsonl`` beside it holds
cross-validation trials. A file only grows; of several records with one key the last one counts.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

import portalocker

from boostbench.errors import UserError, writing

_FILE_NAME = re.compile(r"\w[\w.+-]*")


def record_path(results: Path, data: str, algo: str, tuning: bool = False) -> Path:
    """Say where the records of an algorithm on a data set are.

    Raises
    ------
    UserError
        If a name cannot be the name of a file.
    """
    for name in (data, algo):
        if not _FILE_NAME.fullmatch(name):
            raise UserError(f"{name!r} names a file of records; use letters, digits and . _ + -")
    return Path(results) / "records" / data / f"{algo}{'.tuning' if tuning else ''}.jsonl"


def digest(content) -> str:
    """Give the first 16 hex digits of the SHA-256 of JSON types, whatever the order of keys.

    Raises
    ------
    UserError
        If the content has no JSON form.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError(f"a setting cannot be written down as JSON: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def append(path: Path, record: dict) -> None:
    """Add a record to a file, safe against a kill at any moment and against other writers.

    A last line that a kill has torn is repaired first: cut off, or ended where only its line end
    was lost.

    Parameters
    ----------
    path : Path
        File of records; made, with its folder, if it is not there.
    record : dict
        JSON types only.

    Raises
    ------
    UserError
        If the file cannot be written to, such as on a full disk.
    """
    line = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    with writing(path, what="records to "), path.open("ab+") as file:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        _repair(file)
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> tuple[list[dict], list[str]]:
    """Read a file of records.

    Parameters
    ----------
    path : Path
        File of records; one that is not there has none.

    Returns
    -------
    records : list of dict
        The newest record of each key, in the order of the file.
    warnings : list of str
        One for each damaged line, which is left out. A torn last line is no damage.
    """
    path = Path(path)
    if not path.is_file():
        return [], []
    newest, warnings = {}, []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        record = _parse(line)
        if record is not None:
            newest.pop(record["key"], None)
            newest[record["key"]] = record
        elif line.strip() and number < len(lines):
            warnings.append(f"{path}:{number}: not a record, left out")
    return list(newest.values()), warnings


def check_writable(paths: Iterable[Path]) -> None:
    """Make sure that records can be written, before hours of work would be lost.

    Makes the folders.

    Raises
    ------
    UserError
        If a folder cannot be made or written to, or a file cannot.
    """
    for path in paths:
        with writing(path, what="records to "):
            with tempfile.TemporaryFile(dir=path.parent):
                pass
            if path.exists():
                path.open("ab").close()


def _parse(line: bytes) -> dict | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and "key" in record else None


def _repair(file) -> None:
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    body = file.read()
    start = body.rfind(b"\n") + 1
    if _parse(body[start:]) is None:
        file.truncate(start)
    else:
        file.write(b"\n")
