"""Tests of sample weights and class weights."""

import functools

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

import boostbench as bb

from .. import reference
from ..models import CASES, cases
from ..problems import blobs

# A few iterations suffice.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MODELS = {name: model for name, model in CASES.items() if not name.startswith("RBoostRank")}
MODELS |= {
    "ProjectedAdaBoostMH": bb.ProjectedAdaBoostMH(n_iterations=12),
    "LsBoost, penalty": bb.LsBoost(n_iterations=12, penalty=5.0),
    "LsBoostRegressor": bb.LsBoostRegressor(n_iterations=12),
    "CodewordBoosting": bb.CodewordBoosting(n_iterations=12, random_state=0),
    "StumpKernelSVC": bb.StumpKernelSVC(),
    "PerceptronKernelSVC": bb.PerceptronKernelSVC(),
    "FourierFeaturesSVC": bb.FourierFeaturesSVC(random_state=0),
}
# Class weights become sample weights before training, so that one model per class suffices.
CLASSIFIERS = {
    type(model).__name__: model
    for model in reversed(MODELS.values())
    if not isinstance(model, bb.LsBoostRegressor)
}

# A weight of two equals a repeated row only up to seven digits for these models. Their minimum is
# compared with SciPy instead.
INEXACT = {
    bb.ERLPBoost: "Newton's method ends near the minimum, where many coefficients are as good",
    bb.LPBoost: "a linear program may have many solutions, and which is found depends on the rows",
    bb.MultiBoost: "its solvers end near the minimum; with the hinge loss it is a linear program",
    bb.PerceptronKernelSVC: "LIBSVM ends near the minimum",
    bb.RBoostProj: "its quasi-Newton method ends where no derivative is more than 1e-5 off",
    bb.StumpKernelSVC: "LIBSVM ends near the minimum",
}
# These bags draw different rows if rows are repeated.
DRAWING = (
    bb.BaggedBooster,
    bb.BaggedLsBoostRegressor,
    bb.BaggedMCBoost,
    bb.BaggedQuantileRegressor,
)
# Solvers that start from zero take the same steps.
EXACT = {
    name: model
    for name, model in MODELS.items()
    if getattr(model, "start", "") == "zero" or not isinstance(model, tuple(INEXACT))
}
SOLVED = {
    name: model
    for name, model in MODELS.items()
    if name not in EXACT and "n_iterations" in model.get_params()
}


def scores(model, X):
    return getattr(model, "decision_function", model.predict)(X)


def draw(n_classes, seed=5):
    """Draw a problem with non-integer weights, so that ties are rare."""
    X, y = blobs(n_classes, seed=103)
    return X, y, np.random.default_rng(seed).uniform(0.5, 1.5, len(y))


def draw_small(n_classes, n_samples, **shape):
    """Draw a problem small enough for a generic solver, with weights of all sizes."""
    X, y = blobs(n_classes, n_samples=n_samples, **shape)
    return X, y, np.random.default_rng(0).uniform(0.2, 3.0, n_samples)


@functools.cache
def weighted_scores(model, n_classes):
    X, y, weights = draw(n_classes)
    return scores(clone(model).fit(X, y, sample_weight=weights), X)


def close(actual, expected, rtol=1e-7):
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def test_fit_signature_has_sample_weight():
    for model in CASES.values():
        is_ranking = type(model).__name__.startswith("RBoostRank")
        assert has_fit_parameter(model, "sample_weight") != is_ranking
        assert ("class_weight" in model.get_params()) != is_ranking
    assert not has_fit_parameter(bb.ReducedMCBoost, "sample_weight")
    assert "class_weight" not in bb.LsBoostRegressor().get_params()


def test_all_weighted_estimators_are_tested():
    exported = [getattr(bb, name) for name in bb.__all__]
    taking = {c for c in exported if isinstance(c, type) and has_fit_parameter(c, "sample_weight")}
    assert taking == {type(model) for model in MODELS.values()} | set(DRAWING)


@cases(MODELS)
def test_weight_zero_drops_the_sample(model, n_classes):
    X, y, weights = draw(n_classes)
    weights[::4] = 0.0
    present = weights > 0
    weighted = clone(model).fit(X, y, sample_weight=weights)
    without_sample = clone(model).fit(X[present], y[present], sample_weight=weights[present])
    assert (scores(weighted, X) == scores(without_sample, X)).all()


def fit_weighted_and_repeated(model, n_classes):
    """Return a model with integer weights, a model with repeated rows, and X."""
    X, y, weights = draw(n_classes)
    times = np.random.default_rng(6).integers(0, 4, len(y))
    weighted = clone(model).fit(X, y, sample_weight=times * weights)
    rows = np.repeat(np.arange(len(y)), times)
    return weighted, clone(model).fit(X[rows], y[rows], sample_weight=weights[rows]), X[times > 0]


@cases(EXACT)
def test_weight_two_equals_a_duplicated_sample(model, n_classes):
    # Weak learners with equal outputs on the samples may differ elsewhere.
    weighted, repeated, there = fit_weighted_and_repeated(model, n_classes)
    close(scores(weighted, there), scores(repeated, there))


@cases(SOLVED)
def test_weight_two_has_the_minimum_of_a_duplicated_sample(model, n_classes):
    first = clone(model).set_params(n_iterations=1)
    weighted, repeated, _ = fit_weighted_and_repeated(first, n_classes)
    close(weighted.objective_, repeated.objective_)


@cases(MODELS)
def test_unit_weights_change_nothing_and_other_weights_do(model, n_classes):
    X, y, _ = draw(n_classes)
    plain, unit = (
        scores(clone(model).fit(X, y, sample_weight=sample_weight), X)
        for sample_weight in (None, np.ones(len(y)))
    )
    close(unit, plain)
    assert np.abs(weighted_scores(model, n_classes) - plain).max() > 1e-3 * np.abs(plain).max()


@cases(MODELS)
def test_factor_of_all_weights_multiplies_the_loss(model, n_classes):
    """The factor multiplies C if the loss is a sum times C, and has no effect if it is a mean."""
    X, y, weights = draw(n_classes)
    params = model.get_params()
    if "C" in params and not isinstance(model, bb.NMBoost):
        other = clone(model).set_params(C=params["C"] / 4)
    elif "penalty" in params:
        other = clone(model).set_params(penalty=params["penalty"] * 4)
    elif isinstance(model, bb.MCBoost) and model.loss == "logistic":
        other = clone(model).set_params(nu=params["nu"] * 4)
    else:
        other = clone(model)
    scaled = other.fit(X, y, sample_weight=4 * weights)
    close(scores(scaled, X), weighted_scores(model, n_classes))


@cases(MODELS)
def test_weights_that_overflow_are_rejected(model, n_classes):
    X, y, weights = draw(n_classes)
    for index, value in ((0, 1e308), (slice(3), 1e308), (slice(None), 1e200), (5, 1e-200)):
        invalid = weights.copy()
        invalid[index] = value
        with pytest.raises(ValueError, match=r"must lie between 1e-100 and 1e\+100"):
            clone(model).fit(X, y, sample_weight=invalid)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("factor", [1e-20, 1e-3, 4.0, 1e25])
def test_factor_of_all_weights_does_not_change_a_bag(n_classes, factor):
    X, y, weights = draw(n_classes)
    bag = bb.BaggedMCBoost(n_iterations=20, n_estimators=4, random_state=0)
    usual = clone(bag).fit(X, y, sample_weight=weights)
    scaled = clone(bag).fit(X, y, sample_weight=factor * weights)
    assert scaled.n_iterations_ == usual.n_iterations_ > 0
    # The tolerance is for sample weights, which are in single precision.
    close(scores(scaled, X), scores(usual, X), 1e-4)


def test_model_without_rounds_warns():
    X, y, _ = draw(2)
    with pytest.warns(ConvergenceWarning, match="found no weak learner that lowers its loss"):
        bb.MCBoost().fit(np.ones_like(X), y)


@cases(CLASSIFIERS)
def test_balanced_classes(model, n_classes):
    X, y, _ = draw(n_classes)
    X, y = X[8:], np.where(np.arange(8, 45) % 3 == 0, 0, y[8:])
    by_class = compute_sample_weight("balanced", y)
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y)
    by_weights = clone(model).fit(X, y, sample_weight=by_class)
    close(scores(balanced, X), scores(by_weights, X))


@cases(CLASSIFIERS)
def test_class_weights_multiply_sample_weights(model, n_classes):
    X, y, weights = draw(n_classes)
    names = np.array(["b", "a", "c"])[y]
    classes = {"b": 0.5, "a": 3.0} | ({"c": 1.0} if n_classes == 3 else {})
    by_classes = clone(model).set_params(class_weight=classes).fit(X, names, sample_weight=weights)
    factors = np.array([0.5, 3.0, 1.0])[y]
    by_weights = clone(model).fit(X, names, sample_weight=factors * weights)
    close(scores(by_classes, X), scores(by_weights, X))


class TestBalanced:
    def test_balanced_weights_use_sample_weights(self):
        asked = bb.AdaBoost(n_iterations=5, class_weight="balanced")
        weighted, repeated, there = fit_weighted_and_repeated(asked, 2)
        close(scores(weighted, there), scores(repeated, there))

    def test_balanced_weights_ignore_classes_without_weight(self):
        X, y, _ = draw(3)
        model = bb.SAMME(n_iterations=5, class_weight="balanced")
        weighted = clone(model).fit(X, y, sample_weight=(y != 1).astype(float))
        assert weighted.classes_.tolist() == [0, 2]
        assert (weighted.predict(X) == clone(model).fit(X[y != 1], y[y != 1]).predict(X)).all()


class TestInvalidWeights:
    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (-np.ones(45), "Negative values in data passed to `sample_weight`"),
            # scikit-learn checks this from version 1.8 on.
            (np.zeros(45), "must contain at least one non-zero|All samples have the weight 0"),
            (np.ones(44), r"sample_weight.shape == \(44,\), expected \(45,\)"),
            (np.full(45, np.nan), "sample_weight contains NaN"),
            ((np.arange(45) == 3).astype(float), "y holds 2 classes, and sample_weight or class_"),
        ],
    )
    def test_weights(self, weights, message):
        X, y = blobs(2)
        with pytest.raises(ValueError, match=message):
            bb.AdaBoost().fit(X, y, sample_weight=weights)

    @pytest.mark.parametrize(
        ("class_weight", "message"),
        [
            ({0: 1.0, 1: -1.0}, "class_weight must not be negative"),
            ({0: np.nan, 1: 1.0}, "class_weight must not be negative or NaN"),
            ({0: 0.0, 1: 0.0}, "All samples have the weight 0"),
            ({0: 0.0, 1: 1.0}, "is 0 for all samples but those of 1"),
            ({0: 1.0, 7: 1.0}, r"classes, \[1\], are not in class_weight"),
            ("fair", "'class_weight' parameter of AdaBoost must be"),
        ],
    )
    def test_class_weights(self, class_weight, message):
        with pytest.raises(ValueError, match=message):
            bb.AdaBoost(class_weight=class_weight).fit(*blobs(2))

    @pytest.mark.parametrize(
        "model",
        [
            bb.AdaBoostMH(),
            bb.BaggedBooster(),
            bb.BaggedMCBoost(),
            bb.FourierFeaturesSVC(),
            bb.StumpKernelSVC(),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_zero_weights_of_all_classes_but_one_are_rejected(self, model):
        X, y = blobs(3)
        message = "y holds 3 classes, and sample_weight or class_weight is 0 .* those of 2"
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, sample_weight=1.0 * (y == 2))
        with pytest.raises(ValueError, match=r"1 class|at least 2 classes"):
            model.fit(X[y == 2], y[y == 2], sample_weight=np.arange(15.0))

    def test_weights_with_infinite_bounds_of_lpboost_are_rejected(self):
        X, y = blobs(2)
        with pytest.raises(ValueError, match=r"1e\+30, and HiGHS takes 1e\+20 for infinite"):
            bb.LPBoost().fit(X, y, sample_weight=np.geomspace(1.0, 1e30, 45))

    def test_warm_start_rejects_other_weights(self):
        X, y, weights = draw(3)
        model = bb.MultiBoost(n_iterations=5, warm_start=True).fit(X, y, sample_weight=weights)
        model.set_params(nu=1e-3).fit(X, y, sample_weight=weights)
        for other in (None, weights[::-1]):
            with pytest.raises(ValueError, match="which had other data"):
                model.fit(X, y, sample_weight=other)


def stumps(X):
    """Return the outputs of all stumps, of shape (n_samples, n_stumps)."""
    return np.unique(np.column_stack(reference.stump_outputs(X)), axis=1)


def pairwise(F, y):
    """Return the margins over all classes, (n_samples, n_classes), 0 for the true class."""
    return F[np.arange(len(y)), y][:, None] - F


LAMBDA = {"exponential": lambda rho: np.exp(-rho), "logistic": lambda rho: np.log1p(np.exp(-rho))}


def nonnegative(objective, n):
    """Minimise over nonnegative coefficients by SciPy, with numeric derivatives."""
    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(objective, np.full(n, 0.1), bounds=[(0, None)] * n, options=options)


class TestSciPyOptima:
    """Tests of weighted optima, with objectives written out sample by sample."""

    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    @pytest.mark.parametrize("nu", [1e-9, 0.1])
    def test_mcboost(self, loss, nu):
        X, y, weights = draw(3)
        model = bb.MCBoost(n_iterations=3, loss=loss, eta=1.0, nu=nu)
        model.fit(X, y, sample_weight=weights)
        before = np.zeros((len(y), 3))
        for h, w in zip(model.hypotheses_.outputs(X).T, model.coefficients_, strict=True):

            def objective(w, h=h, before=before):
                losses = weights @ LAMBDA[loss](pairwise(before + np.outer(h, w), y)).sum(axis=1)
                return (np.log(losses) if loss == "exponential" else losses) + nu * w.sum()

            best = nonnegative(objective, 3)
            assert objective(w) == pytest.approx(best.fun, abs=1e-7)
            before = before + np.outer(h, w)

    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    def test_multiboost(self, loss):
        X, y, weights = draw_small(3, 9, n_features=2)
        nu = 0.02
        H = stumps(X)
        H = np.column_stack([H, -H])

        def objective(W):
            losses = LAMBDA[loss](pairwise(H @ W.reshape(-1, 3), y)).mean(axis=1)
            return np.average(losses, weights=weights) + nu * W.sum()

        best = nonnegative(objective, 3 * H.shape[1])
        params = {"loss": loss, "nu": nu, "tol": 1e-4, "solver_iterations": 100}
        for solver in ("newton", "lbfgs"):
            model = bb.MultiBoost(300, solver=solver, **params).fit(X, y, sample_weight=weights)
            assert model.n_iterations_ < 300
            assert model.objective_[-1] == pytest.approx(best.fun, rel=1e-4)

    def test_multiboost_hinge(self):
        X, y, weights = draw_small(3, 20, n_features=2)
        nu = 0.02
        model = bb.MultiBoost(300, loss="hinge", nu=nu, tol=1e-6).fit(X, y, sample_weight=weights)
        H = stumps(X)
        # The variables are W of all stumps and classes, then the slacks of all pairs.
        sample, other = np.nonzero(y[:, None] != np.arange(3))
        eye = np.eye(3)
        signs = eye[y[sample]] - eye[other]
        margins = (H[sample][:, :, None] * signs[:, None, :]).reshape(len(sample), -1)
        cost = weights[sample] / (3 * weights.sum())
        best = linprog(
            np.concatenate([np.full(2 * margins.shape[1], nu), cost]),
            A_ub=np.hstack([-margins, margins, -np.eye(len(sample))]),
            b_ub=-np.ones(len(sample)),
        )
        # The terms r = y_i add the constant 1/3.
        assert model.objective_[-1] == pytest.approx(best.fun + 1 / 3, rel=1e-6)

    def test_lpboost(self):
        X, y, weights = draw_small(2, 30, n_features=2)
        model = bb.LPBoost(300, C=0.1).fit(X, y, sample_weight=weights)
        margins = (2.0 * y[:, None] - 1) * stumps(X)
        best = linprog(
            np.concatenate([np.ones(2 * margins.shape[1]), 0.1 * weights]),
            A_ub=np.hstack([-margins, margins, -np.eye(len(y))]),
            b_ub=-np.ones(len(y)),
        )
        assert model.objective_[-1] == pytest.approx(best.fun, rel=1e-6)
        assert (model.dual_ <= 0.1 * weights + 1e-12).all()

    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_cgens(self, loss):
        X, y, weights = draw(2)
        model = bb.CGENS(8, C=0.3, loss=loss, tol=1e-9).fit(X, y, sample_weight=weights)
        H, signs = model.hypotheses_.outputs(X), 2.0 * y - 1
        power = 2 if loss == "squared_hinge" else 1

        def objective(theta):
            hinge = np.maximum(1 - signs * (H @ theta[1:] + theta[0]), 0) ** power
            return theta[1:] @ theta[1:] / 2 + 0.3 * weights @ hinge

        value = objective(np.concatenate([model.intercepts_, model.coefficients_]))
        assert value == pytest.approx(model.objective_[-1], rel=1e-9)
        # Feasible dual variables with an equal objective prove the optimality.
        assert signs @ model.dual_ == pytest.approx(0, abs=1e-9)
        w = H.T @ (signs * model.dual_)
        if loss == "hinge":
            assert (model.dual_ <= 0.3 * weights + 1e-12).all()
            dual = model.dual_.sum() - w @ w / 2
        else:
            dual = model.dual_.sum() - w @ w / 2 - (model.dual_**2 / (4 * 0.3 * weights)).sum()
        assert dual == pytest.approx(value, rel=1e-6)

    def test_cgens_sls(self):
        X, y, weights = draw(3)
        model = bb.CGENSSLS(10, C=0.2).fit(X, y, sample_weight=weights)
        H = np.column_stack([np.ones(len(y)), model.hypotheses_.outputs(X)])
        ridge = np.diag([0.0] + [1.0] * 10)
        matrix = ridge + 0.2 * (H.T * weights) @ H
        W = np.linalg.solve(matrix, 0.2 * (H.T * weights) @ model.codewords_[y])
        close(model.decision_function(X), H @ W @ model.codewords_.T)
        close(list(model.staged_decision_function(X))[-1], model.decision_function(X))

    @pytest.mark.parametrize("penalty", [0.0, 7.0])
    def test_lsboost(self, penalty):
        X, y, weights = draw_small(2, 45, seed=103)
        model = bb.LsBoostRegressor(5, penalty=penalty).fit(X, y, sample_weight=weights)
        F = np.full(len(y), weights @ y / weights.sum())
        H = np.column_stack([np.ones(len(y)), stumps(X)])
        for h, step in zip(model.hypotheses_.outputs(X).T, model.coefficients_, strict=True):
            edges = (weights * (y - F)) @ H
            assert abs((weights * (y - F)) @ h) == pytest.approx(np.abs(edges).max())
            assert step * (weights.sum() + penalty) == pytest.approx((weights * (y - F)) @ h)
            F = F + step * h
        close(model.predict(X), F)

    @pytest.mark.parametrize("norm", ["l2", "linf"])
    def test_gradboost(self, norm):
        X, y, weights = draw_small(3, 20, n_features=2)
        model = bb.GradBoost(3000, nu=0.05, norm=norm).fit(X, y, sample_weight=weights)
        F = model.decision_function(X)
        losses = np.log(np.exp(-pairwise(F, y)).sum(axis=1))
        H = stumps(X)
        of = {h.tobytes(): column for column, h in enumerate(H.T)}
        W = np.zeros((H.shape[1], 3))
        for h, step in zip(model.hypotheses_.outputs(X).T, model.coefficients_, strict=True):
            sign = 1.0 if h.tobytes() in of else -1.0
            W[of[(sign * h).tobytes()]] += sign * step
        size = {
            "l2": lambda V: np.sqrt((V**2).sum(axis=1)),
            "linf": lambda V: np.abs(V).max(axis=1),
        }
        value = np.average(losses, weights=weights) + 0.05 * size[norm](W).sum()
        assert model.objective_[-1] == pytest.approx(value, rel=1e-6)
        # The dual norms of all slopes are at most nu, so that no stump decreases the objective.
        p = np.exp(-pairwise(F, y))
        p /= p.sum(axis=1, keepdims=True)
        slopes = H.T @ ((np.eye(3)[y] - p) * (weights / weights.sum())[:, None])
        dual = {"l2": size["l2"], "linf": lambda V: np.abs(V).sum(axis=1)}[norm]
        assert dual(slopes).max() <= 0.05 * (1 + 1e-2)

    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    def test_rboost_proj(self, loss):
        X, y, weights = draw(3)
        nu = 0.02
        model = bb.RBoostProj(6, n_projections=30, loss=loss, nu=nu, tol=0, random_state=0)
        model.fit(X, y, sample_weight=weights)
        H = model.hypotheses_.outputs(X)
        w = model.weight_path_[[5]].toarray().ravel()
        codes = model.coefficients_[w > 0] / w[w > 0][:, None]

        def objective(w_used):
            F = (H[:, w > 0] * w_used) @ codes
            losses = LAMBDA[loss](pairwise(F, y)).mean(axis=1)
            return np.average(losses, weights=weights) + nu * w_used.sum()

        assert objective(w[w > 0]) == pytest.approx(model.objective_[-1], rel=1e-5)
        assert nonnegative(objective, (w > 0).sum()).fun == pytest.approx(
            model.objective_[-1], rel=1e-4
        )

    def test_codewords(self):
        X, y, weights = draw(3)
        model = bb.CodewordMCBoost(6, random_state=0).fit(X, y, sample_weight=weights)
        losses = (np.exp(-0.5 * pairwise(model.decision_function(X), y))).sum(axis=1) - 1
        risk = np.average(losses, weights=weights)
        assert model.log_risks_[-1] == pytest.approx(np.log(risk))


@pytest.mark.parametrize("max_bins", [None, 8])
@pytest.mark.parametrize("kind", [bb.AdaBoostMH, bb.MCBoost])
def test_sparse_features(kind, max_bins):
    X, y, weights = draw(3)
    weights[::4] = 0.0
    X = np.where(X > 0, X, 0.0)
    model = kind(12, max_bins=max_bins, class_weight="balanced")
    dense = clone(model).fit(X, y, sample_weight=weights)
    actual = clone(model).fit(sparse.csr_array(X), y, sample_weight=weights)
    close(scores(actual, X), scores(dense, X), rtol=1e-5)
