"""Reader of IDX files, the format of MNIST."""

import math
from pathlib import Path
from typing import BinaryIO

import numpy as np

from boostbench.data.data_table import DataTable
from boostbench.data.readers.base import Reader, ReadOptions
from boostbench.data.readers.npz import join_parts
from boostbench.util.decompression import open_file
from boostbench.util.errors import UserError

#: Endings of images and labels: first the training part, then the test part.
_PARTS = (
    ("-train-images-idx3-ubyte", "-train-labels-idx1-ubyte"),
    ("-t10k-images-idx3-ubyte", "-t10k-labels-idx1-ubyte"),
)


class Idx(Reader):
    """Images and labels in four files of bytes, as of MNIST."""

    title = "IDX"
    content = "the first of the four files of MNIST; the others are beside it"
    suffixes = (_PARTS[0][0],)
    rank = 5  # position in the search for a data set's file

    def read(self, stream: BinaryIO, where: str, options: ReadOptions) -> DataTable:
        """Load images and labels of the training and the test part.

        Parameters
        ----------
        stream : binary file
            The images of the training part.
        where : str
            Path of these images. The other three files are in the same folder, and have the
            same compression.
        options : ReadOptions
            Not used; the format has no settings.

        Returns
        -------
        DataTable
            Images as rows, and one fixed split.

        Raises
        ------
        UserError
            If a file is missing, has another format, or is truncated.
        """
        path, parts = Path(where), []
        for file_endings in _PARTS:
            images_and_labels = []
            for ending in file_endings:
                file = path.with_name(path.name.replace(self.suffixes[0], ending))
                with open_file(file) as file_stream:
                    images_and_labels.append(read_array(file_stream, str(file)))
            parts.append(tuple(images_and_labels))
        X, y, splits = join_parts(parts, where)
        return DataTable.from_arrays(X, y, where, splits)


def read_array(stream: BinaryIO, where: str) -> np.ndarray:
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
    # The header has four bytes: zero, zero, the type (8: bytes) and the number of dimensions. The
    # lengths of the dimensions follow as big-endian numbers of four bytes, and then the values.
    content = stream.read()
    has_type = content[:3] == b"\0\0\x08" and len(content) > 3
    n_dimensions = content[3] if has_type else 0
    start = 4 + 4 * n_dimensions
    # Images have three dimensions, labels one; NumPy would take up to 64.
    if 0 < n_dimensions <= 4 and len(content) > start:
        shape = tuple(np.frombuffer(content[4:start], ">u4").tolist())
        if len(content) == start + math.prod(shape):
            return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
    raise UserError(f"{where} is not a complete IDX file of bytes")
