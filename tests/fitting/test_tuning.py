import itertools

import numpy as np
import pytest

from boostbench.algorithms import MultiBoost
from boostbench.execution.plan import tuning_tasks
from boostbench.fitting.measures.base import Measure
from boostbench.fitting.splits import Split
from boostbench.fitting.trial import Trial, run_trial
from boostbench.fitting.tuning import choose, inner_splits, trials
from boostbench.records.store import read_records
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import UserError
from fitting.examples import FAILURE, TRIAL, modify_record, recorded
from fitting.toy import run

GRID = [1e-2, 1e-3, 1e-4]
MULTIBOOST = "boostbench.algorithms.MultiBoost"


@pytest.fixture
def experiment(make_experiment):
    return make_experiment(MULTIBOOST, grid={"nu": GRID}, n_iterations=200)


def points():
    return tuple({"nu": nu} for nu in GRID)


def trial(algorithm, scale="minmax"):
    split = Split(0, 0, np.arange(80), np.arange(80, 120))
    return Trial(algorithm, {}, split, ProtocolSpec(scale=scale), measures.find("prediction"))


def run_one_fold(algorithm, dataset, scale="minmax"):
    labels = np.unique(dataset.y, return_inverse=True)[1]
    tried = list(trials(trial(algorithm, scale), algorithm.points()))
    return tried, [run_trial(one, dataset.X, labels) for one in tried]


@pytest.mark.parametrize("scale", ["minmax", "none"])
def test_errors_of_a_warm_started_path_equal_single_trials(dataset, scale):
    params = {"n_iterations": 200, "tol": 1e-4}
    _, [outcome] = run_one_fold(
        AlgorithmSpec("m", MULTIBOOST, params, {"nu": GRID}), dataset, scale
    )
    single = []
    for nu in GRID:
        algorithm = AlgorithmSpec("m", MULTIBOOST, {**params, "nu": nu})
        labels = np.unique(dataset.y, return_inverse=True)[1]
        single.append(run_trial(trial(algorithm, scale), dataset.X, labels).results.test_error)
    # Both fits solve the same problem up to its tolerance.
    assert np.abs(np.subtract(outcome.results.validation_errors, single)).max() <= 1 / 40
    assert len(outcome.results.seconds) == len(outcome.results.digests) == len(GRID)
    assert outcome.n_train == 80


@pytest.mark.parametrize(
    ("target", "grid", "expected"),
    [
        (MULTIBOOST, {"nu": GRID}, [3]),
        (MULTIBOOST, {"nu": GRID, "max_bins": [8, 16]}, [1] * 6),
        ("boostbench.algorithms.MCBoost", {"nu": GRID}, [1] * 3),
        # The warm start of a forest adds trees.
        ("sklearn.ensemble.GradientBoostingClassifier", {"learning_rate": [0.1, 1.0]}, [1, 1]),
        ("fake_classifiers.Staged", {"width": [1, 2], "n_iterations": [1, 2, 3]}, [3, 3]),
        ("fake_classifiers.Staged", {"width": [1, 2]}, [1, 1]),
        ("fake_classifiers.Nearest", {"width": [1, 2], "n_iterations": [1, 2, 3]}, [1] * 6),
    ],
)
def test_points_share_a_fit_if_the_class_allows_it(target, grid, expected):
    algorithm = AlgorithmSpec("some", target, {}, grid)
    tried = [one.measure.points for one in trials(trial(algorithm), algorithm.points())]
    assert [len(points) for points in tried] == expected
    assert sorted(map(str, itertools.chain(*tried))) == sorted(map(str, algorithm.points()))


def test_errors_of_stages_equal_separate_fits(dataset, monkeypatch):
    import fake_classifiers

    grid = {"width": [1, 2], "n_iterations": [3, 1, 2]}
    apart = AlgorithmSpec("fake", "fake_classifiers.Nearest", {}, grid)
    tried, outcomes = run_one_fold(apart, dataset)
    expected = {
        str(one.measure.points[0]): outcome for one, outcome in zip(tried, outcomes, strict=True)
    }
    fits = []
    fit = fake_classifiers.Staged.fit
    monkeypatch.setattr(fake_classifiers.Staged, "fit", lambda *args: fits.append(1) or fit(*args))
    together = AlgorithmSpec("fake", "fake_classifiers.Staged", {}, grid)
    tried, outcomes = run_one_fold(together, dataset)
    assert len(fits) == len(outcomes) == 2
    for one, outcome in zip(tried, outcomes, strict=True):
        for i, point in enumerate(one.measure.points):
            alone = expected[str(point)]
            assert outcome.results.validation_errors[i] == alone.results.validation_error
            assert outcome.results.digests[i] == alone.results.digest
        assert len(outcome.results.seconds) == 1


def test_rounds_are_chosen_with_the_other_parameters(make_experiment, tmp_path):
    grid = {"width": [1, 2], "n_iterations": [1, 2, 3]}
    chosen = []
    for target in ("fake_classifiers.Staged", "fake_classifiers.Nearest"):
        asked = make_experiment(target, grid=grid, name=target.rpartition(".")[2])
        [outcome] = run([asked], results=tmp_path).results
        [point] = {str(record.chosen) for record in outcome.records}
        chosen.append((point, outcome.records[0].validation_error))
        trials, _ = read_records(asked.path(tmp_path, tuning=True))
        assert len(trials) == (6 if target.endswith("Staged") else 18)
    assert chosen[0] == chosen[1]


def test_one_record_per_fold(experiment, tmp_path):
    report = run([experiment], results=tmp_path)
    records, _ = read_records(experiment.path(tmp_path, tuning=True))
    assert [record.fold for record in records] == [0, 1, 2]
    assert all(record.points == list(points()) for record in records)
    means = np.mean([record.validation_errors for record in records], axis=0)
    [outcome] = report.results
    assert outcome.records[0].chosen == {"nu": GRID[means.argmin()]}
    assert outcome.records[0].validation_error == pytest.approx(means.min())


def test_longer_path_has_other_keys(make_experiment):
    """Check the keys, as a result may depend on the earlier points of its path."""
    longer = make_experiment(MULTIBOOST, grid={"nu": [*GRID, 1e-5]}, n_iterations=200)
    shorter = make_experiment(MULTIBOOST, grid={"nu": GRID}, n_iterations=200)
    keys = [{task.key for task in tuning_tasks(each, each.splits[0])} for each in (longer, shorter)]
    assert keys[0].isdisjoint(keys[1])


def test_failure_of_a_path_is_a_failure_of_all_points(experiment, tmp_path, monkeypatch):
    def fail(self, X, y):
        raise ValueError("cannot do this")

    monkeypatch.setattr(MultiBoost, "fit", fail)
    [outcome] = run([experiment], results=tmp_path).results
    assert len(outcome.failures) == 4
    assert "no point of the grid" in outcome.failures[0].error
    assert "cannot do this" in outcome.failures[0].error


def test_nan_error_is_a_failure(experiment, tmp_path, monkeypatch):
    """Check that NaN is not recorded, as no mean with it can be compared."""
    monkeypatch.setattr(Measure, "loss", lambda *_: float("nan"))
    [outcome] = run([experiment], results=tmp_path).results
    assert not outcome.records
    assert "cannot be written down as JSON" in outcome.failures[0].error
    assert "\n" not in outcome.failures[0].error


def test_label_has_the_number_of_points(experiment):
    task = next(iter(tuning_tasks(experiment, experiment.splits[0])))
    assert task.label == "fake on toy, split 0, fold 0, 3 points"


def test_folds_are_stratified_and_cover_everything():
    y, outer = np.repeat(["a", "b"], [20, 10]), Split(0, 0, np.arange(30), np.arange(0))
    parts = list(inner_splits(outer, y, 5, "a part"))
    assert sorted(np.concatenate([part.test for part in parts])) == list(range(30))
    for part in parts:
        assert np.sum(y[part.test] == "b") == 2
        assert not set(part.train) & set(part.test)


def test_class_smaller_than_the_number_of_folds_is_refused():
    outer = Split(0, 0, np.arange(23), np.arange(0))
    message = "class 'b' has 3 samples in a part, fewer than the 5 folds"
    with pytest.raises(UserError, match=message):
        next(inner_splits(outer, np.repeat(["a", "b"], [20, 3]), 5, "a part"))


def test_first_of_equal_points_is_chosen_despite_rounding():
    """The sum 0.1 + 0.2 differs from 0.3 by rounding."""
    points = [{"nu": 1}, {"nu": 2}, {"nu": 3}]
    errors = [[0.5, 0.5], [0.1 + 0.2, 0.3], [0.3, 0.3]]
    judged = [
        ([point], recorded(modify_record(TRIAL, validation_error=error), "tuning"))
        for point, of_point in zip(points, errors, strict=True)
        for error in of_point
    ]
    assert choose(points, judged)[0] == {"nu": 2}
    judged.append(([points[1]], recorded(FAILURE | {"fold": 0, "point": {}}, "tuning")))
    assert choose(points, judged) == (points[2], 0.3)
    assert choose(points[:0], []) is None


@pytest.mark.parametrize("values", [[1, 1.0], [False, 0]])
def test_points_of_other_types_are_distinct(values):
    """A forest tries one feature per split for 1, but all features for 1.0."""
    points = [{"max_features": value} for value in values]
    judged = [
        ([point], recorded(modify_record(TRIAL, validation_error=error), "tuning"))
        for point, error in zip(points, (0.4, 0.1), strict=True)
    ]
    chosen, error = choose(points, judged)
    assert chosen is points[1]
    assert error == 0.1
    path = {"points": points, "validation_errors": [0.4, 0.1]}
    trial = recorded(modify_record(TRIAL, point=..., validation_error=...) | path, "tuning")
    chosen, error = choose(points, [(points, trial)])
    assert chosen is points[1]
    assert error == 0.1
