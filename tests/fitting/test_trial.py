import json
import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from threadpoolctl import threadpool_info

from boostbench.fitting.measures.prediction import PredictionResults
from boostbench.fitting.preparation import fit_scaling_and_projection
from boostbench.fitting.splits import splits
from boostbench.fitting.stages import digest_of_labels
from boostbench.fitting.trial import Trial, run_trial
from boostbench.records.fit_results import Results
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.protocol import ProtocolSpec


def make(dataset, y):
    split = replace(splits(dataset, ProtocolSpec(), seed=0)[0], seed=0)

    def trial(target, checkpoints=(1, 2, 5, 50), chosen=None, **params):
        algorithm = AlgorithmSpec("x", target, params)
        protocol = ProtocolSpec(checkpoints=checkpoints)
        return Trial(algorithm, chosen or {}, split, protocol, measures.find("prediction"))

    def execute(*args, **settings):
        return run_trial(trial(*args, **settings), dataset.X, y)

    execute.split, execute.trial = split, trial
    return execute


@pytest.fixture
def execute(dataset):
    return make(dataset, dataset.y)


@pytest.fixture
def execute_with_numbers(dataset):
    """Return a function that runs trials on numeric labels, like a worker."""
    return make(dataset, np.unique(dataset.y, return_inverse=True)[1])


def test_outcome_equals_a_plain_fit(execute, dataset):
    outcome = execute(
        "sklearn.ensemble.AdaBoostClassifier", n_estimators=6, chosen={"learning_rate": 0.3}
    )
    train, test = execute.split.train, execute.split.test
    scaled = fit_scaling_and_projection(dataset.X[train], "minmax")
    X_train, X_test = scaled(dataset.X[train]), scaled(dataset.X[test])
    model = AdaBoostClassifier(n_estimators=6, learning_rate=0.3, random_state=0)
    model.fit(X_train, dataset.y[train])
    stages = [np.mean(stage != dataset.y[test]) for stage in model.staged_predict(X_test)]
    assert outcome.results.test_error == stages[-1]
    assert outcome.results.train_error == np.mean(model.predict(X_train) != dataset.y[train])
    assert outcome.results.checkpoints == [stages[0], stages[1], stages[4]]
    assert outcome.results.n_iterations == 6
    assert (outcome.n_train, outcome.n_test) == (90, 30)
    assert outcome.results.n_features == 3
    assert outcome.results.n_parameters is None
    assert outcome.results.seconds.weak_learner is None


def test_features_are_projected(dataset):
    split = splits(dataset, ProtocolSpec(), seed=0)[0]
    algorithm = AlgorithmSpec("x", "fake_classifiers.MinimalClassifier", {})
    protocol = ProtocolSpec(scale="none", checkpoints=(), pca=0.5)
    trial = Trial(algorithm, {}, split, protocol, measures.find("prediction"))
    assert run_trial(trial, dataset.X, dataset.y).results.n_features == 1


def test_few_tied_predictions_may_differ(execute):
    """Another order of summation may decide a few ties of 30 samples differently."""
    assert execute("fake_classifiers.Tying", n_ties=2).error is None
    assert "not what predict gives" in execute("fake_classifiers.Tying", n_ties=3).error


def test_early_stop_repeats_its_last_error(execute):
    outcome = execute("fake_classifiers.Nearest", n_iterations=20, checkpoints=(1, 3, 5, 20, 50))
    first, *later = outcome.results.checkpoints
    assert outcome.results.n_iterations == 3
    assert later == [outcome.results.test_error] * 3
    assert first > later[0]


def test_training_without_rounds_has_errors(execute):
    outcome = execute("boostbench.algorithms.MCBoost", n_iterations=5, nu=1.0)
    assert outcome.results.n_iterations == 0
    assert outcome.results.checkpoints == [outcome.results.test_error] * 3


def test_outcome_has_seconds_and_numbers_of_parameters(execute, fine_clock):
    outcome = execute("fake_classifiers.Nearest")
    seconds = outcome.results.seconds
    assert (seconds.weak_learner, seconds.coefficients) == (0.25, 0.125)
    assert min(seconds.fit, seconds.predict_per_instance, seconds.calibration) > 0
    assert outcome.results.n_parameters == 9
    assert outcome.environment["python"].startswith("3.")
    encoded = msgspec.json.encode(outcome.results)
    assert msgspec.json.decode(encoded, type=PredictionResults) == outcome.results


def test_fit_and_predict_suffice(execute):
    outcome = execute("fake_classifiers.MinimalClassifier")
    assert 0 < outcome.results.test_error < 1
    assert outcome.results.checkpoints == []
    assert outcome.results.n_iterations is None


def test_exception_is_recorded_as_a_failure(execute):
    outcome = execute("fake_classifiers.Failing", fail_on=0)
    assert outcome.error == "ValueError: cannot do this one"
    assert outcome.where.startswith("fake_classifiers:")
    assert outcome.results == Results()
    assert execute("fake_classifiers.Exiting", fail_on=0).error == "SystemExit: 3"


def test_ctrl_c_is_raised(execute):
    with pytest.raises(KeyboardInterrupt):
        execute("fake_classifiers.Interrupting", fail_on=0)


def test_last_stage_that_differs_from_predict_is_a_failure(execute):
    assert "last stage" in execute("fake_classifiers.InconsistentStages").error


def test_warnings_are_kept_once_each(execute):
    assert execute("fake_classifiers.WarningClassifier").warnings == [
        "UserWarning: did not converge"
    ]
    assert execute("fake_classifiers.Nearest").warnings == []


def test_blas_has_one_thread(execute, monkeypatch):
    import fake_classifiers

    seen = []
    fit = fake_classifiers.Nearest.fit

    def spy(self, X, y):
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return fit(self, X, y)

    monkeypatch.setattr(fake_classifiers.Nearest, "fit", spy)
    execute("fake_classifiers.Nearest")
    assert set(seen) == {1}


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("column", r"predict gives shape \(30, 1\), not \(30,\), a label for a sample"),
        ("row", r"predict gives shape \(1, 30\)"),
        ("short", r"predict gives shape \(3,\)"),
        ("scalar", r"predict gives shape \(\)"),
        ("none", r"predict gives shape \(\)"),
        ("nan", "predict gives nan, which is no label"),
        ("masked", "predict gives masked values"),
        ("text", "predict gives '[012]', which is no label"),
        ("signs", "predict gives -1, which is no label of the training part"),
        ("values", r"predict gives [012]\.5, which is no label of the training part"),
    ],
)
def test_invalid_predictions_are_a_failure(execute_with_numbers, form, message):
    outcome = execute_with_numbers("fake_classifiers.OddPredictions", form=form, checkpoints=())
    assert re.match(f"ValueError: {message}", outcome.error)
    assert outcome.results == Results()


@pytest.mark.parametrize("form", ["float", "list", "object"])
def test_labels_may_have_other_types(execute_with_numbers, form):
    plain = execute_with_numbers("fake_classifiers.Nearest", checkpoints=())
    other = execute_with_numbers("fake_classifiers.OddPredictions", form=form, checkpoints=())
    for result in ("test_error", "train_error", "digests"):
        assert getattr(plain.results, result) == getattr(other.results, result)


def test_regressor_is_a_failure(execute_with_numbers):
    outcome = execute_with_numbers("sklearn.linear_model.LinearRegression")
    assert "which is no label of the training part" in outcome.error


def test_digests_name_the_labels_at_each_checkpoint(execute, dataset):
    checkpoints = (1, 2, 5, 50)
    outcome = execute("fake_classifiers.Nearest", checkpoints=checkpoints)
    trial = execute.trial("fake_classifiers.Nearest", checkpoints=checkpoints)
    outputs = trial.measure.outputs(trial.fit(dataset.X, dataset.y), checkpoints)
    names = ("1", "2", "5", "end")
    assert outcome.results.digests == [digest_of_labels(outputs[name]) for name in names]
    # Two rounds separate two classes, and three rounds three.
    assert [len(np.unique(outputs[name])) for name in ("1", "2", "end")] == [1, 2, 3]
    assert len(set(outcome.results.digests)) == 3
    assert all(re.fullmatch("[0-9a-f]{10}", text) for text in outcome.results.digests)


def test_failing_constructor_is_recorded_as_a_failure(execute):
    outcome = execute("fake_classifiers.BrokenConstructor", width=3)
    assert outcome.error == "RuntimeError: no licence found"
    assert outcome.where.startswith("fake_classifiers:")


def test_unprintable_errors_are_recorded(execute):
    outcome = execute("fake_classifiers.Unprintable")
    assert outcome.error == r"ValueError: no file \udcff here"
    assert json.dumps(outcome.error, ensure_ascii=False).encode()
    assert (
        execute("fake_classifiers.FailingWithoutText").error
        == "Error: its message raises RuntimeError"
    )
