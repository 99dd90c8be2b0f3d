import numpy as np
import pytest

from boostbench.data.labels import as_labels
from boostbench.errors import UserError


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([1.0, 2.0]), [1, 2]),
        (np.array([3, 255], dtype=np.uint8), [3, 255]),
        (["+1", "-1"], [1, -1]),
        (["1.", "7."], [1, 7]),
        (["b", "g"], ["b", "g"]),
        (["1", "b"], ["1", "b"]),
        ([" a ", "a"], ["a", "a"]),
    ],
)
def test_whole_numbers_become_int_and_words_stay(values, expected):
    labels = as_labels(values, "toy")
    assert labels.tolist() == expected
    assert labels.dtype.kind in "iU"


@pytest.mark.parametrize("values", [[1.0, np.nan, 2.0], ["a", "", "b"], ["a", "  ", "b"]])
def test_missing_labels(values):
    with pytest.raises(UserError, match=r"toy: 1 labels are missing, the first in row 2"):
        as_labels(values, "toy")


@pytest.mark.parametrize("values", [[1.0, 2.5], ["1", "2.5"], [1.0, np.inf], ["1", "nan"]])
def test_numbers_with_fractions_are_no_labels(values):
    with pytest.raises(UserError, match=r"row 2 .* not a whole number.*data.labels"):
        as_labels(values, "toy")
