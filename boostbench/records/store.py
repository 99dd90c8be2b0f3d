"""Files of records: a JSON line for each finished split or trial, appended and flushed at once.

``<results>/records/<data>/<algo>.jsonl`` holds splits, ``<algo>.tuning.jsonl`` beside it holds
cross-validation trials, and ``<algo>.<kind>.jsonl`` the records of other measures. A file only
grows; the last of several records with one key counts. See `boostbench.records.codec` for the
lines.

``<algo>.tuning.jsonl.gz`` holds packed lines (`pack`), which precede the lines of the file without
``.gz``.
"""

import gzip
import io
import os
import re
import tempfile
import threading
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from boostbench.data.decompression import decompress
from boostbench.records import codec
from boostbench.records.codec import Definitions, UndefinedHash
from boostbench.records.journal import open_append, repair
from boostbench.records.schema import SCHEMA, BadLine, Record
from boostbench.util.errors import UserError, os_error_reason, writing_to
from boostbench.util.file_lock import acquire_file_lock, file_lock, lock_path
from boostbench.util.files import (
    atomic_write,
    is_regular_file,
    open_in_place,
    retry_while_in_use,
    slug,
)

# Punctuation in the names of data sets and of algorithms. A dot ends the name of the algorithm.
_DATA_PUNCTUATION, _ALGO_PUNCTUATION = "+-.", "+-"
_PLAIN, _PACKED = ".jsonl", ".gz"
# Damaged lines of a file that are described; the others are counted.
_MAX_DESCRIBED = 5
# Characters of each description.
_MAX_REASON_LENGTH = 200
# Bytes to which any packed file may unpack; records unpack to 25 times their packed size.
_MIN_UNPACKED_BYTES = 2**24


def record_path(results: Path, data: str, algo: str, kind: str = "") -> Path:
    """Return the path of the records of an algorithm on a data set.

    Parameters
    ----------
    results : Path
        Folder of the results.
    data, algo : str
        Names of the data set and of the algorithm.
    kind : str, default=""
        Kind of the records: ``""`` for splits, ``"tuning"`` for cross-validation trials, or the
        suffix of a measure.

    Raises
    ------
    UserError
        If a name cannot be the name of a file.
    """
    for name, punctuation in ((data, _DATA_PUNCTUATION), (algo, _ALGO_PUNCTUATION)):
        if not re.match(r"\w", name) or slug(name, punctuation) != name:
            characters = f"letters, digits and {' '.join(f'_{punctuation}')}"
            raise UserError(f"{name!r} names a file of records; use {characters}")
    return Path(results) / "records" / data / f"{algo}{kind and '.'}{kind}{_PLAIN}"


def record_paths(results: Path) -> list[Path]:
    """Return the files of records in a folder of results; packed files without ``.gz``.

    A file that has several names, by links of its folder, is returned once.
    """
    files = (Path(results) / "records").glob(f"*/*{_PLAIN}*")
    names = {path.with_name(path.name.removesuffix(_PACKED)) for path in files}
    paths = sorted((path for path in names if path.suffix == _PLAIN), reverse=True)
    return sorted({os.path.realpath(path): path for path in paths}.values())


def parse_record_path(path: Path) -> tuple[str, str]:
    """Return the algorithm and the kind of records that a file's name holds."""
    algo, _, kind = path.name.removesuffix(_PLAIN).partition(".")
    return algo, kind


class RecordFile:
    """A file of records and its packed file, with the position up to which they were read.

    Parameters
    ----------
    path : Path
        Path without ``.gz``. A file that does not exist has no records.

    Attributes
    ----------
    kind : str
        Kind of the records, see `record_path`.

    Notes
    -----
    One thread may read new records while another adds some.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self.kind = parse_record_path(self.path)[1]
        self._definitions = Definitions(self.kind)
        # Records that were not returned yet, or lines whose definitions may follow in the file.
        self._unsettled: list[tuple[tuple[int, int], Record | bytes]] = []
        # First damaged lines, and their number.
        self._bad: list[tuple[tuple[int, int], str]] = []
        self._n_bad = 0
        self._has_packed = True
        self._version: tuple | None = None
        # The reading position changes in several steps.
        self._lock = threading.Lock()
        self._rewind()

    def _rewind(self) -> None:
        """Set the position to the first line of the file without ``.gz``."""
        self._place, self._n_lines = 0, [0, 0]
        # Hashes of its definitions.
        self._defined: set[str] = set()

    @property
    def warnings(self) -> list[str]:
        """Messages about damaged lines, which are left out; a torn last line is not reported."""
        files = _packed(self.path), self.path
        warnings = [f"{files[i]}:{number}: {reason}; left out" for (i, number), reason in self._bad]
        if self._n_bad > _MAX_DESCRIBED:
            warnings.append(
                f"{self.path}: {self._n_bad - _MAX_DESCRIBED} more bad lines are left out"
            )
        return warnings

    def read_new(self) -> list[Record]:
        """Return the records that others have added since the last call; at first, all records.

        Raises
        ------
        UserError
            If the file cannot be read.
        """
        with self._lock:
            if self._has_packed:
                self._parse_lines(0, _unpacked(_packed(self.path)))
                self._has_packed = False
            try:
                if is_regular_file(self.path):
                    with self.path.open("rb") as file:
                        self._read_new_lines(file)
            except OSError as error:
                raise UserError(
                    f"cannot read records from {self.path}: {os_error_reason(error)}"
                ) from None
            unsettled, self._unsettled = self._unsettled, []
            records = []
            for place, entry in unsettled:
                try:
                    records.append(self._read_line(entry) if isinstance(entry, bytes) else entry)
                except BadLine as error:
                    self._skip_line(place, error)
            return records

    def _read_line(self, line: bytes) -> Record | str:
        try:
            return self._definitions.read(line)
        except UndefinedHash as error:
            raise BadLine(str(error)) from None

    def add(self, records: Iterable[Record]) -> list[Record]:
        """Append records, safe against a kill at any moment and against other writers.

        The file and its folder are made if they do not exist.

        Parameters
        ----------
        records : iterable of Record

        Returns
        -------
        list of Record
            Records as they will be read.

        Raises
        ------
        BadLine
            If a record could not be read back. Nothing is written then.
        UserError
            If the file cannot be written to, such as on a full disk.
        """
        with self._lock:
            return self._add(records)

    def _add(self, records: Iterable[Record]) -> list[Record]:
        composed, written = [], []
        for record in records:
            definitions, line = codec.encode(record)
            for name, definition in definitions.items():
                if name not in self._definitions:
                    self._definitions.add(codec.parse(definition))
            written.append(self._definitions.read(line))
            composed.append((definitions, line))
        if not composed:
            return []
        with open_append(self.path, "records to ", _is_complete, _depth(self.path)) as file:
            self._read_new_lines(file)
            for definitions, line in composed:
                new = {
                    name: text for name, text in definitions.items() if name not in self._defined
                }
                file.write(b"".join([*new.values(), line]))
                self._defined |= new.keys()
                self._n_lines[1] += len(new) + 1
            self._place = file.seek(0, os.SEEK_END)
        return written

    def _read_new_lines(self, file: BinaryIO) -> None:
        """Parse the lines that were added to the file without ``.gz``, or a new file."""
        packed = _packed(self.path)
        status = packed.stat() if packed.exists() else None
        # `pack` removes the file, and the next record makes a new one.
        version = os.fstat(file.fileno()).st_ino, status and (status.st_ino, status.st_mtime_ns)
        if self._version not in (None, version) or file.seek(0, os.SEEK_END) < self._place:
            self._rewind()
        self._version = version
        file.seek(self._place)
        self._place += self._parse_lines(1, file.read())

    def _parse_lines(self, which: int, body: bytes) -> int:
        """Parse lines of the packed file (0) or of the other (1), and return their size in bytes.

        The last line is not parsed if it is torn: its writer may be about to write the rest.
        """
        for line in io.BytesIO(body):
            place = which, self._n_lines[which] + 1
            try:
                if not line.isspace():
                    entry = self._definitions.read(line)
                    if isinstance(entry, Record):
                        self._unsettled.append((place, entry))
                    elif which:
                        self._defined.add(entry)
            except UndefinedHash:
                self._unsettled.append((place, line))
            except BadLine as error:
                if not line.endswith(b"\n"):
                    return len(body) - len(line)
                self._skip_line(place, error)
            self._n_lines[which] += line.endswith(b"\n")
        return len(body)

    def _skip_line(self, place: tuple[int, int], error: BadLine) -> None:
        self._n_bad += 1
        reason = " ".join(str(error).split())  # names in a file may hold line ends
        self._bad = sorted([*self._bad, (place, reason[:_MAX_REASON_LENGTH])])[:_MAX_DESCRIBED]


def read_records(path: Path) -> tuple[list[Record], list[str]]:
    """Return the newest records of a file.

    Parameters
    ----------
    path : Path
        File of records, without ``.gz``. A file that does not exist has no records.

    Returns
    -------
    records : list of Record
        Newest record of each key, in the order of the file.
    warnings : list of str
        See `RecordFile.warnings`.

    Raises
    ------
    UserError
        If the file cannot be read.
    """
    file, newest = RecordFile(path), {}
    keep_newest(newest, file.read_new())
    return list(newest.values()), file.warnings


def keep_newest(newest: dict[str, Record], records: Iterable[Record]) -> None:
    """Add records to a mapping by key; the last of several records with one key is kept."""
    for record in records:
        key = record.key
        newest.pop(key, None)
        newest[key] = record


def deduplicate(path: Path) -> int:
    """Remove all but the newest record of each key from a file of records and its packed file.

    A kill at any moment loses nothing: a line may be in both files for a while.

    Parameters
    ----------
    path : Path
        File of records, without ``.gz``.

    Returns
    -------
    int
        Number of removed records. A file with damaged lines stays as it is.
    """
    keys = [record.key for record in RecordFile(path).read_new()]
    if len(set(keys)) == len(keys):
        return 0
    with file_lock(path, "records to ", depth=_depth(path)):
        file = RecordFile(path)
        everything = file.read_new()
        if file.warnings:
            return 0
        newest = {record.key: record for record in everything}
        composed = [codec.encode(record) for record in newest.values()]
        defined = {name: text for definitions, _ in composed for name, text in definitions.items()}
        body = [*defined.values(), *(line for _, line in composed)]
        atomic_write(path, lambda stream: stream.writelines(body))
        retry_while_in_use(lambda: _packed(path).unlink(missing_ok=True))
    return len(everything) - len(newest)


def pack(path: Path) -> int:
    """Move the lines of a file of records to its packed file.

    A kill at any moment loses nothing: a line may be in both files for a while.

    Parameters
    ----------
    path : Path
        Existing file of records, without ``.gz``.

    Returns
    -------
    int
        Number of bytes by which the files became smaller.
    """
    packed = _packed(path)
    with file_lock(path, "records to ", depth=_depth(path)):
        with open_in_place(path, "ab+") as file:
            repair(file, _is_complete)
            file.seek(0)
            new = file.read()
        before = len(new) + (packed.stat().st_size if packed.exists() else 0)
        old = _unpacked(packed).splitlines(keepends=True)
        body = b"".join(dict.fromkeys([*old, *new.splitlines(keepends=True)]))
        # Equal lines have to give equal bytes, so the archive has no time stamp.
        atomic_write(packed, lambda stream: stream.write(gzip.compress(body, mtime=0)))
        retry_while_in_use(path.unlink)
    return before - packed.stat().st_size


def check_writable(paths: Iterable[Path]) -> None:
    """Check that records can be written, before hours of work would be lost, and make the folders.

    Raises
    ------
    UserError
        If a folder cannot be made or written to, a file or its lock cannot, or nothing can be
        locked.
    """
    for path in paths:
        with writing_to(path, content="records to ", depth=_depth(path)):
            with tempfile.TemporaryFile(dir=path.parent) as file:
                acquire_file_lock(file, path.parent)
            # The lock file may belong to another user of a shared folder.
            for file in (path, lock_path(path)):
                if os.path.lexists(file):
                    open_in_place(file, "ab").close()


def _depth(path: Path) -> int:
    """Return how many folders of a file of records are inside the results; more in a shard's."""
    return 4 if path.parts[-5:-4] == ("shards",) else 2


def _packed(path: Path) -> Path:
    return path.with_name(path.name + _PACKED)


def _unpacked(path: Path) -> bytes:
    """Return the content of a packed file; a file that does not exist is empty."""
    try:
        if not is_regular_file(path):
            return b""
        with gzip.open(path) as stream:
            return decompress(stream, path, _MIN_UNPACKED_BYTES).getvalue()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(f"{path} is damaged; take it from a copy, or remove it") from None
    except OSError as error:
        raise UserError(f"cannot read records from {path}: {os_error_reason(error)}") from None


def _is_complete(line: bytes) -> bool:
    try:
        content = codec.parse(line)
        if content.get("schema") != SCHEMA:
            Definitions().add(content)
    except BadLine:
        return False
    return True
