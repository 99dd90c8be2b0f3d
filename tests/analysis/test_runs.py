from dataclasses import replace

import pytest
from fitting.toy import run

from boostbench.analysis.runs import find_experiments
from boostbench.execution.plan import Experiment
from boostbench.records.archive import Records
from boostbench.report.findings import runs_listing
from tests.fitting.toy import make_dataset

TITLES = {"mh": "AdaBoost.MH"}


@pytest.fixture
def records(tmp_path):
    """Three experiments on one data set: two of one algorithm, one of a class without a config."""

    def experiment(name, measure="prediction", seed=0, **algo):
        config = {
            "algo": {"name": name, "grid": {}, **algo},
            "protocol": {"n_splits": 2, "checkpoints": [], "scale": "none"},
            "seed": seed,
            "measure": measure,
        }
        return Experiment.from_config(config, make_dataset())

    boosted = {"_target_": "boostbench.algorithms.AdaBoostMH", "n_iterations": 3}
    asked = [
        experiment("mh", **boosted),
        experiment("mh", "scores", seed=4, **boosted),
        experiment("bayes", _target_="sklearn.naive_bayes.GaussianNB"),
    ]
    run(asked, results=tmp_path)
    return Records(tmp_path)


def test_all_experiments_with_what_is_not_at_its_default(records):
    found = {(one.cell.title, one.settings) for one in find_experiments(records, TITLES)}
    assert found == {
        ("AdaBoost.MH", "n_iterations=3, scale=none"),
        ("AdaBoost.MH", "n_iterations=3, scale=none, seed=4"),
        ("bayes", "sklearn.naive_bayes.GaussianNB, scale=none"),
    }


def test_those_that_tables_show_can_be_left_out(records):
    first, *others = find_experiments(records, TITLES)
    shown = {record["config_hash"] for record in first.cell.rows.records}
    left = find_experiments(records, TITLES, shown)
    assert [each.spec for each in left] == [each.spec for each in others]


def test_an_experiment_is_one_from_wherever_its_file_was_read(tmp_path):
    """Its records name the path, which is no part of their keys."""
    algo = {"name": "bayes", "grid": {}, "_target_": "sklearn.naive_bayes.GaussianNB"}
    for path, n_splits in (("a/my.csv", 2), ("b/my.csv", 5)):
        config = {"algo": algo, "protocol": {"n_splits": n_splits, "checkpoints": []}}
        dataset = replace(make_dataset(), spec={"name": "my", "path": path})
        run([Experiment.from_config(config, dataset)], results=tmp_path)
    [one] = find_experiments(Records(tmp_path), TITLES)
    assert len({record["config_hash"] for record in one.cell.rows.records}) == 2
    assert sorted(one.cell.values) == [0, 1, 2, 3, 4]


def test_lines(records):
    runs = runs_listing(find_experiments(records, TITLES))
    assert runs.heads[2:7] == [
        *("Test error %", "Log-loss", "Brier score", "ROC AUC", "Balanced accuracy %")
    ]
    [scores] = [line for line in runs.rows if "seed=4" in line[-2]]
    [errors] = [line for line in runs.rows if line[1] == "bayes"]
    assert "-" not in scores
    assert errors[3:7] == ["-"] * 4
    assert errors[7:9] == ["2", "-"]


def test_nothing_on_record(tmp_path):
    assert find_experiments(Records(tmp_path), TITLES) == []
