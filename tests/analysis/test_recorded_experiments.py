from dataclasses import replace

import pytest
from fitting.examples import flat, modify_record, recorded
from fitting.toy import experiment_from_config, run

from boostbench.analysis.frame import ResultFrame
from boostbench.analysis.recorded_experiments import (
    RecordedExperiment,
    find_experiments,
    table_of_experiments,
)
from boostbench.records.index import Records
from boostbench.report.findings import runs_listing
from boostbench.spec.data import DataSpec
from tests.fitting.toy import make_dataset


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
        return experiment_from_config(config, make_dataset())

    boosted = {"_target_": "boostbench.algorithms.AdaBoostMH", "n_iterations": 3}
    experiments = [
        experiment("adaboost_mh", **boosted),
        experiment("adaboost_mh", "scores", seed=4, **boosted),
        experiment("bayes", _target_="sklearn.naive_bayes.GaussianNB"),
    ]
    run(experiments, results=tmp_path)
    return Records(tmp_path)


def test_experiments_show_changed_settings(records):
    titles_and_settings = {
        (experiment.cell.title, experiment.settings) for experiment in find_experiments(records)
    }
    assert titles_and_settings == {
        ("AdaBoost.MH", "n_iterations=3, scale=none"),
        ("AdaBoost.MH", "n_iterations=3, scale=none, seed=4"),
        ("bayes", "sklearn.naive_bayes.GaussianNB, scale=none"),
    }


def test_experiments_of_tables_can_be_excluded(records):
    first, *rest = find_experiments(records)
    shown = {record.config.hash for record in first.cell.finished_splits.records}
    remaining = find_experiments(records, shown)
    assert [experiment.config for experiment in remaining] == [
        experiment.config for experiment in rest
    ]


def test_experiment_ignores_the_path_of_its_file(tmp_path):
    """The records contain the path, but their keys do not."""
    algo = {"name": "bayes", "grid": {}, "_target_": "sklearn.naive_bayes.GaussianNB"}
    for path, n_splits in (("a/my.csv", 2), ("b/my.csv", 5)):
        config = {"algo": algo, "protocol": {"n_splits": n_splits, "checkpoints": []}}
        dataset = replace(make_dataset(), spec=DataSpec("my", path=path))
        run([experiment_from_config(config, dataset)], results=tmp_path)
    [experiment] = find_experiments(Records(tmp_path))
    assert len({record.config.hash for record in experiment.cell.finished_splits.records}) == 2
    assert sorted(experiment.cell.splits) == [0, 1, 2, 3, 4]


def test_listing_shows_all_quantities(records):
    runs = runs_listing(find_experiments(records))
    assert runs.heads[2:7] == [
        *("Test error %", "Log-loss", "Brier score", "ROC AUC", "Balanced accuracy %")
    ]
    [scores] = [line for line in runs.rows if "seed=4" in line[-2]]
    [errors] = [line for line in runs.rows if line[1] == "bayes"]
    assert "-" not in scores
    # Errors are recorded with scores; naive Bayes has no rounds.
    assert "-" not in errors[2:7]
    assert errors[7:9] == ["2", "-"]


def test_no_records_give_no_experiments(tmp_path):
    assert find_experiments(Records(tmp_path)) == []


def recorded_run(make_cell, algo, splits):
    cell = make_cell([0.0] * len(splits), algo=algo, checksum="0" * 16)
    records = [
        recorded(modify_record(flat(record), split=split, config__algo={"_target_": algo}))
        for record, split in zip(cell.finished_splits.records, splits, strict=True)
    ]
    return RecordedExperiment(replace(cell, finished_splits=ResultFrame(records)), "", "")


def test_runs_without_a_common_split_are_left_out(make_cell):
    """Shards and damaged files give runs without a common split."""
    runs = [recorded_run(make_cell, "a", [0, 2]), recorded_run(make_cell, "b", [1, 3])]
    assert table_of_experiments(runs, ["a", "b"]) is None
    table = table_of_experiments([recorded_run(make_cell, "a", [0, 1]), runs[1]], ["a", "b"])
    assert [cell.splits for cell in table.cells.values()] == [[1], [1]]
