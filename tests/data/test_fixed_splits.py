import numpy as np
import pytest

from boostbench.data.fixed_splits import read_splits, remap_rows
from boostbench.util.errors import UserError


def test_fixed_splits_select_rows(tmp_path):
    path = tmp_path / "toy.splits.npz"
    np.savez(path, train=np.array([[0, 1], [2, 3]], np.int32), test=np.array([[2, 3], [0, 1]]))
    splits = read_splits(path, 4)
    assert [(a.tolist(), b.tolist()) for a, b in splits] == [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    with pytest.raises(UserError, match=r"do not fit the 3 rows"):
        read_splits(path, 3)


def test_dropped_rows_are_in_no_part():
    kept_rows = np.array([True, False, True, True, False, True])
    split = np.array([5, 1, 0]), np.array([4, 3, 2])
    assert [part.tolist() for part in remap_rows([split], kept_rows, "toy")[0]] == [[3, 0], [2, 1]]
    assert remap_rows([split], None, "toy") == [split]


@pytest.mark.parametrize("name", ["training", "test"])
def test_empty_part_is_refused(name):
    kept_rows = np.array([name == "test", name == "training"])
    split = np.array([0]), np.array([1])
    message = rf"^toy: no row of the {name} part of split 1 .*; take data\.missing=median$"
    with pytest.raises(UserError, match=message):
        remap_rows([split], kept_rows, "toy")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"train": [[0, 1]]}, "does not hold fixed splits train and test"),
        ({"train": [0, 1], "test": [2, 3]}, r"train of shape \(2,\) and type int64 is not a table"),
        ({"train": [[0, 1]], "test": [[2.5, 3]]}, r"test of shape \(1, 2\) and type float64 is no"),
        ({"train": [[0, 1]], "test": [[]]}, "test of shape"),
        ({"train": [[0], [1]], "test": [[2]]}, "train has 2 splits, and test has 1"),
        ({"train": [[0, 1]], "test": [[4]]}, r"split 1 of 1: .* do not fit the 4 rows"),
        ({"train": [[0, -1]], "test": [[3]]}, r"split 1 of 1: .* do not fit the 4 rows"),
        # Test rows that are training rows would make a training error a test error.
        (
            {"train": [[0, 1], [2, 3]], "test": [[2, 3], [1, 3]]},
            r"split 2 of 2: row 3 \(counted from 0\) is 1 times in train and 1 times in test",
        ),
        ({"train": [[0, 0]], "test": [[1]]}, "row 0 .* is 2 times in train and 0 times in test"),
        ({"train": [[0]], "test": [[1, 1]]}, "row 1 .* is 0 times in train and 2 times in test"),
    ],
)
def test_damaged_splits_are_refused(tmp_path, arrays, message):
    path = tmp_path / "toy.splits.npz"
    np.savez(path, **{name: np.array(rows) for name, rows in arrays.items()})
    with pytest.raises(UserError, match=rf"^{path}.*{message}"):
        read_splits(path, 4)
