import importlib.util
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.tree import DecisionTreeClassifier

from boostbench.records.store import read_records
from boostbench.spec import measures
from boostbench.util import configs
from tests.conftest import QUICK

REGRESSION = "sklearn.linear_model.LogisticRegression"


def read_finished(folder, data="wine", algo="DecisionTreeClassifier"):
    path = folder / "results" / "records" / data / f"{algo}.jsonl"
    finished, warnings = read_records(path)
    assert not warnings
    return finished


def test_run_records_each_split(done, folder):
    result = done("run", *QUICK)
    assert result.complaints == ""
    start, *_, end = result.err.splitlines()
    assert start.endswith(" start: 3 splits to run")
    assert end.endswith(" for 3 fits")
    first, second = result.out.splitlines()[:2]
    assert first == "wine: 178 samples, 13 features, 3 classes"
    assert second.startswith("file ")
    assert "DecisionTreeClassifier" in result.out
    assert len(read_finished(folder)) == 3
    assert [path.name for path in folder.iterdir()] == ["results"]
    assert [path.name for path in (folder / "results").iterdir()] == ["records"]


def test_second_run_prints_the_same_without_a_fit(call, folder):
    result = call("run", *QUICK, "rerun=never")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "nothing is recorded" in result.err
    first = call("run", *QUICK)
    before = read_finished(folder)
    for again in ([], ["rerun=never"], ["-m"]):  # one experiment is no sweep
        assert call("run", *QUICK, *again).out == first.out
        assert read_finished(folder) == before


def test_run_shows_the_published_number(call):
    boosting = ["algo=adaboost_mh", "algo.n_iterations=20", "parallel=serial"]
    result = call("run", *boosting, "protocol.n_splits=3")
    header, _, row = result.out.splitlines()[2:5]
    assert header.split()[:5] == ["algorithm", "error", "%", "published", "splits"]
    assert row.startswith("AdaBoost.MH")
    assert "4.3 (3.8)§" in row
    output = " ".join(result.out.split())
    assert "§ not the published experiment: algo.n_iterations=20 " in output
    assert max(len(line.rstrip()) for line in result.out.splitlines()[2:]) <= 80


def test_run_on_a_file_shows_two_baselines(call, done, folder):
    """The feature is independent of the class; 80% of the samples have one class."""
    rng = np.random.default_rng(0)
    lines = [f"{rng.random():.3f},{'no' if i % 10 < 8 else 'yes'}" for i in range(80)]
    (folder / "my.csv").write_text("\n".join(["a,class", *lines]))
    result = done("run", *QUICK, "data.path=my.csv")
    assert result.out.startswith("my: 80 samples, 1 features, 2 classes")
    assert len(read_finished(folder, "my")) == 3
    heads = [line.split("  ")[0].strip() for line in result.out.splitlines()[4:7]]
    assert heads == ["DecisionTreeClassifier", "constant", "logistic regression"]
    output = " ".join(result.out.split())
    assert "constant 20.0 (0.0)" in output
    assert "By test error, log-loss, " in output
    assert "DecisionTreeClassifier is no better than the constant" in output
    assert max(len(line.rstrip()) for line in result.out.splitlines()[2:]) <= 80
    # Recorded splits are not run again, and a failed baseline is no mistake of the user.
    again = call("run", "algo=logistic_regression", *QUICK[2:], "data.path=my.csv", "rerun=never")
    assert (again.code, again.err) == (0, "")
    assert "DecisionTree" not in again.out
    # The table and the line on the constant name it.
    assert " ".join(again.out.split()).count("logistic regression") == 2
    scores = call("run", *QUICK, "data.path=my.csv", "measure=scores")
    assert "constant: Log-loss 0.5" in scores.out
    assert "constant" not in call("run", *QUICK, "data=wine").out


def test_target_accepts_a_parameter_of_the_replaced_algorithm(done, folder):
    """The algorithm of the default config has n_iterations, too."""
    samme = ["algo._target_=boostbench.algorithms.SAMME", "+algo.n_iterations=3"]
    done("run", *samme, "data=wine", *QUICK[2:])
    assert {record.n_iterations for record in read_finished(folder, "wine", "SAMME")} == {3}


def test_rare_class_is_judged_by_all_recorded_measures(done, folder):
    """Class 1 has 4 % of the samples, with high scores, but probabilities below 1/2."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    y = rng.random(1000) < 1 / (1 + np.exp(4 - 1.5 * x))
    lines = [f"{value:.4f},{int(label)}" for value, label in zip(x, y, strict=True)]
    (folder / "rare.csv").write_text("\n".join(["a,class", *lines]))
    bayes = ["algo._target_=sklearn.naive_bayes.GaussianNB", "data.path=rare.csv", *QUICK[2:]]
    output = " ".join(done("run", *bayes, "measure=scores").out.split())
    assert "GaussianNB is no better than the constant" in output
    assert re.search(r"By [^.]*log-loss[^.]* and ROC AUC[^.]* it is better\.", output)


def test_cfg_shows_the_config(call):
    config = yaml.safe_load(call("run", "--cfg", "job", "algo=adaboost").out)
    assert config["algo"]["title"] == "AdaBoost"
    assert config["protocol"]["n_splits"] == 10


def test_help_lists_groups_values_and_measures(done):
    result = done("run", "--help")
    assert 'eval "$(boostbench -sc install=bash)"' in result.out
    groups, _, values = result.out.partition("== Values: ")
    assert "  nu: 0.0001\n" in values
    for group in ("protocol", "profile", "parallel"):
        assert re.search(
            rf"^  {group} +{', '.join(configs.list_options(group))}$", groups, re.MULTILINE
        )
    _, _, recorded = groups.partition("; prediction by default ==\n")
    assert " ".join(recorded.split()) == ", ".join(measures.names())
    assert max(map(len, groups.splitlines())) <= 80


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["algo=rbost_proj"], "did you mean rboost_proj"),
        (["-m", "algo=adaboost_mh,nonsense"], "unknown algorithm 'nonsense'"),
        (["algo=adaboost"], "two classes"),
        (["~data"], "the configuration lacks data"),
        (["algo"], "KEY=VALUE is expected"),
        (["~algo.foo"], "unknown key 'algo.foo'"),
        (["seed=${nonsense}"], "nonsense"),
        (["results="], "results is ''; it must be text, the name of a folder"),
        (["-m", "results="], "results is ''; it must be text, the name of a folder"),
        (["-m", "algo=constant,glob(cosn*)"], "matches no algorithm; did you mean mcboost"),
        ([f"algo._target_={REGRESSION}", "+algo.C=inf"], "algo.C is inf, which no record can hold"),
        (["data.na_values=[nan]"], "an entry of data.na_values is nan, which no record can hold"),
        (["--nonsense"], "unrecognized arguments"),
        (["--config-dir", "/nowhere"], "/nowhere"),
        (["--config-name", "mine"], "unrecognized arguments: --config-name"),
        (["--experimental-rerun", "config.pickle"], "unrecognized arguments"),
        (["--algo=mcboost"], "write algo=VALUE without dashes"),
        (["--cfg", "job", "+algo.x=${oc.env:HOME}"], "algo.x is refused"),
        (["algo=samme,constant"], "algo is given several values; -m runs each of them"),
        (["mcboost", "wine", "seed=1"], "'boostbench run algo=mcboost data=wine seed=1'"),
        (["mcbost"], "KEY=VALUE is expected, such as algo=mcboost; did you mean mcboost"),
        (["-m", "algo=samme,constant", "algo.n_iterations=3"], "algo=constant algo.n_iterations=3"),
    ],
)
def test_wrong_arguments_are_refused(refused, argv, expected):
    assert expected in refused("run", *argv)


def test_failed_splits_give_exit_code_1(call, folder):
    neighbours = "algo._target_=sklearn.neighbors.KNeighborsClassifier"
    argv = [neighbours, "+algo.n_neighbors=1000", "protocol.n_splits=2", "parallel=serial"]
    result = call("run", *argv)
    assert result.code == 1
    assert result.err.splitlines()[-1].endswith("2 of 2 splits failed")
    assert "Traceback" not in result.err
    assert "failed" in result.out


def test_sweep_goes_on_after_a_failure(call, folder):
    sweep = ["-m", "algo=adaboost,adaboost_mh", "algo.n_iterations=3", "data=wine"]
    result = call("run", *sweep, "protocol.n_splits=2", "parallel=serial")
    assert result.code == 2
    assert "boostbench: algo=adaboost algo.n_iterations=3 data=wine" in result.err
    assert "two classes" in result.err
    assert "Traceback" not in result.err
    assert len(read_finished(folder, algo="adaboost_mh")) == 2


def test_sweep_names_each_setting_and_ends_with_a_table(done, folder):
    sweep = ["algo=adaboost_mh", "algo.n_iterations=3,9", "seed=0,1", "protocol.n_splits=2"]
    result = done("run", "-m", *sweep, "data=wine", "parallel=serial")
    lines = [line.rstrip() for line in result.out.splitlines()]
    values = [f"algo.n_iterations={n} seed={seed}" for n in (3, 9) for seed in (0, 1)]
    settings = [
        f"setting {number} of 4: {overrides}" for number, overrides in enumerate(values, start=1)
    ]
    assert [line for line in lines if line in settings] == settings
    headings = [line for line in result.err.splitlines() if line.startswith("setting")]
    assert [line.partition(";")[0] for line in headings] == settings
    errors = [line.split()[1:3] for line in lines if line.startswith("AdaBoost.MH")]
    end = lines.index("4 settings")
    heading = ["algo.n_iterations", "seed", "Test", "error", "%", "splits", "fit", "s"]
    assert lines[end + 1].split() == heading
    table = [line.split() for line in lines[end + 3 : end + 7]]
    assert [row[:2] for row in table] == [["3", "0"], ["3", "1"], ["9", "0"], ["9", "1"]]
    assert [row[2:4] for row in table] == errors
    assert [row[4] for row in table] == ["2"] * 4
    # The name of the picture contains the varied keys.
    if importlib.util.find_spec("matplotlib"):
        pictures = sorted((folder / "results" / "figures").glob("sweep-n_iterations-seed-*"))
        assert [path.suffix for path in pictures] == [".pdf", ".png", ".svg"]
        assert f"written: {pictures[1].relative_to(folder)}, .svg, .pdf" in lines[-1]


@pytest.mark.parametrize("override", ["results='r 2'", "++results='r 2'"])
def test_sweep_figure_is_written_to_the_results_folder(done, folder, override):
    pytest.importorskip("matplotlib")
    sweep = ["algo=constant", "data=iris", "seed=0,1", "protocol.n_splits=2"]
    result = done("run", "-m", *sweep, override, "parallel=serial")
    assert "written: r 2/figures/sweep-seed-" in result.out
    assert [path.name for path in folder.iterdir()] == ["r 2"]


def test_sweep_table_includes_failed_settings(call):
    sweep = ["-m", "algo=adaboost,samme", "algo.n_iterations=3", "data=wine", "+algo.x=1,2"]
    result = call("run", *sweep, "parallel=serial")
    assert result.code == 2
    starts = [line.split(":")[0] for line in result.err.splitlines()]
    assert starts[::2] == [f"setting {number} of 4" for number in range(1, 5)]
    assert starts[1::2] == ["boostbench"] * 4
    assert [line.split() for line in result.out.splitlines()[-4:]] == [
        ["adaboost", "1", "-", "-", "-"],
        ["adaboost", "2", "-", "-", "-"],
        ["samme", "1", "-", "-", "-"],
        ["samme", "2", "-", "-", "-"],
    ]


MODULE = """
from sklearn.tree import DecisionTreeClassifier

class Mine(DecisionTreeClassifier):
    pass
"""


def test_class_of_the_current_folder_is_imported(call, folder, define_table):
    """The program itself and its workers find it, and so does a table."""
    (folder / "beside.py").write_text(MODULE)
    settings = ["protocol.n_splits=2", "parallel.n_jobs=2"]
    boostbench = [Path(sys.executable).with_name("boostbench"), "run"]
    argv = [*boostbench, "algo._target_=beside.Mine", *settings]
    run = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    columns = ["adaboost_mh", {"mine": {"_target_": "beside.Mine"}}]
    name = define_table(rows=["wine"], columns=columns, overrides=settings[:1])
    table = call("table", name, "rerun=never").out
    # After the table, which has the folder to import from.
    assert len(read_finished(folder, algo="Mine")) == 2
    [run_cells] = [line.split()[1:3] for line in run.splitlines() if line.startswith("Mine ")]
    [table_cells] = [line.split()[1:3] for line in table.splitlines() if line.startswith("mine ")]
    assert run_cells == table_cells


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_run_keeps_finished_fits(call, folder, monkeypatch, number, code):
    """The signal comes in the third fit."""
    fit, fits = DecisionTreeClassifier.fit, []

    def fit_with_signal(tree, *data, **settings):
        fits.append(tree)
        if len(fits) == 3:
            signal.raise_signal(number)
        return fit(tree, *data, **settings)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", fit_with_signal)
    # A shell starts background processes with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = call("run", *QUICK)
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.code == code
    assert "Traceback" not in result.err
    assert "stopped: 2 of 3 fits are recorded" in result.err
    assert len(read_finished(folder)) == 2


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("hydra/launcher/mine.yaml", "_target_: subprocess.Popen"),
        ("algo/mine.yaml", "# @package _global_\nresults: elsewhere\nalgo: {name: mine}"),
        ("algo/mine.yaml", "#@package hydra.callbacks.x\n_target_: subprocess.Popen"),
        ("algo/mine.yaml", "defaults: [/data@hydra.callbacks.x: wine]\nname: mine"),
        ("algo/mine.yaml", "defaults: [{override /hydra/job_logging: default}]\nname: mine"),
        ("algo/mine.yaml", "name: '${oc.env:HOME}'\n_target_: sklearn.svm.SVC\ngrid: {}"),
        ("algo/mine.yaml", "name: mine\n_target_: io.FileIO\nfile: made\nmode: w\ngrid: {}"),
    ],
)
def test_foreign_config_folder_runs_no_code(refused, folder, path, content):
    file = folder.parent / "configs" / path
    file.parent.mkdir(parents=True)
    file.write_text(content)
    assert refused("run", "--config-dir", str(folder.parent / "configs"), "algo=mine", "data=wine")


def test_sweep_over_classes_keeps_settings_apart(done, folder):
    """Each line of the table shows the errors of its own job."""
    sweep = ["algo=adaboost_mh", "algo.n_iterations=3", "data=wine", "protocol.n_splits=2"]
    result = done("run", "-m", *sweep, "data.classes=[0,1],[0,2],[1,2]", "parallel=serial")
    lines = [line.split() for line in result.out.splitlines()]
    job_errors = [line[1:3] for line in lines if line[:1] == ["AdaBoost.MH"]]
    table_errors = [line[1:3] for line in lines if line and line[0].startswith("[")]
    assert table_errors == job_errors
    assert len(set(map(tuple, job_errors))) > 1


@pytest.mark.parametrize("algo", ["glob(samme*)", "samme,glob(samme_*)"])
def test_sweep_expands_a_glob(done, folder, algo):
    argv = [f"algo={algo}", "algo.n_iterations=3", "data=iris", "protocol.n_splits=2"]
    result = done("run", "-m", *argv, "parallel=serial")
    lines = [line.split()[0] for line in result.out.splitlines()[-5:] if line]
    assert lines[-3:-1] == ["samme", "samme_tree"]
    assert len(read_finished(folder, "iris", "samme_tree")) == 2


def test_results_folder_expands_the_tilde(done, folder, home):
    argv = [*QUICK, "data=iris", 'results="~/results"']
    done("run", *argv)
    done("run", "-m", *argv, "seed=0,1")
    assert len(read_finished(home, "iris")) == 6
    assert list(folder.iterdir()) == []


def test_sweep_requires_one_results_folder(call, refused):
    for results in ("results=a,b", "results='out/${data.name}'"):
        refusal = refused("run", "-m", *QUICK, "data=wine,iris", results)
        assert "a sweep has one folder of results" in refusal
    # A repeated value gives one job.
    result = call("run", "-m", *QUICK, "data=wine,wine", "parallel=serial")
    assert (result.code, "settings" in result.out) == (0, False)


def test_flags_may_follow_overrides(done):
    assert "2 settings" in done("run", *QUICK, "-m", "data=wine,iris", "parallel=serial").out


def test_sweep_over_a_shard_has_no_table(done):
    result = done("run", "-m", *QUICK, "data=wine,iris", "shard=1/2", "parallel=serial")
    assert "settings" not in result.out


@pytest.mark.parametrize("measure", ["paths", "codewords"])
def test_measure_without_a_test_error_runs(done, measure):
    algo = "mcboost" if measure == "paths" else "codeword_mcboost"
    settings = [f"algo={algo}", "algo.n_iterations=5", "protocol.tune=none", "protocol.n_splits=1"]
    done("run", *settings, "data=wine", f"measure={measure}", "parallel=serial")
