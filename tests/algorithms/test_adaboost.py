import math
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import AdaBoostClassifier

from boostbench.algorithms import AdaBoost, AdaBoostMH, PerceptronAdaBoost, ProjectedAdaBoostMH

from . import reference
from .problems import blobs, noise


def label_signs(y, n_classes):
    """Return Y of AdaBoost.MH: +1 for the label of a sample, -1 for the other classes."""
    return np.array([[1.0 if r == label else -1.0 for r in range(n_classes)] for label in y])


def mh_edges(D, Y, h):
    """Return the weighted agreement of h with each column of labels."""
    edges = []
    for r in range(Y.shape[1]):
        edges.append(sum(D[i, r] * Y[i, r] * h[i] for i in range(len(h))))
    return edges


def test_two_classes_equal_samme_of_scikit_learn():
    """SAMME has coefficients twice as large, and scores relative to half their sum."""
    X, y = blobs(2, seed=2)
    theirs = AdaBoostClassifier(reference.LeastErrorStump(), n_estimators=12).fit(X, y)
    ours = AdaBoost(n_iterations=12).fit(X, y)
    alphas = ours.coefficients_
    np.testing.assert_allclose(theirs.estimator_weights_, 2 * alphas, rtol=1e-9)
    new = np.random.default_rng(1).normal(size=(300, X.shape[1]))
    np.testing.assert_allclose(
        2 * ours.decision_function(new) / alphas.sum(), theirs.decision_function(new), atol=1e-9
    )
    for labels, their_labels in zip(
        ours.staged_predict(new), theirs.staged_predict(new), strict=True
    ):
        # An even number of votes may cancel; then both classes are correct.
        assert np.mean(labels != their_labels) < 0.02
    assert (ours.predict(new) == theirs.predict(new)).all()


@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_rounds_of_adaboost_mh_equal_brute_force(problem, n_classes, seed):
    """Brute force covers all stumps and all 2^k vote vectors."""
    X, y = problem(n_classes, n_samples=16, n_features=2, seed=seed)
    model = AdaBoostMH(n_iterations=8).fit(X, y)
    Y = label_signs(y, n_classes)
    D = np.full(Y.shape, 1.0 / Y.size)
    all_votes = list(product([-1.0, 1.0], repeat=n_classes))
    candidates = reference.stump_outputs(X)
    for t, h in enumerate(reference.stage_outputs(model, X)):
        largest = max(
            sum(v * e for v, e in zip(votes, edges, strict=True))
            for edges in (mh_edges(D, Y, c) for c in candidates)
            for votes in all_votes
        )
        votes = np.sign(model.coefficients_[t])
        edge = sum(v * e for v, e in zip(votes, mh_edges(D, Y, h), strict=True))
        assert edge == pytest.approx(largest, abs=reference.PRECISION)
        alpha = 0.5 * math.log((1 + edge) / (1 - edge))
        np.testing.assert_allclose(model.coefficients_[t], alpha * votes, rtol=1e-9)
        for i in range(len(y)):
            for r in range(n_classes):
                D[i, r] *= math.exp(-alpha * Y[i, r] * votes[r] * h[i])
        D /= D.sum()
    assert model.n_iterations_ == 8


def test_rounding_errors_do_not_grow():
    """Every coefficient still follows from the previous scores after hundreds of rounds.

    Without normalisation, the deviation of the weights' sum from 1 would grow by a factor of
    1 / (1 - edge^2) a round.
    """
    X, y = load_wine(return_X_y=True)
    model = AdaBoostMH(n_iterations=400).fit(X, y)
    assert model.n_iterations_ == 400
    Y = label_signs(y, 3)
    F = np.zeros(Y.shape)
    for h, coefficients in zip(reference.stage_outputs(model, X), model.coefficients_, strict=True):
        D = np.exp(-Y * F)
        D /= D.sum()
        edge = h @ (D * Y) @ np.sign(coefficients)
        np.testing.assert_allclose(np.abs(coefficients), math.atanh(edge), rtol=1e-6)
        F += np.outer(h, coefficients)


class TestProjected:
    def test_model_equals_adaboost_mh_on_projected_features(self):
        X, y = blobs(3, seed=5)
        projected = ProjectedAdaBoostMH(n_iterations=20, draw=4).fit(X, y)
        Z = X @ projected.projection_
        plain = AdaBoostMH(n_iterations=20).fit(Z, y)
        assert Z.shape == (len(X), 2)
        np.testing.assert_array_equal(projected.decision_function(X), plain.decision_function(Z))

    def test_drawn_matrices_project_the_data(self):
        X, y = blobs(3, seed=5)
        first, repeated, other = (
            ProjectedAdaBoostMH(n_iterations=1, draw=draw).fit(X, y).projection_
            for draw in (1, 1, 2)
        )
        np.testing.assert_array_equal(first, repeated)
        assert not np.allclose(first, other)

    def test_identity_projection_keeps_the_data(self):
        X, y = blobs(3, seed=5)
        model = ProjectedAdaBoostMH(n_iterations=1).fit(X, y)
        Z = np.random.default_rng(0).normal(size=(7, 2))
        np.testing.assert_allclose(model.project(model.unproject(Z)), Z)


def test_model_equals_adaboost_on_its_perceptrons():
    X, y = blobs(2, seed=3)
    model = PerceptronAdaBoost(n_iterations=25, n_candidates=50, random_state=2).fit(X, y)
    signs, D = 2.0 * y - 1, np.full(len(y), 1 / len(y))
    for h, alpha in zip(model.hypotheses_.outputs(X).T, model.coefficients_, strict=True):
        error = D[h != signs].sum()
        assert 0 < error < 0.5
        assert alpha == pytest.approx(0.5 * np.log((1 - error) / error))
        D *= np.exp(-alpha * signs * h)
        D /= D.sum()


def test_more_candidates_give_better_perceptrons():
    X, y = blobs(2, n_samples=100, seed=1)
    few, many = (
        PerceptronAdaBoost(n_iterations=1, n_candidates=n, random_state=0).fit(X, y)
        for n in (1, 1000)
    )
    assert many.coefficients_[0] > few.coefficients_[0] > 0


def test_signature_has_no_unused_parameters():
    of_stumps = {"constant", "max_bins"}
    assert not of_stumps & PerceptronAdaBoost().get_params().keys()
