"""Decompression with a size limit, so that a small file cannot fill the memory.

Readers of data files, the cache and bundles open their files by these functions.
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from boostbench.util.errors import UserError

#: Size in bytes that any file may decompress to (128 MB).
MIN_LIMIT = 2**27
#: Largest ratio of decompressed to compressed size for larger results; gzip itself allows 1032.
MAX_RATIO = 100
#: Bytes that are decompressed at a time; the limit is checked after each chunk.
_CHUNK_SIZE = 2**20
#: Functions that open a file, by the ending of its compression.
OPENERS = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open and decompress a file; raise a UserError for any error of reading it."""
    opener = OPENERS.get(path.suffix, open)
    try:
        with opener(path, "rb") as stream:
            yield stream if opener is open else decompress(stream, path)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise UserError(f"{path} cannot be read, or is damaged ({error})") from None


def decompress(stream: BinaryIO, path: Path, min_limit: int = MIN_LIMIT) -> io.BytesIO:
    """Load a compressed file into memory.

    Parameters
    ----------
    stream : binary file
        Stream of decompressed bytes.
    path : Path
        The compressed file on disk.
    min_limit : int, default=MIN_LIMIT
        Decompressed size in bytes that is allowed for any file.

    Returns
    -------
    io.BytesIO
        The decompressed content.

    Raises
    ------
    UserError
        If the decompressed content exceeds the limit.
    """
    content, max_size = io.BytesIO(), _max_size(path.stat().st_size, min_limit)
    while chunk := stream.read(_CHUNK_SIZE):
        content.write(chunk)
        if content.tell() > max_size:
            raise UserError(_size_message(path, max_size))
    content.seek(0)
    return content


def read_arrays(stream: BinaryIO, where: object) -> dict[str, np.ndarray]:
    """Load an archive of NumPy arrays.

    Parameters
    ----------
    stream : binary file
        The archive.
    where : object
        Name of the archive in messages.

    Returns
    -------
    dict of str to ndarray
        The arrays by name.

    Raises
    ------
    UserError
        If the decompressed content exceeds the limit, or several arrays have one name.
    Exception
        If the file is damaged or not an archive: any error of NumPy, zip or zlib.
    """
    max_size = _max_size(stream.seek(0, io.SEEK_END), MIN_LIMIT)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as archive:
        if sum(member.file_size for member in archive.zip.infolist()) > max_size:
            raise UserError(_size_message(where, max_size))
        names = Counter(name.removesuffix(".npy").lower() for name in archive.zip.namelist())
        for name, count in names.items():
            if count > 1:
                raise UserError(f"{where} holds {count} arrays called {name}; leave one of them")
        return dict(archive)


def _max_size(size: int, min_limit: int) -> int:
    """Return the decompressed size in bytes that a compressed file of `size` bytes may have."""
    return max(min_limit, MAX_RATIO * size)


def _size_message(where: object, max_size: int) -> str:
    """Return the message for a file that exceeds `max_size` bytes."""
    return (
        f"{where} unpacks to more than {max_size // 10**6} MB, more than {MAX_RATIO} times its "
        "size; if that is right, unpack it, and give the file without compression"
    )
