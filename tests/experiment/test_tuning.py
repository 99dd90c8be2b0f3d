import numpy as np
import pytest

from boostbench.algorithms import MultiBoost
from boostbench.experiment.algorithm import Algorithm
from boostbench.experiment.plan import tuning_tasks
from boostbench.experiment.records import read
from boostbench.experiment.runner import run
from boostbench.experiment.trial import Trial, run_trial
from boostbench.experiment.tuning import Walk, can_walk

GRID = [1e-2, 1e-3, 1e-4]
MULTIBOOST = "boostbench.algorithms.MultiBoost"


@pytest.fixture
def experiment(make_experiment):
    return make_experiment(MULTIBOOST, grid={"nu": GRID}, n_iterations=200)


def points():
    return tuple({"nu": nu} for nu in GRID)


@pytest.mark.parametrize("scale", ["minmax", "none"])
def test_errors_are_those_of_single_trials(dataset, scale):
    algorithm = Algorithm("multiboost", MULTIBOOST, {"n_iterations": 200, "tol": 1e-4})
    labels = np.unique(dataset.y, return_inverse=True)[1]
    train, test = np.arange(80), np.arange(80, 120)
    parts = train, test, 0, scale
    outcome = run_trial(Walk(algorithm, {}, *parts, points=points()), dataset.X, labels)
    single = [
        run_trial(Trial(algorithm, point, *parts), dataset.X, labels)["test_error"]
        for point in points()
    ]
    # Solutions of the same problem, up to its tolerance.
    assert np.abs(np.subtract(outcome["test_errors"], single)).max() <= 1 / len(test)
    assert len(outcome["seconds"]) == len(GRID)
    assert outcome["n_train"] == 80


@pytest.mark.parametrize(
    ("target", "grid", "expected"),
    [
        (MULTIBOOST, {"nu": GRID}, True),
        (MULTIBOOST, {"nu": GRID, "max_bins": [8, 16]}, False),
        (MULTIBOOST, {}, False),
        ("boostbench.algorithms.MCBoost", {"nu": GRID}, False),
        # A warm start of its own meaning: more trees.
        ("sklearn.ensemble.GradientBoostingClassifier", {"learning_rate": [0.1, 1.0]}, False),
    ],
)
def test_who_can_walk(target, grid, expected):
    assert can_walk(Algorithm("some", target, {}, grid)) is expected


def test_one_record_per_fold(experiment, tmp_path):
    report = run([experiment], results=tmp_path)
    records, _ = read(experiment.path(tmp_path, tuning=True))
    assert [record["fold"] for record in records] == [0, 1, 2]
    assert all(record["points"] == list(points()) for record in records)
    means = np.mean([record["validation_errors"] for record in records], axis=0)
    [outcome] = report.outcomes
    assert outcome.records[0]["chosen"] == {"nu": GRID[means.argmin()]}
    assert outcome.records[0]["validation_error"] == pytest.approx(means.min())


def test_a_longer_grid_walks_anew(make_experiment):
    """A point's result may depend on those before it."""
    longer = make_experiment(MULTIBOOST, grid={"nu": [*GRID, 1e-5]}, n_iterations=200)
    shorter = make_experiment(MULTIBOOST, grid={"nu": GRID}, n_iterations=200)
    keys = [{task.key for task in tuning_tasks(each, each.splits[0])} for each in (longer, shorter)]
    assert keys[0].isdisjoint(keys[1])


def test_a_failure_is_that_of_all_points(experiment, tmp_path, monkeypatch):
    def fail(self, X, y):
        raise ValueError("cannot do this")

    monkeypatch.setattr(MultiBoost, "fit", fail)
    [outcome] = run([experiment], results=tmp_path).outcomes
    assert len(outcome.failures) == 4
    assert "no point of the grid" in outcome.failures[0]["error"]
    assert "cannot do this" in outcome.failures[0]["error"]


def test_labels_say_how_many_points(experiment):
    task = next(iter(tuning_tasks(experiment, experiment.splits[0])))
    assert task.label == "fake on toy, split 0, fold 0, 3 points"
