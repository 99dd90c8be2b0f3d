import csv
import shutil

import pytest

import boostbench
from tests.conftest import QUICK


@pytest.fixture(scope="module")
def recorded_run(call_once):
    return call_once(["run", "data=wine", *QUICK])


@pytest.fixture
def recorded(recorded_run, folder):
    shutil.copytree(recorded_run / "results", folder / "results")


@pytest.mark.usefixtures("recorded")
def test_csv_has_every_split(call, folder):
    assert call("export").out == "written: results/splits.csv (3 splits, 0 failed)\n"
    rows = list(csv.DictReader((folder / "results/splits.csv").open(newline="")))
    assert [row["split"] for row in rows] == ["0", "1", "2"]
    assert {row["algo"] for row in rows} == {"DecisionTreeClassifier"}
    assert [float(row["test_error"]) for row in rows] == list(boostbench.results()["test_error"])


@pytest.mark.usefixtures("recorded")
def test_parquet_file_equals_the_frame(call, folder):
    pytest.importorskip("pyarrow")
    import pandas as pd

    assert call("export", "--output", "all.parquet").code == 0
    frame = boostbench.results()
    pd.testing.assert_frame_equal(pd.read_parquet("all.parquet"), frame, check_dtype=False)


@pytest.mark.usefixtures("recorded")
def test_parquet_requires_pyarrow(call, folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = call("export", "--output", "all.parquet")
    assert result.code == 2
    assert "Parquet needs pyarrow; install it, or name the file *.csv" in result.err
    assert not (folder / "all.parquet").exists()


@pytest.mark.usefixtures("recorded")
def test_formulas_are_quoted_in_csv(call, folder):
    from boostbench.analysis.frame import write_frame

    frame = boostbench.results()
    frame["error"] = "=1+1"
    write_frame(frame, folder / "all.csv")
    assert {row["error"] for row in csv.DictReader((folder / "all.csv").open())} == {"'=1+1"}


@pytest.mark.usefixtures("recorded")
def test_paths_expand_the_tilde(done, folder, home):
    (folder / "results").rename(home / "r")
    assert f"written: {home / 'r' / 'splits.csv'} (3" in done("export", "results=~/r").out
    done("export", "results=~/r", "--output=~/made/all.csv")
    assert (home / "made" / "all.csv").is_file()
    assert list(folder.iterdir()) == []


def test_wrong_arguments_are_refused(refused):
    assert "nothing is on record" in refused("export")
    assert "takes results=DIR alone" in refused("export", "randomboost5")
