"""Checks of boosting classifiers, for the project's boosters and a user's own."""

import pickle

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter

# Relative tolerance. Scores that are summed round by round differ by rounding from scores that are
# summed at once, and solvers in single precision amplify the difference.
_SCORE_TOLERANCE = 1e-4
# Checks of scikit-learn that boosters with sample weights may fail, and the reasons.
EXPECTED_FAILURES = {
    **dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "solvers end near the optimum, at weights that make one of equally good weak learners best",
    ),
    "check_class_weight_classifiers": (
        "it requires 87 % of the test samples in the heavy class; the only stump with the smallest "
        "training error puts 82 % or 84 % there"
    ),
}

# Relative increase of an objective that is allowed, as solvers stop near the minimum.
_OBJECTIVE_TOLERANCE = 1e-6


def check_booster(estimator, *, falling=True):
    """Check a boosting classifier.

    The function runs scikit-learn's `check_estimator`, in which `EXPECTED_FAILURES` may fail. Then
    it fits small problems of two classes, and of three if the estimator supports them, and checks
    each fit by `check_fitted_booster`. A second fit and a pickled model must have the same scores.
    If `fit` supports sample weights, they must change the scores; weights of 1 must equal a fit
    without weights, and a weight of 0 must equal the removal of the sample.

    Parameters
    ----------
    estimator : BoostingClassifier
        Unfitted estimator; about ten rounds are enough. Its parameters are not changed; a
        `random_state` should be a number.
    falling : bool, default=True
        True if the objective of each fit is checked: it must not rise in any round.

    Raises
    ------
    AssertionError
        If a check fails.
    Exception
        If the estimator raises it.

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
    """Check the scores, probabilities and predictions of a fitted boosting classifier.

    - There is a stage for each of the `n_iterations_` rounds, and the last stage equals the model.
    - Each stage predicts the class of the largest score (for two classes, the second class if the
      score is positive), which is also the class of the largest probability.
    - The objective after each round, `objective_` or `log_risks_` if there is one, never rises.
    - If the model is a sum of stumps, the terms of its shape functions sum to the scores.

    Parameters
    ----------
    estimator : BoostingClassifier
        Fitted estimator.
    X : array-like of shape (n_samples, n_features)
        Any samples.
    falling : bool, default=True
        True if the objective is checked. False is for algorithms whose objective may rise, as a new
        weak learner changes the meaning of earlier coefficients.

    Raises
    ------
    AssertionError
        If a check fails.
    """
    _check_stages(estimator, X)
    if falling:
        _check_objective(estimator)
    _check_terms(estimator, X)


def _check_weights(estimator, X, y, unweighted_scores):
    """Check that weights change scores, that weights of 1 do not, and that 0 removes a sample.

    Parameters
    ----------
    estimator : BoostingClassifier
    X, y : ndarray
        Training data.
    unweighted_scores : ndarray
        Scores of a fit without weights.
    """

    def scores(rows, weights):
        fitted = clone(estimator).fit(X[rows], y[rows], sample_weight=weights[rows])
        return fitted.decision_function(X)

    # Every fifth sample is removed.
    every_row = np.full(len(y), True)
    is_kept = np.arange(len(y)) % 5 > 0
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    assert (scores(every_row, weights) != unweighted_scores).any(), "weights make no difference"
    np.testing.assert_allclose(
        scores(every_row, np.ones(len(y))),
        unweighted_scores,
        rtol=_SCORE_TOLERANCE,
        atol=_SCORE_TOLERANCE * np.abs(unweighted_scores).max(),
        err_msg="weights of 1 differ from no weights",
    )
    is_equal = scores(every_row, weights * is_kept) == scores(is_kept, weights)
    assert is_equal.all(), "a sample of weight 0 changes the model"


def _check_stages(estimator, X):
    """Check the scores, probabilities and labels of all stages, and of the whole model."""
    # 1) Collect the stages of the three methods.
    stages = [
        list(method(X))
        for method in (
            estimator.staged_decision_function,
            estimator.staged_predict_proba,
            estimator.staged_predict,
        )
    ]
    counts = [len(method_stages) for method_stages in stages]
    assert counts == [estimator.n_iterations_] * 3, f"{counts} stages of {estimator.n_iterations_}"
    # 2) Compare scores, probabilities and labels with each other.
    end = [estimator.decision_function(X), estimator.predict_proba(X), estimator.predict(X)]
    for scores, probabilities, labels in [*zip(*stages, strict=True), end]:
        winner = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        predicted = estimator.classes_[winner]
        assert (labels == predicted).all(), "predict is not the class of the largest score"
        likeliest = estimator.classes_[probabilities.argmax(axis=1)]
        assert (labels == likeliest).all(), "predict is not the class of the largest probability"
        assert probabilities.shape == (len(labels), len(estimator.classes_))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    # 3) Compare the last stage with the model.
    if estimator.n_iterations_:
        largest = np.abs(end[0]).max()
        np.testing.assert_allclose(
            stages[0][-1],
            end[0],
            rtol=_SCORE_TOLERANCE,
            atol=_SCORE_TOLERANCE * largest,
            err_msg="the last stage is not the model",
        )
        assert (stages[2][-1] == end[2]).all(), (
            "the predictions of the last stage are not the model's"
        )


def _check_objective(estimator):
    """Check that no round raises the objective."""
    for name in ("objective_", "log_risks_"):
        path = np.asarray(getattr(estimator, name, []), float)
        rises = np.diff(path) - _OBJECTIVE_TOLERANCE * np.maximum(1.0, np.abs(path[:-1]))
        rising = np.flatnonzero(rises > 0)
        assert not len(rising), f"{name} rises from {path[rising[0]]} to {path[rising[0] + 1]}"


def _check_terms(estimator, X):
    """Check that the terms of the features sum to the scores, if the model is a sum of stumps."""
    try:
        shapes = estimator.shape_functions(X)
    except ValueError:
        # The model is not a sum of stumps.
        return
    scores = estimator.decision_function(X).reshape(len(X), -1)
    terms = shapes.explain_local(X).to_numpy().reshape(*scores.shape, -1)
    np.testing.assert_allclose(
        terms.sum(axis=2),
        scores,
        rtol=1e-9,
        atol=1e-9 * (1 + np.abs(terms).max()),
        err_msg="the terms of the features do not sum to the scores",
    )
