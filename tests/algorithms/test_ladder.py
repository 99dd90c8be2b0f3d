import numpy as np
import pytest

from boostbench.algorithms import LADDER, AdaBoost, CodewordBoosting, CodewordMCBoost
from boostbench.core.codebooks import draw_codebook

from .problems import blobs, noise

BOTH = pytest.mark.parametrize("model", [CodewordMCBoost, LADDER])
FORMS = pytest.mark.parametrize("leaf_values", ["least_squares", "vote"])
DEPTHS = pytest.mark.parametrize("max_depth", [1, 2])


@BOTH
def test_votes_for_two_classes_equal_adaboost(model):
    """The constant stump is among the weak learners, since each leaf votes -1 or +1."""
    X, y = noise(2, n_samples=60, seed=3)
    ours = model(60, leaf_values="vote", max_bins=None, random_state=0).fit(X, y)
    adaboost = AdaBoost(n_iterations=60, constant=True).fit(X, y)
    first, second = ours.staged_decision_function(X), adaboost.staged_decision_function(X)
    for a, b in zip(first, second, strict=True):
        # The score of class k is y_k f, so that the decision function is 2 f.
        np.testing.assert_allclose(a, 2 * b, rtol=1e-4, atol=1e-4)


@BOTH
def test_weights_of_two_classes_are_parallel_to_adaboost(model):
    X, y = blobs(2, seed=5)
    fitted = model(15, random_state=0).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    margins = signs * fitted.decision_function(X) / 2
    assert np.log(np.mean(np.exp(-margins))) == pytest.approx(fitted.log_risks_[-1])


def literal_risk(model, X, labels, t):
    """Return the risk after t rounds, by the paper's formula."""
    f = model.hypotheses_.scores(X, model.coefficients_, slice(0, t))
    scores = f @ model._codewords_at(t).T
    exponents = 0.5 * (scores - scores[np.arange(len(labels)), labels][:, None])
    return np.log((np.exp(exponents).sum(axis=1) - 1).mean())


@BOTH
@FORMS
@DEPTHS
@pytest.mark.parametrize("n_components", [1, 2, 3, 6])
def test_risk_equals_the_formula_and_never_increases(model, leaf_values, max_depth, n_components):
    X, labels = blobs(4, n_samples=80, seed=1)
    fitted = model(20, n_components, max_depth, leaf_values, random_state=2).fit(X, labels)
    assert len(fitted.log_risks_) == fitted.n_iterations_ + 1
    assert (np.diff(fitted.log_risks_) <= 0).all()
    for t in range(fitted.n_iterations_ + 1):
        assert fitted.log_risks_[t] == pytest.approx(literal_risk(fitted, X, labels, t), abs=1e-6)


def test_each_half_of_a_cycle_decreases_the_risk():
    X, labels = noise(5, n_samples=100, seed=2)
    fitted = LADDER(30, 2, random_state=0).fit(X, labels)
    before = fitted._codewords_at
    for t in range(2, 31, 2):
        after_codewords = fitted.log_risks_[t]
        fitted._codewords_at = lambda stage, t=t: before(t - 1)
        after_boosting = literal_risk(fitted, X, labels, t)
        assert after_codewords < after_boosting < fitted.log_risks_[t - 1]


@FORMS
def test_ladder_without_codeword_steps_is_mcboost(leaf_values):
    X, y = blobs(5, n_samples=70, seed=3)
    plain = CodewordMCBoost(25, 2, leaf_values=leaf_values, random_state=4).fit(X, y)
    ladder = LADDER(25, 2, leaf_values=leaf_values, codeword_steps=0, random_state=4).fit(X, y)
    assert (plain.codewords_ == ladder.codewords_).all()
    assert (plain.first_codewords_ == plain.codewords_).all()
    learned = LADDER(25, 2, leaf_values=leaf_values, random_state=4).fit(X, y)
    assert (learned.first_codewords_ == plain.codewords_).all()
    assert np.abs(learned.codewords_ - plain.codewords_).max() > 0.1
    assert (plain.transform(X) == ladder.transform(X)).all()


def test_cycles_equal_algorithm_3():
    X, y = noise(4, n_samples=60, seed=1)
    fitted = LADDER(10, 2, boosting_steps=3, codeword_steps=1, random_state=0).fit(X, y)
    assert len(fitted._codewords) == 1 + 10 // 3
    changes = np.abs(np.diff([fitted._codewords_at(t) for t in range(11)], axis=0)).max(axis=(1, 2))
    assert (np.flatnonzero(changes) + 1).tolist() == [3, 6, 9]
    np.testing.assert_allclose(np.linalg.norm(fitted._codewords, axis=2), 1.0)


@BOTH
@DEPTHS
def test_stage_equals_a_shorter_training(model, max_depth):
    X, y = blobs(4, n_samples=60, seed=6)
    stages = list(model(13, 3, max_depth, random_state=1).fit(X, y).staged_decision_function(X))
    for t in (1, 2, 7, 13):
        shorter = model(t, 3, max_depth, random_state=1).fit(X, y)
        np.testing.assert_allclose(shorter.decision_function(X), stages[t - 1], atol=1e-9)


@pytest.mark.parametrize("steps", [1, 5])
def test_further_cycles_of_another_fit_do_not_change_the_model(steps):
    X, y = blobs(3)
    model = LADDER(8, boosting_steps=2, random_state=0).fit(X, y)
    expected = [*model.staged_decision_function(X), model.decision_function(X)]
    model.set_params(boosting_steps=steps)
    scores = [*model.staged_decision_function(X), model.decision_function(X)]
    np.testing.assert_array_equal(scores, expected)


@BOTH
def test_embedding_determines_scores_and_bits(model):
    X, y = blobs(4, n_samples=60, seed=7)
    fitted = model(20, 11, random_state=0).fit(X, np.array(list("abcd"))[y])
    f = fitted.transform(X)
    assert f.shape == (60, 11)
    np.testing.assert_allclose(fitted.decision_function(X), f @ fitted.codewords_.T)
    assert (fitted.predict(X) == fitted.classes_[(f @ fitted.codewords_.T).argmax(axis=1)]).all()
    codes = fitted.hash(X)
    assert codes.dtype == np.uint8
    assert codes.shape == (60, 2)
    assert fitted.n_bits_ == 11
    assert (np.unpackbits(codes, axis=1, count=11) == (f > 0)).all()
    assert not np.unpackbits(codes, axis=1)[:, 11:].any()


@DEPTHS
def test_rotated_codewords_give_the_same_classifier(max_depth, monkeypatch):
    """A rotation of the axes changes the bits only."""
    X, y = blobs(5, n_samples=80, seed=8)
    fits = []
    for seed in (0, 1):
        vectors = draw_codebook(5, 3, np.random.default_rng(0))
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
        monkeypatch.setattr(
            "boostbench.algorithms.ladder.draw_codebook", lambda *_, turned=vectors @ turn: turned
        )
        fits.append(LADDER(15, 3, max_depth).fit(X, y))
    first, second = (fit.decision_function(X) for fit in fits)
    np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-3)
    assert not np.allclose(fits[0].transform(X), fits[1].transform(X), atol=0.1)


def test_learned_codewords_are_more_accurate_in_two_dimensions():
    rng = np.random.default_rng(0)
    errors = {CodewordMCBoost: [], LADDER: []}
    for seed in range(3):
        X, y = blobs(9, n_samples=600, n_features=6, seed=seed, spread=0.5)
        half = rng.permutation(600)[:300]
        rest = np.setdiff1d(np.arange(600), half)
        for model, model_errors in errors.items():
            fitted = model(100, 2, random_state=seed).fit(X[half], y[half])
            model_errors.append(1 - fitted.score(X[rest], y[rest]))
    assert np.mean(errors[LADDER]) < 0.8 * np.mean(errors[CodewordMCBoost])


@BOTH
@FORMS
def test_factor_of_all_weights_does_not_change_the_model(model, leaf_values):
    X, y = noise(3, n_samples=80, seed=4)
    plain = model(40, leaf_values=leaf_values, random_state=0).fit(X, y)
    heavy = model(40, leaf_values=leaf_values, random_state=0).fit(X, y, np.full(80, 1e9))
    assert (plain.decision_function(X) == heavy.decision_function(X)).all()
    assert (plain.coefficients_ == heavy.coefficients_).all()


class TestCodewordBoosting:
    def test_codeword_boosting_equals_the_codeword_half_of_ladder(self):
        """The two trainings start from the same predictor and codewords."""
        X, y = noise(4, n_samples=60, seed=1)
        ladder = LADDER(2, 3, codeword_steps=4, random_state=5).fit(X, y)
        first = CodewordMCBoost(2, 3, random_state=5).fit(X, y)
        after = CodewordBoosting(n_iterations=4, random_state=5).fit(first.transform(X), y)
        np.testing.assert_allclose(after.codewords_, ladder.codewords_, atol=1e-6)
        assert after.log_risks_[-1] == pytest.approx(ladder.log_risks_[-1])

    def test_small_features_cause_no_ties(self):
        X, y = blobs(3, n_samples=90, n_features=2, seed=2)
        for size in (1e-15, 1.0, 1e15):
            fitted = CodewordBoosting(random_state=0).fit(size * X, y)
            scores = size * X @ fitted.codewords_.T
            np.testing.assert_array_equal(fitted.predict(size * X), scores.argmax(axis=1))

    def test_risk_decreases_until_training_ends(self):
        X, y = blobs(3, n_samples=90, n_features=2, seed=2)
        fitted = CodewordBoosting(n_iterations=400).fit(X, y)
        assert (np.diff(fitted.log_risks_) <= 0).all()
        stages = list(fitted.staged_predict(X))
        assert len(stages) == fitted.n_iterations_
        assert (stages[-1] == fitted.predict(X)).all()


@BOTH
class TestDegenerateData:
    def test_constant_features_give_an_empty_model(self, model):
        X, y = np.ones((6, 2)), np.array([0, 1, 2, 0, 1, 2])
        fitted = model(5).fit(X, y)
        assert fitted.n_iterations_ == 0
        assert fitted.transform(X).shape == (6, 2)
        assert fitted.predict(X).shape == (6,)

    def test_perfect_weak_learner_ends_the_training(self, model):
        X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
        fitted = model(5).fit(X, y)
        assert fitted.n_iterations_ == 1
        assert (fitted.predict(X) == y).all()
        assert np.isfinite(fitted.transform(X)).all()
