"""The boosting algorithms written out literally, one loop per sum: slow, and plain to read."""

import itertools
import math

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

# The search adds up in single precision: a stump may be chosen that is worse by that much.
PRECISION = 1e-6


def stump_outputs(X):
    """List the outputs on X of every stump of polarity +1, one array per stump."""
    result = []
    for feature in range(X.shape[1]):
        values = sorted(set(X[:, feature].tolist()))
        for low, high in itertools.pairwise(values):
            middle = (low + high) / 2
            result.append(np.array([1.0 if row[feature] > middle else -1.0 for row in X]))
    return result


def margins_of_all_stumps(X, y):
    """y h(x) of every stump and its negative, with y in {0, 1}; (n_stumps, n_samples)."""
    outputs = np.array(stump_outputs(X))
    return np.vstack([outputs, -outputs]) * (2.0 * y - 1)


def stage_outputs(model, X):
    """List h_t(x_i) of a fitted model with plain stumps, one array per round."""
    learners = model.hypotheses_
    return stack_outputs(learners.feature, learners.threshold, learners.polarity, X)


def stack_outputs(features, thresholds, polarities, X):
    """List h(x_i) of some stumps, one array each."""
    return [
        np.array([polarity if row[feature] > threshold else -polarity for row in X])
        for feature, threshold, polarity in zip(features, thresholds, polarities, strict=True)
    ]


def projected_outputs(model, X):
    """List h_t(P_r x_i) of a fitted RBoostRank, one array (n_samples, n_classes) per round."""
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
    """Subtract every class's output from the own one's: delta h, eq. (1) of RandomBoost."""
    result = np.empty_like(output)
    for i in range(len(y)):
        for r in range(output.shape[1]):
            result[i, r] = output[i, y[i]] - output[i, r]
    return result


def wrong_pairs(y, n_classes):
    """List the pairs (i, r) with r other than the label of i."""
    return [(i, r) for i in range(len(y)) for r in range(n_classes) if r != y[i]]


def pair_margins(scores, y):
    """Margins of the own classes' scores before all others."""
    of_all = differences(scores, y)
    return np.array([of_all[pair] for pair in wrong_pairs(y, scores.shape[1])])


def exponential_loss(margins):
    """Average exp(-margin)."""
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
    """Assert that the exponential loss falls in every round, and bounds the training error."""
    before = 1.0
    for scores in class_scores(model, X):
        loss = exponential_loss(scale * pair_margins(scores, y))
        assert loss < before
        assert np.mean(scores.argmax(axis=1) != y) <= loss * (scores.shape[1] - 1)
        before = loss


def assert_rounds_of_adaboost(X, y, scores):
    """Assert that each round is one of AdaBoost's, whichever of equally good stumps it takes.

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
    """A stump for scikit-learn's AdaBoost that takes the least weighted error, not Gini."""

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
