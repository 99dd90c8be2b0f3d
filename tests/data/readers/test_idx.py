import io

import numpy as np
import pytest

from boostbench.data.readers.idx import read_array
from boostbench.util.errors import UserError


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + array.astype(np.uint8).tobytes()


def test_idx_array_is_read():
    array = np.arange(12).reshape(3, 2, 2)
    assert read_array(io.BytesIO(idx(array)), "toy").tolist() == array.tolist()


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", b"\0\0\x0d\x01aaaa", idx(np.eye(4))[:-1]])
def test_damaged_idx_is_refused(content):
    with pytest.raises(UserError, match="toy is not a complete IDX file"):
        read_array(io.BytesIO(content), "toy")
