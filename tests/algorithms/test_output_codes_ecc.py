import math

import numpy as np
import pytest
from sklearn.datasets import load_wine

from boostbench.algorithms import AdaBoostECC

from . import reference
from .problems import blobs, noise

# Smoothing that is added to the correct and the wrong weight on each side of a stump.
SMOOTHING = 1e-10


def codes(model):
    """Return mu_t or -mu_t of every round, which are equivalent."""
    return np.sign(model.coefficients_)


def two_votes(D, target, h):
    """Return the votes alpha (h = +1) and beta (h = -1)."""
    weight = {(side, sign): SMOOTHING for side in (1, -1) for sign in (1, -1)}
    for i in range(len(h)):
        weight[h[i], target[i]] += D[i]
    alpha = 0.5 * math.log(weight[1, 1] / weight[1, -1])
    beta = 0.5 * math.log(weight[-1, -1] / weight[-1, 1])
    return alpha, beta


def one_vote(D, target, h):
    error = sum(D[i] for i in range(len(h)) if h[i] != target[i])
    alpha = 0.5 * math.log((1 - error) / error)
    return alpha, alpha


VOTES = {"one": one_vote, "two": two_votes}


def weights_across(weights, mu, y):
    """Return D, the normalised sample weights by wrong labels on the other side of a code."""
    D = [0.0] * len(y)
    for (i, r), weight in weights.items():
        D[i] += weight * (mu[r] != mu[y[i]])
    return [d / sum(D) for d in D]


def check_round(model, t, h, mu, weights, y):
    """Compare the votes of a round with the literal ones; return the weights after it."""
    alpha, beta = VOTES[model.votes](weights_across(weights, mu, y), [mu[label] for label in y], h)
    slope, offset = (alpha + beta) / 2, (alpha - beta) / 2
    np.testing.assert_allclose(model.coefficients_[t], slope * mu, rtol=1e-6)
    np.testing.assert_allclose(model.intercepts_[t], offset * mu, rtol=1e-6, atol=1e-9)
    after = {}
    for (i, r), weight in weights.items():
        g = alpha if h[i] == 1 else -beta
        after[i, r] = weight * math.exp((mu[r] - mu[y[i]]) * g / 2)
    total = sum(after.values())
    return {pair: weight / total for pair, weight in after.items()}


@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
class TestAgainstTheLiteralAlgorithm:
    def test_rounds_equal_the_literal_algorithm(self, votes, problem, n_classes):
        """The literal algorithm follows Guruswami and Sahai sum by sum."""
        X, y = problem(n_classes, n_samples=20, n_features=2, seed=n_classes)
        model = AdaBoostECC(n_iterations=12, votes=votes, random_state=0).fit(X, y)
        candidates = reference.stump_outputs(X)
        pairs = reference.wrong_pairs(y, n_classes)
        weights = {pair: 1.0 / len(pairs) for pair in pairs}
        for t, h in enumerate(reference.stage_outputs(model, X)):
            mu = codes(model)[t]
            assert (mu == 1).sum() in {n_classes // 2, n_classes - n_classes // 2}
            D = weights_across(weights, mu, y)
            target = [mu[label] for label in y]

            edges = [sum(D[i] * target[i] * c[i] for i in range(len(y))) for c in [h, *candidates]]
            assert abs(edges[0]) == pytest.approx(np.abs(edges).max(), abs=reference.PRECISION)

            weights = check_round(model, t, h, np.copysign(1.0, edges[0]) * mu, weights, y)
        assert model.n_iterations_ == 12

    def test_scores_equal_the_literal_algorithm(self, votes, problem, n_classes):
        X, y = problem(n_classes, seed=n_classes)
        model = AdaBoostECC(n_iterations=12, votes=votes, random_state=0).fit(X, y)
        F = np.zeros((len(X), n_classes))
        for h, slope, offset, scores in zip(
            reference.stage_outputs(model, X),
            model.coefficients_,
            model.intercepts_,
            reference.class_scores(model, X),
            strict=True,
        ):
            for i in range(len(X)):
                for r in range(n_classes):
                    F[i, r] += slope[r] * h[i] + offset[r]
            np.testing.assert_allclose(
                reference.differences(scores, y), reference.differences(F, y), atol=1e-12
            )

    def test_loss_decreases_in_every_round(self, votes, problem, n_classes):
        X, y = problem(n_classes, seed=n_classes)
        model = AdaBoostECC(n_iterations=60, votes=votes, random_state=1).fit(X, y)
        reference.assert_loss_decreases(model, X, y, scale=0.5)


@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("seed", range(5))
def test_training_continues_until_all_classes_are_separated(votes, seed):
    """A stump separates the first or the last of the groups along a line from the others."""
    X = np.repeat(np.arange(3.0), 10)[:, None]
    y = X[:, 0].astype(int)
    model = AdaBoostECC(n_iterations=300, votes=votes, random_state=seed).fit(X, y)
    assert set(model.hypotheses_.threshold) == {0.5, 1.5}
    assert model.score(X, y) == 1.0
    assert all(np.isfinite(scores).all() for scores in model.staged_decision_function(X))


@pytest.mark.parametrize("seed", range(10))
def test_unlearnable_codes_are_redrawn(seed):
    """The code that opposes the diagonals of a square is XOR; the other codes are learnable."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.arange(4)
    model = AdaBoostECC(n_iterations=50, random_state=seed).fit(X, y)
    assert model.score(X, y) == 1.0
    assert not (codes(model)[:, 0] == codes(model)[:, 3]).any()


def test_all_codes_are_used():
    X, y = noise(4, seed=0)
    model = AdaBoostECC(n_iterations=100, random_state=0).fit(X, y)
    used = {tuple(code * code[0]) for code in codes(model)}
    assert used == {(1, 1, -1, -1), (1, -1, 1, -1), (1, -1, -1, 1)}


def test_two_votes_decrease_the_loss_faster_than_one():
    losses = {}
    X, y = noise(4, n_samples=80, seed=1)
    for votes in VOTES:
        model = AdaBoostECC(n_iterations=100, votes=votes, random_state=0).fit(X, y)
        margins = reference.differences(model.decision_function(X), y) / 2
        losses[votes] = np.exp(-margins).mean()
    assert losses["two"] < losses["one"]


def test_rounding_errors_do_not_grow():
    """Every coefficient still follows from the previous scores after hundreds of rounds."""
    X, y = load_wine(return_X_y=True)
    model = AdaBoostECC(n_iterations=400, votes="one", random_state=0).fit(X, y)
    assert model.n_iterations_ == 400
    F = np.zeros((len(y), 3))
    for h, coefficients in zip(reference.stage_outputs(model, X), model.coefficients_, strict=True):
        mu = np.sign(coefficients)
        across = mu[y][:, None] != mu
        exponents = np.where(across, -reference.differences(F, y) / 2, -np.inf)
        D = np.exp(exponents - exponents.max()).sum(axis=1)
        edge = h * mu[y] @ D / D.sum()
        assert np.abs(coefficients) == pytest.approx(math.atanh(edge), rel=1e-6)
        F += np.outer(h, coefficients)
