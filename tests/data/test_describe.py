from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from boostbench.data import Dataset, describe, load
from boostbench.spec.data import DataCounts

TOY = Dataset(
    "toy",
    np.array([[1.0, 2], [0, 2], [3, 0], [4, 4.5]]),
    np.array(["b", "a", "b", "b"]),
    "made here",
    [(np.arange(3), np.arange(3, 4))],
    DataCounts(samples=4, classes=2),
)


def test_dense_data_are_described():
    assert describe(TOY) == [
        ("name", "toy"),
        ("source", "made here"),
        ("samples", "4"),
        ("features", "2 (dense)"),
        ("classes", "2: a (1), b (3)"),
        ("values", "0 to 4.5, 25.0% of them zero"),
        ("expected", "4 samples, 2 classes"),
        ("checksum", TOY.checksum),
        ("fixed splits", "1, 3 training and 1 test rows"),
    ]


def test_sparse_without_splits_and_expectations():
    rows = dict(describe(replace(TOY, X=csr_matrix(TOY.X + 1), splits=None, expect=DataCounts())))
    assert rows["features"] == "2 (sparse)"
    assert rows["values"] == "1 to 5.5, 0.0% of them zero"
    assert rows["expected"] == "nothing said"
    assert "fixed splits" not in rows


def test_implicit_zeros_are_counted():
    rows = dict(describe(replace(TOY, X=csr_matrix(TOY.X))))
    assert rows["values"] == "0 to 4.5, 25.0% of them zero"


@pytest.mark.filterwarnings("error")
def test_only_missing_values_are_described():
    rows = dict(describe(replace(TOY, X=np.full((4, 2), np.nan))))
    assert rows["values"] == "no values, all are missing"
    assert rows["missing"].startswith("8 values in 4 rows")
    half = dict(describe(replace(TOY, X=np.c_[TOY.X[:, 1], np.full(4, np.nan)])))
    assert half["values"] == "0 to 4.5, 12.5% of them zero"


@pytest.mark.filterwarnings("error")
def test_empty_sparse_matrix_is_zero():
    rows = dict(describe(replace(TOY, X=csr_matrix((4, 2)))))
    assert rows["values"] == "0 to 0, 100.0% of them zero"


def test_many_classes_are_summarised():
    many = Dataset("many", np.ones((50, 1)), np.r_[np.arange(40), np.arange(10)], "made here")
    assert dict(describe(many))["classes"] == "40, of 1 to 2 samples"


def test_categories_are_described_by_their_columns(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_text("size,town,class\n0,Bern,a\n2,Chur,b\n0,Genf,a\n4,Bern,b\n")
    rows = dict(describe(load({"name": "towns", "path": str(path)})))
    assert rows["features"] == "4 (dense)"
    assert rows["categories"] == "town (3)"
    assert rows["values"] == "0 to 4, 50.0% of them zero"
    path.write_text("town,class\nBern,a\nChur,b\nGenf,a\nBern,b\n")
    assert dict(describe(load({"name": "towns", "path": str(path)})))["values"] == "categories only"
