"""Numbers of other notations, and columns that are no features: recognised, refused, or set."""

import pickle
import shlex

import numpy as np
import pandas as pd
import pytest

from boostbench.data.column_problems import UnreadableColumns
from boostbench.data.csv_cells import non_number_mask
from boostbench.data.text import Notation
from boostbench.util.errors import UserError

from .reading import csv_data


def features(text, **options):
    return csv_data(text, missing="keep", **options).X


def test_words_are_distinguished_from_numbers():
    words = ["cat", "1_1", "1.2.3", "1.5", "1,5", "1,234,567", "1.234.567"]
    assert non_number_mask(words).tolist() == [True] * 3 + [False] * 4


@pytest.mark.parametrize("chunk_cells", [2**19, 3])
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["850", "1.200", "12.000", "640"], [850, 1200, 12000, 640]),
        (["-1.200 ", "+2.000", "?", "999"], [-1200, 2000, np.nan, 999]),
        (["1.234.567", "850", "1.200", "?"], [1234567, 850, 1200, np.nan]),
    ],
)
def test_points_beside_decimal_commas_need_a_setting(cells, expected, chunk_cells, monkeypatch):
    """1.200 may be 1.2 and 1200."""
    monkeypatch.setattr("boostbench.data.readers.csv._CHUNK_CELLS", chunk_cells)
    rows = "".join(f"{cell};{i},5;{i % 2}\n" for i, cell in enumerate(cells))
    text = f"people;area;class\n{rows}"
    with pytest.raises(UserError, match=r"in column 'people' has a point.* data\.thousands=point"):
        features(text)
    X = features(text, decimal="comma", thousands="point")
    np.testing.assert_array_equal(X, np.transpose([expected, [0.5, 1.5, 2.5, 3.5]]))


@pytest.mark.parametrize("cell", ["1.25", "0.125", "1.200e3", "1.2000"])
def test_points_outside_thousands_are_decimal(cell, caplog):
    X = features(f"a;b;class\n{cell};0,5;0\n1.200;1,5;1\n")
    assert X.tolist() == [[float(cell), 0.5], [1.2, 1.5]]
    assert caplog.messages == ["toy.csv: decimal commas, read as points: b"]


def test_points_are_decimal_in_a_file_without_decimal_commas():
    assert features("a;b;class\n1.200;5;0\n850;6;1\n").tolist() == [[1.2, 5], [850, 6]]


@pytest.mark.parametrize(
    ("notation", "texts", "numbers"),
    [
        (Notation("point", "comma"), ["1,234.5", "-12", "1,234,567", "1e3"], None),
        (Notation("comma", "point"), ["1.234,5", "-12", "1.234.567", "1e3"], None),
        (Notation("comma", "space"), ["1 234,5", "-12", "1\u00a0234\u202f567", "1e3"], None),
        (Notation("point", "apostrophe"), ["1'234.5", "-12", "1'234’567", "1e3"], None),
        (Notation("comma"), [",5", "5,", "-1,25e2", "inf"], [0.5, 5, -125, np.inf]),
    ],
)
def test_notation_reads_its_own_numbers(notation, texts, numbers):
    expected = numbers or [1234.5, -12, 1234567, 1000]
    assert [float(notation.normalize(text)) for text in texts] == expected


@pytest.mark.parametrize(
    ("notation", "text"),
    [
        (Notation(), "1,5"),
        (Notation("comma"), "1.5"),
        (Notation("comma", "point"), "1.5"),
        (Notation("comma", "point"), "1234.567"),
        (Notation("point", "comma"), "1,23"),
        (Notation("point", "comma"), "1,234,56"),
        (Notation("point", "space"), "1  234"),
        (Notation(), "1_1"),
        (Notation(), "１"),
        (Notation(), ""),
    ],
)
def test_notation_reads_no_other_text(notation, text):
    assert notation.normalize(text) is None


def test_notation_agrees_with_number_formatting():
    rng = np.random.default_rng(0)
    numbers = np.round(10 ** rng.uniform(-3, 9, 500) * rng.choice([-1, 1], 500), 3)
    rows = "".join(f'"{x:,.3f}";{i % 2}\n' for i, x in enumerate(numbers))
    X = features(f"a;class\n{rows}", thousands="comma")
    assert X[:, 0].tolist() == numbers.tolist()
    swapped = rows.translate(str.maketrans(",.", ".,"))
    X = features(f"a;class\n{swapped}", decimal="comma", thousands="point")
    assert X[:, 0].tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a;class\n1.5;0\n2,5;1\n", {"decimal": "comma"}),
        ("a;class\n1.5;0\n2.5;1\n", {"decimal": "comma"}),
        ("a;class\n1.234;0\n2,5;1\n12.34;1\n", {"decimal": "comma", "thousands": "point"}),
        ("a;class\n1,5;0\n2,25;1\n3;0\n4;1\n", {"decimal": "point"}),
    ],
)
def test_numbers_of_another_notation_are_refused(text, options):
    with pytest.raises(UnreadableColumns, match=r"toy\.csv, line \d: .* in column 'a'"):
        features(text, **options)


def test_two_equal_marks_are_refused():
    with pytest.raises(UserError, match=r"^toy\.csv: data\.decimal and .* are both comma; name"):
        features("a;class\n1;0\n2;1\n", decimal="comma", thousands="comma")


def test_notation_applies_to_labels_and_missing_words():
    data = csv_data("a;class\nNone;1.000\n1,5;2.000\nNA;1000\n", "keep", thousands="point")
    assert data.y.tolist() == [1000, 2000, 1000]
    np.testing.assert_array_equal(data.X, [[np.nan], [1.5], [np.nan]])


def test_categories_stay_words_with_a_given_notation():
    data = csv_data("a;b;class\nx,1;1,5;0\nx,2;2,5;1\ny;3;1\n", decimal="comma")
    assert data.categories == ((0, ("x,1", "x,2", "y")),)
    assert data.X[:, 1].tolist() == [1.5, 2.5, 3]


def messy():
    rng = np.random.default_rng(1)
    n = 60
    calls = np.where(np.arange(n) % 9 == 3, "unknown", rng.integers(0, 9, n).astype(str))
    frame = pd.DataFrame(
        {
            "customer id": [f"C{i:03}" for i in range(n)],
            "signup": [f"2024-01-{1 + i % 28:02}" for i in range(n)],
            "income": [f"{x:,}" for x in rng.integers(900, 90_000, n)],
            "calls": calls,
            "city": rng.choice(["Bern", "Chur", "Genf"], n),
            "rooms": rng.integers(1, 9, n),
            "answer": np.where(np.arange(n) % 5, "no", "yes"),
        }
    )
    return frame.to_csv(index=False)


def test_all_problems_of_a_file_are_in_one_error():
    with pytest.raises(UnreadableColumns) as error:
        csv_data(messy(), "keep")
    first, *lines = error.value.args
    assert first == "toy.csv: 4 columns cannot be used as features"
    for line, column in zip(lines, ["customer id", "signup", "income", "calls"], strict=True):
        assert f"column {column!r}" in line
    assert "line 5: 'unknown'" in lines[3]
    assert "\n" not in str(error.value)


def test_pickled_error_keeps_the_proposed_command():
    with pytest.raises(UnreadableColumns) as error:
        csv_data(messy(), "keep")
    proposal = error.value.add_command("toy.csv", [("missing", "keep")])
    assert "boostbench data toy.csv data.missing=keep" in proposal.args[-1]
    assert pickle.loads(pickle.dumps(proposal)).args == proposal.args


def test_proposed_command_reads_the_file(call, folder):
    (folder / "mess y.csv").write_text(messy())
    result = call("data", "mess y.csv", "data.missing=keep")
    assert result.code == 2
    assert result.out == ""
    *_, introduction, command = result.err.splitlines()
    assert introduction == "  these settings read the file:"
    program, *words = shlex.split(command)
    assert program == "boostbench"
    assert 'data.drop=["customer id",signup]' in words
    assert {"data.thousands=comma", "data.na_values=[unknown]"} < set(words)
    result = call(*words)
    assert result.code == 0, result.err
    assert "samples     60\nfeatures    6 (dense)\n" in result.out


def test_uncorrectable_file_has_no_proposed_command(call, folder):
    (folder / "toy.csv").write_text("a,b,class\n1,2,1\n2,x,1\n3,3,2\n4,4,oops\n5,5,2\n")
    result = call("data", "toy.csv")
    assert result.err.splitlines()[0].endswith("toy.csv: 2 columns cannot be used as features")
    assert "'oops' in column 'class' is a word among numbers; correct it" in result.err
    assert "settings read the file" not in result.err


@pytest.mark.parametrize(
    ("cells", "thousands", "number"),
    [("12 {:03}", "space", 12000), ("12'{:03}", "apostrophe", 12000)],
)
def test_notation_of_ambiguous_ids_is_named(cells, thousands, number):
    text = "a;class\n" + "".join(f"{cells.format(i)};{i % 2}\n" for i in range(50))
    with pytest.raises(UnreadableColumns, match=f"data.thousands={thousands} reads {number}"):
        csv_data(text)
    assert csv_data(text, thousands=thousands).X[:, 0].tolist() == list(range(12000, 12050))


def test_columns_are_dropped_by_name_and_pattern():
    text = "a*,a1,a2,b,class\n1,2,3,4,0\n5,6,7,8,1\n"
    assert csv_data(text, drop=("a1",)).names == ["a*", "a2", "b"]
    assert csv_data(text, drop=("a?",)).names == ["b"]
    data = csv_data(text, drop=("a[12]", "b"))
    assert (data.names, data.y.tolist()) == (["a*"], [0, 1])


@pytest.mark.parametrize(
    ("drop", "message"),
    [
        ("B", "unknown column of toy.csv 'B'"),
        ("class", "data.drop names the column 'class', which holds the classes"),
        ("*", "has no column of features beside the labels"),
    ],
)
def test_undroppable_columns_are_named(drop, message):
    with pytest.raises(UserError, match=message):
        csv_data("a,b,class\n1,2,0\n3,4,1\n", drop=(drop,))
