"""Records on disk: one JSON line per finished piece of work, appended and flushed at once.

``<results>/records/<data>/<algo>.jsonl`` holds splits, ``<algo>.tuning.jsonl`` beside it holds
cross-validation trials, and ``<algo>.<kind>.jsonl`` what else is recorded of fits. A file only
grows; of several records with one key the last one counts. What a line holds is in `lines`.

``<algo>.tuning.jsonl.gz`` holds lines that were packed away (`pack`); they come before those of the
file without ``.gz``.
"""

import bisect
import contextlib
import gzip
import io
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from boostbench.data.unpacking import unpacked
from boostbench.errors import UserError, writing
from boostbench.experiment.schema import SCHEMA, BadLine
from boostbench.records import lines
from boostbench.records.journal import appending
from boostbench.records.lines import Definitions

_DATA_NAME = re.compile(r"\w[\w.+-]*")
# What follows a dot is the kind of the file.
_ALGO_NAME = re.compile(r"\w[\w+-]*")
_PLAIN, _PACKED = ".jsonl", ".gz"
# So many bad lines of a file are named, the others counted.
_MAX_NAMED = 5
# So many characters are told of each.
_MAX_TOLD = 200
# Bytes that a packed file may unpack to, however small; records take 25 times their packed size.
_LEAST_PACKED = 2**24

# By file, which file it was, how much of it has been seen, and the hashes of its definitions.
_seen: dict[Path, tuple[tuple, int, Set[str]]] = {}
# Definitions of what this process has written, so that records in memory share them.
_written = Definitions()


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
    for name, allowed in ((data, _DATA_NAME), (algo, _ALGO_NAME)):
        if not allowed.fullmatch(name):
            characters = "letters, digits and _ + -" + (" ." if name is data else "")
            raise UserError(f"{name!r} names a file of records; use {characters}")
    return Path(results) / "records" / data / f"{algo}{kind and '.'}{kind}{_PLAIN}"


def record_paths(results: Path) -> list[Path]:
    """List the files of records in a folder of results; packed ones by their names without .gz."""
    found = (Path(results) / "records").glob(f"*/*{_PLAIN}*")
    names = {path.with_name(path.name.removesuffix(_PACKED)) for path in found}
    return sorted(path for path in names if path.suffix == _PLAIN)


def append(path: Path, record: dict) -> dict:
    """Add a record to a file, safe against a kill at any moment and against other writers.

    Parameters
    ----------
    path : Path
        File of records; made, with its folder, if it is not there.
    record : dict
        JSON types only. What is derived from others may be left out.

    Returns
    -------
    dict
        The record as it will be read.

    Raises
    ------
    BadLine
        If the record could not be read back. Nothing is written then.
    UserError
        If the file cannot be written to, such as on a full disk.
    """
    [written] = append_all(path, [record])
    return written


def append_all(path: Path, records: Iterable[dict]) -> list[dict]:
    """Add several records to a file at once; see `append`."""
    composed, written = [], []
    for record in records:
        definitions, line = lines.compose(record)
        for name, definition in definitions.items():
            if name not in _written.hashes:
                _written.add(lines.parse(definition))
        written.append(_written.record(lines.parse(line), _kind(path)))
        composed.append((definitions, line))
    if not composed:
        return []
    with appending(path, "records to ", _is_whole) as file:
        known = set(_hashes(path, file))
        for definitions, line in composed:
            new = {name: text for name, text in definitions.items() if name not in known}
            file.write(b"".join([*new.values(), line]))
            known |= new.keys()
        _seen[path] = _version(path, file), file.seek(0, os.SEEK_END), frozenset(known)
    return written


def read(path: Path) -> tuple[list[dict], list[str]]:
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
        What is wrong with the file: its bad lines, which are left out. A torn last line is none.

    Raises
    ------
    UserError
        If the file cannot be read.
    """
    path = Path(path)
    definitions, found, bad = Definitions(), [], _BadLines()
    for place, line, is_last in _lines(path):
        if not line.strip():
            continue
        try:
            content = lines.parse(line)
            if content.get("schema") == SCHEMA:
                found.append((place, content))
            else:
                definitions.add(content)
        except BadLine as error:
            if not is_last:
                bad.add(place, error)
    newest = {}
    for place, content in found:
        try:
            record = definitions.record(content, _kind(path))
        except BadLine as error:
            bad.add(place, error)
        else:
            newest.pop(record["key"], None)
            newest[record["key"]] = record
    return list(newest.values()), _warnings(path, bad)


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
    with appending(path, "records to ", _is_whole) as file:
        file.seek(0)
        new = file.read()
        before = len(new) + (packed.stat().st_size if packed.exists() else 0)
        known = _body(packed).splitlines(keepends=True)
        body = b"".join(dict.fromkeys([*known, *new.splitlines(keepends=True)]))
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as whole:
            # Without a time the same lines give the same bytes.
            whole.write(gzip.compress(body, mtime=0))
            whole.flush()
            os.fsync(whole.fileno())
        os.chmod(whole.name, path.stat().st_mode)
        os.replace(whole.name, packed)
        path.unlink()
    return before - packed.stat().st_size


class Follower:
    """What is added to a file of records from now on, by whomever.

    Parameters
    ----------
    path : Path
        File of records, which need not be there yet.
    """

    def __init__(self, path: Path):
        self.path = path
        self._definitions = Definitions()
        self._start = path.stat().st_size if path.is_file() else 0
        self._place = 0

    def new(self) -> list[dict]:
        """Read the records that were added since the last time; bad lines are passed over."""
        if not self.path.is_file() or self.path.stat().st_size <= max(self._place, self._start):
            return []
        found = []
        with self.path.open("rb") as file:
            file.seek(self._place)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # someone is about to write the rest
                self._place += len(line)
                is_new = self._place > self._start
                if not is_new and b'"schema":2' in line:
                    continue
                with contextlib.suppress(BadLine):
                    content = lines.parse(line)
                    if content.get("schema") == SCHEMA:
                        found.append(self._definitions.record(content, _kind(self.path)))
                    else:
                        self._definitions.add(content)
        return found


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


def _kind(path: Path) -> str:
    return path.name.removesuffix(_PLAIN).partition(".")[2]


def _packed(path: Path) -> Path:
    return path.with_name(path.name + _PACKED)


def _lines(path: Path) -> Iterator[tuple[tuple[int, int], bytes, bool]]:
    """Give the lines of the packed file and of the file: place, text, and whether it is last."""
    for i, one in enumerate((_packed(path), path)):
        for number, line in enumerate(io.BytesIO(_body(one)), start=1):
            yield (i, number), line, not line.endswith(b"\n")


def _body(path: Path) -> bytes:
    if not path.is_file():
        return b""
    try:
        if path.suffix != _PACKED:
            return path.read_bytes()
        with gzip.open(path) as stream:
            return unpacked(stream, path, _LEAST_PACKED).getvalue()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(f"{path} is damaged; take it from a copy, or remove it") from None
    except OSError as error:
        raise UserError(f"cannot read records from {path}: {error.strerror}") from None


class _BadLines:
    """How many there are, and the first of them."""

    def __init__(self):
        self.count = 0
        self.first: list[tuple[tuple[int, int], str]] = []

    def add(self, place: tuple[int, int], error: BadLine) -> None:
        self.count += 1
        told = " ".join(str(error).split())  # names in a file may hold line ends
        bisect.insort(self.first, (place, told[:_MAX_TOLD]))
        del self.first[_MAX_NAMED:]


def _warnings(path: Path, bad: _BadLines) -> list[str]:
    files = _packed(path), path
    warnings = [f"{files[i]}:{number}: {reason}; left out" for (i, number), reason in bad.first]
    if bad.count > _MAX_NAMED:
        warnings.append(f"{path}: {bad.count - _MAX_NAMED} more bad lines are left out")
    return warnings


def _is_whole(line: bytes) -> bool:
    try:
        content = lines.parse(line)
        if content.get("schema") != SCHEMA:
            Definitions().add(content)
    except BadLine:
        return False
    return True


def _hashes(path: Path, file) -> Set[str]:
    """Give the hashes of a file's definitions, reading only what is new since the last time."""
    version, size = _version(path, file), file.seek(0, os.SEEK_END)
    seen_version, seen, known = _seen.get(path, (version, 0, frozenset()))
    if seen_version != version or seen > size:
        seen, known = 0, frozenset()
    file.seek(seen)
    definitions = Definitions()
    for line in file:
        if b'"schema":2' not in line:
            with contextlib.suppress(BadLine):
                definitions.add(lines.parse(line))
    return known | definitions.hashes


def _version(path: Path, file) -> tuple:
    """Tell a file from another one of the same name; packing makes way for a new one."""
    packed = _packed(path)
    about = packed.stat() if packed.exists() else None
    return os.fstat(file.fileno()).st_ino, about and (about.st_ino, about.st_mtime_ns)
