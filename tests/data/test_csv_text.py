import io

import numpy as np
import pytest

from boostbench.data.csv_text import word_mask
from boostbench.data.data_table import features_and_labels
from boostbench.data.readers.csv import read_csv
from boostbench.util.errors import UserError


def read(text):
    table = read_csv(io.BytesIO(text.encode()), "toy.csv")
    return features_and_labels(table, missing="keep")[0]


def test_what_is_a_word():
    words = ["cat", "1_1", "1.2.3", "1.5", "1,5", "1,234,567", "1.234.567"]
    assert word_mask(words).tolist() == [True] * 3 + [False] * 4


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["850", "1.200", "12.000", "640"], [850, 1200, 12000, 640]),
        (["-1.200 ", "+2.000", "?", "999"], [-1200, 2000, np.nan, 999]),
        (["1.234.567", "850", "1.200", "?"], [1234567, 850, 1200, np.nan]),
    ],
)
def test_points_beside_decimal_commas_stand_between_thousands(cells, expected, caplog, monkeypatch):
    """1.200 was 1.2, and 850 beside it 850."""
    text = "".join(f"{cell};{i},5;{i % 2}\n" for i, cell in enumerate(cells))
    for n_cells in (2**19, 3):
        monkeypatch.setattr("boostbench.data.readers.csv._CHUNK_CELLS", n_cells)
        X = read(f"people;area;class\n{text}")
        np.testing.assert_array_equal(X, np.transpose([expected, [0.5, 1.5, 2.5, 3.5]]))
    message = "area; points between thousands, left out: people"
    assert caplog.messages[0] == f"toy.csv: decimal commas, read as points: {message}"


@pytest.mark.parametrize("cell", ["1.25", "0.125", "1.200e3", "1.2000"])
def test_points_that_are_none_between_thousands_are_decimal(cell, caplog):
    X = read(f"a;b;class\n{cell};0,5;0\n1.200;1,5;1\n")
    assert X.tolist() == [[float(cell), 0.5], [1.2, 1.5]]
    assert caplog.messages == ["toy.csv: decimal commas, read as points: b"]


def test_points_are_refused_where_others_are_decimal():
    message = r"^toy\.csv: column 'c' has decimal points, .* points of column 'a' may stand between"
    with pytest.raises(UserError, match=message):
        read("a;b;c;class\n1.200;0,5;1.25;0\n850;1,5;2;1\n")


def test_points_are_decimal_where_no_comma_is():
    assert read("a;b;class\n1.200;5;0\n850;6;1\n").tolist() == [[1.2, 5], [850, 6]]


def test_many_numbers_with_points_between_thousands_are_no_words():
    numbers = [1_000_000 + 1001 * i for i in range(50)]
    rows = (f"{x:,}".replace(",", ".") + f";{x % 7},5;{x % 2}\n" for x in numbers)
    assert read("a;b;class\n" + "".join(rows))[:, 0].tolist() == numbers
