import io
import warnings
import zipfile

import numpy as np
import pytest

from boostbench.data.readers.base import ReadOptions
from boostbench.data.readers.idx import read_array
from boostbench.data.readers.npz import Npz
from boostbench.util.errors import UserError


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    stream.seek(0)
    return stream


MIXED_SIZES = np.array([np.eye(2), np.eye(3)], dtype=object)


def read(stream):
    table = Npz().read(stream, "toy", ReadOptions())
    return table.values, table.y, table.splits


@pytest.mark.parametrize("names", [("x", "y", "y"), ("x", "y", "X")])
def test_duplicate_array_names_are_an_error(names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of the second member
        for name in names:
            member = npz(a=np.arange(4.0))
            content = zipfile.ZipFile(member).read("a.npy")
            archive.writestr(f"{name}.npy", content)
    with pytest.raises(
        UserError, match=f"^toy holds 2 arrays called {names[2].lower()}; leave one"
    ):
        read(stream)


def test_parts_become_a_fixed_split():
    images = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
    stream = npz(
        x_train=images[:2], y_train=np.array([1, 2]), x_test=images[2:], y_test=np.array([1])
    )
    X, y, splits = read(stream)
    assert X.dtype == np.float64
    assert X.tolist() == images.reshape(3, 8).tolist()
    assert y.tolist() == [1, 2, 1]
    [(train, test)] = splits
    assert (train.tolist(), test.tolist()) == ([0, 1], [2])


def test_x_and_y():
    X, y, splits = read(npz(X=np.eye(2, dtype=np.float16), Y=np.array(["a", "b"])))
    assert (X.tolist(), y.tolist(), splits) == ([[1, 0], [0, 1]], ["a", "b"], None)


def test_test_mask_becomes_a_fixed_split():
    stream = npz(x=np.eye(3), y=np.array([1, 2, 1]), is_test=np.array([True, False, False]))
    [(train, test)] = read(stream)[2]
    assert (train.tolist(), test.tolist()) == ([1, 2], [0])


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (npz(a=np.eye(2)), r"holds \['a'\], but x and y"),
        (npz(x=np.eye(2), y=np.arange(3)), r"\(2, 2\) does not fit y of shape \(3,\)"),
        (npz(x=np.eye(2), y=np.array([1, None])), "not a readable npz archive"),
        (npz(x=MIXED_SIZES, y=np.arange(2)), "images must be of one size"),
        (npz(x=np.array(1.0), y=np.arange(1)), r"\(\) does not fit y of shape \(1,\)"),
        (npz(x=np.eye(2), y=np.array(1)), r"\(2, 2\) does not fit y of shape \(\)"),
        (npz(x=np.ones((2, 0)), y=np.arange(2)), r"\(2, 0\) does not fit y"),
        # The imaginary part would be lost.
        (npz(x=np.eye(2) * 1j, y=np.arange(2)), "toy: features of type complex128 are no real"),
        (npz(x=np.array([["a"], ["1"]]), y=np.arange(2)), "features of type <U1 are no real"),
        (npz(x=np.zeros(2, "i,i"), y=np.arange(2)), "features of type .* are no real numbers"),
        (npz(x=np.eye(2), y=np.array([1j, 2])), "labels of type complex128 are neither"),
        (
            npz(x_train=np.eye(2), y_train=np.arange(2), x_test=np.eye(3), y_test=np.arange(3)),
            "toy: the training and the test part have 2 and 3 features",
        ),
        (npz(x=np.eye(2), y=np.arange(2), is_test=np.ones(3)), r"is_test of shape \(3,\)"),
        (npz(x=np.eye(2), y=np.arange(2), is_test=np.array(["", "x"])), "is_test of shape .* <U1"),
        (npz(x=np.eye(2), y=np.arange(2), is_test=np.ones(2)), "is_test must mark some rows by 1"),
        (npz(x=np.eye(2), y=np.arange(2), is_test=np.arange(2) + 1), "is_test must mark some"),
        (io.BytesIO(b"PK nothing"), "not a readable npz archive"),
        (io.BytesIO(npz(x=np.eye(9), y=np.arange(9)).getvalue()[:300]), "not a readable npz"),
    ],
)
def test_bad_archives(stream, message):
    with pytest.raises(UserError, match=message):
        read(stream)


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
