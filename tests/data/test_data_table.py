import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, issparse

from boostbench.data import data_table
from boostbench.data.data_table import DataTable, features_and_labels
from boostbench.util.errors import UserError

from .reading import one_hot

NAMES = ["id", "size", "colour", "level", "flag", "Class"]
CATEGORIES = [
    None,
    None,
    ["red", "green", "never", "blue"],
    ["2", "10"],
    ["no", "yes"],
    ["'a b'", "c"],
]
VALUES = [[7, 0.5, 0, 1, 1, 0], [8, 1.5, 1, 0, 0, 1], [9, 0, 3, 0, 1, 0]]


def table(values=VALUES, sparse=False):
    values = np.array(values, dtype=float)
    return DataTable(NAMES, CATEGORIES, csr_matrix(values) if sparse else values, "toy")


@pytest.mark.parametrize("sparse", [False, True])
def test_nominal_attributes_become_numbers(sparse):
    data = features_and_labels(table(sparse=sparse), ignore=["id"])
    assert data.X.tolist() == [[0.5, 0, 10, 1], [1.5, 1, 2, 0], [0, 2, 2, 1]]
    assert data.categories == ((1, ("red", "green", "blue")),)
    assert one_hot(data).tolist() == [
        [0.5, 1, 0, 0, 10, 1],
        [1.5, 0, 1, 0, 2, 0],
        [0, 0, 0, 1, 2, 1],
    ]
    assert data.y.tolist() == ["a b", "c", "a b"]


@pytest.mark.parametrize("sparse", [False, True])
def test_single_nominal_attribute_is_kept(sparse):
    X, *_ = features_and_labels(table(sparse=sparse), keep=["level"])
    assert X.tolist() == [[10], [2], [2]]


def test_keep_and_drop_take_patterns():
    assert features_and_labels(table(), keep=["s*", "id"])[0].tolist() == [
        [7, 0.5],
        [8, 1.5],
        [9, 0],
    ]
    X, *_ = features_and_labels(table(), drop=["[ic]*", "f*", "size", "not there"])
    assert X.tolist() == [[10], [2], [2]]


def test_ignored_target_can_be_requested():
    X, y, *_ = features_and_labels(table(), "level", ignore=["level", "id"], drop=["c*", "C*"])
    assert X.tolist() == [[0.5, 1], [1.5, 0], [0, 1]]
    assert y.tolist() == [10, 2, 2]


def test_keep_requires_a_match():
    with pytest.raises(UserError, match=r"unknown column of toy 'Size'; did you mean size\?"):
        features_and_labels(table(), keep=["Size"])


def test_features_are_required():
    with pytest.raises(UserError, match="no column of features"):
        features_and_labels(table(), drop=["*"])


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_values(sparse):
    values = [list(row) for row in VALUES]
    values[1][2] = np.nan
    values[2][0] = np.nan
    holes = table(values, sparse)
    with pytest.raises(UserError, match=r"toy: 1 rows .* row 2 .* 'colour'; data\.missing=drop"):
        features_and_labels(holes, ignore=["id"])
    X, y, *_ = features_and_labels(holes, ignore=["id"], missing="drop")
    assert X.shape[0] == 2
    assert y.tolist() == ["a b", "a b"]
    assert features_and_labels(holes, keep=["size"])[0].shape == (3, 1)


def test_kept_missing_values_are_nan(caplog):
    """A missing word is missing in all columns of its own."""
    values = [list(row) for row in VALUES]
    nan = np.nan
    values += [[6, nan, nan, nan, nan, 1]]
    data = features_and_labels(table(values), ignore=["id"], missing="median")
    np.testing.assert_array_equal(
        one_hot(data),
        [
            *([0.5, 1, 0, 0, 10, 1], [1.5, 0, 1, 0, 2, 0], [0, 0, 0, 1, 2, 1]),
            [nan, nan, nan, nan, nan, nan],
        ],
    )
    assert data.y.tolist() == ["a b", "c", "a b", "c"]
    message = "toy: 1 of 4 rows have missing values, filled by median of the training part"
    assert message in caplog.messages


def names_and_ages(n_samples, n_names):
    categories = [[f"name {i}" for i in range(n_names)], None, None]
    i = np.arange(n_samples)
    return DataTable(["name", "age", "y"], categories, np.c_[i % n_names, i, i % 2] + 0.0, "toy")


def test_free_text_is_refused():
    with pytest.raises(
        UserError,
        match=r"^toy: the text of column 'name' is different in more than half of 100 rows",
    ):
        features_and_labels(names_and_ages(100, 51))
    for n_rows, n_words in ((100, 50), (20, 20)):
        data = features_and_labels(names_and_ages(n_rows, n_words))
        assert data.X.shape == (n_rows, 2)
        assert [len(words) for _, words in data.categories] == [n_words]


def test_more_than_255_categories_are_columns_of_numbers():
    data = features_and_labels(names_and_ages(600, 256))
    assert data.X.shape == (600, 257)
    assert data.categories == ()
    assert data.names[:2] == ["name=name 0", "name=name 1"]
    assert data.X[3].tolist() == [*(np.arange(256) == 3), 3]


def test_many_categories_stay_sparse():
    """Dense, they would take 3 GB."""
    X, *_ = features_and_labels(names_and_ages(30_000, 15_000))
    assert issparse(X)
    assert X.nnz < 2 * X.shape[0]
    assert X[15_001].toarray()[0, [0, 1, 15_000]].tolist() == [0, 1, 15_001]


def test_complete_rows_are_required():
    values = np.full((3, len(NAMES)), np.nan)
    with pytest.raises(UserError, match="toy has no row without missing values"):
        features_and_labels(table(values), missing="drop")


def test_dropped_rows_are_counted(caplog):
    values = np.array(VALUES, dtype=float)
    values[1, 1] = np.nan
    features_and_labels(table(values), missing="drop")
    assert "toy: 1 of 3 rows are left out" in caplog.messages


def test_text_columns_are_logged(caplog):
    features_and_labels(table())
    assert caplog.messages == ["toy: words become categories: colour (3), flag (yes=1)"]
    caplog.clear()
    features_and_labels(table(), drop=["colour", "flag"])
    assert caplog.messages == []
    rows = [[7, 0.5, 0, 1, 1, 0], [8, 1.5, 0, 0, np.nan, 1], [9, 0, 0, 0, 1, 0]]
    X, *_ = features_and_labels(table(rows), keep=["colour", "flag"], missing="keep")
    assert caplog.messages[-1].endswith(" categories: colour (red=0), flag (yes=0)")
    np.testing.assert_array_equal(X, [[0, 0], [0, np.nan], [0, 0]])
    rows = [[*row[:4], np.nan, *row[5:]] for row in rows]
    features_and_labels(table(rows), keep=["flag"], missing="keep")
    assert caplog.messages[-1].endswith(" categories: flag (all missing)")


def test_python_literals_are_words(caplog):
    values = np.array([[0, 0], [1, 1], [2, 0]], dtype=float)
    categories = [["1_1", "11", "2_1"], ["11", "1_1"]]
    data = features_and_labels(DataTable(["level", "class"], categories, values, "toy"))
    assert data.categories == ((0, ("1_1", "11", "2_1")),)
    assert data.X.tolist() == [[0], [1], [2]]
    assert data.y.tolist() == ["11", "1_1", "11"]
    assert caplog.messages == ["toy: words become categories: level (3)"]


def test_missing_categories_stay_sparse():
    n = 12_000
    codes = np.append(np.arange(n) // 3, np.nan).astype(float)
    table = DataTable(
        ["a", "y"], [[f"w{i}" for i in range(n)], None], np.c_[codes, codes > 5], "toy"
    )
    with pytest.raises(UserError, match="column 'a' has 4000 categories, too many for 12001 rows"):
        features_and_labels(table, missing="median")
    X, *_ = features_and_labels(table, missing="drop")
    assert X.shape == (n, n // 3)


@pytest.mark.parametrize(
    ("words", "days"),
    [
        (["2000-01-03", "2000-02-01", "'2000-01-01'"], [2, 31, 0]),
        (["03.01.2000", "1.2.2000", "1.01.00"], [2, 31, 0]),
        (["28.01.2000", "01.02.2000", "01.01.2000"], [27, 31, 0]),
        (["3/1/2000", "28/1/2000", "1/1/2000"], [2, 27, 0]),
        (["1/3/2000", "1/28/2000", "1/1/2000"], [2, 27, 0]),
        (["2000-01-03T12:30:00Z", "2000-02-01 00:00", "2000-01-01T00:30+01:00"], [2, 31, -1]),
    ],
)
@pytest.mark.filterwarnings("ignore:Parsing dates:UserWarning")
def test_dates_are_refused_with_a_recipe(words, days):
    dated = DataTable(
        ["signup", "class"], [words, None], np.array([[0.0, 1], [1, 2], [2, 1]]), "toy"
    )
    with pytest.raises(UserError, match="column 'signup' holds dates") as error:
        features_and_labels(dated)
    # The recipe of the message works.
    frame = pd.DataFrame({"signup": [word.strip("'") for word in words]})
    recipe = str(error.value).partition("make days of it: ")[2]
    exec(recipe, {"frame": frame, "pandas": pd})
    assert frame["signup"].tolist() == days


@pytest.mark.parametrize("words", [["1-2", "3-4", "5-6"], ["10.5.1", "a", "b"], ["2024-03"] * 3])
def test_words_with_punctuation_are_no_dates(words):
    codes = np.array([[0.0, 1], [1, 2], [2, 1]])
    data = features_and_labels(DataTable(["version", "class"], [words, None], codes, "toy"))
    assert data.categories == ((0, tuple(words)),)


@pytest.mark.parametrize(
    ("large", "n_filled", "stays_sparse"), [(99, 10, True), (99, 11, False), (100, 1, False)]
)
def test_large_and_nearly_empty_matrices_stay_sparse(monkeypatch, large, n_filled, stays_sparse):
    monkeypatch.setattr(data_table, "MAX_DENSE_ENTRIES", large)
    dense = np.zeros(100)
    dense[:n_filled] = 1
    dense = dense.reshape(10, 10)
    X = data_table.dense_unless_large(csr_matrix(dense))
    assert isinstance(X, np.ndarray) != stays_sparse
    assert (X == dense).all()
