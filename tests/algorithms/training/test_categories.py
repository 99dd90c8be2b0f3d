import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from boostbench.algorithms.training.categories import (
    categories,
    check_numbers,
    coded,
    decoded,
    without_absent,
)

FRAME = pd.DataFrame(
    {
        "category": pd.Categorical(["b", "a", None, "b"], ["b", "c", "a"]),
        "words": ["y", None, "x", "y"],
        "string": pd.array(["u", "v", None, "u"], dtype="string"),
        "mixed": ["1", 1, None, 2.5],
        "objects": pd.Series([1, 2.5, None, 3], dtype=object),
        "flag": [True, False, True, True],
        "nullable": pd.array([1, None, 2, 3], dtype="Int64"),
        "number": [0.5, np.nan, 1.5, 2.5],
    }
)


def test_dates_and_words_among_numbers_are_no_categories():
    for form in ("%Y-%m-%d", "%d.%m.%Y"):
        days = pd.DataFrame({"day": ["2024-03-09", None, "2024-03-29"]})
        days["day"] = pd.to_datetime(days["day"]).dt.strftime(form)
        with pytest.raises(ValueError, match="'day' holds dates, which are no categories") as told:
            categories(days)
        frame = days.copy()
        exec(str(told.value).partition("make days of it: ")[2], {"frame": frame, "pandas": pd})
        assert frame["day"].dropna().tolist() == [8834, 8854]
    income = pd.DataFrame({"income": ["12", "unknown", "14.5", None]})
    with pytest.raises(ValueError, match="column 'income' holds 'unknown' among numbers") as told:
        categories(income)
    exec(str(told.value).partition("missing value by ")[2], {"frame": income, "pandas": pd})
    assert income["income"].dropna().tolist() == [12, 14.5]
    # As many words as numbers, or who says so, or a type for it, means categories.
    assert set(categories(pd.DataFrame({"grade": ["1", "2", "a", "b"]}))) == {0}
    assert set(categories(days, ["day"])) == {0}
    assert set(categories(days.astype("category"))) == {0}


@pytest.mark.parametrize(
    ("column", "days"),
    [
        (pd.date_range("2000-01-03 23:00", periods=2), [2, 3]),
        (pd.date_range("2000-01-03 23:00", periods=2, tz="America/Lima"), [2, 3]),
        (pd.to_timedelta(["5D", "7D"]), [5, 7]),
        (pd.period_range("2000-01-03", periods=2, freq="D"), [2, 3]),
    ],
)
def test_the_advice_makes_days(column, days):
    frame = pd.DataFrame({"day": column})
    with pytest.raises(ValueError, match="column 'day' holds dates") as told:
        categories(frame)
    exec(str(told.value).partition("make days of it: ")[2], {"frame": frame, "pandas": pd})
    assert frame["day"].tolist() == days


def test_what_cannot_be_told_apart_is_no_category():
    lists = pd.DataFrame({"path": [["a"], ["b"]]})
    with pytest.raises(ValueError, match=r"column 'path' holds no categories: .*'list'"):
        categories(lists)
    with pytest.raises(ValueError, match=r"column 'path' holds no categories: .*'list'"):
        coded(lists, {0: np.array(["a", "b"], dtype=object)})


def test_strings_of_arrow_are_categories():
    pyarrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"words": ["y", None, "x"], "number": [1, None, 2]})
    plain = categories(frame)
    for arrow in (
        frame.convert_dtypes(dtype_backend="pyarrow"),
        frame.assign(words=frame["words"].astype(pd.ArrowDtype(pyarrow.string()))),
        frame.assign(words=frame["words"].astype("string[pyarrow]")),
    ):
        found = categories(arrow)
        assert {at: known.tolist() for at, known in found.items()} == {0: ["x", "y"]}
        assert coded(arrow, plain)["words"].fillna(-1).tolist() == [1, -1, 0]
        with pytest.raises(ValueError, match="column 'words' holds 'y', which is no number"):
            coded(arrow, {})


def test_objects_that_are_numbers_become_some():
    frame = pd.DataFrame({"n": pd.Series([1, 2.5, pd.NA, None, "4"], dtype=object)})
    assert coded(frame, {})["n"].fillna(-1).tolist() == [1, 2.5, -1, -1, 4]
    assert check_numbers(frame[:4], "Any")["n"].fillna(-1).tolist() == [1, 2.5, -1, -1]


def test_types_say_which_features_are_categories():
    found = categories(FRAME)
    assert {at: known.tolist() for at, known in found.items()} == {
        0: ["b", "a"],
        1: ["x", "y"],
        2: ["u", "v"],
        3: ["1", 1, 2.5],
    }
    assert categories(FRAME, None) == {}
    assert categories(FRAME.to_numpy()) == {}


@pytest.mark.parametrize(
    "asked", [[7, 0], ["number", "category"], [True, *[False] * 6, True], np.array([0, 7])]
)
def test_they_are_asked_for_in_many_ways(asked):
    found = categories(FRAME, asked)
    assert {at: known.tolist() for at, known in found.items()} == {
        0: ["b", "a"],
        7: [0.5, 1.5, 2.5],
    }


def test_codes_and_back():
    frame = FRAME.drop(columns="string")
    known = categories(frame, ["category", "words", "number"])
    codes = coded(frame, known)
    assert codes.columns.tolist() == frame.columns.tolist()
    assert codes["category"].fillna(-1).tolist() == [0, 1, -1, 0]
    new = frame.assign(words=["x", "z", "y", None], number=[2.5, 2.0, np.nan, 0.5])
    assert coded(new, known)["words"].fillna(-1).tolist() == [0, -1, 1, -1]
    assert coded(new, known)["number"].fillna(-1).tolist() == [2, -1, -1, 0]
    words = np.array([["x", 1.0], ["y", 2.0]], dtype=object)
    known = categories(words, [0])
    assert coded(words, known).tolist() == [[0, 1], [1, 2]]
    assert decoded(coded(words, known), known).to_numpy().tolist() == words.tolist()


def test_what_no_sample_has_is_forgotten():
    frame = FRAME[["number", "words", "category"]]
    frame = pd.concat([frame, frame.assign(words="w")], ignore_index=True)
    known = categories(frame, ["words", "category"])
    some, rest = frame[:4], frame[4:]
    X, others = (coded(part, known).to_numpy() for part in (some, rest))
    less = without_absent(known, X, others)
    assert {at: words.tolist() for at, words in less.items()} == {1: ["x", "y"], 2: ["b", "a"]}
    np.testing.assert_array_equal(X, coded(some, less).to_numpy())
    np.testing.assert_array_equal(others, coded(rest, less).to_numpy())
    assert np.isnan(others[:, 1]).all()


def test_the_rarest_are_unknown():
    values = np.repeat(np.arange(300), 2)
    values = np.concatenate([values, np.arange(20, 300)])
    (known,) = categories(values[:, None], [0]).values()
    assert len(known) == 255
    assert set(known) >= set(range(45, 300))


@pytest.mark.parametrize(
    ("X", "asked", "said"),
    [
        (FRAME, ["colour"], "names 'colour', and X has no such feature"),
        (FRAME, [8], "names 8, and X has no such feature"),
        (FRAME, [True], "a mask of 1, and X has 8 features"),
        (sparse.csr_array(np.eye(2)), [0], "this one is sparse"),
        (np.array(list("abab")), [0], "Expected 2D array, got 1D array"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), "from_dtype", "'day' holds dates"),
    ],
)
def test_mistakes(X, asked, said):
    with pytest.raises(ValueError, match=said):
        categories(X, asked)
