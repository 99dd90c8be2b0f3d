import pytest

from boostbench.data.loading import load
from boostbench.data.sources.local_files import write_bundle
from boostbench.spec.data import DataSpec

CSV = "size,colour,flag,class\n1,red,yes,a\n2,blue,no,b\n3,green,no,a\n4,red,yes,b\n"


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "mine.csv").write_text(CSV)
    return {"name": "mine", "path": str(tmp_path / "mine.csv")}


def test_columns_of_a_file_are_named(spec):
    dataset = load(spec)
    names = dataset.feature_names
    assert names == ["size", "colour=blue", "colour=green", "colour=red", "flag"]
    X = dataset.one_hot_encoded().X
    assert X[:, names.index("colour=red")].tolist() == [1, 0, 0, 1]
    assert dataset.X[:, 1].tolist() == [2, 0, 1, 2]


def test_label_column_is_no_feature(spec):
    spec |= {"labels": "flag"}
    assert load(spec).feature_names[-1] == "class"


def test_selected_features_keep_their_names(spec):
    assert load(spec | {"features": [1, 3]}).feature_names == ["colour=blue", "colour=green"]


def test_bundles_keep_names(spec, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOSTBENCH_DATA", str(tmp_path))
    dataset = load(spec)
    write_bundle(tmp_path, DataSpec("mine"), dataset)
    assert load({"name": "mine"}).source.startswith("file")
    assert load({"name": "mine"}).feature_names == dataset.feature_names


def test_features_without_a_header_are_numbered(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,2,0\n3,4,1\n")
    assert load({"name": "mine", "path": str(path)}).feature_names == ["1", "2"]


def test_years_are_names(spec, tmp_path):
    (tmp_path / "mine.csv").write_text("2002,2001,class\n1,2,a\n3,4,b\n")
    assert load(spec).feature_names == ["2002", "2001"]


def test_scikit_learn_names_are_kept(monkeypatch):
    monkeypatch.delenv("BOOSTBENCH_DATA", raising=False)
    spec = {"name": "wine", "sklearn": "load_wine"}
    assert load(spec).feature_names[:2] == ["alcohol", "malic_acid"]


def test_generated_data_have_numbers(monkeypatch):
    monkeypatch.delenv("BOOSTBENCH_DATA", raising=False)
    spec = {"name": "x", "generate": {"function": "make_moons"}}
    assert load(spec).feature_names == ["1", "2"]
