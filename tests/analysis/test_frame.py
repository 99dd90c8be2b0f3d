import json
import re
import shutil
from pathlib import Path

import pytest
from fitting.examples import FAILURE, RECORD, TRIAL, append, modify_record

import boostbench
from boostbench.fitting.quantities import QUANTITIES
from boostbench.papers.metadata import library
from boostbench.papers.published import lines_of
from boostbench.records.store import record_path
from boostbench.util.errors import UserError


@pytest.fixture
def folder(tmp_path):
    path = record_path(tmp_path, "toy", "fake")
    for entries in (
        RECORD,
        modify_record(FAILURE, split=1),
        modify_record(RECORD, split=2, config__seed=5),
    ):
        append(path, entries)
    append(record_path(tmp_path, "toy", "fake", "tuning"), TRIAL)
    return tmp_path


def test_frame_has_a_row_for_each_split(folder):
    frame = boostbench.results(folder)
    assert len(frame) == 3
    assert set(QUANTITIES) <= set(frame.columns)
    row = frame.query("split == 0").iloc[0]
    assert row["test_error"] == pytest.approx(100 / 30)
    assert row["fit"] == 0.5
    assert json.loads(row["checkpoints"]) == {"1": 0.1, "2": 1 / 30}
    assert json.loads(row["settings"])["algo"]["_target_"] == "fake_classifiers.Nearest"
    assert frame.query("split == 1").iloc[0]["error"] == "ValueError: no"
    assert frame["test_error"].isna().sum() == 1
    assert sorted(frame["seed"]) == [0, 0, 5]


def test_docstring_explains_all_columns(folder):
    documented = re.findall(r"``(\w+)``", boostbench.results.__doc__)
    assert set(boostbench.results(folder).columns) <= set(documented)


def test_frame_requires_records(tmp_path):
    with pytest.raises(UserError, match="nothing is on record"):
        boostbench.results(tmp_path)


def test_damaged_lines_are_warnings(folder):
    with record_path(folder, "toy", "fake").open("ab") as file:
        file.write(b"rubbish\n{}\n")
    assert len(boostbench.results(folder).attrs["warnings"]) == 2


def test_published_numbers_equal_the_tables():
    frame = boostbench.published("randomboost5")
    assert set(frame["quantity"]) == {"test_error"}
    assert set(frame["table"]) == {"randomboost5"}
    for line in lines_of("randomboost-table5"):
        lines = frame.query("data == @line['data'] and algo == @line['algo']")
        [(mean, std)] = lines[["mean", "std"]].to_numpy()
        assert (mean, std) == (float(line["test_error_mean"]), float(line["test_error_std"]))
    everything = boostbench.published()
    assert set(everything["paper"]) == {paper.name for paper in library().papers}
    assert everything["quantity"].isin(QUANTITIES).all()
    assert len(everything) > 767
    with pytest.raises(UserError, match=r"did you mean .*randomboost5"):
        boostbench.published("randomboost55")


def test_documented_example_runs(tmp_path, monkeypatch, capsys):
    """The example uses the records of wine only."""
    root = Path(__file__).parents[2]
    [code] = re.findall("```python\n(.*?)```", (root / "docs/running.md").read_text(), re.DOTALL)
    records = root / "results" / "records" / "wine"
    shutil.copytree(records, tmp_path / "results" / "records" / "wine")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/running.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert "mean published" in lines[0]
    [line] = [line for line in lines if line.startswith("rboost_rank ")]
    assert "NaN" not in line
