import bz2
import gzip
import lzma

import numpy as np
import pytest

from boostbench.data.loading import load
from boostbench.data.readers.base import ReadOptions
from boostbench.data.sources.local_files import find_file
from boostbench.data.sources.local_files import read_file as read_file_by_options
from boostbench.util.errors import UserError

from ..readers.test_binary_formats import idx


def read_file(path, **options):
    return read_file_by_options(path, ReadOptions(**options))


SVM = b"1 1:1 2:2\n2 1:3 2:4\n"
ARFF = b"@relation r\n@attribute a real\n@attribute c {x,y}\n@data\n1,x\n2,y\n"
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize(
    ("ending", "text"), [(".svm", SVM), (".csv", b"1,2,1\n3,4,2\n"), (".libsvm", SVM)]
)
def test_formats_and_compressions(tmp_path, ending, text, compression):
    path = tmp_path / f"my.toy{ending}{compression}"
    path.write_bytes(PACK[compression](text))
    X, y, splits, *_ = read_file(path)
    assert (X.tolist(), y.tolist(), splits) == ([[1, 2], [3, 4]], [1, 2], None)


def test_arff_with_another_column_of_labels(tmp_path):
    path = tmp_path / "toy.arff"
    path.write_bytes(ARFF)
    assert read_file(path)[1].tolist() == ["x", "y"]
    assert read_file(path, labels="a")[1].tolist() == [1, 2]


def test_npz_file_is_read(tmp_path):
    np.savez(tmp_path / "toy.npz", x=np.eye(2), y=np.array([4.0, 5.0]))
    X, y, *_ = read_file(tmp_path / "toy.npz")
    assert (X.tolist(), y.tolist()) == ([[1, 0], [0, 1]], [4, 5])


def write_idx(folder):
    for name, n in (("train", 3), ("t10k", 2)):
        images = np.arange(4 * n).reshape(n, 2, 2)
        for kind, array in (("images-idx3", images), ("labels-idx1", np.arange(n))):
            (folder / f"toy-{name}-{kind}-ubyte.gz").write_bytes(gzip.compress(idx(array)))


def test_idx_files_have_a_fixed_split(tmp_path):
    write_idx(tmp_path)
    X, y, splits, *_ = read_file(find_file("toy", tmp_path))
    assert X.shape == (5, 4)
    assert y.tolist() == [0, 1, 2, 0, 1]
    assert [part.tolist() for part in splits[0]] == [[0, 1, 2], [3, 4]]


def test_rows_with_nan_are_left_out_of_any_format(tmp_path, caplog):
    X, y = np.array([[1.0], [np.nan], [3.0], [4.0]]), np.array([1, 2, 1, 2])
    np.savez(tmp_path / "toy.npz", x=X, y=y, is_test=[0, 0, 1, 1])
    (tmp_path / "toy.svm").write_text("1 1:1\n2 1:nan\n1 1:3\n2 1:4\n")
    (tmp_path / "large.svm").write_text("1 1:1\n2 2:nan\n1 1:3\n2 99999999:4\n")
    for name in ("toy.npz", "toy.svm", "large.svm"):
        path = str(tmp_path / name)
        division = {} if name == "toy.npz" else {"train_rows": 2}
        dataset = load({"name": "toy", "path": path, "missing": "drop", **division})
        assert dataset.X[:, [0]].sum() == (4 if dataset.is_sparse else 8)
        assert dataset.y.tolist() == [1, 1, 2]
        assert [part.tolist() for part in dataset.splits[0]] == [[0], [1, 2]]
        assert caplog.messages.pop() == f"{path}: 1 of 4 rows are left out"


def test_error_names_a_missing_idx_file(tmp_path):
    write_idx(tmp_path)
    (tmp_path / "toy-t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(UserError, match=r"toy-t10k-labels-idx1-ubyte\.gz cannot be read"):
        read_file(find_file("toy", tmp_path))


def test_libsvm_takes_precedence(tmp_path):
    names = []
    for name in ("toy.npz", "toy.csv.gz", "toy.csv", "toy.arff", "toy.svm.xz", "toy.svm"):
        (tmp_path / name).touch()
        names.append(find_file("toy", tmp_path).name)
    assert names == ["toy.npz", "toy.csv.gz", "toy.csv", "toy.arff", "toy.svm.xz", "toy.svm"]
    assert find_file("to", tmp_path) is None


def test_splits_beside_the_file(tmp_path):
    (tmp_path / "toy.svm.gz").write_bytes(gzip.compress(SVM))
    np.savez(tmp_path / "toy.splits.npz", train=np.array([[1]]), test=np.array([[0]]))
    [(train, test)] = read_file(tmp_path / "toy.svm.gz")[2]
    assert (train.tolist(), test.tolist()) == ([1], [0])


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("damage", [lambda c: c[: len(c) // 2], lambda c: b"nothing" + c])
def test_damaged_compressed_files(tmp_path, compression, damage):
    path = tmp_path / f"toy.svm{compression}"
    path.write_bytes(damage(PACK[compression](SVM * 500)))
    with pytest.raises(UserError, match=rf"toy\.svm\{compression} cannot be read, or is damaged"):
        read_file(path)


@pytest.mark.parametrize("name", ["toy.svm", "toy.npz", "toy.arff"])
@pytest.mark.parametrize(
    ("key", "value", "formats"),
    [
        ("labels", "a", "ARFF and CSV"),
        ("drop", ["x"], "ARFF and CSV"),
        ("decimal", "comma", "CSV"),
        ("thousands", "space", "CSV"),
        ("na_values", ["x"], "CSV"),
        ("header", False, "CSV"),
        ("header", True, "CSV"),
    ],
)
def test_options_of_other_formats_are_an_error(tmp_path, name, key, value, formats):
    (tmp_path / name).write_bytes(ARFF)
    fault = f"^data.{key} applies to {formats} files only; "
    if not (name == "toy.arff" and key in ("labels", "drop")):
        with pytest.raises(UserError, match=f"{fault}{name} has another format$"):
            read_file(tmp_path / name, **{key: tuple(value) if key == "drop" else value})
    with pytest.raises(UserError, match=f"{fault}give such a file by data.path=FILE$"):
        load({"name": "wine", "sklearn": "load_wine", key: value})


def test_header_may_be_given(tmp_path):
    (tmp_path / "toy.csv").write_text("0,1,2\n1,2,1\n3,4,2\n")
    for header, n_samples in ((True, 2), (False, 3), (None, 3)):
        path = str(tmp_path / "toy.csv")
        assert load({"name": "toy", "path": path, "header": header}).n_samples == n_samples


def test_no_such_file(tmp_path):
    with pytest.raises(UserError, match=r"there is no file .*toy\.svm"):
        read_file(tmp_path / "toy.svm")


def test_impossible_file_name_is_refused(tmp_path):
    with pytest.raises(UserError, match="there is no file"):
        read_file(tmp_path / ("a" * 300 + ".svm"))


def test_data_folder_of_an_unknown_user():
    with pytest.raises(UserError, match=r"^there is no file ~nobody-here/toy\.csv"):
        load({"name": "toy", "path": "~nobody-here/toy.csv"})


def test_long_name_has_no_splits_file(tmp_path):
    path = tmp_path / ("a" * 250 + ".svm")
    path.write_bytes(SVM)
    assert read_file(path)[2] is None


def test_unknown_format(tmp_path):
    (tmp_path / "toy.xlsx").touch()
    with pytest.raises(UserError, match=r"toy\.xlsx: the ending does not say the format"):
        read_file(tmp_path / "toy.xlsx")
