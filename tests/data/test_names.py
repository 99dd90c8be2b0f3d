import numpy as np
import pytest

from boostbench.data.load import load
from boostbench.data.names import feature_names

CSV = "size,colour,flag,class\n1,red,yes,a\n2,blue,no,b\n3,green,no,a\n4,red,yes,b\n"


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "mine.csv").write_text(CSV)
    return {"name": "mine", "path": str(tmp_path / "mine.csv")}


def test_columns_of_a_file(spec):
    dataset = load(spec)
    names = feature_names(spec, dataset.n_features)
    assert names == ["size", "colour=blue", "colour=green", "colour=red", "flag"]
    np.testing.assert_array_equal(dataset.X[:, names.index("colour=red")], [1, 0, 0, 1])


def test_another_column_of_labels(spec):
    spec |= {"labels": "flag"}
    dataset = load(spec)
    assert feature_names(spec, dataset.n_features)[-1] == "class"


def test_without_a_heading_they_are_numbered(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,2,0\n3,4,1\n")
    assert feature_names({"name": "mine", "path": str(path)}, 2) == ["1", "2"]


def test_those_of_scikit_learn(monkeypatch):
    monkeypatch.delenv("BOOSTBENCH_DATA", raising=False)
    spec = {"name": "wine", "sklearn": "load_wine"}
    assert feature_names(spec, 13)[:2] == ["alcohol", "malic_acid"]
    # Where columns were left out, nobody knows which.
    assert feature_names(spec, 3) == ["1", "2", "3"]


def test_generated_data_have_numbers(monkeypatch):
    monkeypatch.delenv("BOOSTBENCH_DATA", raising=False)
    assert feature_names({"name": "x", "generate": {"function": "make_moons"}}, 2) == ["1", "2"]
