import json
import shutil
from pathlib import Path

import pytest
from fitting.examples import append, flat, modify_record, rewrite

from boostbench.execution.verification import refit_records
from boostbench.records.store import read_records
from boostbench.util.errors import Terminated

RUN = ("run", "algo=adaboost_mh", "data=wine", "algo.n_iterations=30", "protocol.n_splits=3")
ALL_SAME = "3 fitted again: 3 same, 0 different, 0 failed"
# These times precede every refit of a test, and records hold whole seconds.
TIMES = {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:01Z"}
CENTROIDS = """
from sklearn.neighbors import NearestCentroid

class Centroids(NearestCentroid):
    def __init__(self, shrink=0.0):
        super().__init__()
        self.shrink = shrink

    def fit(self, X, y):
        if self.shrink < 0:
            raise ValueError("shrink is negative")
        return super().fit(X, y)
"""


@pytest.fixture(scope="module")
def recorded_run(call_once):
    here = call_once(RUN)
    rewrite(here / "results" / "records" / "wine" / "adaboost_mh.jsonl", lambda i, r: r | TIMES)
    return here


@pytest.fixture
def recorded(recorded_run, folder):
    shutil.copytree(recorded_run / "results", folder / "results")
    return folder


def test_equal_refits_are_filed(done, recorded):
    result = done("verify", "--jobs", "1")
    assert result.out.splitlines()[2].split() == ["AdaBoostMH", "1", "1", "-", "-", "-"]
    assert result.out.splitlines()[-1] == ALL_SAME
    [line] = (recorded / "results" / "verified.jsonl").read_text().splitlines()
    assert json.loads(line)["state"] == "same"


def test_different_refit_makes_its_record_stale(call, done, recorded):
    path = recorded / "results" / "records" / "wine" / "adaboost_mh.jsonl"
    rewrite(path, lambda i, r: r | ({"test_error": 44 / 45} if i == 1 else {}))
    result = call("verify", "adaboost_mh", "--jobs", "1")
    assert result.code == 1
    assert "different, AdaBoostMH" in result.out.replace("\n", " ")
    assert "†" in done(*RUN).out
    done(*RUN, "rerun=stale")
    table = done(*RUN).out
    assert "AdaBoost.MH" in table
    assert "†" not in table
    assert call("verify", "AdaBoostMH", "--jobs", "1").code == 0
    assert all(record.test_error < 0.5 for record in read_records(path)[0])


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_interrupted_verification_keeps_its_results(call, recorded, monkeypatch, stop, code):
    path, lines = recorded / "results" / "verified.jsonl", []

    def refit_until_stop(*args, **kwargs):
        for refit in refit_records(*args, **kwargs):
            yield refit
            lines.extend(path.read_text().splitlines()[-1:])  # all that a kill would leave
            if len(lines) == 2:
                raise stop

    with monkeypatch.context() as patch:
        patch.setattr("boostbench.execution.verification.refit_records", refit_until_stop)
        assert call("verify", "--jobs", "1").code == code
    assert [len(*json.loads(line)["agreed"].values()) for line in lines] == [1, 2]
    assert call("verify", "--jobs", "1").out.splitlines()[-1] == ALL_SAME
    [line] = path.read_text().splitlines()
    assert json.loads(line)["state"] == "same"


def test_file_may_have_the_name_of_a_data_set(done, folder):
    rows = [f"{i},{i % 7},{'ab'[i % 2]}" for i in range(40)]
    Path("iris.csv").write_text("\n".join(["x,y,class", *rows]) + "\n")
    done("run", "algo=mcboost", "data.path=iris.csv", "protocol.n_splits=2")
    result = done("verify", "mcboost", "--jobs", "1")
    assert result.out.splitlines()[-1] == "2 fitted again: 2 same, 0 different, 0 failed"


def test_equivalent_data_options_are_no_difference(done, recorded):
    path = recorded / "results" / "records" / "wine" / "adaboost_mh.jsonl"
    rewrite(path, lambda i, r: r | {"also": [{"header": True}]})
    result = done("verify", "--jobs", "1")
    assert result.out.splitlines()[-1] == ALL_SAME


def test_budget_limits_the_refits(done, recorded):
    result = done("verify", "--budget", "0.1s", "--jobs", "1")
    assert result.out.splitlines()[-1] == "1 fitted again: 1 same, 0 different, 0 failed"


def test_path_of_a_table_selects_its_records(done, recorded):
    done("run", "algo=adaboost_mh", "data=iris", *RUN[3:], "parallel=serial")
    overrides = "overrides: [algo.n_iterations=30, protocol.n_splits=3]"
    Path("mine.yml").write_text(f"title: One\nrows: [iris]\ncolumns: [adaboost_mh]\n{overrides}\n")
    result = done("verify", "mine.yml", "--jobs", "1")
    assert result.out.splitlines()[-1] == ALL_SAME


def test_failed_refit_gives_exit_code_1(call, recorded):
    """A class that raises an error today fails; the exit code is 1."""
    Path("mine.py").write_text(CENTROIDS)
    run = "run", "algo._target_=mine.Centroids", "data=wine", *RUN[4:], "parallel=serial"
    assert call(*run).code == 0
    path = recorded / "results" / "records" / "wine" / "Centroids.jsonl"
    rewrite(path, lambda i, r: modify_record(r, config__algo__shrink=-1.0))
    result = call("verify", "Centroids", "--jobs", "1")
    assert result.code == 1
    assert "failed, Centroids on wine: Centroids on wine, split 0: ValueError" in result.out
    assert result.out.splitlines()[-1] == "3 fitted again: 0 same, 0 different, 3 failed"


def test_equal_records_agree_without_a_refit_file(done, recorded):
    shutil.copytree("results", "old")
    result = done("verify", "--against", "old", "--jobs", "1")
    assert result.out.splitlines()[-1] == ALL_SAME
    assert not (recorded / "results" / "verified.jsonl").exists()


def test_records_of_another_folder_disagree(call, recorded):
    shutil.copytree("results", "old")
    path = recorded / "old" / "records" / "wine" / "adaboost_mh.jsonl"
    rewrite(path, lambda i, r: r | {"witness": {"end": 1.0}})
    assert call("verify", "--against", "old", "--jobs", "1").code == 1
    assert not (recorded / "results" / "verified.jsonl").exists()
    assert not (recorded / "old" / "verified.jsonl").exists()


@pytest.mark.parametrize("source", ["def (", "raise SystemExit", "class Own: fit = 1 / 0"])
def test_broken_module_is_reported_in_one_line(call, recorded, source):
    (recorded / "broken_by_now.py").write_text(source)
    path = recorded / "results" / "records" / "wine" / "adaboost_mh.jsonl"
    record = read_records(path)[0][0]
    append(
        path.with_name("own.jsonl"),
        modify_record(flat(record), config__algo___target_="broken_by_now.Own"),
    )
    result = call("verify", "--jobs", "1")
    assert result.code == 0
    assert len(result.complaints.splitlines()) == 1
    assert result.complaints.startswith("boostbench: own: ")
    assert result.out.splitlines()[-1] == ALL_SAME


@pytest.mark.parametrize(("budget", "n_records"), [([], 3), (["--budget", "0.1s"], 1)])
def test_dry_run_counts_the_refits(done, recorded, budget, n_records):
    result = done("verify", "--dry-run", *budget)
    rows = [line.split() for line in result.out.splitlines()[2:]]
    assert [row[:3] for row in rows] == [
        [name, "1", str(n_records)] for name in ("AdaBoostMH", "all")
    ]
    assert not (recorded / "results" / "verified.jsonl").exists()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["adaboost_hm"], "unknown algorithm or table 'adaboost_hm'; did you mean adaboost_m"),
        (["--budget", "soon"], "--budget is 'soon'; write 90s, 30m or 2h"),
        (["--jobs", "0"], "n_jobs is 0"),
        (["results=nothing"], "nothing holds no records"),
    ],
)
def test_wrong_arguments_are_refused(refused, argv, message):
    assert message in refused("verify", *argv)
