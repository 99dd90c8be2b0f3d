import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import boostbench.algorithms.rboost_rank
from boostbench.algorithms import RBoostRank, RBoostRankTC

from . import reference
from .problems import blobs, noise

# Edge that the search may lose, since it sums in single precision.
PRECISION = 1e-5

MODES = {
    "independent": {"projections": "independent"},
    "pooled": {"projections": "pooled", "pool_size": 6},
}


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


@pytest.fixture(params=[2, 3, 4], ids=["2 classes", "3 classes", "4 classes"])
def problem(request):
    # Quantiles of a pool of 6 directions and 18 samples lie between points.
    return noise(request.param, n_samples=18, n_features=3, seed=request.param)


@pytest.fixture
def recorded_searches(monkeypatch):
    """Record the searches of fitted models, which hold the candidates."""
    searches = []

    def record(kind):
        def make(*args):
            searches.append(kind(*args))
            return searches[-1]

        return make

    module = boostbench.algorithms.rboost_rank
    for name in ("IndependentProjectionSearch", "PooledProjectionSearch"):
        monkeypatch.setattr(module, name, record(getattr(module, name)))
    return searches


def make_model(mode, n_iterations=10, n_projections=8, n_bins=6, seed=0):
    return RBoostRank(
        n_iterations=n_iterations,
        n_projections=n_projections,
        n_bins=n_bins,
        random_state=seed,
        **mode,
    )


def candidate_outputs(search, X):
    """Return h(P_r x_i) of all candidates of polarity +1, a list of (n_samples, n_classes)."""
    if hasattr(search, "pool"):
        directions = [search.pool[members] for members in search.pool_indices]
        thresholds = [search.thresholds] * len(directions)
    else:
        directions, thresholds = search.directions, search.thresholds.T
    result = []
    for matrix, cuts in zip(directions, thresholds, strict=True):
        points = X @ np.asarray(matrix, dtype=float).T
        result.extend(np.where(points > float(threshold), 1.0, -1.0) for threshold in cuts)
    return result


def uniform_weights(y, k):
    """Return the first dual variables: equal for the m (k - 1) pairs, 0 for r = y_i."""
    u = np.zeros((len(y), k))
    for i, r in reference.wrong_pairs(y, k):
        u[i, r] = 1.0 / (len(y) * (k - 1))
    return u


class TestAgainstTheLiteralAlgorithm:
    def rounds(self, model, X, y):
        """Yield t, h_t, delta h_t and the dual variables before round t, from eq. (1) and (4)."""
        k = len(model.classes_)
        pairs = reference.wrong_pairs(y, k)
        F = np.zeros((len(y), k))
        for t, output in enumerate(reference.projected_outputs(model, X)):
            margins = reference.differences(F, y)
            total = sum(math.exp(-margins[i, r]) for i, r in pairs)
            u = np.zeros((len(y), k))
            for i, r in pairs:
                u[i, r] = math.exp(-margins[i, r]) / total
            yield t, output, reference.differences(output, y), u
            F += model.coefficients_[t] * output

    def test_weak_learners_have_the_largest_edge(self, mode, problem, recorded_searches):
        """The edge is eq. (5), maximised by brute force over projections, thresholds and signs."""
        X, y = problem
        model = make_model(mode).fit(X, y)
        candidates = [
            reference.differences(h, y) for h in candidate_outputs(recorded_searches[0], X)
        ]
        for _, _, delta, u in self.rounds(model, X, y):
            edge = (u * delta).sum()
            largest = max(abs((u * candidate).sum()) for candidate in candidates)
            assert edge == pytest.approx(largest, abs=PRECISION)
            assert edge > 0

    def test_coefficients_equal_eq_8(self, mode, problem):
        """Eq. (8) has the smoothing s added to Q+ and to Q-."""
        X, y = problem
        model = make_model(mode).fit(X, y)
        s = 1 / (len(y) * (len(model.classes_) - 1))
        for t, _, delta, u in self.rounds(model, X, y):
            right, wrong = u[delta == 2].sum(), u[delta == -2].sum()
            w = 0.25 * math.log((right + s) / (wrong + s))
            assert model.coefficients_[t] == pytest.approx(w, rel=1e-9)
            assert w > 0

    def test_coefficients_minimise_the_loss(self, mode, problem):
        """The loss is eq. (7), with s additional weight on the pairs of each sign."""
        X, y = problem
        model = make_model(mode).fit(X, y)
        k = len(model.classes_)
        s = 1 / (len(y) * (k - 1))
        for t, _, delta, u in self.rounds(model, X, y):

            def loss(w, delta=delta, u=u):
                total = s * (math.exp(-2 * w) + math.exp(2 * w))
                for i, r in reference.wrong_pairs(y, k):
                    total += u[i, r] * math.exp(-delta[i, r] * w)
                return total

            best = minimize_scalar(loss, bracket=(0, 1), tol=1e-10).x
            assert model.coefficients_[t] == pytest.approx(best, rel=1e-5, abs=1e-7)

    def test_scores_equal_the_sums_of_weak_learners(self, mode, problem):
        """The scores of eq. (1) are the sums of w_t h_t at every stage."""
        X, y = problem
        model = make_model(mode).fit(X, y)
        F = np.zeros((len(y), len(model.classes_)))
        for output, w, scores in zip(
            reference.projected_outputs(model, X),
            model.coefficients_,
            reference.class_scores(model, X),
            strict=True,
        ):
            F += w * output
            np.testing.assert_allclose(
                reference.differences(scores, y), reference.differences(F, y), atol=1e-12
            )


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_exponential_loss_decreases_in_every_round(mode, n_classes, seed):
    X, y = blobs(n_classes, seed=seed)
    model = make_model(mode, n_iterations=80, n_projections=25, seed=seed).fit(X, y)
    reference.assert_loss_decreases(model, X, y)


def test_two_classes_equal_adaboost_on_the_pairs(mode, recorded_searches):
    """Eq. (8) for k = 2 is AdaBoost with abstaining hypotheses delta h / 2 and coefficients 2 w.

    Every pair (i, r) is one example with the label +1.
    """
    X, y = noise(2, n_samples=18, n_features=3)
    model = make_model(mode, n_iterations=12).fit(X, y)
    hypotheses = []
    for output in candidate_outputs(recorded_searches[0], X):
        own_less_other = [output[i, y[i]] - output[i, 1 - y[i]] for i in range(len(y))]
        hypotheses.append(np.array(own_less_other) / 2)
    D = np.full(len(y), 1 / len(y))
    F = np.zeros(len(y))
    for t, decision in enumerate(model.staged_decision_function(X)):
        margins = np.where(y == 1, decision, -decision)
        alpha = 2 * model.coefficients_[t]
        h = (margins - F) / alpha
        np.testing.assert_allclose(h, np.round(h), atol=1e-9)
        edges = [D @ g for g in hypotheses]
        assert D @ h == pytest.approx(max(max(edges), -min(edges)), abs=PRECISION)
        right, wrong = D[h > 0.5].sum(), D[h < -0.5].sum()
        s = 1 / len(y)
        assert alpha == pytest.approx(0.5 * math.log((right + s) / (wrong + s)), rel=1e-8)
        F = margins
        D = np.exp(-F) / np.exp(-F).sum()


def test_rounding_errors_do_not_grow(mode):
    """Coefficients still follow from the previous scores after hundreds of rounds."""
    X, y = blobs(3, n_samples=60, seed=1)
    model = make_model(mode, n_iterations=400, n_projections=60).fit(X, y)
    assert model.n_iterations_ == 400
    is_label = y[:, None] == np.arange(3)
    s = 1 / (2 * len(y))
    F = np.zeros((len(y), 3))
    outputs = model.hypotheses_.outputs(X)
    for t, w in enumerate(model.coefficients_):
        exponent = np.where(is_label, -np.inf, F - F[is_label][:, None])
        u = np.exp(exponent - exponent.max())
        u /= u.sum()
        delta = outputs[..., t][is_label][:, None] - outputs[..., t]
        right, wrong = u[delta > 0].sum(), u[delta < 0].sum()
        assert w == pytest.approx(0.25 * math.log((right + s) / (wrong + s)), rel=1e-6)
        F += w * outputs[..., t]


def test_classes_have_different_projections(mode):
    X, y = blobs(3)
    directions = make_model(mode, n_projections=40).fit(X, y).hypotheses_.directions
    assert directions.shape[1:] == (3, X.shape[1])
    assert (directions[:, 0] != directions[:, 1]).any()
    assert (directions[:, 1] != directions[:, 2]).any()


def test_scale_of_the_data_does_not_matter(mode):
    """Stumps on projections do not depend on a common factor, and powers of two are exact."""
    X, y = blobs(3)
    first, second = (make_model(mode).fit(scale * X, y) for scale in (1.0, 4.0))
    assert (first.decision_function(X) == second.decision_function(4.0 * X)).all()


def test_more_projections_fit_better():
    X, y = noise(3, n_samples=60, n_features=4)
    losses = []
    for n_projections in (2, 20, 400):
        model = make_model(MODES["independent"], 60, n_projections, n_bins=16).fit(X, y)
        margins = reference.differences(reference.class_scores(model, X)[-1], y)
        losses.append(np.exp(-margins).mean())
    assert losses[0] > losses[1] > losses[2]


def test_easy_problem_is_learned():
    X, y = blobs(4, n_samples=200, spread=0.5, seed=3)
    model = make_model(MODES["independent"], 100, n_projections=300, n_bins=16)
    assert model.fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.8


class TestBoundStep:
    """Tests of step="bound", eq. (9)."""

    def model(self, **params):
        return RBoostRank(n_projections=25, n_bins=8, step="bound", random_state=0, **params)

    def test_coefficients_minimise_the_bound(self, problem):
        X, y = problem
        k = len(set(y))
        model = self.model(n_iterations=10).fit(X, y)
        for t, _, delta, u in TestAgainstTheLiteralAlgorithm().rounds(model, X, y):

            def bound(w, delta=delta, u=u):
                total = 0.0
                for i, r in reference.wrong_pairs(y, k):
                    h = delta[i, r] / 2
                    total += u[i, r] * (np.exp(2 * w) * (1 - h) + np.exp(-2 * w) * (1 + h)) / 2
                return total

            best = minimize_scalar(bound, bracket=(0, 1), tol=1e-10).x
            assert model.coefficients_[t] == pytest.approx(best, rel=1e-5)

    def test_exponential_loss_decreases_in_every_round(self):
        X, y = noise(3, n_samples=60)
        model = self.model(n_iterations=60).fit(X, y)
        reference.assert_loss_decreases(model, X, y)


class TestDiscriminants:
    """Tests of weak_learner="wlda", Table VI."""

    def model(self, **params):
        return RBoostRank(n_projections=20, n_bins=8, weak_learner="wlda", random_state=0, **params)

    @pytest.mark.parametrize("n_selected", [5, 1000])
    def test_edges_are_at_least_the_edges_of_stumps(self, n_selected):
        X, y = noise(3, n_samples=60)
        stumps = make_model(MODES["independent"], 1, 20, 8).fit(X, y)
        both = self.model(n_iterations=1, n_selected=n_selected).fit(X, y)
        u = uniform_weights(y, 3)
        edges = [
            (u * reference.differences(reference.projected_outputs(m, X)[0], y)).sum()
            for m in (stumps, both)
        ]
        assert edges[1] >= edges[0] - PRECISION

    def test_discriminants_learn_linear_classes(self):
        """The classes are separated by linear functions, which stumps approximate poorly."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 4))
        y = (X @ rng.normal(size=(4, 3))).argmax(axis=1)
        with_discriminants = self.model(n_iterations=20).fit(X, y).score(X, y)
        stumps_only = make_model(MODES["independent"], 20, 20, 8).fit(X, y).score(X, y)
        assert with_discriminants > max(stumps_only, 0.9)


def extreme_features():
    """Return labels, and features that determine them, far from 0 or beyond single precision."""
    y = np.arange(60) % 3
    base = y + 0.1 * np.random.default_rng(0).random(60)
    return y, {
        "seconds since 1970": 1.6e9 + base,
        "hundreds of millions": 1e8 + base,
        "millions, by hundredths": 1e6 + 0.01 * base,
        "larger than single precision": 1e300 * base,
        "the largest": 1.7e308 * (base / base.max()),
        "smaller than single precision": 1e-300 * base,
        "denormal": 5e-322 * base,
    }


@pytest.mark.parametrize("kind", extreme_features()[1])
@pytest.mark.parametrize(
    "model",
    [
        RBoostRank(50, n_projections=300, random_state=0),
        RBoostRank(50, n_projections=300, projections="pooled", pool_size=100, random_state=0),
        RBoostRankTC(30, n_projections=300, random_state=0),
    ],
    ids=["independent", "pooled", "totally corrective"],
)
def test_features_of_any_scale_are_learned(model, kind):
    y, features = extreme_features()
    X = features[kind][:, None]
    assert model.fit(X, y).score(X, y) > 0.95
