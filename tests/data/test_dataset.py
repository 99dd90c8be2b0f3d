from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from boostbench.data import Dataset
from boostbench.data.dataset import CategoricalColumn
from boostbench.spec.data import DataCounts
from boostbench.util.errors import UserError

TOY = Dataset(
    "toy", np.array([[1.0, 0], [0, 2], [3, 0]]), np.array(["b", "a", "b"]), "made here",
    expect=DataCounts(samples=3, features=2, classes=2),
)  # fmt: skip


def test_data_set_counts_samples_and_classes():
    assert (TOY.n_samples, TOY.n_features, TOY.n_classes) == (3, 2, 2)
    assert TOY.classes.tolist() == ["a", "b"]
    assert TOY.class_counts == {"a": 1, "b": 2}
    assert TOY.validate() is TOY


def test_checksum_follows_the_contents_only():
    assert replace(TOY, name="other", source="elsewhere").checksum == TOY.checksum
    assert len(TOY.checksum) == 16
    changed = [
        replace(TOY, X=TOY.X + 1e-12),
        replace(TOY, X=TOY.X.reshape(2, 3), y=TOY.y),
        replace(TOY, y=TOY.y[::-1].copy()[[1, 0, 2]]),
        replace(TOY, X=csr_matrix(TOY.X)),
    ]
    assert len({TOY.checksum, *(d.checksum for d in changed)}) == 5


def test_checksum_does_not_depend_on_the_order_of_stored_values():
    X = csr_matrix((np.array([1.0, 2, 3]), [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    y = np.array([1, 2])
    assert Dataset("a", X, y, "").checksum == Dataset("a", X.sorted_indices(), y, "").checksum


def test_requested_labels_may_have_decomposed_letters():
    toy = Dataset("toy", np.eye(4), np.array(["ö", "o", "u", "ö"]), "made here")
    assert toy.select_classes(["o\u0308", "o"]).y.tolist() == ["ö", "o", "ö"]
    assert toy.one_vs_rest(["o\u0308"]).y.tolist() == [1, -1, -1, 1]


def test_select_rows_drops_the_splits():
    part = replace(TOY, splits=[(np.array([0]), np.array([1, 2]))]).select_rows(slice(1, 3))
    assert (part.X.tolist(), part.y.tolist(), part.splits) == ([[0, 2], [3, 0]], ["a", "b"], None)


@pytest.mark.parametrize(
    ("key", "message"),
    [("samples", "has 3 samples, but 9"), ("features", "2 features, but 9"), ("classes", "but 9")],
)
def test_other_counts_than_expected(key, message):
    with pytest.raises(UserError, match=rf"'toy' \(made here\).*{message}"):
        replace(TOY, expect=DataCounts(**{key: 9})).validate()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinite_features(bad, sparse):
    X = TOY.X.copy()
    X[1:, 1] = bad
    with pytest.raises(UserError, match=r"has 2 NaN or infinite features, .* row 2, feature 2"):
        replace(TOY, X=csr_matrix(X) if sparse else X).validate()


def test_infinite_feature_is_located_beside_categories():
    X = np.array([[0.0, 1.0], [1.0, np.inf], [2.0, 3.0]])
    colours = CategoricalColumn(0, ("blue", "green", "red"))
    dataset = Dataset("toy", X, TOY.y, "made here", categories=(colours,))
    with pytest.raises(UserError, match="the first in row 2, feature 2 "):
        dataset.validate()


def test_features_are_required():
    with pytest.raises(UserError, match=r"'toy' \(made here\) has no features"):
        replace(TOY, X=np.ones((3, 0)), expect=DataCounts()).validate()


def test_two_classes_are_required():
    with pytest.raises(UserError, match=r"only one class, \['a'\]"):
        Dataset("toy", np.eye(2), np.array(["a", "a"]), "made here").validate()


def make_data_set(labels):
    splits = [(np.array([0]), np.array([1]))]
    return Dataset("toy", np.arange(5.0)[:, None], np.array(labels), "made here", splits)


@pytest.mark.parametrize(
    ("labels", "which"),
    [([1, 3, 5, 1, 5], 2), ([1, 3, 5, 1, 5], [3, 1]), (["a", "b", "c", "a", "c"], ["a", "b"])],
)
def test_select_classes(labels, which):
    part = make_data_set(labels).select_classes(which)
    assert part.y.tolist() == [labels[0], labels[1], labels[3]]
    assert part.X[:, 0].tolist() == [0, 1, 3]
    assert part.splits is None


@pytest.mark.parametrize("which", [0, 1, 4, -1, [1], [1, 1], [1, 2], ["1", "3"]])
def test_wrong_classes(which):
    with pytest.raises(UserError, match="from 2 to 3, or a list of two or more of the labels 1, 3"):
        make_data_set([1, 3, 5, 1, 5]).select_classes(which)


def test_rows_are_drawn_with_replacement():
    whole = make_data_set(["a", "b", "a", "b", "b"])
    drawn = whole.bootstrap(50, seed=3)
    assert drawn.class_counts == {"a": 50, "b": 50}
    assert drawn.splits is None
    # Each row of a class comes, and only with its own label.
    pairs = set(zip(drawn.X[:, 0], drawn.y, strict=True))
    assert pairs == set(zip(whole.X[:, 0], whole.y, strict=True))
    assert whole.bootstrap(50, seed=3).checksum == drawn.checksum != whole.bootstrap(50).checksum


def test_one_vs_rest_has_two_classes():
    whole = make_data_set(["a", "b", "c", "a"])
    two = whole.one_vs_rest(["a", "c"])
    assert two.y.tolist() == [1, -1, 1, 1]
    assert two.checksum != whole.checksum


@pytest.mark.parametrize("positive", [[], [1, 3, 5], [1, 7]])
def test_one_vs_rest_needs_two_classes(positive):
    with pytest.raises(UserError, match="it must be some of the labels 1, 3, 5, not all"):
        make_data_set([1, 3, 5, 1, 5]).one_vs_rest(positive)


@pytest.mark.parametrize("y", [np.arange(50) % 7 - 3, np.array(list("cabacdeeb") * 5)])
def test_labels_are_counted_piece_by_piece(monkeypatch, y):
    dataset = Dataset("toy", np.ones((len(y), 1)), y, "made here")
    checksum = dataset.checksum
    monkeypatch.setattr("boostbench.data.dataset._CHUNK_SIZE", 4)
    dataset = Dataset("toy", np.ones((len(y), 1)), y, "made here")
    classes, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(dataset.classes, classes)
    np.testing.assert_array_equal(dataset.class_indices, numbers)
    assert list(dataset.class_counts.values()) == counts.tolist()
    assert dataset.checksum == checksum
