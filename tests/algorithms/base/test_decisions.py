import numpy as np
import pytest

from boostbench.algorithms import AdaBoostMO
from boostbench.algorithms.base.predictions import (
    decision_values,
    labels_from_scores,
    rounding_slack,
)

from ..problems import blobs

CLASSES = np.array(["a", "b", "c"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_prediction_does_not_depend_on_the_order_of_summation(seed, n_classes):
    """Terms that cancel, for all classes but the last one, added up in two orders."""
    rng = np.random.default_rng(seed)
    terms = np.zeros((200, 40, n_classes))
    half = rng.normal(size=(200, 20, 1))
    terms[:, :20], terms[:, 20:] = half, -half[:, ::-1]
    terms[:, :, -1] -= 0.0 if n_classes == 2 else 1e-3
    slack = max(rounding_slack(of_sample) for of_sample in terms)
    orders = [rng.permutation(40) for _ in range(4)]
    labels = [
        labels_from_scores(decision_values(terms[:, order].sum(axis=1), slack), CLASSES)
        for order in orders
    ]
    assert all((label == "a").all() for label in labels)


@pytest.mark.parametrize(
    ("scores", "first"),
    [
        ([0.3, 0.1 + 0.2, 0.2], True),
        ([1e-13, 2e-13, -1.0], True),
        ([1.0, 1.0 + 2e-12, 0.0], False),
        ([0.3, 0.1 + 0.2], True),
        ([1e-13, 2e-13], False),
    ],
)
def test_tolerance_is_relative_to_the_largest_score(scores, first):
    assert labels_from_scores(decision_values(np.array([scores])), CLASSES) == (
        "a" if first else "b"
    )


def test_different_scores_are_unchanged():
    scores = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_array_equal(decision_values(scores, 1e-11), scores)
    np.testing.assert_array_equal(decision_values(scores[:, :2]), scores[:, 1] - scores[:, 0])
    np.testing.assert_array_equal(decision_values(scores[:, 0], 1e-11), scores[:, 0])


def test_shape_functions_predict_like_the_model():
    """AdaBoost.MO gives many samples two classes of one score."""
    X, y = blobs(3, n_samples=90)
    model = AdaBoostMO(n_iterations=10).fit(X, y)
    new = np.random.default_rng(1).normal(size=(500, X.shape[1]))
    largest = np.sort(model.decision_function(new), axis=1)
    assert (largest[:, -1] == largest[:, -2]).any()
    assert (model.shape_functions().predict(new) == model.predict(new)).all()
