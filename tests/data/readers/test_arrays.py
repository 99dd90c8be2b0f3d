import io

import numpy as np
import pytest

from boostbench.data.readers.arrays import read_idx, read_npz, read_splits
from boostbench.errors import UserError


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    stream.seek(0)
    return stream


def test_parts_become_a_fixed_split():
    images = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
    stream = npz(
        x_train=images[:2], y_train=np.array([1, 2]), x_test=images[2:], y_test=np.array([1])
    )
    X, y, splits = read_npz(stream, "toy")
    assert X.dtype == np.float64
    assert X.tolist() == images.reshape(3, 8).tolist()
    assert y.tolist() == [1, 2, 1]
    [(train, test)] = splits
    assert (train.tolist(), test.tolist()) == ([0, 1], [2])


def test_x_and_y():
    X, y, splits = read_npz(npz(X=np.eye(2, dtype=np.float16), Y=np.array(["a", "b"])), "toy")
    assert (X.tolist(), y.tolist(), splits) == ([[1, 0], [0, 1]], ["a", "b"], None)


def test_a_mark_of_the_test_part_becomes_a_fixed_split():
    stream = npz(x=np.eye(3), y=np.array([1, 2, 1]), is_test=np.array([True, False, False]))
    [(train, test)] = read_npz(stream, "toy")[2]
    assert (train.tolist(), test.tolist()) == ([1, 2], [0])


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (npz(a=np.eye(2)), r"holds \['a'\], but x and y"),
        (npz(x=np.eye(2), y=np.arange(3)), r"\(2, 2\) does not fit y of shape \(3,\)"),
        (npz(x=np.eye(2), y=np.array([1, None])), "not a readable npz archive"),
        (io.BytesIO(b"PK nothing"), "not a readable npz archive"),
        (io.BytesIO(npz(x=np.eye(9), y=np.arange(9)).getvalue()[:300]), "not a readable npz"),
    ],
)
def test_bad_archives(stream, message):
    with pytest.raises(UserError, match=message):
        read_npz(stream, "toy")


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + array.astype(np.uint8).tobytes()


def test_idx():
    array = np.arange(12).reshape(3, 2, 2)
    assert read_idx(io.BytesIO(idx(array)), "toy").tolist() == array.tolist()


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", b"\0\0\x0d\x01aaaa", idx(np.eye(4))[:-1]])
def test_bad_idx(content):
    with pytest.raises(UserError, match="toy is not a complete IDX file"):
        read_idx(io.BytesIO(content), "toy")


def test_splits(tmp_path):
    path = tmp_path / "toy.splits.npz"
    np.savez(path, train=np.array([[0, 1], [2, 3]], np.int32), test=np.array([[2, 3], [0, 1]]))
    splits = read_splits(path, 4)
    assert [(a.tolist(), b.tolist()) for a, b in splits] == [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    with pytest.raises(UserError, match=r"do not fit the 3 rows"):
        read_splits(path, 3)


def test_bad_splits(tmp_path):
    path = tmp_path / "toy.splits.npz"
    np.savez(path, train=np.array([[0, 1]]))
    with pytest.raises(UserError, match="does not hold fixed splits"):
        read_splits(path, 3)
