import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from boostbench.algorithms import GradBoost
from boostbench.core.losses.objective import ROW_NORMS

from . import reference
from .problems import blobs, noise

NORMS = {"l2": lambda w: math.sqrt(sum(x * x for x in w)), "linf": lambda w: max(map(abs, w))}


def loss(F, y):
    """Return the mean negative logarithm of the true class's softmax."""
    total = 0.0
    for scores, label in zip(F, y, strict=True):
        total += math.log(sum(math.exp(s - scores[label]) for s in scores))
    return total / len(y)


def objective(W, H, y, nu, norm):
    """Return the objective of coefficients W (n_stumps, n_classes) and outputs H."""
    return loss(H @ W, y) + nu * sum(NORMS[norm](w) for w in W)


def coefficients_by_round(model, X):
    """Return the coefficients of all stumps before and after each round, and their outputs H."""
    candidates = reference.stump_outputs(X)
    # Stumps with equal outputs are represented by the first one.
    positions = {candidates[j].tobytes(): j for j in reversed(range(len(candidates)))}
    W = np.zeros((len(candidates), model.coefficients_.shape[1]))
    by_round = [W]
    for h, step in zip(reference.stage_outputs(model, X), model.coefficients_, strict=True):
        W = W.copy()
        W[positions[h.tobytes()]] += step
        by_round.append(W)
    return by_round, np.column_stack(candidates)


def numeric_gradient(W, H, y, j, size=1e-6):
    """Return central differences of the loss in the coefficients of stump j."""
    gradient = np.empty(W.shape[1])
    for r in range(W.shape[1]):
        step = np.zeros_like(W)
        step[j, r] = size
        gradient[r] = (loss(H @ (W + step), y) - loss(H @ (W - step), y)) / (2 * size)
    return gradient


def minimum_of_bound(w, gradient, nu, norm):
    """Return the minimum of g (z - w) + |z - w|^2 / 4 + nu |z| and its z, by a generic method."""

    def bound(z):
        step = z - w
        return gradient @ step + step @ step / 4 + nu * (NORMS[norm](z) - NORMS[norm](w))

    options = {"xatol": 1e-6, "fatol": 1e-10, "maxiter": 2000}
    starts = (np.zeros_like(w), w - 2 * gradient)
    best = min(
        (minimize(bound, z, method="Nelder-Mead", options=options) for z in starts),
        key=lambda result: result.fun,
    )
    return (best.fun, best.x) if best.fun < bound(0 * w) else (bound(0 * w), 0 * w)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("n_classes", "nu"), [(2, 0.1), (3, 0.05)])
def test_rounds_equal_the_literal_algorithm(norm, n_classes, nu):
    X, y = noise(n_classes, n_samples=10, n_features=1, seed=2)
    model = GradBoost(n_iterations=5, nu=nu, norm=norm).fit(X, y)
    by_round, H = coefficients_by_round(model, X)
    assert len(by_round) > 4
    for t, (before, after) in enumerate(itertools.pairwise(by_round)):
        bounds = [
            minimum_of_bound(before[j], numeric_gradient(before, H, y, j), nu, norm)
            for j in range(len(before))
        ]
        chosen = int(np.flatnonzero((before != after).any(axis=1))[0])
        lowest = min(value for value, _ in bounds)
        assert bounds[chosen][0] == pytest.approx(lowest, abs=1e-6)
        np.testing.assert_allclose(after[chosen], bounds[chosen][1], atol=1e-4)
        fall = objective(before, H, y, nu, norm) - objective(after, H, y, nu, norm)
        assert fall >= -lowest - 1e-7
        assert model.objective_[t] == pytest.approx(objective(after, H, y, nu, norm), rel=1e-9)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("nu", [0.0, 1e-3, 1e-2])
@pytest.mark.parametrize("seed", range(4))
def test_selected_stump_has_the_lowest_bound(norm, nu, seed):
    """The largest dual norm often belongs to another stump if stumps and classes are many."""
    X, y = noise(5, n_samples=40, n_features=4, seed=seed)
    model = GradBoost(n_iterations=15, nu=nu, norm=norm).fit(X, y)
    by_round, H = coefficients_by_round(model, X)
    penalty = ROW_NORMS[norm]()
    for before, after in itertools.pairwise(by_round):
        _, gradient = smooth_loss(before, H, y)
        lowest = penalty.prox(before - 2 * gradient, 2 * nu)
        step = lowest - before
        change = (step * (gradient + step / 4)).sum(axis=1)
        change += nu * (penalty.evaluate(lowest) - penalty.evaluate(before))
        chosen = int(np.flatnonzero((before != after).any(axis=1))[0])
        assert change[chosen] == pytest.approx(change.min(), rel=1e-5)
        np.testing.assert_allclose(after[chosen], lowest[chosen], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("nu", [0.0, 1e-4, 1e-2, 5e-2])
@pytest.mark.parametrize("problem", [blobs, noise])
def test_objective_decreases_in_every_round(problem, nu, norm):
    X, y = problem(3, seed=1)
    model = GradBoost(n_iterations=200, nu=nu, norm=norm).fit(X, y)
    assert model.objective_[0] < math.log(3)
    assert (np.diff(model.objective_) < 1e-14).all()
    by_round, H = coefficients_by_round(model, X)
    assert model.objective_[-1] == pytest.approx(objective(by_round[-1], H, y, nu, norm), rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), H @ by_round[-1], atol=1e-9)


def smooth_loss(W, H, y):
    """Return the loss, computed with arrays, and its gradient."""
    is_label = np.eye(W.shape[1])[y]
    F = H @ W
    E = np.exp(F - F.max(axis=1, keepdims=True))
    P = E / E.sum(axis=1, keepdims=True)
    return -np.log(P[is_label > 0]).mean(), H.T @ (P - is_label) / len(y)


def solve_l2(H, y, n_classes, nu):
    """Solve by L-BFGS with |w| smoothed as sqrt(|w|^2 + c^2), for c towards 0."""
    shape = H.shape[1], n_classes
    z = np.zeros(shape).ravel()
    for corner in 10.0 ** -np.arange(1, 8):

        def rounded(z, corner=corner):
            W = z.reshape(shape)
            value, gradient = smooth_loss(W, H, y)
            lengths = np.sqrt((W * W).sum(axis=1) + corner**2)
            gradient = gradient + nu * W / lengths[:, None]
            return value + nu * lengths.sum(), gradient.ravel()

        options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10000}
        z = minimize(rounded, z, jac=True, method="L-BFGS-B", options=options).x
    return z.reshape(shape)


def solve_linf(H, y, n_classes, nu):
    """Solve by SLSQP with an additional variable per row, which bounds its entries."""
    shape = n_stumps, n_classes = H.shape[1], n_classes

    def linear(z):
        value, gradient = smooth_loss(z[n_stumps:].reshape(shape), H, y)
        sizes = np.full(n_stumps, nu)
        return value + nu * z[:n_stumps].sum(), np.concatenate([sizes, gradient.ravel()])

    of_row = np.repeat(np.eye(n_stumps), n_classes, axis=0)
    entries = np.eye(n_stumps * n_classes)
    A = np.block([[of_row, entries], [of_row, -entries]])
    optimum = minimize(
        linear,
        np.repeat([0.1, 0.0], [n_stumps, len(entries)]),
        jac=True,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: A @ z, "jac": lambda z: A},
        options={"ftol": 1e-12, "maxiter": 2000},
    )
    return optimum.x[n_stumps:].reshape(shape)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("n_classes", "nu"), [(2, 0.05), (3, 0.05), (3, 0.03)])
def test_rounds_converge_to_the_minimum_over_all_stumps(norm, n_classes, nu):
    X, y = noise(n_classes, n_samples=12, n_features=1, seed=0)
    model = GradBoost(n_iterations=20000, nu=nu, norm=norm).fit(X, y)
    assert model.n_iterations_ < 20000
    by_round, H = coefficients_by_round(model, X)
    solve = {"l2": solve_l2, "linf": solve_linf}[norm]
    expected = objective(solve(H, y, n_classes, nu), H, y, nu, norm)
    assert model.objective_[-1] == pytest.approx(expected, abs=1e-6)
    assert expected < math.log(n_classes) - 1e-3
    # The negative gradient at the minimum is a subgradient of the penalty.
    dual = {"l2": NORMS["l2"], "linf": lambda g: sum(map(abs, g))}[norm]
    for j, w in enumerate(by_round[-1]):
        g = numeric_gradient(by_round[-1], H, y, j)
        assert dual(g) <= nu + 1e-5
        assert -g @ w == pytest.approx(nu * NORMS[norm](w), abs=1e-5)
    assert model.n_hypotheses_ == by_round[-1].any(axis=1).sum() < len(by_round[-1])


def test_coefficients_of_a_stump_may_become_zero():
    X, y = noise(3, seed=0)
    model = GradBoost(n_iterations=1000, nu=0.03).fit(X, y)
    by_round, _ = coefficients_by_round(model, X)
    ever = np.any([W.any(axis=1) for W in by_round], axis=0)
    # The coefficients are sums over rounds, which cancel up to rounding errors.
    is_used = np.abs(by_round[-1]).max(axis=1) > 1e-12
    assert model.n_hypotheses_ == is_used.sum() < ever.sum()
    assert model.n_parameters_ == model.n_hypotheses_ * 5


@pytest.mark.parametrize("norm", NORMS)
def test_larger_penalty_selects_fewer_stumps(norm):
    X, y = blobs(4, seed=2)
    counts = [
        GradBoost(n_iterations=400, nu=nu, norm=norm).fit(X, y).n_hypotheses_
        for nu in (1e-1, 3e-2, 3e-3, 1e-3)
    ]
    assert counts == sorted(set(counts))
    nothing = GradBoost(nu=2.0, norm=norm).fit(X, y)
    assert nothing.n_iterations_ == nothing.n_hypotheses_ == 0
    assert (nothing.decision_function(X) == 0).all()


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_model_does_not_depend_on_single_precision(norm, monkeypatch):
    """Ties between new and earlier stumps do not depend on single precision."""
    X, y = blobs(4, n_samples=160, n_features=5, spread=2.0)
    X = X.round(1)
    models = []
    for many in (0, 2**60):
        monkeypatch.setattr("boostbench.core.stumps.search._MIN_FLOAT32_SUMS", many)
        models.append(GradBoost(n_iterations=300, nu=1e-4, norm=norm).fit(X, y))
    first, second = models
    for name in ("feature", "threshold"):
        np.testing.assert_array_equal(
            getattr(first.hypotheses_, name), getattr(second.hypotheses_, name)
        )
    np.testing.assert_allclose(first.coefficients_, second.coefficients_, rtol=0, atol=1e-12)
    assert first.n_hypotheses_ < 250


def test_stumps_are_distinct():
    rng = np.random.default_rng(0)
    X = rng.integers(7, size=(200, 2)).astype(float)
    y = rng.integers(3, size=200)
    model = GradBoost(n_iterations=2000, nu=1e-3).fit(X, y)
    stumps = set(zip(model.hypotheses_.feature, model.hypotheses_.threshold, strict=True))
    assert model.n_hypotheses_ <= len(stumps) <= 12
    by_round, H = coefficients_by_round(model, X)
    assert model.objective_[-1] == pytest.approx(objective(by_round[-1], H, y, 1e-3, "l2"))
