"""Files of different data whose names are equal, or become equal, or differ in case only."""

import json
import shutil

import pytest
from sklearn.datasets import load_iris, load_wine

import boostbench
from boostbench.records.store import RecordFile, read_records, record_path

SMALL = ["algo.n_iterations=3", "protocol.n_splits=3", "parallel=serial"]
ALGOS = ("samme", "adaboost_mh")


@pytest.fixture
def write_files(folder):
    """Write iris and wine as CSV files of two names."""

    def write_files(*names):
        for name, load in zip(names, (load_iris, load_wine), strict=True):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            frame = load(as_frame=True).frame.rename(columns={"target": "class"})
            frame.to_csv(path, index=False)

    return write_files


@pytest.fixture
def run_each(done):
    """Run both algorithms on each file."""

    def run_each(*names, measure="prediction"):
        for name in names:
            for algo in ALGOS:
                done("run", f"algo={algo}", f'data.path="{name}"', f"measure={measure}", *SMALL)

    return run_each


@pytest.fixture
def compare_errors(done):
    """Compare both algorithms; return the mean errors by data set."""

    def compare_errors(*options):
        content = json.loads(done("compare", *ALGOS, "--json", *options).out)
        assert content["left_out"] == []
        return {
            row["data"]: [row["numbers"][algo]["mean"] for algo in ALGOS] for row in content["data"]
        }

    return compare_errors


@pytest.mark.parametrize(
    ("names", "name_on_record"),
    [
        (("a/data.csv", "b/data.csv"), "data"),
        (("a b.csv", "a_b.csv"), "a_b"),
        (("😀.csv", "🎉.csv"), "_"),
    ],
)
def test_compare_keeps_data_sets_with_equal_names_apart(
    write_files, run_each, compare_errors, call, folder, names, name_on_record
):
    write_files(*names)
    run_each(*names)
    means = compare_errors()
    iris, wine = (f"{name_on_record} ({name})" for name in names)
    assert list(means) == [iris, wine]
    # The numbers do not depend on the order of the runs.
    shutil.rmtree(folder / "results")
    run_each(*names[::-1])
    assert compare_errors() == means
    # A title or a path chooses one, a name all that have it.
    for name, chosen in ((wine, {wine}), (names[1], {wine}), (name_on_record, {iris, wine})):
        assert compare_errors("--data", name).keys() == chosen
    unknown = call("compare", *ALGOS, "--data", f"{names[1]},nothing")
    assert unknown.code == 2
    assert "unknown data set 'nothing'" in unknown.err


def test_names_with_combining_marks_stay_apart(write_files, run_each, compare_errors):
    write_files("कि.csv", "का.csv")
    run_each("कि.csv", "का.csv")
    assert compare_errors().keys() == {"कि", "का"}


def test_results_keep_data_sets_with_equal_names_apart(write_files, run_each, done, folder):
    names = ("a/data.csv", "b/data.csv")
    titles = {f"data ({name})" for name in names}
    write_files(*names)
    run_each(*names, measure="predictions")
    frame = boostbench.predictions("results")
    assert set(frame["data"]) == titles
    assert frame.query("data == 'data (a/data.csv)'")["row"].max() < 150  # iris
    run_each(*names)
    frame = boostbench.results("results")
    groups = frame.query("measure == 'prediction'").groupby(["data", "algo"])
    assert set(frame["data"]) == titles
    assert groups["checksum"].nunique().eq(1).all()
    assert groups.size().eq(3).all()
    done("report")
    page = (folder / "results" / "report.html").read_text()
    assert all(title in page for title in titles)


def test_published_number_requires_an_unambiguous_data_set(write_files, run_each, call, folder):
    write_files("a/data.csv", "b/data.csv")
    run_each("a/data.csv", "b/data.csv")
    (folder / "paper.csv").write_text("data,algo,test_error,n\ndata,samme,3,9\n")
    error = call("check", "--published", "paper.csv").err
    assert "paper.csv:2: data is 2 data sets on record; write one of these in column data" in error
    assert "data (a/data.csv); data (b/data.csv)" in error
    line = "data (b/data.csv),samme,3,9"
    (folder / "paper.csv").write_text(f"data,algo,test_error,n\n{line}\n")
    verdicts = json.loads(call("check", "--published", "paper.csv", "--json").out)["verdicts"]
    frame = boostbench.results("results").query("data == 'data (b/data.csv)' and algo == 'samme'")
    assert [verdict["ours"] for verdict in verdicts] == pytest.approx([frame["test_error"].mean()])


@pytest.mark.parametrize("is_linked", [False, True])
def test_names_may_differ_in_case_only(write_files, run_each, compare_errors, folder, is_linked):
    """The names refer to one file on a file system that ignores case."""
    write_files("Vowel.csv", "vowel.csv")
    run_each("Vowel.csv", "vowel.csv")
    errors, n_records = compare_errors(), len(boostbench.results("results"))
    for algo in (*ALGOS, "constant", "logistic_regression"):
        records, _ = read_records(record_path(folder / "results", "vowel", algo))
        RecordFile(record_path(folder / "results", "Vowel", algo)).add(records)
    lower_case = folder / "results" / "records" / "vowel"
    shutil.rmtree(lower_case)
    if is_linked:
        lower_case.symlink_to("Vowel")
    assert compare_errors() == errors
    frame = boostbench.results("results")
    assert len(frame) == n_records
    assert frame.groupby("data")["checksum"].nunique().to_dict() == {"Vowel": 1, "vowel": 1}
