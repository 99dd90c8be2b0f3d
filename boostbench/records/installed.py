"""Archive of the project's results, and their read-only folder after an installation.

`boostbench results pack` writes the archive, and `boostbench results install` unpacks it.

A package index serves the code without records. The archive of a release brings them: it is
unpacked to a read-only folder of the user, the *installed results*. Commands that only read records
show them where the current folder has no results of its own (`find_results`).
"""

import io
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from boostbench.util.errors import UserError
from boostbench.util.files import file_sha256, writing_to

# Parts of a results folder that an archive contains. Pages and other files are made from them.
_PARTS = ("README.md", "verdicts.csv", "verified.jsonl", "records", "tables", "figures")
#: Folder of results if a command names no other.
DEFAULT_FOLDER = Path("results")
# First member of an archive: a line for each other member, with its SHA-256 and its name.
_MANIFEST = "SHA256SUMS"


def installed_folder() -> Path:
    """Return the folder of installed results, which may not exist.

    It is ``$BOOSTBENCH_INSTALLED``, or ``boostbench/results`` in the user's folder of application
    data.
    """
    if folder := os.environ.get("BOOSTBENCH_INSTALLED"):
        return Path(folder)
    if sys.platform == "win32":
        data_home = os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        data_home = Path.home() / "Library" / "Application Support"
    else:
        data_home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data_home) / "boostbench" / "results"


def find_results(folder: Path) -> Path:
    """Return a results folder to read: the given one, or the installed one in its place.

    The installed results stand in for the default folder only, and only if it does not exist.
    """
    if folder == DEFAULT_FOLDER and not folder.is_dir() and installed_folder().is_dir():
        return installed_folder()
    return folder


def result_files(results: Path) -> Iterator[Path]:
    """Yield the files of a results folder that an archive contains."""
    for part in _PARTS:
        yield from _files(results / part)


def write_archive(results: Path, path: Path) -> str:
    """Write a results folder as a tar archive, and its checksum beside it.

    Equal results give equal bytes: members are sorted, and have neither dates nor owners. The
    first member lists the SHA-256 of all others.

    Parameters
    ----------
    results : Path
        Results folder.
    path : Path
        Archive; its checksum goes to ``<path>.sha256``.

    Returns
    -------
    str
        SHA-256 of the archive.

    Raises
    ------
    UserError
        If there are no records, or a file cannot be written.
    """
    files = list(result_files(results))
    if not any(file.is_relative_to(results / "records") for file in files):
        raise UserError(f"{results} has no records; name another folder by results=")
    # 1) List the checksum of each file.
    sums = [(file_sha256(file), file.relative_to(results).as_posix()) for file in sorted(files)]
    manifest = "".join(f"{digest}  {name}\n" for digest, name in sums).encode()
    # 2) Write the list and the files.
    with writing_to(path):
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, _MANIFEST, len(manifest), io.BytesIO(manifest))
            for _, name in sums:
                file = results / name
                with file.open("rb") as stream:
                    _add(archive, name, file.stat().st_size, stream)
        digest = file_sha256(path)
        Path(f"{path}.sha256").write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    return digest


def install_archive(path: Path) -> Path:
    """Check an archive of results, and put it where commands find it; replace an older one.

    Parameters
    ----------
    path : Path
        Archive of `write_archive`. If ``<path>.sha256`` exists, the archive is compared with it.

    Returns
    -------
    Path
        Folder of the installed results, whose files are read-only.

    Raises
    ------
    UserError
        If the file is no archive of results, is damaged or incomplete, or cannot be installed.
    """
    checksum_file = Path(f"{path}.sha256")
    if checksum_file.exists():
        expected = checksum_file.read_text(encoding="utf-8").split()[:1]
        if expected != [file_sha256(path)]:
            raise UserError(
                f"{path} differs from its checksum in {checksum_file}; download both again"
            )
    target = installed_folder()
    # The archive is extracted and checked beside the target, which is replaced at the end.
    with writing_to(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".results-") as scratch:
            folder = Path(scratch) / "results"
            _extract(path, folder)
            _check_manifest(path, folder)
            for file in _files(folder):
                file.chmod(0o444)
            shutil.rmtree(target, ignore_errors=True)
            folder.rename(target)
    return target


def _extract(path: Path, folder: Path) -> None:
    """Extract an archive to a folder, or raise a `UserError` if it is none."""
    try:
        with tarfile.open(path, "r:") as archive:
            # The filter refuses absolute paths, paths outside the folder, links out of it and
            # devices.
            archive.extractall(folder, filter="data")
    except (tarfile.TarError, EOFError) as error:
        raise UserError(f"{path} is no archive of results: {error}") from None
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None


def _check_manifest(path: Path, folder: Path) -> None:
    """Compare all files with the manifest of the archive, and remove the manifest.

    Parameters
    ----------
    path : Path
        Archive, for messages.
    folder : Path
        Folder with the extracted files.

    Raises
    ------
    UserError
        If the manifest is missing, or a file is missing, is not listed or has another checksum.
    """
    manifest = folder / _MANIFEST
    if not manifest.is_file():
        raise UserError(f"{path} is no archive of results: it has no {_MANIFEST}")
    expected = {}
    for line in manifest.read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        expected[PurePosixPath(name)] = digest
    manifest.unlink()
    present = {
        PurePosixPath(file.relative_to(folder)): file_sha256(file) for file in _files(folder)
    }
    damaged = sorted(
        str(name)
        for name in expected.keys() | present.keys()
        if expected.get(name) != present.get(name)
    )
    if damaged:
        raise UserError(f"{path} is damaged: {damaged[0]} differs from {_MANIFEST}")


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder and its subfolders, without hidden ones."""
    if path.is_file():
        yield path
    elif path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and not file.name.startswith("."):
                yield file


def _add(archive: tarfile.TarFile, name: str, size: int, stream: BinaryIO) -> None:
    """Add `size` bytes of a stream to an archive, without a date or an owner."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    archive.addfile(member, stream)
