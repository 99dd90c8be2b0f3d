import hashlib

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from boostbench.fitting.stages import check_labels, digest_of_labels, predictions, stages

from .fake_classifiers import InconsistentStages, Nearest

KNOWN = np.arange(3)


@pytest.fixture
def fitted_stages(dataset):
    y = np.unique(dataset.y, return_inverse=True)[1]
    return Nearest(n_iterations=9).fit(dataset.X, y), dataset.X


def test_labels_are_predicted_at_checkpoints_and_the_end(fitted_stages):
    model, X = fitted_stages
    labels = predictions(model, X, KNOWN, rounds=(1, 2, 3, 7, 9, 20))
    every = list(model.staged_predict(X))
    assert labels.n_rounds == len(every) == 3
    # Training ended after 3 of 9 rounds, so that 7 and 9 have the third stage, and 20 has none.
    assert np.array_equal(labels.at_checkpoints, [every[stage] for stage in (0, 1, 2, 2, 2)])
    assert np.array_equal(labels.end, every[2])


def test_staged_parameter_names_the_rounds(fitted_stages, monkeypatch):
    model, X = fitted_stages
    monkeypatch.setattr(model, "get_params", lambda: {"length": 9})
    assert len(predictions(model, X, KNOWN, rounds=(3, 9, 20)).at_checkpoints) == 1
    model.staged_parameter = "length"
    assert len(predictions(model, X, KNOWN, rounds=(3, 9, 20)).at_checkpoints) == 2


@pytest.mark.parametrize("asked", [None, "auto"])
def test_finished_rounds_replace_rounds_without_a_number(fitted_stages, monkeypatch, asked):
    model, X = fitted_stages
    monkeypatch.setattr(model, "get_params", lambda: {"n_estimators": asked, "max_iter": 100})
    assert len(predictions(model, X, KNOWN, rounds=(3, 9)).at_checkpoints) == 1


def test_model_without_stages_has_an_end(dataset):
    tree = DecisionTreeClassifier().fit(dataset.X, dataset.y)
    labels = predictions(tree, dataset.X, np.unique(dataset.y), rounds=(1, 2))
    assert (labels.at_checkpoints, labels.n_rounds) == ([], None)
    assert list(stages(tree, dataset.X, KNOWN)) == []


def test_unused_stages_are_not_predicted(fitted_stages, monkeypatch):
    model, X = fitted_stages
    predicted = []
    staged = model.staged_predict
    monkeypatch.setattr(
        model, "staged_predict", lambda X: (predicted.append(1) or stage for stage in staged(X))
    )
    assert len(list(stages(model, X, KNOWN, stop=2))) == len(predicted) == 2
    predictions(model, X, KNOWN, end=np.zeros(len(X), int))
    assert len(predicted) == 2


def test_stages_are_checked(fitted_stages, monkeypatch):
    model, X = fitted_stages
    monkeypatch.setattr(model, "staged_predict", lambda X: iter([np.zeros((len(X), 1))]))
    with pytest.raises(ValueError, match=r"staged_predict gives shape \(120, 1\)"):
        list(stages(model, X, KNOWN))


def test_last_stage_must_equal_predict(dataset):
    y = np.unique(dataset.y, return_inverse=True)[1]
    model = InconsistentStages().fit(dataset.X, y)
    with pytest.raises(RuntimeError, match="last stage"):
        predictions(model, dataset.X, KNOWN, rounds=(1,))


def test_labels_may_be_text(dataset):
    labels = np.unique(dataset.y)
    model = AdaBoostClassifier(n_estimators=3, random_state=0).fit(dataset.X, dataset.y)
    predicted = predictions(model, dataset.X, labels, rounds=(2,))
    assert set(predicted.at_checkpoints[0]) <= set(labels)
    with pytest.raises(ValueError, match="gives 'd', which is no label"):
        check_labels(np.array(["a", "d"]), 2, labels)
    with pytest.raises(ValueError, match="gives '1', which is no label"):
        check_labels(np.array(["1", "2"]), 2, KNOWN)


def test_digests_depend_on_labels_only():
    labels = np.array([0, 2, 1])
    alike = [labels, labels.astype(np.int8), labels.astype(float), np.asfortranarray(labels)]
    assert len({digest_of_labels(one) for one in alike}) == 1
    words = np.array(["a", "c", "b"])
    different = [labels[::-1], labels[:2], words, np.array(["ac", "b", ""])]
    assert len({digest_of_labels(one) for one in [labels, *different]}) == 5
    eight_bytes_each = b"".join(n.to_bytes(8, "little") for n in (0, 2, 1))
    assert digest_of_labels(labels) == hashlib.sha256(eight_bytes_each).hexdigest()[:10]
