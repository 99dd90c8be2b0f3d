import math

import numpy as np
import pytest
from sklearn.datasets import load_wine

from boostbench.algorithms import AdaBoostMO, output_codes
from boostbench.core.codebooks import exhaustive_codes
from boostbench.core.stumps import evaluation, stump
from boostbench.core.stumps import search as search_module

from . import reference
from .problems import blobs, noise


@pytest.fixture(params=["one block", "small blocks"])
def small_blocks(request, monkeypatch):
    """Reduce the block size, so that tiny problems have several blocks."""
    if request.param == "small blocks":
        monkeypatch.setattr(search_module, "_BLOCK_EDGES", 1)
        monkeypatch.setattr(search_module, "_BLOCK_COLUMNS", 2)
        monkeypatch.setattr(output_codes, "_BLOCK_CODES", 3)
        monkeypatch.setattr(evaluation, "BLOCK_OUTPUTS", 200)
        monkeypatch.setattr(stump, "BLOCK_OUTPUTS", 200)


def outputs(model, X):
    """Return h_tj(x_i) as a list of arrays (n_samples, n_codes), one per round."""
    learners = model.hypotheses_
    rounds = zip(learners.feature, learners.threshold, learners.polarity, strict=True)
    return [np.column_stack(reference.stack_outputs(*stumps, X)) for stumps in rounds]


def targets(model, y):
    """Return the entry m_j of the codeword of each sample's label."""
    return np.array([[code[label] for code in model.codes_] for label in y])


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
class TestAgainstTheLiteralAlgorithm:
    def test_rounds_equal_the_literal_algorithm(self, problem, n_classes):
        X, y = problem(n_classes, n_samples=20, n_features=2, seed=n_classes)
        model = AdaBoostMO(n_iterations=8).fit(X, y)
        target = targets(model, y)
        n_codes = 2 ** (n_classes - 1) - 1
        candidates = reference.stump_outputs(X)
        D = np.full((len(y), n_codes), 1.0 / (len(y) * n_codes))
        for t, H in enumerate(outputs(model, X)):
            assert H.shape == D.shape
            edge = 0.0
            for j in range(n_codes):
                weights = D[:, j] * target[:, j]
                stump_edge = sum(weights[i] * H[i, j] for i in range(len(y)))
                largest = max(
                    abs(sum(weights[i] * c[i] for i in range(len(y)))) for c in candidates
                )
                assert stump_edge == pytest.approx(largest, abs=reference.PRECISION)
                edge += stump_edge
            alpha = 0.5 * math.log((1 + edge) / (1 - edge))
            assert model.coefficients_[t] == pytest.approx(alpha, rel=1e-9)
            for i in range(len(y)):
                for j in range(n_codes):
                    D[i, j] *= math.exp(-alpha * target[i, j] * H[i, j])
            D /= D.sum()
        assert model.n_iterations_ == 8

    def test_scores_equal_linear_decoding(self, problem, n_classes):
        """Scores equal linear decoding in all stages."""
        X, y = problem(n_classes, seed=n_classes)
        model = AdaBoostMO(n_iterations=8).fit(X, y)
        new = np.random.default_rng(0).normal(size=(30, X.shape[1]))
        first_class = np.zeros(len(new), int)
        F = np.zeros((len(new), n_classes))
        for H, alpha, scores in zip(
            outputs(model, new),
            model.coefficients_,
            reference.class_scores(model, new),
            strict=True,
        ):
            for i in range(len(new)):
                for r in range(n_classes):
                    F[i, r] += sum(
                        m[r] * alpha * h for m, h in zip(model.codes_, H[i], strict=True)
                    )
            expected = reference.differences(F, first_class)
            np.testing.assert_allclose(
                reference.differences(scores, first_class), expected, atol=1e-9
            )
        decision = F[:, 1] - F[:, 0] if n_classes == 2 else F
        np.testing.assert_allclose(model.decision_function(new), decision, atol=1e-9)


def has_no_ties(model, X, y):
    """Return True if the best stump is unique in every round and for every code."""
    candidates = np.array(reference.stump_outputs(X))
    weights = targets(model, y)
    for alpha, H in zip(model.coefficients_, outputs(model, X), strict=True):
        edges = np.sort(np.abs(candidates @ weights), axis=0) / np.abs(weights).sum()
        if (edges[-1] - edges[-2]).min() < 10 * reference.PRECISION:
            return False
        weights = weights * np.exp(-alpha * np.sign(weights) * H)
    return True


@pytest.mark.parametrize("seed", [15, 39, 51, 56])
def test_order_of_samples_and_features_does_not_matter(seed):
    X, y = noise(3, n_samples=25, seed=seed)
    model = AdaBoostMO(n_iterations=4).fit(X, y)
    assert has_no_ties(model, X, y)
    expected = model.decision_function(X)

    order = np.random.default_rng(0).permutation(len(X))
    model.fit(X[order], y[order])
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-7)

    wider = np.column_stack([np.ones(len(X)), X[:, [2, 0, 1]], X[:, 1]])
    model.fit(wider, y)
    np.testing.assert_allclose(model.decision_function(wider), expected, rtol=1e-7)

    model.fit(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-7)

    other = np.array([2, 0, 1])
    model.fit(X, other[y])
    np.testing.assert_allclose(model.decision_function(X)[:, other], expected, rtol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_perfect_stumps_for_all_codes_end_the_training(n_classes):
    """A feature separates the classes of each code."""
    y = np.arange(12) % n_classes
    X = exhaustive_codes(n_classes).T[y]
    model = AdaBoostMO(n_iterations=50).fit(X, y)
    assert model.n_iterations_ == 1
    assert (model.hypotheses_.feature == np.arange(X.shape[1])).all()
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.coefficients_).all()
    assert model.coefficients_[0] > 1


@pytest.mark.parametrize("n_classes", [13, 26, 100])
def test_more_than_12_classes_raise(n_classes):
    with pytest.raises(ValueError, match="12 classes") as raised:
        AdaBoostMO().fit(np.arange(2.0 * n_classes)[:, None], np.arange(2 * n_classes) % n_classes)
    message = str(raised.value)
    assert str(2 ** (n_classes - 1) - 1) in message
    assert f"{n_classes} classes" in message
    assert "AdaBoostECC" in message
    assert "AdaBoostMH" in message
    assert "\n" not in message


def test_12_classes_are_accepted():
    X, y = blobs(12, n_samples=48, spread=0.3)
    model = AdaBoostMO(n_iterations=5).fit(X, y)
    assert model.hypotheses_.feature.shape == (5, 2047)
    assert model.score(X, y) > 0.8


def test_merged_stumps_are_evaluated_once():
    X, y = noise(5, n_samples=20, n_features=2)
    model = AdaBoostMO(n_iterations=40).fit(X, y)
    n_stumps = len(reference.stump_outputs(X))
    assert n_stumps < model.hypotheses_.feature.size
    assert len(model._distinct_stumps) <= n_stumps


def test_rounding_errors_do_not_grow():
    """Every coefficient still follows from the previous scores after hundreds of rounds."""
    X, y = load_wine(return_X_y=True)
    model = AdaBoostMO(n_iterations=400).fit(X, y)
    assert model.n_iterations_ == 400
    target = targets(model, y)
    margins = np.zeros(target.shape)
    learners = model.hypotheses_
    for t, alpha in enumerate(model.coefficients_):
        D = np.exp(-margins + margins.min())
        D /= D.sum()
        agreement = target * learners.outputs(X, t)
        assert alpha == pytest.approx(math.atanh((D * agreement).sum()), rel=1e-6)
        margins += alpha * agreement
