import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from boostbench.analysis.verdicts import COMPARED

QUICK = ["algo.n_iterations=20", "protocol.n_splits=3", "protocol.tune=none"]


@pytest.fixture(scope="module")
def recorded_folder(call_once):
    """Record a cell of a table and two experiments of one algorithm."""
    run = ["run", "data=wine", "algo=adaboost_mh", "parallel=serial"]
    return call_once(
        [*run, *QUICK, "results=mine"],
        *([*run, f"algo.n_iterations={n}", "protocol.n_splits=4", "results=two"] for n in (5, 20)),
    )


@pytest.fixture
def table_path(define_table, folder, recorded_folder):
    """Write a table that has records for one of its four published numbers."""
    shutil.copytree(recorded_folder / "mine", folder / "results")
    return define_table(
        rows=["wine", "dna"],
        columns=["adaboost_mh", {"rboost_rank": ["algo.n_projections=20"]}],
        overrides=QUICK,
        published="randomboost-table5",
    )


def test_check_judges_without_data(table_path, done, folder, monkeypatch):
    monkeypatch.setenv("BOOSTBENCH_DATA", str(folder))
    result = done("check", table_path)
    [line] = [line.split() for line in result.out.splitlines() if line.startswith("wine ")]
    assert line[:4] == ["wine", "AdaBoost.MH", "4.3", "(3.8)"]
    assert line[-1] in COMPARED
    assert result.out.count(", 3 not run.") == 1
    assert max(map(len, result.out.splitlines())) <= 80
    assert result.err == ""


def test_partial_means_are_marked(table_path, call):
    text = Path(table_path).read_text().replace("protocol.n_splits=3", "protocol.n_splits=9")
    Path(table_path).write_text(text)
    output = call("check", table_path).out
    assert re.search(r"^wine  AdaBoost.MH .*\)‡ ", output, re.M)
    assert "‡ over a part of the splits: AdaBoost.MH on wine (3 of 9)." in output


def test_marks_of_an_older_edition_are_explained(table_path, call, monkeypatch):
    monkeypatch.setattr("boostbench.records.schema.Provenance.is_from", lambda self, version: False)
    output = call("check", table_path).out
    assert re.search(r"^wine  AdaBoost.MH .*\)† ", output, re.M)
    assert output.count("\n† of an older edition of the algorithm") == 1


def test_tables_without_records_take_one_line(table_path, done):
    """A new user checks all tables of the papers with hardly any records."""
    result = done("check")
    assert len(result.out.splitlines()) < 20
    assert "Nothing is on record of cgens1, cgens2," in result.out


def test_counts_are_shown_by_table(table_path, call):
    result = call("check", "demo", table_path)
    header, _, demo, user_table, total = result.out.splitlines()[-5:]
    assert header.split()[:2] == ["table", "published"]
    assert demo.split()[:2] == ["demo", "6"]
    assert user_table.split()[:2] == ["mine", "4"]
    # Neither is a paper's own table.
    assert total.split()[:2] == ["all", "0"]


def test_json_lists_every_published_number(table_path, call):
    content = json.loads(call("check", table_path, "--json").out)
    lines = content["verdicts"]
    assert len(lines) == 4
    keys = {"table", "data", "algo", "column", "ours", "published", "n", "detectable", "verdict"}
    assert keys <= lines[0].keys()
    assert [(line["data"], line["algo"], line["n"]) for line in lines] == [
        ("wine", "adaboost_mh", 3),
        ("wine", "rboost_rank", 0),
        ("dna", "adaboost_mh", 0),
        ("dna", "rboost_rank", 0),
    ]
    assert lines[0]["published"] == 4.3
    assert lines[1]["ours"] is None
    assert lines[1]["verdict"] == "not run"
    counts = content["counts"]["tables"]["mine"]
    assert (counts["published"], counts["verdicts"]["not run"]) == (4, 3)
    # Pools of samples occur in MCBoost's tables, but not here.
    assert counts["without_pool"] is None
    assert content["counts"]["all"]["published"] == 0


def test_json_has_the_rule_of_each_verdict(table_path, call):
    line, missing = json.loads(call("check", table_path, "--json").out)["verdicts"][:2]
    assert (line["rule"], type(line["differs"]), type(line["within"])) == ("tost", bool, bool)
    assert (missing["differs"], missing["within"]) == (None, None)
    assert line["command"] == (
        f"boostbench table {table_path} --row wine --column adaboost_mh rerun=all results=again"
    )
    counts = json.loads(call("check", table_path, "--json").out)["counts"]["tables"]["mine"]
    assert list(counts["within"]) == ["10%", "20%", "30%"]


def test_command_reproduces_its_number(table_path, call, folder):
    [line] = [
        line
        for line in json.loads(call("check", table_path, "--json").out)["verdicts"]
        if line["ours"] is not None
    ]
    program, *words = shlex.split(line["command"])
    assert program == "boostbench"
    assert call(*words, "parallel=serial").code == 0
    [again] = (folder / "again" / "tables").glob("*.csv")
    [cell] = csv.DictReader(again.read_text().splitlines())
    assert float(cell["test_error_mean"]) == pytest.approx(line["ours"], abs=1e-5)
    assert cell["command"] == line["command"]


def test_rule_of_power_gives_the_verdicts_of_version_1(table_path, call, folder):
    [line] = [
        line
        for line in json.loads(call("check", table_path, "--json", "--rule", "power").out)[
            "verdicts"
        ]
        if line["ours"] is not None
    ]
    assert line["rule"] == "power"
    assert line["verdict"] == "undecided"
    output = " ".join(call("check", table_path, "--rule", "power").out.split())
    assert "Reproduced: the interval contains 0" in output
    # The verdicts of this rule are not compared with the file.
    call("check", table_path, "--update")
    path = folder / "results" / "verdicts.csv"
    path.write_text(re.sub(f",({'|'.join(COMPARED)})\n", ",reproduced\n", path.read_text()))
    assert call("check", table_path, "--rule", "power").code == 0


def test_update_refuses_another_rule(table_path, call):
    result = call("check", table_path, "--update", "--rule", "power")
    assert result.code == 2
    assert "--update saves the verdicts of --rule tost" in result.err


def test_lost_reproduction_gives_exit_code_1(table_path, call, folder):
    path = folder / "results" / "verdicts.csv"
    assert call("check", table_path, "--update").code == 0
    text = path.read_text()
    assert call("check", table_path).code == 0
    # The file claims that the published number was reproduced.
    path.write_text(re.sub(f",({'|'.join(COMPARED)})\n", ",reproduced\n", text))
    before = path.read_text()
    shutil.rmtree(folder / "results" / "records")
    result = call("check", table_path)
    assert result.code == 1
    assert result.err.startswith("boostbench: mine, adaboost_mh on wine: reproduced before with ")
    assert result.err.endswith("now not run without a number (published: 4.3)\n")
    assert path.read_text() == before
    assert call("check", table_path, "--update").code == 0
    assert call("check", table_path).code == 0


def test_update_keeps_the_verdicts_of_other_tables(table_path, call, folder):
    call("check", "demo", "--update")
    call("check", table_path, "--update")
    lines = (folder / "results" / "verdicts.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["table", *["demo"] * 6, *["mine"] * 4]


def test_damaged_records_are_named_and_skipped(table_path, done, folder):
    path = folder / "results" / "records" / "wine" / "adaboost_mh.jsonl"
    path.write_text("damaged\n" + path.read_text())
    result = done("check", table_path)
    assert result.err == (
        "boostbench: results/records/wine/adaboost_mh.jsonl:1: not a record: "
        "JSON is malformed: invalid character (byte 0); left out\n"
    )


def test_unknown_table_is_refused(refused):
    assert "did you mean" in refused("check", "randomboost55")


def test_missing_results_folder_is_refused(refused):
    assert "there are no results in nowhere" in refused("check", "results=nowhere")


def test_overrides_of_experiments_are_refused(refused):
    assert "check goes by what is on record" in refused("check", "protocol.n_splits=3")


@pytest.fixture
def write_published(folder, recorded_folder):
    """Write published numbers; two experiments of one algorithm are on record."""
    shutil.copytree(recorded_folder / "two", folder / "results")

    def write(*lines):
        (folder / "paper.csv").write_text("\n".join(lines) + "\n")
        return "paper.csv"

    return write


def test_published_file_is_judged(call, write_published):
    heads = "data,algo,n_iterations,test_error_mean,test_error_std,n"
    far, near = "wine,adaboost_mh,5,60.0,1.0,10", "wine,adaboost_mh,20,4.0,60.0,10"
    missing = "iris,adaboost_mh,20,5.0,,10"
    result = call("check", "--published", write_published(heads, far, near, missing))
    assert (result.code, result.err) == (1, "")
    assert re.search(r"n_iterations=5 +60.0 \(1.0\) .* better\n", result.out)
    assert re.search(r"n_iterations=20 +4.0 \(60.0\) .* undecided\n", result.out)
    assert "3 published numbers: 1 better, 1 undecided, 1 not run." in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert call("check", "--published", write_published(heads, near)).code == 0
    verdicts = json.loads(call("check", "--published", "paper.csv", "--json").out)["verdicts"]
    assert [(verdict["data"], verdict["published"], verdict["n"]) for verdict in verdicts] == [
        ("wine", 4.0, 4)
    ]


def test_published_imports_no_tables_and_no_unused_algorithms(write_published, folder):
    path = write_published("data,algo,n_iterations,test_error_mean,n", "wine,adaboost_mh,20,4.0,10")
    code = (
        "import sys\n"
        "from boostbench.cli import main\n"
        "main(['check', '--published', sys.argv[1]])\n"
        "assert 'boostbench.algorithms.mcboost' not in sys.modules\n"
        "assert 'boostbench.config.table_definitions' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, path], check=True, cwd=folder)


def test_decimals_option_sets_the_precision(call, write_published):
    heads, near = "data,algo,n_iterations,test_error_mean,n", "wine,adaboost_mh,20,1,10"
    path = write_published(heads, near)
    result = call("check", "--published", path)
    assert re.search(r"n_iterations=20 +1\.0 +\d+\.\d \(", result.out)
    assert "numbers are taken as percent" in result.err
    whole = call("check", "--published", path, "--decimals", "0").out
    assert re.search(r"n_iterations=20 +1 +\d+ \(\d+\) ", whole)
    assert (
        "--decimals is -1; it must be 0 to 9"
        in call("check", "--published", path, "--decimals", "-1").err
    )


@pytest.mark.parametrize("repeats", [0, 10**9 + 1])
def test_repeats_outside_the_limits_are_refused(call, write_published, repeats):
    path = write_published("data,algo,n_iterations,test_error_mean", "wine,adaboost_mh,20,1.5")
    error = call("check", "--published", path, "--repeats", str(repeats)).err
    assert error == f"boostbench: --repeats is {repeats}; it must be 1 to 1000000000\n"
    assert call("check", "--published", path, "--repeats", str(10**9)).code < 2


def test_ambiguous_published_line_is_refused(call, write_published):
    path = write_published("data,algo,test_error", "wine,adaboost_mh,4.0")
    result = call("check", "--published", path, "--repeats", "10")
    assert result.code == 2
    error = " ".join(result.err.split())
    assert "paper.csv:2: 2 experiments on record are adaboost_mh on wine" in error
    assert "add a column that tells them apart, such as n_iterations" in error


def test_unknown_published_column_is_refused(call, write_published):
    path = write_published("data,algo,rounds,test_error,n", "wine,adaboost_mh,5,4.0,2")
    result = call("check", "--published", path)
    assert result.code == 2
    assert "paper.csv: column 'rounds' is no quantity and no setting" in result.err


def test_published_excludes_tables_and_update(call, write_published):
    path = write_published("data,algo,test_error,n", "wine,adaboost_mh,4.0,2")
    assert "no table 'demo'" in call("check", "demo", "--published", path).err
    assert "not for --published" in call("check", "--published", path, "--update").err
