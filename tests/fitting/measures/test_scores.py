from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from boostbench.fitting.quantities import QUANTITIES, SCORES, get_quantity
from boostbench.fitting.tuning import inner_splits
from boostbench.util.errors import UserError
from fitting.toy import experiment_from_config, run

from ..toy import make_dataset


@pytest.fixture
def record(tmp_path):
    """Return a function that runs a split and returns (record, estimator, X_test, y_test)."""

    def record(dataset, target, **algo):
        algo = {"name": "one", "grid": {}, "_target_": target, **algo}
        protocol = {"n_splits": 1, "checkpoints": []}
        config = {"algo": algo, "protocol": protocol, "measure": "scores"}
        asked = experiment_from_config(config, dataset)
        [outcome] = run([asked], results=tmp_path).results
        assert not outcome.failures
        fit = asked.trial(asked.splits[0], {}).fit(dataset.X, dataset.y)
        return outcome.records[0], fit.estimator, fit.X_test, fit.y_test

    return record


def overlapping(n_classes, splits=None):
    """Draw overlapping classes."""
    return make_dataset([30] * n_classes, seed=n_classes, splits=splits)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("target", "algo"),
    [
        ("boostbench.algorithms.AdaBoostMH", {"n_iterations": 5}),
        ("sklearn.naive_bayes.GaussianNB", {}),
    ],
)
def test_scores_equal_scikit_learn(record, n_classes, target, algo):
    metrics_of_record, model, X, y = record(overlapping(n_classes), target, **algo)
    probabilities, labels = model.predict_proba(X), model.predict(X)
    assert 0.05 < metrics_of_record.test_error < 0.7
    assert metrics_of_record.log_loss == pytest.approx(metrics.log_loss(y, probabilities))
    if n_classes == 2:
        assert metrics_of_record.auc == pytest.approx(metrics.roc_auc_score(y, probabilities[:, 1]))
        assert metrics_of_record.brier == pytest.approx(
            metrics.brier_score_loss(y == model.classes_[1], probabilities[:, 1])
        )
    else:
        area = metrics.roc_auc_score(y, probabilities, multi_class="ovr", average="macro")
        assert metrics_of_record.auc == pytest.approx(area)
        truth = y[:, None] == model.classes_
        assert metrics_of_record.brier == pytest.approx(
            np.mean(np.sum((probabilities - truth) ** 2, 1))
        )
    assert metrics_of_record.balanced_accuracy == pytest.approx(
        metrics.balanced_accuracy_score(y, labels)
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_without_probabilities(record, n_classes):
    result, model, X, y = record(overlapping(n_classes), "sklearn.linear_model.RidgeClassifier")
    scores = model.decision_function(X)
    if n_classes == 2:
        assert result.auc == pytest.approx(metrics.roc_auc_score(y, scores))
    else:
        areas = [
            metrics.roc_auc_score(y == c, s) for c, s in zip(model.classes_, scores.T, strict=True)
        ]
        assert result.auc == pytest.approx(np.mean(areas))
    assert (result.log_loss, result.brier) == (None, None)
    read = {name: QUANTITIES[name].number(result) for name in SCORES}
    assert (read["log_loss"], read["brier"]) == (None, None)
    assert read["balanced_accuracy"] == pytest.approx(100 * result.balanced_accuracy)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", ["descending", "rolled"])
def test_columns_follow_the_order_of_classes(record, n_classes, order):
    dataset = overlapping(n_classes)
    usual, *_ = record(dataset, "sklearn.naive_bayes.GaussianNB")
    result, model, *_ = record(
        dataset, "tests.fitting.fake_classifiers.ReorderedClasses", order=order
    )
    assert list(model.classes_) != sorted(model.classes_)
    for name in ("log_loss", "brier", "auc", "balanced_accuracy", "test_error"):
        assert getattr(result, name) == pytest.approx(getattr(usual, name), rel=1e-12)


def test_classes_that_differ_from_training_fail(tmp_path):
    target = "tests.fitting.fake_classifiers.ReorderedClasses"
    algo = {"name": "one", "grid": {}, "_target_": target, "order": "doubled"}
    protocol = {"n_splits": 1, "checkpoints": []}
    config = {"algo": algo, "protocol": protocol, "measure": "scores"}
    asked = experiment_from_config(config, overlapping(3))
    [outcome] = run([asked], results=tmp_path).results
    [failure] = outcome.failures
    assert "classes_ are not the labels of the training part" in failure.error


def test_class_without_test_samples_is_left_out(tmp_path):
    """Fixed splits may omit a class, and scores use the remaining classes."""
    dataset = overlapping(3)
    classes = np.unique(dataset.y)
    tested = np.flatnonzero(dataset.y[60:] != classes[2]) + 60
    dataset = overlapping(3, splits=[(np.arange(60), tested)])
    algo = {"name": "one", "grid": {}, "_target_": "sklearn.naive_bayes.GaussianNB"}
    protocol = {"n_splits": 1, "checkpoints": [], "sampling": "fixed"}
    config = {"algo": algo, "protocol": protocol, "measure": "scores"}
    asked = experiment_from_config(config, dataset)
    [outcome] = run([asked], results=tmp_path).results
    [result] = outcome.records
    fit = asked.trial(asked.splits[0], {}).fit(dataset.X, dataset.y)
    probabilities = fit.estimator.predict_proba(fit.X_test)
    assert result.log_loss == pytest.approx(
        metrics.log_loss(fit.y_test, probabilities, labels=fit.estimator.classes_)
    )
    areas = [
        metrics.roc_auc_score(fit.y_test == fit.estimator.classes_[c], probabilities[:, c])
        for c in (0, 1)
    ]
    assert result.auc == pytest.approx(np.mean(areas))


@pytest.fixture
def check_no_number(tmp_path):
    """Return a function that checks that a split has no score and that its folds fail."""

    def check_no_number(dataset, target, measure, name, complaint, **protocol):
        algo = {"name": "one", "grid": {}, "_target_": target}
        protocol = {"n_splits": 1, "checkpoints": [], **protocol}
        config = {"algo": algo, "protocol": protocol, "measure": measure}
        asked = experiment_from_config(config, dataset)
        [outcome] = run([asked], results=tmp_path).results
        [result] = outcome.records
        assert getattr(result, name) is None
        fit = asked.trial(asked.splits[0], {}).fit(dataset.X, dataset.y)
        with pytest.raises(ValueError, match=complaint):
            asked.measure.loss(fit, asked.measure.outputs(fit)["end"])

    return check_no_number


def test_test_part_of_one_class_has_no_auc(check_no_number):
    dataset = overlapping(2)
    train, test = np.arange(40), np.flatnonzero(dataset.y[40:] == dataset.classes[0]) + 40
    dataset = replace(dataset, splits=[(train, test)])
    reason = "a part with one class has no area under the ROC"
    target = "sklearn.naive_bayes.GaussianNB"
    check_no_number(dataset, target, "scores_by_auc", "auc", reason, sampling="fixed")


def test_probabilities_switched_off_by_a_parameter(check_no_number):
    """The estimator reports the methods that a parameter switches off."""
    reason = "SGDClassifier as it is set has no predict_proba"
    target = "sklearn.linear_model.SGDClassifier"
    check_no_number(overlapping(2), target, "scores_by_log_loss", "log_loss", reason)


def test_estimator_without_scores_raises():
    algo = {"name": "one", "grid": {}, "_target_": "tests.fitting.fake_classifiers.Nearest"}
    with pytest.raises(UserError, match="no predict_proba or decision_function"):
        experiment_from_config(
            {"algo": algo, "protocol": {"checkpoints": []}, "measure": "scores"}, overlapping(2)
        )


TREE = {"_target_": "sklearn.tree.DecisionTreeClassifier", "random_state": 0}
#: Of this one, numbers of rounds are stages of one fit where errors are judged.
STAGED = {"_target_": "boostbench.algorithms.CGENS"}


@pytest.mark.parametrize("name", ["scores_by_log_loss", "scores_by_auc"])
@pytest.mark.parametrize(
    ("n_classes", "target", "grid"),
    [
        (2, TREE, {"max_depth": [1, 3, None]}),
        (3, TREE, {"max_depth": [1, 3, None]}),
        (2, STAGED, {"n_iterations": [1, 4, 20]}),
    ],
)
def test_cross_validation_selects_by_the_score(tmp_path, name, n_classes, target, grid):
    """Repeat the cross-validation with scikit-learn's scores."""
    dataset = overlapping(n_classes)
    algo = {"name": "one", "grid": grid, **target}
    protocol = {"n_splits": 1, "checkpoints": [], "n_folds": 4, "tune": "every_split"}
    config = {"algo": algo, "protocol": protocol, "measure": name}
    asked = experiment_from_config(config, dataset)
    [outcome] = run([asked], results=tmp_path).results
    [record] = outcome.records
    [outer] = asked.splits
    means = []
    for point in asked.spec.algorithm.points():
        losses = []
        for inner in inner_splits(outer, dataset.y[outer.train], 4, "x"):
            fit = asked.trial(inner, point).fit(dataset.X, dataset.y)
            probabilities = fit.estimator.predict_proba(fit.X_test)
            if name == "scores_by_log_loss":
                losses.append(metrics.log_loss(fit.y_test, probabilities))
            else:
                probabilities = probabilities[:, 1] if n_classes == 2 else probabilities
                losses.append(
                    1 - metrics.roc_auc_score(fit.y_test, probabilities, multi_class="ovr")
                )
        means.append(np.mean(losses))
    assert record.validation_error == pytest.approx(min(means))
    assert record.chosen == asked.spec.algorithm.points()[int(np.argmin(means))]
    assert len(set(np.round(means, 6))) > 1
    assert get_quantity(asked.measure.quantity).name == ("auc" if "auc" in name else "log_loss")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("sklearn.naive_bayes.GaussianNB", {"log_loss", "brier", "auc", "balanced_accuracy"}),
        ("sklearn.svm.LinearSVC", {"auc", "balanced_accuracy"}),
        ("fake_classifiers.Nearest", {"balanced_accuracy"}),
    ],
)
def test_records_of_errors_hold_the_scores_that_a_classifier_has(tmp_path, target, expected):
    dataset, records = overlapping(3), []
    for measure in ("prediction", "scores"):
        if measure == "scores" and target.startswith("fake"):
            continue
        algo = {"name": "one", "grid": {}, "_target_": target}
        config = {"algo": algo, "protocol": {"n_splits": 1, "checkpoints": []}, "measure": measure}
        [outcome] = run([experiment_from_config(config, dataset)], results=tmp_path).results
        records += outcome.records
    assert {name for name in SCORES if records[0].get(name) is not None} == expected
    for name in expected:
        assert getattr(records[0], name) == pytest.approx(records[-1].get(name), rel=1e-8)


def test_invalid_scores_do_not_fail_a_record_of_errors(tmp_path):
    algo = {"name": "one", "grid": {}, "_target_": "fake_classifiers.InvalidScores"}
    config = {"algo": algo, "protocol": {"n_splits": 1, "checkpoints": []}}
    [outcome] = run([experiment_from_config(config, overlapping(2))], results=tmp_path).results
    [result] = outcome.records
    assert all(result.get(name) is None for name in SCORES)
    assert result.warnings == [
        "UserWarning: scores are not recorded: predict_proba gives NaN or infinity"
    ]
