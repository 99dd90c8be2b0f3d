"""Files of records: a JSON line for each finished split or trial, appended and flushed at once.

``<results>/records/<data>/<algo>.jsonl`` holds splits, ``<algo>.tuning.jsonl`` beside it holds
cross-validation trials, and ``<algo>.<kind>.jsonl`` the records of other measures. A file only
grows; the last of several records with one key counts. See `boostbench.records.codec` for the
lines: records, and the definitions of configs and provenances that records refer to by hashes.

``<algo>.tuning.jsonl.gz``, the *packed file*, holds lines that `pack` has moved there; they precede
the lines of the file without ``.gz``, the *plain file*. A line is *torn* if a kill has cut it, and
*damaged* if it is complete and cannot be read.

`RecordFile` reads and appends; `pack` and `deduplicate` make files smaller.
`boostbench.records.index` finds records in several files.
"""

import functools
import gzip
import io
import os
import re
import tempfile
import threading
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from boostbench.records import codec
from boostbench.records.codec import LineDecoder, UndefinedHash
from boostbench.records.schema import SCHEMA, BadLine, Record
from boostbench.util.decompression import decompress
from boostbench.util.errors import UserError, os_error_reason
from boostbench.util.files import (
    acquire_file_lock,
    atomic_write,
    file_lock,
    is_regular_file,
    lock_path,
    open_append,
    open_in_place,
    repair_last_line,
    retry_while_in_use,
    slug,
    writing_to,
)

# Punctuation in the names of data sets, which are names of folders.
_DATA_PUNCTUATION = "+-."
# Punctuation in the names of algorithms. A dot ends the name in a file's name.
_ALGO_PUNCTUATION = "+-"
# Ending of a file of records.
_PLAIN = ".jsonl"
# Further ending of its packed file.
_PACKED = ".gz"
# Content of the files in messages of `boostbench.util.files.writing_to`, which continue with the
# name of the file: "cannot write records to FILE".
_CONTENT = "records to "
# Number of damaged lines of a file that are described; the others are counted.
_MAX_DESCRIBED = 5
# Characters of each description: a damaged line may be long, and a message is read in a terminal.
_MAX_REASON_LENGTH = 200
# Bytes to which any packed file may unpack: 16 MiB. A larger result must not exceed 100 times the
# size of the packed file, see `decompress`; records unpack to 25 times their packed size.
_ALLOWED_UNPACKED_BYTES = 2**24


# A run asks for the same few paths at each step of a task.
@functools.lru_cache(maxsize=1024)
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


class _Place(NamedTuple):
    """File and number of a line, for messages. Places sort like lines: the packed file is first.

    Attributes
    ----------
    is_plain : bool
        True for a line of the plain file, False for one of the packed file.
    line_number : int
        Number of the line in its file, from 1.
    """

    is_plain: bool
    line_number: int


class RecordFile:
    """A file of records and its packed file, with the position up to which they were read.

    A run keeps the object for hours: `add` appends its own records, and `read_new` returns the
    records that concurrent runs have appended since. One thread may call `read_new` while another
    one calls `add`.

    Parameters
    ----------
    path : Path
        Path without ``.gz``. A file that does not exist has no records.

    Attributes
    ----------
    path : Path
        The parameter.
    kind : str
        Kind of the records, see `record_path`.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self.kind = parse_record_path(self.path)[1]
        # The decoder holds the definitions of both files, to which the lines of records refer.
        self._line_decoder = LineDecoder(self.kind)
        # Records that `read_new` returns next, in the order of the file. Bytes are the line of a
        # record whose definitions come later in the file; `read_new` decodes it at the end.
        self._unreturned: list[tuple[_Place, Record | bytes]] = []
        # Places of the first damaged lines, with the reasons for messages.
        self._damages: list[tuple[_Place, str]] = []
        # Number of all damaged lines.
        self._n_damaged = 0
        # The packed file is read once, by the first `read_new`.
        self._is_packed_unread = True
        # Identity of the plain and the packed file at the last reading, see `_read_new_lines`.
        self._file_identity: tuple | None = None
        # The reading position changes in several steps, which another thread must not see.
        self._lock = threading.Lock()
        self._rewind()

    def _rewind(self) -> None:
        """Set the position to the first line of the plain file."""
        # Number of bytes of the plain file that were read or written.
        self._offset = 0
        # Number of line ends in these bytes.
        self._n_lines = 0
        # Hashes of the definitions in the plain file, which `add` need not write again.
        self._hashes_in_file: set[str] = set()

    @property
    def warnings(self) -> list[str]:
        """Messages about damaged lines, which are left out; a torn last line is not reported."""
        warnings = []
        for place, reason in self._damages:
            path = self.path if place.is_plain else _packed_path(self.path)
            warnings.append(f"{path}:{place.line_number}: {reason}; left out")
        n_more = self._n_damaged - _MAX_DESCRIBED
        if n_more > 0:
            warnings.append(f"{self.path}: {n_more} more bad lines are left out")
        return warnings

    def read_new(self) -> list[Record]:
        """Return the records that others have added since the last call; at first, all records.

        Raises
        ------
        UserError
            If the file cannot be read.
        """
        with self._lock:
            if self._is_packed_unread:
                self._parse_lines(_read_packed(_packed_path(self.path)), is_plain=False)
                self._is_packed_unread = False
            try:
                if is_regular_file(self.path):
                    with self.path.open("rb") as file:
                        self._read_new_lines(file)
            except OSError as error:
                raise UserError(
                    f"cannot read records from {self.path}: {os_error_reason(error)}"
                ) from None
            unreturned, self._unreturned = self._unreturned, []
            records = []
            for place, record in unreturned:
                if isinstance(record, bytes):
                    # Both files have been read to their ends: a definition still missing is an
                    # error.
                    try:
                        record = self._line_decoder.decode_line(record)
                    except (BadLine, UndefinedHash) as error:
                        self._note_damage(place, error)
                        continue
                records.append(record)
            return records

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
        """Append records, see `add`; the caller holds the lock."""
        # 1) Encode all records and read them back: nothing is written if one cannot be read.
        encoded_records, read_back = [], []
        for record in records:
            encoded = codec.encode(record)
            for definition_hash, definition in encoded.definitions:
                if definition_hash not in self._line_decoder:
                    self._line_decoder.decode_line(definition)
            read_back.append(self._line_decoder.decode_line(encoded.line))
            encoded_records.append(encoded)
        if not encoded_records:
            return []
        # 2) Write each record after its definitions; the file may have the definitions already.
        depth = _depth_in_results(self.path)
        with open_append(self.path, _CONTENT, _is_complete, depth) as file:
            # Read the definitions that other writers have added, which are not written again.
            self._read_new_lines(file)
            for encoded in encoded_records:
                lines = [
                    definition
                    for definition_hash, definition in encoded.definitions
                    if definition_hash not in self._hashes_in_file
                ]
                lines.append(encoded.line)
                file.write(b"".join(lines))
                self._hashes_in_file.update(name for name, _ in encoded.definitions)
                self._n_lines += len(lines)
            # `open_append` locks the file: nothing follows the lines of this call.
            self._offset = file.seek(0, os.SEEK_END)
        return read_back

    def _read_new_lines(self, file: BinaryIO) -> None:
        """Parse the lines after the reading position; `file` is the plain file, open to read."""
        # 1) Set the position to the first line if `pack` has removed the file since: it then is a
        #    new file, with another inode or packed file, or shorter. The packed file is not read
        #    again. Most of its lines were read in the old plain file; lines that others had added
        #    to it after the last reading are missed, and at worst a fit is made twice.
        packed = _packed_path(self.path)
        packed_status = packed.stat() if packed.exists() else None
        packed_identity = packed_status and (packed_status.st_ino, packed_status.st_mtime_ns)
        identity = os.fstat(file.fileno()).st_ino, packed_identity
        is_replaced = self._file_identity not in (None, identity)
        if is_replaced or file.seek(0, os.SEEK_END) < self._offset:
            self._rewind()
        self._file_identity = identity
        # 2) Parse the lines after the position.
        file.seek(self._offset)
        self._offset += self._parse_lines(file.read(), is_plain=True)

    def _parse_lines(self, body: bytes, *, is_plain: bool) -> int:
        """Parse lines of the plain or of the packed file.

        A torn last line is left for the next call: its writer may be about to complete it.

        Parameters
        ----------
        body : bytes
            Lines, from the reading position to the end of the file.
        is_plain : bool
            Whether the lines are of the plain file.

        Returns
        -------
        int
            Number of bytes that were parsed.
        """
        # The packed file is read at once, from its first line.
        n_lines_before = self._n_lines if is_plain else 0
        for line_number, line in enumerate(io.BytesIO(body), start=n_lines_before + 1):
            is_ended = line.endswith(b"\n")
            place = _Place(is_plain, line_number)
            try:
                if not line.isspace():
                    record_or_hash = self._line_decoder.decode_line(line)
                    if isinstance(record_or_hash, Record):
                        self._unreturned.append((place, record_or_hash))
                    elif is_plain:
                        self._hashes_in_file.add(record_or_hash)
            except UndefinedHash:
                self._unreturned.append((place, line))
            except BadLine as error:
                if not is_ended:
                    return len(body) - len(line)
                self._note_damage(place, error)
            # A last line may be whole but for its line end. It is kept now; the next call reads the
            # line end, as an empty line, and counts it.
            if is_plain:
                self._n_lines += is_ended
        return len(body)

    def _note_damage(self, place: _Place, error: BadLine | UndefinedHash) -> None:
        """Count a damaged line; keep the reason if the line is one of the first damaged ones."""
        self._n_damaged += 1
        # The reason may quote names from the file, which may hold line ends.
        reason = " ".join(str(error).split())
        damages = sorted([*self._damages, (place, reason[:_MAX_REASON_LENGTH])])
        self._damages = damages[:_MAX_DESCRIBED]


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
    file = RecordFile(path)
    return list(NewestRecords(file.read_new())), file.warnings


class NewestRecords:
    """Collection of records that keeps the last one of each key, in the order of addition.

    Parameters
    ----------
    records : iterable of Record
        Records in the order of their file.
    """

    def __init__(self, records: Iterable[Record]):
        self._by_key = {}
        for record in records:
            self.add(record)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._by_key.values())

    def add(self, record: Record) -> None:
        """Add a record at the end, and remove an earlier one with its key."""
        key = record.key
        self._by_key.pop(key, None)
        self._by_key[key] = record

    def get(self, key: str) -> Record | None:
        """Return the record of a key; None if there is none."""
        return self._by_key.get(key)

    def remove(self, key: str) -> None:
        """Remove the record of a key, if there is one."""
        self._by_key.pop(key, None)


def deduplicate(path: Path) -> int:
    """Remove all but the newest record of each key, and leave one plain file.

    A kill at any moment loses nothing: a line may be in the plain and the packed file for a while.

    Parameters
    ----------
    path : Path
        File of records, without ``.gz``.

    Returns
    -------
    int
        Number of removed records. A file with damaged lines stays as it is.
    """
    # 1) Leave a file without duplicates alone, before the lock makes other writers wait.
    keys = [record.key for record in RecordFile(path).read_new()]
    if len(set(keys)) == len(keys):
        return 0
    # 2) Read again under the lock, as records may have been added.
    with file_lock(path, _CONTENT, depth=_depth_in_results(path)):
        file = RecordFile(path)
        records = file.read_new()
        if file.warnings:
            return 0
        newest = {record.key: record for record in records}
        # 3) Write each definition once, before all records.
        encoded = [codec.encode(record) for record in newest.values()]
        definitions = [line for record in encoded for _, line in record.definitions]
        lines = [*dict.fromkeys(definitions), *(record.line for record in encoded)]
        atomic_write(path, lambda stream: stream.writelines(lines))
        retry_while_in_use(lambda: _packed_path(path).unlink(missing_ok=True))
    return len(records) - len(newest)


def pack(path: Path) -> int:
    """Move the lines of a plain file of records to its packed file.

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
    packed = _packed_path(path)
    with file_lock(path, _CONTENT, depth=_depth_in_results(path)):
        with open_in_place(path, "ab+") as file:
            repair_last_line(file, _is_complete)
            file.seek(0)
            plain_body = file.read()
        size_before = len(plain_body) + (packed.stat().st_size if packed.exists() else 0)
        packed_lines = _read_packed(packed).splitlines(keepends=True)
        # A line that is in both files, as after a kill, is packed once.
        body = b"".join(dict.fromkeys([*packed_lines, *plain_body.splitlines(keepends=True)]))
        # Equal lines have to give equal bytes, so the packed file has no time stamp.
        atomic_write(packed, lambda stream: stream.write(gzip.compress(body, mtime=0)))
        retry_while_in_use(path.unlink)
    return size_before - packed.stat().st_size


def check_writable(paths: Iterable[Path]) -> None:
    """Check that records can be written, before hours of work would be lost, and make the folders.

    Raises
    ------
    UserError
        If a folder cannot be made or written to, a file or its lock cannot, or nothing can be
        locked.
    """
    for path in paths:
        with writing_to(path, subject=_CONTENT, depth=_depth_in_results(path)):
            with tempfile.TemporaryFile(dir=path.parent) as file:
                acquire_file_lock(file, path.parent)
            # The lock file may belong to another user of a shared folder.
            for file in (path, lock_path(path)):
                if os.path.lexists(file):
                    open_in_place(file, "ab").close()


def _depth_in_results(path: Path) -> int:
    """Return the number of folders between the results folder and a file of records.

    2 for ``<results>/records/DATA/ALGO.jsonl``, and 4 for a shard's file,
    ``<results>/shards/NAME/records/DATA/ALGO.jsonl``. Before a file is written, these folders are
    checked for links (`boostbench.util.files.check_folders`): a link may lead out of the results.
    """
    is_of_shard = path.parts[-5:-4] == ("shards",)
    return 4 if is_of_shard else 2


def _packed_path(path: Path) -> Path:
    """Return the path of the packed file of a file of records."""
    return path.with_name(path.name + _PACKED)


def _read_packed(path: Path) -> bytes:
    """Return the content of a packed file; a file that does not exist is empty."""
    try:
        if not is_regular_file(path):
            return b""
        with gzip.open(path) as stream:
            return decompress(stream, path, _ALLOWED_UNPACKED_BYTES).getvalue()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(f"{path} is damaged; take it from a copy, or remove it") from None
    except OSError as error:
        raise UserError(f"cannot read records from {path}: {os_error_reason(error)}") from None


def _is_complete(line: bytes) -> bool:
    """Return True if a line without its line end is a whole record or definition."""
    try:
        # `parse` rejects a torn line, as its JSON lacks the closing brace. This is enough for a
        # record, which has the entry "schema"; readers report a damaged one. Any other object has
        # to be a definition that agrees with its hash.
        if codec.parse(line).get("schema") != SCHEMA:
            LineDecoder().decode_line(line)
    except BadLine:
        return False
    return True
