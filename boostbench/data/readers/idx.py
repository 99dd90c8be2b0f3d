"""Reader of IDX files, the format of MNIST."""

import math
from typing import BinaryIO

import numpy as np

from boostbench.util.errors import UserError


def read_idx(stream: BinaryIO, where: str) -> np.ndarray:
    """Load an IDX file of bytes.

    Returns
    -------
    ndarray of uint8
        Array of the shape in the file's header.

    Raises
    ------
    UserError
        If the file has another format, or is truncated.
    """
    content = stream.read()
    n_dimensions = content[3] if content[:3] == b"\0\0\x08" and len(content) > 3 else 0
    start = 4 + 4 * n_dimensions
    # Images have three dimensions, labels one; NumPy would take up to 64.
    if 0 < n_dimensions <= 4 and len(content) > start:
        shape = tuple(np.frombuffer(content[4:start], ">u4").tolist())
        if len(content) == start + math.prod(shape):
            return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
    raise UserError(f"{where} is not a complete IDX file of bytes")
