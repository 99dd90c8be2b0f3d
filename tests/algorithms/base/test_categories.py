import contextlib
import io
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from boostbench import MCBoost
from boostbench.algorithms.base.categories import (
    check_numeric,
    decode_categories,
    drop_unused_categories,
    encode_categories,
    find_categories,
)
from boostbench.data.data_table import features_and_labels
from boostbench.data.readers.arff import Arff
from boostbench.data.readers.base import ReadOptions
from boostbench.data.readers.csv import Csv
from boostbench.util.errors import UserError
from boostbench.util.text_columns import text_problem

FRAME = pd.DataFrame(
    {
        "category": pd.Categorical(["b", "a", None, "b"], ["b", "c", "a"], ordered=True),
        "words": ["y", None, "x", "y"],
        "string": pd.array(["u", "v", None, "u"], dtype="string"),
        "mixed": ["1", 1, None, 2.5],
        "objects": pd.Series([1, 2.5, None, 3], dtype=object),
        "flag": [True, False, True, True],
        "nullable": pd.array([1, None, 2, 3], dtype="Int64"),
        "number": [0.5, np.nan, 1.5, 2.5],
    }
)


def test_dates_and_words_among_numbers_are_rejected():
    for form in ("%Y-%m-%d", "%d.%m.%Y"):
        days = pd.DataFrame({"day": ["2024-03-09", None, "2024-03-29"]})
        days["day"] = pd.to_datetime(days["day"]).dt.strftime(form)
        with pytest.raises(ValueError, match="'day' holds dates, which are no categories") as error:
            find_categories(days)
        frame = days.copy()
        exec(str(error.value).partition("make days of it: ")[2], {"frame": frame, "pandas": pd})
        assert frame["day"].dropna().tolist() == [8834, 8854]
    income = pd.DataFrame({"income": ["12", "unknown", "14.5", None]})
    with pytest.raises(ValueError, match="column 'income' holds 'unknown' among numbers") as error:
        find_categories(income)
    exec(str(error.value).partition("missing value by ")[2], {"frame": income, "pandas": pd})
    assert income["income"].dropna().tolist() == [12, 14.5]
    # Columns are categories if half of the values are words, on request, or by their data type.
    assert set(find_categories(pd.DataFrame({"grade": ["1", "2", "a", "b"]}))) == {0}
    assert set(find_categories(days, ["day"])) == {0}
    assert set(find_categories(days.astype("category"))) == {0}


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["12", "7.5", None], [12, 7.5]),
        (["12", 7.5, None], [12, 7.5]),
        (["12,685", "1,000,000.5", "900", None], [12685, 1000000.5, 900]),
        (["12,685", 900.0], [12685, 900]),
        (["1.234,5", "0,25"], [1234.5, 0.25]),
        (["12,5", "7,5", "unknown"], [12.5, 7.5]),
    ],
)
def test_numbers_as_text_are_rejected_with_a_conversion(values, numbers):
    frame = pd.DataFrame({"income": pd.Series(values, dtype=object)})
    for check in (find_categories, lambda frame: check_numeric(frame, "Any")):
        with pytest.raises(
            ValueError, match="column 'income' holds numbers as text, as '"
        ) as error:
            check(frame)
    to_numbers, to_categories = re.findall(
        r"(frame\S+ = .*?)(?:, or categories by |$)", str(error.value)
    )
    as_numbers, as_categories = frame.copy(), frame.copy()
    exec(to_numbers, {"frame": as_numbers, "pandas": pd})
    assert as_numbers["income"].dropna().tolist() == numbers
    exec(to_categories, {"frame": as_categories})
    for declared in (find_categories(as_categories), find_categories(frame, ["income"])):
        assert set(declared[0]) == set(frame["income"].dropna())


def test_identifiers_raise_a_warning():
    frame = pd.DataFrame({"customer": [f"C{i}" for i in range(42)] + [None] * 42})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(find_categories(frame)[0]) == 42  # half of the rows: no warning
        find_categories(frame[1:], ["customer"])
        find_categories(frame[1:].astype("category"))
    with pytest.warns(UserWarning, match="column 'customer' holds 41 different texts in 81 rows"):
        assert len(find_categories(frame[1:82])[0]) == 41


def test_identifiers_raise_one_warning_per_fit():
    frame = pd.DataFrame({"customer": [f"C{i}" for i in range(40)], "n": range(40)})
    with pytest.warns(UserWarning, match="column 'customer'") as caught:
        model = MCBoost(n_iterations=2).fit(frame, frame["n"] % 2, sample_weight=[0, *[1.0] * 39])
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame.assign(customer="1"))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["12,685", "9,100"] * 20, "commas"),
        (["2024-03-09", "2024-03-10"] * 20, "dates"),
        (["12", "14", "unknown"] * 15, "mostly_numbers"),
        ([f"C{i}" for i in range(40)], "identifiers"),
        (["red", "blue", "12"] * 15, None),
    ],
)
def test_files_and_frames_have_the_same_problems(values, kind):
    """The command line refuses each problem, and Python too, but for a warning of identifiers."""
    counts = pd.Series(values).value_counts()
    problem = text_problem(counts.index.tolist(), counts.to_numpy(), len(values))
    assert (problem and problem.kind) == kind
    text = "".join(f'"{value}",1,{"yn"[i % 2]}\n' for i, value in enumerate(values))
    arff = "@relation r\n@attribute a string\n@attribute b real\n@attribute class {y,n}\n@data\n"
    tables = [
        lambda: Csv().read(io.BytesIO(b"a,b,class\n" + text.encode()), "toy.csv", ReadOptions()),
        lambda: Arff().read(io.BytesIO((arff + text).encode()), "toy.arff", ReadOptions()),
    ]
    for read in tables:
        with pytest.raises(UserError) if kind else contextlib.nullcontext():
            features_and_labels(read())
    expected = pytest.raises(ValueError, match="'a'") if kind else contextlib.nullcontext()
    if kind == "identifiers":
        expected = pytest.warns(UserWarning, match="'a'")
    with expected:
        find_categories(pd.DataFrame({"a": values}))


@pytest.mark.parametrize(
    ("column", "days"),
    [
        (pd.date_range("2000-01-03 23:00", periods=2), [2, 3]),
        (pd.date_range("2000-01-03 23:00", periods=2, tz="America/Lima"), [2, 3]),
        (pd.to_timedelta(["5D", "7D"]), [5, 7]),
        (pd.period_range("2000-01-03", periods=2, freq="D"), [2, 3]),
    ],
)
def test_suggested_code_converts_to_days(column, days):
    frame = pd.DataFrame({"day": column})
    with pytest.raises(ValueError, match="column 'day' holds dates") as error:
        find_categories(frame)
    exec(str(error.value).partition("make days of it: ")[2], {"frame": frame, "pandas": pd})
    assert frame["day"].tolist() == days


def test_unhashable_values_are_rejected():
    lists = pd.DataFrame({"path": [["a"], ["b"]]})
    with pytest.raises(ValueError, match=r"column 'path' holds no categories: .*'list'"):
        find_categories(lists)
    with pytest.raises(ValueError, match=r"column 'path' holds no categories: .*'list'"):
        encode_categories(lists, {0: np.array(["a", "b"], dtype=object)})


def test_arrow_strings_are_categories():
    pyarrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"words": ["y", None, "x"], "number": [1, None, 2]})
    plain = find_categories(frame)
    for arrow in (
        frame.convert_dtypes(dtype_backend="pyarrow"),
        frame.assign(words=frame["words"].astype(pd.ArrowDtype(pyarrow.string()))),
        frame.assign(words=frame["words"].astype("string[pyarrow]")),
    ):
        categories = find_categories(arrow)
        assert {feature: values.tolist() for feature, values in categories.items()} == {
            0: ["x", "y"]
        }
        assert encode_categories(arrow, plain)["words"].fillna(-1).tolist() == [1, -1, 0]
        with pytest.raises(ValueError, match="column 'words' holds 'y', which is no number"):
            encode_categories(arrow, {})


def test_objects_that_are_numbers_become_floats():
    frame = pd.DataFrame({"n": pd.Series([1, 2.5, pd.NA, None, "4"], dtype=object)})
    assert encode_categories(frame, {})["n"].fillna(-1).tolist() == [1, 2.5, -1, -1, 4]
    assert check_numeric(frame[:4], "Any")["n"].fillna(-1).tolist() == [1, 2.5, -1, -1]


def test_categorical_features_follow_from_data_types():
    categories = find_categories(FRAME.assign(mixed=["a", 1, None, "b"]))
    assert {feature: values.tolist() for feature, values in categories.items()} == {
        0: ["b", "a"],
        1: ["x", "y"],
        2: ["u", "v"],
        3: [1, "a", "b"],
    }
    assert find_categories(FRAME, None) == {}
    assert find_categories(FRAME.to_numpy()) == {}


@pytest.mark.parametrize(
    "asked", [[7, 0], ["number", "category"], [True, *[False] * 6, True], np.array([0, 7])]
)
def test_categorical_features_by_index_name_and_mask(asked):
    categories = find_categories(FRAME, asked)
    assert {feature: values.tolist() for feature, values in categories.items()} == {
        0: ["b", "a"],
        7: [0.5, 1.5, 2.5],
    }


def test_decoding_inverts_encoding():
    frame = FRAME.drop(columns="string")
    categories = find_categories(frame, ["category", "words", "number"])
    codes = encode_categories(frame, categories)
    assert codes.columns.tolist() == frame.columns.tolist()
    assert codes["category"].fillna(-1).tolist() == [0, 1, -1, 0]
    new = frame.assign(words=["x", "z", "y", None], number=[2.5, 2.0, np.nan, 0.5])
    assert encode_categories(new, categories)["words"].fillna(-1).tolist() == [0, -1, 1, -1]
    assert encode_categories(new, categories)["number"].fillna(-1).tolist() == [2, -1, -1, 0]
    words = np.array([["x", 1.0], ["y", 2.0]], dtype=object)
    categories = find_categories(words, [0])
    assert encode_categories(words, categories).tolist() == [[0, 1], [1, 2]]
    assert (
        decode_categories(encode_categories(words, categories), categories).to_numpy().tolist()
        == words.tolist()
    )


def test_unused_categories_are_dropped():
    frame = FRAME[["number", "words", "category"]]
    frame = pd.concat([frame, frame.assign(words="w")], ignore_index=True)
    categories = find_categories(frame, ["words", "category"])
    training, validation = frame[:4], frame[4:]
    X, X_validation = (
        encode_categories(part, categories).to_numpy() for part in (training, validation)
    )
    used = drop_unused_categories(categories, X, X_validation)
    assert {feature: words.tolist() for feature, words in used.items()} == {
        1: ["x", "y"],
        2: ["b", "a"],
    }
    np.testing.assert_array_equal(X, encode_categories(training, used).to_numpy())
    np.testing.assert_array_equal(X_validation, encode_categories(validation, used).to_numpy())
    assert np.isnan(X_validation[:, 1]).all()


def test_rarest_categories_are_unknown():
    values = np.repeat(np.arange(300), 2)
    values = np.concatenate([values, np.arange(20, 300)])
    (categories,) = find_categories(values[:, None], [0]).values()
    assert len(categories) == 255
    assert set(categories) >= set(range(45, 300))


@pytest.mark.parametrize(
    ("X", "asked", "message"),
    [
        (FRAME, ["colour"], "names 'colour', and X has no such feature"),
        (FRAME, [8], "names 8, and X has no such feature"),
        (FRAME, [True], "a mask of 1, and X has 8 features"),
        (sparse.csr_array(np.eye(2)), [0], "this one is sparse"),
        (np.array(list("abab")), [0], "Expected 2D array, got 1D array"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), "from_dtype", "'day' holds dates"),
    ],
)
def test_invalid_requests(X, asked, message):
    with pytest.raises(ValueError, match=message):
        find_categories(X, asked)
