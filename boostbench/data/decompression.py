"""How much a compressed file may unpack to: a small one must not fill the memory."""

import io
from collections import Counter
from pathlib import Path
from typing import BinaryIO

import numpy as np

from boostbench.errors import UserError

#: Bytes that any file may unpack to, and the multiple of its own size that a larger one may.
LEAST, MULTIPLE = 2**27, 100
_CHUNK = 2**20


def unpacked(stream: BinaryIO, path: Path, least: int = LEAST) -> io.BytesIO:
    """Read a compressed file into memory.

    Parameters
    ----------
    stream : binary file
        Gives what is in the file.
    path : Path
        The file as it is on disk.
    least : int, default=LEAST
        Bytes that it may unpack to, however small it is.

    Returns
    -------
    io.BytesIO

    Raises
    ------
    UserError
        If it unpacks to too much.
    """
    content, most = io.BytesIO(), _most(path.stat().st_size, least)
    while chunk := stream.read(_CHUNK):
        content.write(chunk)
        if content.tell() > most:
            raise UserError(_told(path, most))
    content.seek(0)
    return content


def read_arrays(stream: BinaryIO, where: object) -> dict[str, np.ndarray]:
    """Read an archive of NumPy arrays.

    Parameters
    ----------
    stream : binary file
        The file.
    where : object
        What to call it in the message.

    Raises
    ------
    UserError
        If it unpacks to too much, or several arrays have one name.
    Exception
        Whatever NumPy, zip and zlib find in another file, or in a damaged one.
    """
    most = _most(stream.seek(0, io.SEEK_END), LEAST)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as archive:
        if sum(member.file_size for member in archive.zip.infolist()) > most:
            raise UserError(_told(where, most))
        names = Counter(name.removesuffix(".npy").lower() for name in archive.zip.namelist())
        for name, count in names.items():
            if count > 1:
                raise UserError(f"{where} holds {count} arrays called {name}; leave one of them")
        return dict(archive)


def _most(size: int, least: int) -> int:
    return max(least, MULTIPLE * size)


def _told(where: object, most: int) -> str:
    return (
        f"{where} unpacks to more than {most // 10**6} MB, more than {MULTIPLE} times its size; if "
        "that is right, unpack it, and give the file without compression"
    )
