"""Boosting algorithms, written out literally with one loop per sum: slow, but easy to check."""

import itertools
import math

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

# Edge that the search may lose, since it sums in single precision.
PRECISION = 1e-6


def stump_outputs(X):
    """Return the outputs of every stump of polarity +1, as a list of arrays."""
    result = []
    for feature in range(X.shape[1]):
        values = sorted(set(X[:, feature].tolist()))
        for low, high in itertools.pairwise(values):
            middle = (low + high) / 2
            result.append(np.array([1.0 if row[feature] > middle else -1.0 for row in X]))
    return result


def margins_of_all_stumps(X, y):
    """Return y h(x) of all stumps and their negatives, (n_stumps, n_samples); y is 0 or 1."""
    outputs = np.array(stump_outputs(X))
    return np.vstack([outputs, -outputs]) * (2.0 * y - 1)


def stage_outputs(model, X):
    """Return h_t(x_i) of a model of stumps, as a list of arrays, one per round."""
    learners = model.hypotheses_
    return stack_outputs(learners.feature, learners.threshold, learners.polarity, X)


def stack_outputs(features, thresholds, polarities, X):
    """Return h(x_i) of given stumps, as a list of arrays."""
    return [
        np.array([polarity if row[feature] > threshold else -polarity for row in X])
        for feature, threshold, polarity in zip(features, thresholds, polarities, strict=True)
    ]


def projected_outputs(model, X):
    """Return h_t(P_r x_i) of an RBoostRank, a list of arrays (n_samples, n_classes) by round."""
    learners = model.hypotheses_
    result = []
    for directions, threshold, polarity in zip(
        learners.directions, learners.threshold, learners.polarity, strict=True
    ):
        output = np.empty((len(X), len(directions)))
        for i, row in enumerate(X):
            for r, direction in enumerate(directions):
                output[i, r] = polarity if direction @ row > threshold else -polarity
        result.append(output)
    return result


def differences(output, y):
    """Return delta h, eq. (1) of RandomBoost: the true class's output minus each class's."""
    result = np.empty_like(output)
    for i in range(len(y)):
        for r in range(output.shape[1]):
            result[i, r] = output[i, y[i]] - output[i, r]
    return result


def wrong_pairs(y, n_classes):
    """Return the pairs (i, r) in which r is not the label of i."""
    return [(i, r) for i in range(len(y)) for r in range(n_classes) if r != y[i]]


def pair_margins(scores, y):
    """Return the margins of the true class's score over every other class's."""
    of_all = differences(scores, y)
    return np.array([of_all[pair] for pair in wrong_pairs(y, scores.shape[1])])


def exponential_loss(margins):
    """Return the mean of exp(-margin)."""
    return sum(math.exp(-margin) for margin in np.ravel(margins)) / np.size(margins)


def class_scores(model, X):
    """Return the scores F_r(x_i) at every stage; two classes only have their difference."""
    result = []
    for decision in model.staged_decision_function(X):
        if decision.ndim == 1:
            decision = np.column_stack([-decision / 2, decision / 2])
        result.append(decision)
    return result


def assert_loss_decreases(model, X, y, scale=1.0):
    """Assert that the exponential loss decreases in every round and bounds the training error."""
    before = 1.0
    for scores in class_scores(model, X):
        loss = exponential_loss(scale * pair_margins(scores, y))
        assert loss < before
        assert np.mean(scores.argmax(axis=1) != y) <= loss * (scores.shape[1] - 1)
        before = loss


def assert_rounds_of_adaboost(X, y, scores):
    """Assert that each round is a round of AdaBoost, with any of equally good stumps.

    `y` is 0 or 1, `scores` lists F after each round.
    """
    signs = 2.0 * y - 1.0
    stumps = np.array(stump_outputs(X))
    before = np.zeros(len(y))
    for F in scores:
        weights = np.exp(-signs * before)
        weights /= weights.sum()
        alpha = np.abs(F - before).max()
        h = np.rint((F - before) / alpha)
        np.testing.assert_allclose(F - before, alpha * h, rtol=1e-6, atol=1e-9)
        edge = weights @ (signs * h)
        assert edge >= np.abs(stumps @ (weights * signs)).max() - PRECISION
        assert math.isclose(alpha, math.atanh(edge), rel_tol=1e-6)
        assert (h == stumps).all(axis=1).any() or (h == -stumps).all(axis=1).any()
        before = F


class LeastErrorStump(ClassifierMixin, BaseEstimator):
    """Stump of least weighted error (not Gini impurity) for scikit-learn's AdaBoost."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        errors = {}
        for feature in range(X.shape[1]):
            for low, high in itertools.pairwise(np.unique(X[:, feature])):
                threshold = (low + high) / 2
                above = X[:, feature] > threshold
                votes = [np.bincount(y[s], sample_weight[s]).argmax() for s in (~above, above)]
                guess = np.where(above, votes[1], votes[0])
                errors[feature, threshold, *votes] = sample_weight[guess != y].sum()
        ranked = sorted(errors.values())
        assert ranked[1] - ranked[0] > 1e-6, "a tie: this problem cannot be compared"
        self.stump_ = min(errors, key=errors.get)
        return self

    def predict(self, X):
        feature, threshold, low, high = self.stump_
        return np.where(X[:, feature] > threshold, high, low)
