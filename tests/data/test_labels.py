import numpy as np
import pytest

from boostbench.data.text import parse_labels
from boostbench.util.errors import UserError

#: Two neighbours that are one number as float64.
LARGE = [2**53, 2**53 + 1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([1.0, 2.0]), [1, 2]),
        (np.array([3, 255], dtype=np.uint8), [3, 255]),
        (np.array([3, 255], dtype=np.float16), [3, 255]),
        (["+1", "-1"], [1, -1]),
        (["1.", "7."], [1, 7]),
        (["b", "g"], ["b", "g"]),
        (["1", "b"], ["1", "b"]),
        (["11", "1_1"], ["11", "1_1"]),
        (["1.0", "1_1.0"], ["1.0", "1_1.0"]),
        (["1", "\u0661"], ["1", "\u0661"]),
        ([" a ", "a"], ["a", "a"]),
        (np.array([b"\xc3\xa4", b"a"]), ["ä", "a"]),
        (np.array([True, False]), ["True", "False"]),
        (np.array(LARGE), LARGE),
        (np.array(LARGE, dtype=np.uint64), LARGE),
        ([str(label) for label in LARGE], LARGE),
    ],
)
def test_whole_numbers_become_int_and_words_stay(values, expected):
    labels = parse_labels(values, "toy")
    assert labels.tolist() == expected
    assert labels.dtype.kind in "iU"


@pytest.mark.parametrize("values", [[1.0, np.nan, 2.0], ["a", "", "b"], ["a", "  ", "b"]])
def test_missing_labels(values):
    with pytest.raises(UserError, match=r"toy: 1 labels are missing, the first in row 2"):
        parse_labels(values, "toy")


@pytest.mark.parametrize("values", [[1.0, 2.5], ["1", "2.5"], [1.0, np.inf], ["1", "nan"]])
def test_numbers_with_fractions_are_no_labels(values):
    with pytest.raises(UserError, match=r"row 2 .* not a whole number.*data.labels"):
        parse_labels(values, "toy")


@pytest.mark.parametrize("values", [[1.0, 2.0**53], ["1.0", str(LARGE[1])], [1.0, -1e300]])
def test_merged_labels_are_refused(values):
    with pytest.raises(UserError, match=r"^toy: the label \S+ in row 2 .* too large to differ"):
        parse_labels(values, "toy")


@pytest.mark.parametrize("values", [["1", "9" * 20], np.array([1, 2**63], dtype=np.uint64)])
def test_labels_beyond_int64_are_refused(values):
    with pytest.raises(UserError, match=r"^toy: labels beyond 2\*\*63"):
        parse_labels(values, "toy")


def test_bytes_outside_utf_8_are_refused():
    with pytest.raises(UserError, match=r"^toy: the label b'\\xff' in row 2 .* is not UTF-8"):
        parse_labels(np.array([b"a", b"\xff"]), "toy")


@pytest.mark.parametrize("values", [[1j, 2], np.array(["2020-01-01"], "M8[D]"), np.zeros(2, "i,i")])
def test_labels_of_other_types_are_refused(values):
    with pytest.raises(UserError, match=r"toy: labels of type .* are neither numbers nor text"):
        parse_labels(values, "toy")
