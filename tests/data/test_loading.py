import subprocess
import sys

import numpy as np
import pytest

from boostbench.data import load
from boostbench.util import configs
from boostbench.util.errors import UserError

from .sources.test_lookup import OPENML
from .sources.test_openml_client import ARFF


def test_labels_by_column_number(tmp_path):
    (tmp_path / "mine.csv").write_text("x,1\ny,2\nx,3\n")
    dataset = load({"name": "mine", "path": str(tmp_path / "mine.csv"), "labels": 0})
    assert dataset.class_counts == {"x": 2, "y": 1}


def test_rows_select_from_another_file(toy_svm):
    dataset = load({"name": "half", "file": "toy", "rows": [0, 3], "expect": {"samples": 3}})
    assert (dataset.name, dataset.X[:, 0].tolist()) == ("half", [1, 2, 3])


def test_expected_counts_precede_the_selection_of_classes(toy_svm):
    toy_svm.write_text("1 1:1\n2 1:2\n3 1:3\n")
    spec = {"name": "toy", "expect": {"classes": 3}, "train_rows": 2}
    assert load(spec | {"classes": None}).n_classes == 3
    dataset = load(spec | {"classes": [1, 3]})
    assert (dataset.name, dataset.y.tolist(), dataset.splits) == ("toy", [1, 3], None)


def test_rows_are_drawn_with_replacement(toy_svm):
    spec = {"name": "toy", "expect": {"samples": 6}, "redraw": 5, "seed": 1}
    drawn = load(spec)
    assert drawn.class_counts == {0: 5, 1: 5}
    assert drawn.checksum == load({"name": "toy"}).bootstrap(5, seed=1).checksum
    assert load(spec | {"redraw": None}).n_samples == 6


def test_more_rows_than_fit_in_memory(toy_svm):
    with pytest.raises(UserError, match=r"^toy does not fit in memory: .*; fewer rows may fit$"):
        load({"name": "toy", "redraw": 10**16})


def test_pools_are_fixed_splits():
    """A pool has as many rows of each class, and each of its splits has all of them once."""
    spec = {"name": "iris", "sklearn": "load_iris", "pools": [3, 2, 20]}
    dataset = load(spec)
    pools = [sorted(np.concatenate(split).tolist()) for split in dataset.splits]
    assert [len(test) for _, test in dataset.splits] == [15] * 6
    assert pools[::2] == pools[1::2]
    assert pools[0] != pools[2]
    for pool in pools:
        assert len(set(pool)) == 60
        assert np.unique(dataset.y[pool], return_counts=True)[1].tolist() == [20] * 3
    other = load(spec | {"seed": 1}).splits
    assert other[0][0].tolist() != dataset.splits[0][0].tolist()


@pytest.mark.parametrize("per_class", [1, 3, 51])
def test_impossible_pools_are_refused(per_class):
    spec = {"name": "iris", "sklearn": "load_iris", "pools": [3, 2, per_class]}
    with pytest.raises(UserError, match=rf"draws {per_class} rows .* at most 50, the size"):
        load(spec)


def test_features_select_columns_of_a_file(toy_svm):
    whole, part = load({"name": "toy"}), load({"name": "toy", "features": [1, 2]})
    np.testing.assert_array_equal(part.X, whole.X[:, 1:2])
    assert part.checksum != whole.checksum


def test_features_and_training_rows_of_other_sources(server):
    server.add(7, ARFF)
    server.add_task(3, 7, {(0, 0): ([0, 1], [2])}, procedure="holdout")
    generated = {"generate": {"function": "make_hastie_10_2", "n_samples": 30}}
    for source in ({"sklearn": "load_wine"}, generated):
        spec = {"name": "toy", **source}
        part = load(spec | {"features": [1, 3], "train_rows": 9})
        np.testing.assert_array_equal(part.X, load(spec).X[:, 1:3])
        assert len(part.feature_names) == 2
        assert len(part.splits[0][0]) == 9
    for source in ({"openml_task": 3}, {"openml": {"id": 7}}):
        assert load({"name": "toy", "features": [1, 3], **source}).n_features == 2
    assert (
        load(OPENML | {"openml": {"id": 7, "features": None}, "features": [1, 3]}).n_features == 4
    )


def test_training_rows_become_a_fixed_split(toy_svm):
    [(train, test)] = load({"name": "toy", "train_rows": 4}).splits
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("train_rows", 6, r"data\.train_rows is 6, but file .*toy\.svm has 6 rows; some must"),
        ("train_rows", 10**10, "data.train_rows is 10000000000, but"),
        ("features", [1, 9], r"data\.features is \[1, 9\], but file .*toy\.svm has . features"),
        ("rows", [0, 7], r"data\.rows is \[0, 7\], but file .*toy\.svm has 6 rows"),
    ],
)
def test_missing_rows_are_refused(toy_svm, key, value, message):
    with pytest.raises(UserError, match=message):
        load({"name": "toy", key: value})


def test_splits_beside_the_file_come_before_training_rows(toy_svm):
    np.savez(toy_svm.with_name("toy.splits.npz"), train=[[5]], test=[[0]])
    [(train, _)] = load({"name": "toy", "train_rows": 4}).splits
    assert train.tolist() == [5]


def test_splits_and_user_training_rows_are_refused(data_folder):
    """The user sets training rows of a file by its path, or other ones than the named config."""
    rows = "x,class\n1,a\n2,b\n3,a\n4,b\n"
    for name in ("toy", "vowel"):
        (data_folder / f"{name}.csv").write_text(rows)
    of_path = {"name": "toy", "path": str(data_folder / "toy.csv"), "train_rows": 3}
    assert load(of_path).splits[0][1].tolist() == [3]
    for name in ("toy", "vowel"):
        np.savez(data_folder / f"{name}.splits.npz", train=[[0, 1]], test=[[2, 3]])
    for spec in (of_path, {"name": "vowel", "train_rows": 3}):
        message = rf"^data\.train_rows is 3, but file .*{spec['name']}\.csv has splits already, "
        with pytest.raises(UserError, match=message):
            load(spec)
    as_defined = {"name": "vowel", "train_rows": configs.read_option("data", "vowel")["train_rows"]}
    assert load(as_defined).splits[0][1].tolist() == [2, 3]


def test_dropped_rows_keep_the_parts(data_folder):
    """Two of the first four rows are dropped; the fifth and sixth stay in the test part."""
    rows = ["1,a", "?,b", "3,a", "?,b", "5,a", "6,b"]
    (data_folder / "toy.csv").write_text("\n".join(["x,class", *rows]))
    spec = {"name": "toy", "missing": "drop", "train_rows": 4}
    dataset = load(spec)
    [split] = dataset.splits
    assert [dataset.X[part, 0].tolist() for part in split] == [[1, 3], [5, 6]]
    np.savez(data_folder / "toy.splits.npz", train=[[5, 3, 2]], test=[[4, 1, 0]])
    [split] = load(spec).splits
    assert [dataset.X[part, 0].tolist() for part in split] == [[6, 3], [5, 1]]
    (data_folder / "toy.splits.npz").unlink()
    with pytest.raises(UserError, match=r"data\.train_rows is 6, but file .*toy\.csv has 6 rows"):
        load(spec | {"train_rows": 6})


def test_openml_training_rows_count_all_rows(server):
    """A copy in the cache does not say which rows it lacks."""
    server.add(7, ARFF)
    spec = OPENML | {"openml": {"id": 7, "train_rows": 1}}
    message = r"^data\.missing=drop leaves rows out, which openml\.train_rows of OpenML 7 counts; "
    for _ in range(2):
        with pytest.raises(UserError, match=message):
            load(spec | {"missing": "drop"})
        assert load(spec).n_samples == 3


def test_other_counts_than_expected_name_both_numbers(toy_svm):
    with pytest.raises(UserError, match=r"toy\.svm\) has 6 samples, but 7 are expected"):
        load({"name": "toy", "expect": {"samples": 7}})


def test_nan_of_a_file_is_refused(toy_svm):
    toy_svm.write_text("1 1:2\n2 1:nan\n")
    with pytest.raises(UserError, match=r"1 NaN or infinite features, the first in row 2"):
        load({"name": "toy"})


def test_openml_has_its_own_expectations_and_training_rows(server):
    server.add(7, ARFF)
    openml = {"id": 7, "train_rows": 1, "expect": {"samples": 3}}
    dataset = load(OPENML | {"openml": openml, "train_rows": 2, "expect": {"samples": 9}})
    assert dataset.splits[0][0].tolist() == [0]
    with pytest.raises(UserError, match=r"OpenML 7 v3\) has 3 samples, but 4 are expected"):
        load(OPENML | {"openml": {"id": 7, "expect": {"samples": 4}}})


def test_generated_data_are_loaded():
    dataset = load({"name": "h", "generate": {"function": "make_hastie_10_2", "n_samples": 30}})
    assert dataset.X.shape == (30, 10)


def test_package_import_is_light():
    code = (
        "import sys, boostbench.data\n"
        "print({'scipy', 'sklearn', 'pandas', 'openml', 'arff'} & sys.modules.keys())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "set()\n"


def test_data_set_has_its_config(toy_svm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("a,kind\n1,x\n2,y\n3,x\n")
    for spec in ({"name": "toy", "rows": [0, 4]}, {"name": "mine", "path": "mine.csv"}):
        dataset = load(spec)
        monkeypatch.chdir("/")
        assert load(dataset.spec).checksum == dataset.checksum
        monkeypatch.chdir(tmp_path)
        assert dataset.select_rows(slice(0, 3)).spec is None
        assert dataset.select_classes(2).spec is None
        assert dataset.one_vs_rest(dataset.classes[:1].tolist()).spec is None
    assert dataset.class_indices.tolist() == [0, 1, 0]
