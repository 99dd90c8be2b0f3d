"""Records on disk: one JSON line per finished piece of work, appended and flushed at once.

``<results>/records/<data>/<algo>.jsonl`` holds splits, ``<algo>.tuning.jsonl`` beside it holds
cross-validation trials, and ``<algo>.<kind>.jsonl`` what else is recorded of fits. A file only
grows; of several records with one key the last one counts. What a line holds is in `lines`.

``<algo>.tuning.jsonl.gz`` holds lines that were packed away (`pack`); they come before those of the
file without ``.gz``.
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
from boostbench.records import lines
from boostbench.records.journal import appending, repair
from boostbench.records.lines import Definitions
from boostbench.records.schema import SCHEMA, BadLine
from boostbench.util.atomic_write import atomic_write, open_in_place, retry_while_in_use
from boostbench.util.errors import UserError, os_error_reason, writing_to
from boostbench.util.file_lock import acquire_file_lock, file_lock, lock_path
from boostbench.util.user_paths import slug

# Punctuation in the names of data sets and of algorithms. A dot ends the name of the algorithm.
_DATA_PUNCTUATION, _ALGO_PUNCTUATION = "+-.", "+-"
_PLAIN, _PACKED = ".jsonl", ".gz"
# So many bad lines of a file are named, the others counted.
_MAX_NAMED = 5
# So many characters are told of each.
_MAX_TOLD = 200
# Bytes that a packed file may unpack to, however small; records take 25 times their packed size.
_LEAST_PACKED = 2**24


def record_path(results: Path, data: str, algo: str, kind: str = "") -> Path:
    """Say where the records of an algorithm on a data set are.

    Parameters
    ----------
    results : Path
        Folder of the results.
    data, algo : str
        Names of the data set and of the algorithm.
    kind : str, default=""
        What is recorded: splits; ``"tuning"``, cross-validation trials; or what a measure calls
        itself.

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
    """List the files of records in a folder of results; packed ones by their names without .gz.

    A file that has several names, by links of its folder, is listed once.
    """
    files = (Path(results) / "records").glob(f"*/*{_PLAIN}*")
    names = {path.with_name(path.name.removesuffix(_PACKED)) for path in files}
    paths = sorted((path for path in names if path.suffix == _PLAIN), reverse=True)
    return sorted({os.path.realpath(path): path for path in paths}.values())


def parts_of(path: Path) -> tuple[str, str]:
    """Return the algorithm and the kind of records that a file's name holds."""
    algo, _, kind = path.name.removesuffix(_PLAIN).partition(".")
    return algo, kind


class RecordFile:
    """A file of records, as far as it has been read, with the packed file beside it.

    Parameters
    ----------
    path : Path
        Without ``.gz``. It need not be there: then there are no records.

    Notes
    -----
    One thread may look for what others have added while another adds.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self._kind = parts_of(self.path)[1]
        self._definitions = Definitions()
        # Lines of records whose definitions may come later, with their places.
        self._unsettled: list[tuple[tuple[int, int], dict]] = []
        # The first bad lines, and how many there are.
        self._bad: list[tuple[tuple[int, int], str]] = []
        self._n_bad = 0
        self._has_packed = True
        self._version: tuple | None = None
        # How far the file has been read changes in several steps.
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        """Go to the first line of the file without ``.gz``."""
        self._place, self._n_lines = 0, [0, 0]
        # Hashes of what is defined in it.
        self._defined: set[str] = set()

    @property
    def warnings(self) -> list[str]:
        """What is wrong with it: bad lines, which are left out. A torn last line is none."""
        files = _packed(self.path), self.path
        warnings = [f"{files[i]}:{number}: {reason}; left out" for (i, number), reason in self._bad]
        if self._n_bad > _MAX_NAMED:
            warnings.append(f"{self.path}: {self._n_bad - _MAX_NAMED} more bad lines are left out")
        return warnings

    def new(self) -> list[dict]:
        """Read the records that others have added since the last time; at first, all there are.

        Raises
        ------
        UserError
            If the file cannot be read.
        """
        with self._lock:
            if self._has_packed:
                self._take(0, _unpacked(_packed(self.path)))
                self._has_packed = False
            try:
                if self.path.is_file():
                    with self.path.open("rb") as file:
                        self._read_on(file)
            except OSError as error:
                raise UserError(
                    f"cannot read records from {self.path}: {os_error_reason(error)}"
                ) from None
            unsettled, self._unsettled = self._unsettled, []
            records = []
            for place, content in unsettled:
                try:
                    records.append(self._definitions.record(content, self._kind))
                except BadLine as error:
                    self._leave_out(place, error)
            return records

    def add(self, records: Iterable[dict]) -> list[dict]:
        """Add records, safe against a kill at any moment and against other writers.

        The file is made, with its folder, if it is not there.

        Parameters
        ----------
        records : iterable of dict
            JSON types only. What is derived from others may be left out.

        Returns
        -------
        list of dict
            The records as they will be read.

        Raises
        ------
        BadLine
            If a record could not be read back. Nothing is written then.
        UserError
            If the file cannot be written to, such as on a full disk.
        """
        with self._lock:
            return self._add(records)

    def _add(self, records: Iterable[dict]) -> list[dict]:
        composed, written = [], []
        for record in records:
            definitions, line = lines.to_lines(record)
            for name, definition in definitions.items():
                if name not in self._definitions:
                    self._definitions.add(lines.parse(definition))
            written.append(self._definitions.record(lines.parse(line), self._kind))
            composed.append((definitions, line))
        if not composed:
            return []
        with appending(self.path, "records to ", _is_whole, _depth(self.path)) as file:
            self._read_on(file)
            for definitions, line in composed:
                new = {
                    name: text for name, text in definitions.items() if name not in self._defined
                }
                file.write(b"".join([*new.values(), line]))
                self._defined |= new.keys()
                self._n_lines[1] += len(new) + 1
            self._place = file.seek(0, os.SEEK_END)
        return written

    def _read_on(self, file: BinaryIO) -> None:
        """Take the lines that were added to the file without ``.gz``, or all of another file."""
        packed = _packed(self.path)
        about = packed.stat() if packed.exists() else None
        # Packing makes way for a new file.
        version = os.fstat(file.fileno()).st_ino, about and (about.st_ino, about.st_mtime_ns)
        if self._version not in (None, version) or file.seek(0, os.SEEK_END) < self._place:
            self._begin()
        self._version = version
        file.seek(self._place)
        self._place += self._take(1, file.read())

    def _take(self, which: int, body: bytes) -> int:
        """Take lines of the packed file (0) or of the other (1), and give how many bytes these are.

        The last one may be torn, or somebody may be about to write the rest.
        """
        for line in io.BytesIO(body):
            place = which, self._n_lines[which] + 1
            try:
                if not line.isspace():
                    content = lines.parse(line)
                    if content.get("schema") == SCHEMA:
                        self._unsettled.append((place, content))
                    else:
                        name = self._definitions.add(content)
                        self._defined |= {name} if which else set()
            except BadLine as error:
                if not line.endswith(b"\n"):
                    return len(body) - len(line)
                self._leave_out(place, error)
            self._n_lines[which] += line.endswith(b"\n")
        return len(body)

    def _leave_out(self, place: tuple[int, int], error: BadLine) -> None:
        self._n_bad += 1
        reason = " ".join(str(error).split())  # names in a file may hold line ends
        self._bad = sorted([*self._bad, (place, reason[:_MAX_TOLD])])[:_MAX_NAMED]


def read_records(path: Path) -> tuple[list[dict], list[str]]:
    """Read a file of records.

    Parameters
    ----------
    path : Path
        File of records, without ``.gz``; one that is not there has none.

    Returns
    -------
    records : list of dict
        The newest record of each key, in the order of the file.
    warnings : list of str
        See `RecordFile.warnings`.

    Raises
    ------
    UserError
        If the file cannot be read.
    """
    file, newest = RecordFile(path), {}
    keep_newest(newest, file.new())
    return list(newest.values()), file.warnings


def keep_newest(known: dict[str, dict], records: Iterable[dict]) -> None:
    """Add records to those that are known by their keys: of several with one key the last."""
    for record in records:
        known.pop(record["key"], None)
        known[record["key"]] = record


def thin(path: Path) -> int:
    """Leave the newest record of each key in a file of records and its packed file.

    A kill at any moment loses nothing: for a while a line may be in both.

    Parameters
    ----------
    path : Path
        File of records, without ``.gz``.

    Returns
    -------
    int
        How many records went. A file with damaged lines stays as it is.
    """
    keys = [record["key"] for record in RecordFile(path).new()]
    if len(set(keys)) == len(keys):
        return 0
    with file_lock(path, "records to ", depth=_depth(path)):
        file = RecordFile(path)
        everything = file.new()
        if file.warnings:
            return 0
        newest = {record["key"]: record for record in everything}
        composed = [lines.to_lines(record) for record in newest.values()]
        defined = {name: text for definitions, _ in composed for name, text in definitions.items()}
        body = [*defined.values(), *(line for _, line in composed)]
        atomic_write(path, lambda stream: stream.writelines(body))
        retry_while_in_use(lambda: _packed(path).unlink(missing_ok=True))
    return len(everything) - len(newest)


def pack(path: Path) -> int:
    """Move the lines of a file of records to its packed file.

    A kill at any moment loses nothing: for a while a line may be in both.

    Parameters
    ----------
    path : Path
        File of records, without ``.gz``, that is there.

    Returns
    -------
    int
        By how many bytes the files became smaller.
    """
    packed = _packed(path)
    with file_lock(path, "records to ", depth=_depth(path)):
        with open_in_place(path, "ab+") as file:
            repair(file, _is_whole)
            file.seek(0)
            new = file.read()
        before = len(new) + (packed.stat().st_size if packed.exists() else 0)
        known = _unpacked(packed).splitlines(keepends=True)
        body = b"".join(dict.fromkeys([*known, *new.splitlines(keepends=True)]))
        # Without a time the same lines give the same bytes.
        atomic_write(packed, lambda stream: stream.write(gzip.compress(body, mtime=0)))
        retry_while_in_use(path.unlink)
    return before - packed.stat().st_size


def check_writable(paths: Iterable[Path]) -> None:
    """Make sure that records can be written, before hours of work would be lost.

    Makes the folders.

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
            # In a folder of several users the lock may be somebody else's.
            for file in (path, lock_path(path)):
                if os.path.lexists(file):
                    open_in_place(file, "ab").close()


def _depth(path: Path) -> int:
    """Return how many folders of a file of records are inside the results; more in a shard's."""
    return 4 if path.parts[-5:-4] == ("shards",) else 2


def _packed(path: Path) -> Path:
    return path.with_name(path.name + _PACKED)


def _unpacked(path: Path) -> bytes:
    """Give what a packed file holds; nothing where there is none."""
    try:
        if not path.is_file():
            return b""
        with gzip.open(path) as stream:
            return decompress(stream, path, _LEAST_PACKED).getvalue()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(f"{path} is damaged; take it from a copy, or remove it") from None
    except OSError as error:
        raise UserError(f"cannot read records from {path}: {os_error_reason(error)}") from None


def _is_whole(line: bytes) -> bool:
    try:
        content = lines.parse(line)
        if content.get("schema") != SCHEMA:
            Definitions().add(content)
    except BadLine:
        return False
    return True
