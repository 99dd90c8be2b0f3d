"""What every boosting classifier must keep, as checks for boosters of one's own."""

import pickle

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter

# Scores that were added up round by round differ from those added up at once by rounding, which
# solvers in single precision multiply.
_ROUNDING = 1e-4
# Checks of scikit-learn's that need not hold for boosters that take weights, and why.
EXPECTED_FAILURES = {
    **dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "solvers end near the optimum, at weights that make one of equally good weak learners best",
    ),
    "check_class_weight_classifiers": (
        "it asks for 87 % of the test samples in the heavy class; the stump that errs least on its "
        "training samples, and there is one only, puts 82 % or 84 % there"
    ),
}

# By so much of itself an objective may rise, as solvers end before the very minimum.
_SOLVED = 1e-6


def check_booster(estimator, *, falling=True):
    """Check a boosting classifier.

    It runs scikit-learn's `check_estimator`, in which `EXPECTED_FAILURES` may fail, then fits small
    problems of two classes, and of three where the estimator takes them, and checks each fit by
    `check_fitted_booster`. A fit must come out the same again, and predict the same when it was
    pickled. Where `fit` takes weights of samples, they must make a difference; weights of 1 are as
    none, and a weight of 0 is no sample.

    Parameters
    ----------
    estimator : BoostingClassifier
        Not fitted; about ten rounds are enough. Its parameters stay as they are; a `random_state`
        should be a number.
    falling : bool, default=True
        As of `check_fitted_booster`.

    Raises
    ------
    AssertionError
        By the first check that fails.
    Exception
        What the estimator raises.

    Examples
    --------
    >>> from boostbench.algorithms import AdaBoostMH
    >>> check_booster(AdaBoostMH(n_iterations=10))
    """
    check_estimator(estimator, on_skip=None, expected_failed_checks=EXPECTED_FAILURES)
    tags = estimator.__sklearn_tags__().classifier_tags
    for n_classes in (2, 3) if tags.multi_class else (2,):
        X, y = make_blobs(60, 4, centers=n_classes, cluster_std=5.0, random_state=0)
        y = np.array(["ant", "bee", "cat"])[y]
        fitted = clone(estimator).fit(X, y)
        check_fitted_booster(fitted, X, falling=falling)
        scores = fitted.decision_function(X)
        again = clone(estimator).fit(X, y).decision_function(X)
        assert (again == scores).all(), "a second fit gives other scores"
        copy = pickle.loads(pickle.dumps(fitted))
        assert (copy.decision_function(X) == scores).all(), "a pickled model gives other scores"
        if has_fit_parameter(estimator, "sample_weight"):
            _check_weights(estimator, X, y, scores)


def check_fitted_booster(estimator, X, *, falling=True):
    """Check what a fitted boosting classifier gives.

    - There is a stage for each of its `n_iterations_`, and the last one is the model: scores,
      probabilities, predictions.
    - At each stage, the class of the largest score is predicted, for two classes the second where
      the score is positive; so is the class of the largest probability.
    - Its objective after each round, `objective_` or `log_risks_` where it has one, never rises.
    - Where it is a sum of stumps, the terms of its shape functions add up to the scores.

    Parameters
    ----------
    estimator : BoostingClassifier
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Any samples.
    falling : bool, default=True
        Whether the objective is checked. It may rise where a new weak learner changes what the
        coefficients before it mean.

    Raises
    ------
    AssertionError
        By the first check that fails.
    """
    _check_stages(estimator, X)
    if falling:
        _check_objective(estimator)
    _check_terms(estimator, X)


def _check_weights(estimator, X, y, plain):
    def scores(rows, weights):
        fitted = clone(estimator).fit(X[rows], y[rows], sample_weight=weights[rows])
        return fitted.decision_function(X)

    all_rows, some_rows = np.full(len(y), True), np.arange(len(y)) % 5 > 0
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    assert (scores(all_rows, weights) != plain).any(), "weights make no difference"
    np.testing.assert_allclose(
        scores(all_rows, np.ones(len(y))),
        plain,
        rtol=_ROUNDING,
        atol=_ROUNDING * np.abs(plain).max(),
        err_msg="weights of 1 are not as none",
    )
    same = scores(all_rows, weights * some_rows) == scores(some_rows, weights)
    assert same.all(), "a sample of weight 0 changes the model"


def _check_stages(estimator, X):
    stages = [
        list(method(X))
        for method in (
            estimator.staged_decision_function,
            estimator.staged_predict_proba,
            estimator.staged_predict,
        )
    ]
    counts = [len(of_method) for of_method in stages]
    assert counts == [estimator.n_iterations_] * 3, f"{counts} stages of {estimator.n_iterations_}"
    end = [estimator.decision_function(X), estimator.predict_proba(X), estimator.predict(X)]
    for scores, probabilities, labels in [*zip(*stages, strict=True), end]:
        winner = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        predicted = estimator.classes_[winner]
        assert (labels == predicted).all(), "predict is not the class of the largest score"
        likeliest = estimator.classes_[probabilities.argmax(axis=1)]
        assert (labels == likeliest).all(), "predict is not the class of the largest probability"
        assert probabilities.shape == (len(labels), len(estimator.classes_))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    if estimator.n_iterations_:
        largest = np.abs(end[0]).max()
        np.testing.assert_allclose(
            stages[0][-1],
            end[0],
            rtol=_ROUNDING,
            atol=_ROUNDING * largest,
            err_msg="the last stage is not the model",
        )
        assert (stages[2][-1] == end[2]).all(), "the last stage predicts otherwise than the model"


def _check_objective(estimator):
    for name in ("objective_", "log_risks_"):
        path = np.asarray(getattr(estimator, name, []), float)
        rises = np.diff(path) - _SOLVED * np.maximum(1.0, np.abs(path[:-1]))
        at = np.flatnonzero(rises > 0)
        assert not len(at), f"{name} rises from {path[at[0]]} to {path[at[0] + 1]}"


def _check_terms(estimator, X):
    try:
        shapes = estimator.shape_functions(X)
    except ValueError:
        return
    wanted = estimator.decision_function(X).reshape(len(X), -1)
    terms = shapes.explain_local(X).to_numpy().reshape(*wanted.shape, -1)
    np.testing.assert_allclose(
        terms.sum(axis=2),
        wanted,
        rtol=1e-9,
        atol=1e-9 * (1 + np.abs(terms).max()),
        err_msg="the terms of the features do not add up to the scores",
    )
