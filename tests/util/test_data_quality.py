"""Warnings on leaks, ids, constants, rare classes and repeated rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from boostbench import BaggedMCBoost, LsBoostRegressor, MCBoost, RpBoost
from boostbench.data.loading import load
from boostbench.util.data_quality import count_repeated_rows, find_faults


def kinds(X, y=None, classes=(0, 1), category_counts=()):
    names = [f"f{j}" for j in range(X.shape[1])]
    return [fault.kind for fault in find_faults(X, names, category_counts, y, classes)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("n", [100, 5000])
@pytest.mark.parametrize("scale", [0.0, 0.1, 0.2, 0.3, 0.5, 1.0])
def test_a_leak_is_a_column_with_an_auc_above_0_999(n, scale, rng):
    y = np.arange(n) % 2
    X = np.c_[rng.normal(size=n), -y + scale * rng.normal(size=n)]
    auc = roc_auc_score(y, -X[:, 1])
    assert kinds(X, y) == ["leak"] * bool(auc > 0.999)


def test_a_leak_may_be_in_the_missing_values(rng):
    y = np.arange(300) % 2
    X = np.c_[np.where(y == 1, np.nan, rng.normal(size=300)), rng.normal(size=300)]
    assert kinds(X, y) == ["leak"]


def test_a_leak_of_several_classes_separates_all_of_them(rng):
    y = np.arange(300) % 3
    one_class = np.where(y == 0, 5, 0) + rng.random(300)
    assert kinds(one_class[:, None], y, range(3)) == []
    assert kinds((2 * y + rng.random(300))[:, None], y, range(3)) == ["leak"]
    assert kinds(np.round(y + 0.6 * rng.random(300))[:, None], y, range(3)) == []


def test_a_leak_may_be_a_column_of_categories(rng):
    y = rng.integers(0, 2, 400)
    codes = 2 * rng.integers(0, 3, 400) + y  # the order of the codes says nothing
    assert kinds(codes[:, None].astype(float), y, category_counts=[(0, 6)]) == ["leak"]
    codes[0] ^= 1
    assert kinds(codes[:, None].astype(float), y, category_counts=[(0, 6)]) == []
    pure = np.arange(400.0)[:, None]  # a category in each row separates by chance
    assert kinds(pure, y, category_counts=[(0, 400)]) == []


def test_separation_by_chance_is_no_leak(rng):
    y = np.repeat([0, 1], 4)
    X = np.c_[y, rng.normal(size=(8, 500))]
    assert kinds(X, y) == ["rare_class"] * 0
    assert kinds(np.c_[np.repeat(y, 10), rng.normal(size=(80, 500))], np.repeat(y, 10)) == ["leak"]


@pytest.mark.parametrize(
    ("column", "is_id"),
    [
        (np.arange(200), True),
        (np.arange(200)[::-1] * 7, True),
        (np.random.default_rng(1).permutation(200) + 1000, True),
        (np.random.default_rng(1).permutation(200) * 50, False),
        (np.arange(200) // 2, False),
        (np.arange(200) + 0.5, False),
        (np.arange(40), False),
    ],
)
def test_ids_are_distinct_whole_numbers(column, is_id, rng):
    X = np.c_[column.astype(float), rng.normal(size=len(column))]
    assert kinds(X) == ["ids"] * is_id


def test_constant_columns_are_named(rng):
    X = np.c_[np.ones(50), np.full(50, np.nan), rng.normal(size=50), np.r_[np.ones(49), np.nan]]
    [fault] = find_faults(X, list("abcd"), [], None)
    assert fault.text == "columns 'a', 'b': the same value in all rows"


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ([960, 40], "class 'c1' has fewer than 5% of the samples"),
        ([940, 60], None),
        ([500, 491, 9], "class 'c2' has fewer than 10 samples"),
        ([500, 485, 15], None),
    ],
)
def test_rare_classes_are_named(counts, text, rng):
    y = np.repeat(np.arange(len(counts)), counts)
    classes = [f"c{j}" for j in range(len(counts))]
    faults = find_faults(rng.normal(size=(1000, 2)), ["a", "b"], [], y, classes)
    assert [fault.text.partition(", and")[0] for fault in faults] == ([text] if text else [])


def test_repeated_rows_agree_with_pandas(rng):
    X = rng.normal(size=(400, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    X = np.r_[X, X[:30], X[:10]]
    assert count_repeated_rows(X) == pd.DataFrame(X).duplicated().sum() == 40
    split = np.arange(400), np.arange(400, 440)
    assert count_repeated_rows(X, split) == 40
    assert count_repeated_rows(X, (np.arange(100, 400), np.arange(100))) == 0


def test_repeated_rows_of_few_values_are_due_to_chance(rng):
    X = rng.integers(0, 3, (500, 4)).astype(float)
    assert pd.DataFrame(X).duplicated().sum() > 400
    assert count_repeated_rows(X) == 0


@pytest.fixture
def frame(rng):
    y = np.where(rng.random(500) < 0.03, "yes", "no")
    frame = pd.DataFrame(
        {
            "number": np.arange(500),
            "size": rng.normal(size=500),
            "closed": np.where(y == "yes", "fraud", rng.choice(["-", "moved"], 500)),
            "country": 1,
        }
    )
    return frame, y


def messages(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    "model", [MCBoost(n_iterations=3), BaggedMCBoost(n_iterations=3, random_state=0)]
)
def test_estimators_warn_of_faults_of_a_frame(model, frame):
    X, y = frame
    texts = messages(model, X, y)
    assert [text.partition(" ")[0] for text in texts] == ["column", "column", "column", "class"]
    assert [name for name in X if any(repr(name) in text for text in texts)] == [
        *("number", "closed", "country")
    ]
    model = type(model)(n_iterations=3, class_weight="balanced")
    assert len(messages(model, X, y)) == 3


def test_estimators_judge_frames_with_names_only(frame):
    X, y = frame
    numbers = X[["number", "size", "country"]]
    model = RpBoost(n_iterations=3, random_state=0)
    assert len(messages(model, numbers, y)) == 3
    assert messages(model, numbers.to_numpy(), y) == []
    assert messages(model, numbers.set_axis(range(3), axis=1), y) == []
    regressor = LsBoostRegressor(n_iterations=3)
    assert len(messages(regressor, numbers, X["size"])) == 2


def test_a_file_is_judged_when_it_is_loaded(frame, tmp_path, caplog):
    X, y = frame
    X = pd.concat([X.assign(answer=y), X[:20].assign(answer=y[:20])])
    X.to_csv(tmp_path / "bank.csv", index=False)
    path = str(tmp_path / "bank.csv")
    load({"name": "bank", "path": path, "drop": ["number"]})
    texts = [text.removeprefix(f"{path}: ") for text in caplog.messages]
    expected = ["column 'closed' alone", "column 'country': ", "class 'yes' has ", "20 of 520 rows"]
    for text, start in zip(texts[-4:], expected, strict=True):
        assert text.startswith(start)


@pytest.mark.parametrize("name", ["iris", "wine", "wdbc", "synthetic1", "titanic", "segment"])
def test_data_sets_of_the_papers_have_no_leak(name, request):
    from boostbench.util import configs

    try:
        dataset = load(configs.read_option("data", name))
    except Exception:
        pytest.skip("the data are not at hand")
    names = [str(j) for j in range(dataset.X.shape[1])]
    faults = find_faults(dataset.X, names, [], dataset.class_indices, dataset.classes)
    assert not {fault.kind for fault in faults} & {"leak", "ids"}
