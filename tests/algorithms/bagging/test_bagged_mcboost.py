import copy

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import make_blobs, make_gaussian_quantiles, make_hastie_10_2
from sklearn.linear_model import LogisticRegression

from boostbench import BaggedMCBoost, MCBoost
from boostbench.algorithms.bagging import stump_columns, stump_rounds
from boostbench.algorithms.bagging.joint_losses import LogisticLoss
from boostbench.algorithms.bagging.stump_rounds import JointStumpMaster
from boostbench.algorithms.base.early_stopping import log_losses
from boostbench.algorithms.base.probabilities import probabilities
from boostbench.algorithms.base.threads import Threads
from boostbench.core.stumps.feature_codes import FeatureCodes
from boostbench.core.stumps.views import identity_views

from ..problems import blobs, messy, mixed


def master(X, y, weights=None, n_members=3, signs=None, **params):
    """Return a training without early stopping; members do not see every fifth sample or so."""
    params = BaggedMCBoost(**{"patience": 10_000, "max_bins": 6} | params)
    params.classes_ = np.unique(y)
    loss = LogisticLoss(y, len(params.classes_))
    return bag_master_of(params, X, loss, weights, signs, unseen(len(y), n_members))


def bag_master_of(params, X, loss, weights, signs, parts):
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    views = getattr(X, "views", identity_views(X.shape[1]))
    table = FeatureCodes.from_features(getattr(X, "features", X), views, params.max_bins, weights)
    signs = np.zeros(len(views.feature), int) if signs is None else signs
    random_state, threads = np.random.RandomState(0), Threads(params.n_jobs)
    return JointStumpMaster(params, X, table, loss, parts.T, weights, random_state, signs, threads)


def unseen(n_samples, n_members=3):
    """Which samples a member of `master` does not see."""
    return np.random.default_rng(1).random((n_samples, n_members)) < 0.2


def seen_by(bag, member):
    return ~unseen(len(bag.scores))[:, member]


def train(training, rounds):
    for _ in range(rounds):
        found = training.generate()
        if found is None or not training.correct(found):
            break
    return training


def loss(scores, y, weights=1.0):
    """Eq. (14) of MCBoost, of two scores for two classes or of one."""
    if scores.shape[1] == 1:
        scores = np.hstack([0 * scores, scores])
        # Both classes have the margin of the one score; MCBoost's sum has it once for each sample.
    margins = scores[np.arange(len(y)), y][:, None] - scores
    terms = np.logaddexp(0.0, -margins)
    terms[np.arange(len(y)), y] = 0.0
    return (np.broadcast_to(weights, len(y)) * terms.sum(axis=1)).sum()


def columns(bag):
    """Return 1 where a sample is above the threshold of a stump: (n_samples, n_stumps)."""
    return (bag.X[:, bag.table.view] > bag.table.threshold).astype(float)


@pytest.mark.parametrize("block", [1, 2**18])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_round_is_what_the_definition_says(n_classes, block, monkeypatch):
    monkeypatch.setattr(stump_rounds, "_BLOCK_SIZE", block)
    X, y = blobs(n_classes, n_samples=300)
    bag = train(master(X, y, max_bins=None), 3)
    assert (len(bag.blocks) > 1) == (block == 1)
    before = bag.scores.astype(float)
    drawn = copy.deepcopy(bag).draw_columns()
    train(bag, 1)
    stumps = bag._stumps.start + drawn
    for m in range(3):
        seen = seen_by(bag, m)
        g, h = derivatives(before[:, m], y, seen)
        whole = (g.sum(axis=0) ** 2 / (h.sum(axis=0) + 1)).sum()
        move = np.zeros(before[:, m].shape)
        for j in range(X.shape[1]):
            assert bag.table.view[stumps[m, j]] == j
            above = X[:, j] > bag.table.threshold[stumps[m, j]]
            assert seen[above].any()
            assert seen[~above].any()
            steps = [g[s].sum(axis=0) / (h[s].sum(axis=0) + 1) for s in (~above, above)]
            gain = sum(
                (g[s].sum(axis=0) * v).sum() for s, v in zip((~above, above), steps, strict=True)
            )
            move += max(0.0, gain - whole) * np.where(above[:, None], *steps[::-1])
        move /= np.abs(move).max()
        # Newton's step along the sum, by differences of the loss.
        values = [loss(before[:, m] + a * move, y, seen) for a in (-1e-3, 0, 1e-3)]
        size = -(values[2] - values[0]) / 2e-3 / ((values[2] - 2 * values[1] + values[0]) / 1e-6)
        expected = before[:, m] + 0.4 * size * move
        np.testing.assert_allclose(bag.scores[:, m], expected, rtol=1e-3, atol=1e-4)


def derivatives(scores, y, weights):
    """Slopes down and curvatures of eq. (14) in each score of each sample, as written."""
    if scores.shape[1] == 1:
        sign = 2.0 * y[:, None] - 1
        dual = expit(-sign * scores)
        return weights[:, None] * sign * dual, weights[:, None] * dual * (1 - dual)
    own = np.eye(scores.shape[1])[y]
    dual = expit(scores - (scores * own).sum(axis=1, keepdims=True)) * (1 - own)
    slopes = own * dual.sum(axis=1, keepdims=True) - dual
    curvatures = dual * (1 - dual)
    curvatures += own * curvatures.sum(axis=1, keepdims=True)
    return weights[:, None] * slopes, weights[:, None] * curvatures


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_loss_of_every_member_falls_in_every_round(n_classes):
    X, y = blobs(n_classes, n_samples=150, spread=3.0)
    bag = master(X, y, max_bins=None)
    before = np.inf
    for _ in range(60):
        train(bag, 1)
        now = np.array([loss(bag.scores[:, m], y, seen_by(bag, m)) for m in range(3)])
        assert (now < before).all()
        before = now


def test_without_an_end_it_is_logistic_regression_on_all_stumps():
    X, y = blobs(2, n_samples=200, spread=4.0)
    bag = train(master(X, y, eta=0.5), 2000)
    above = columns(bag)
    for m in range(3):
        seen = seen_by(bag, m)
        best = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
        scores = best.fit(above[seen], y[seen]).decision_function(above)
        least = loss(scores[:, None], y, seen)
        assert least * (1 - 1e-6) < loss(bag.scores[:, m].astype(float), y, seen) < least * 1.001


def test_without_an_end_it_solves_the_program_of_many_classes():
    X, y = blobs(3, n_samples=120, spread=4.0)
    bag = train(master(X, y, eta=0.5, n_members=1, max_bins=4), 3000)
    seen = ~unseen(len(y), 1)[:, 0]
    A = np.hstack([np.ones((len(y), 1)), columns(bag)])[seen]
    own = np.eye(3)[y[seen]]

    def objective(w):
        scores = A @ w.reshape(-1, 3)
        dual = expit(scores - (scores * own).sum(axis=1, keepdims=True)) * (1 - own)
        gradient = A.T @ (dual - own * dual.sum(axis=1, keepdims=True))
        return loss(scores, y[seen]), gradient.ravel()

    solved = minimize(objective, np.zeros(3 * A.shape[1]), jac=True, options={"maxiter": 5000})
    found = loss(bag.scores[:, 0].astype(float), y, seen)
    assert solved.fun * (1 - 1e-5) < found < solved.fun * 1.002


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_score_is_the_mean_of_the_members(n_classes):
    X, y = blobs(n_classes, n_samples=90)
    bag = train(master(X, y, max_bins=None), 20)
    stumps, coefficients, intercept = bag.mean_model(bag.votes, bag.intercept)
    scores = (stumps.outputs(X) @ coefficients + intercept).reshape(len(X), -1)
    np.testing.assert_allclose(scores, bag.scores.mean(axis=1), atol=1e-4)
    assert len(np.unique(np.stack([stumps.feature, stumps.threshold]), axis=1).T) == len(stumps)


def trained(model, X, y, monkeypatch, **fit):
    """Fit; also return the scores of the members at the end of the best round."""
    scores, corrected = {}, JointStumpMaster.correct

    def correct(training, found):
        scores.setdefault(0, start(training))
        goes_on = corrected(training, found)
        scores[len(training.losses)] = start(training)
        return goes_on

    def start(training):
        return training.scores.astype(float)

    monkeypatch.setattr(JointStumpMaster, "correct", correct)
    model.fit(X, y, **fit)
    return scores[model.n_iterations_]


@pytest.mark.parametrize("max_bins", [64, 6, None])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_the_model_is_the_one_that_was_trained(n_classes, max_bins, seed, monkeypatch):
    """Whatever the numbers of thresholds of the columns."""
    X, y = mixed(n_classes, seed=seed)
    weights = None if seed % 2 else np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    model = BaggedMCBoost(n_estimators=5, max_bins=max_bins, random_state=seed)
    members = trained(model, X, y, monkeypatch, sample_weight=weights)
    assert model.n_iterations_ > 0
    scores = model.decision_function(X).reshape(len(X), -1)
    # Members add up their scores in single precision, one rounding a round.
    rounding = model.n_iterations_ * np.finfo(np.float32).eps * np.abs(members).max()
    np.testing.assert_allclose(scores, members.mean(axis=1), rtol=0, atol=rounding)
    # By Jensen's inequality.
    own = log_losses(np.squeeze(scores), y).mean()
    of_members = [log_losses(np.squeeze(members[:, m]), y).mean() for m in range(5)]
    assert own <= np.mean(of_members) + rounding


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_on_a_table_of_mixed_columns(seed):
    X, y = mixed(2, n_samples=1000, seed=seed)
    bag = BaggedMCBoost(random_state=seed).fit(X, y)
    # Members see three quarters of these samples, but none of those that the other loss is of.
    assert log_losses(bag.decision_function(X), y).mean() < bag.validation_losses_.min()
    share = y.mean()
    deviation = np.sqrt(share * (1 - share) / len(y))
    # The slope of the loss along a constant; what is left is far less than the share's own chance.
    assert bag.predict_proba(X)[:, 1].mean() == pytest.approx(share, abs=0.2 * deviation)


def test_members_draw_every_threshold_that_parts_what_they_see():
    X, y = mixed(2, n_samples=40)
    # Who does not see the first sample has nothing to draw here.
    X = np.column_stack([X, np.arange(40) > 0])
    bag = master(X, y, max_bins=8)
    stumps = np.column_stack([bag.table.view, bag.table.threshold])
    of_features = np.split(stumps, bag._stumps.start[1:])
    rounds = [bag.draw_columns() for _ in range(300)]
    train(bag, 100)
    for m in range(3):
        seen = X[seen_by(bag, m)]
        parts = {(j, t) for j, t in stumps if seen[:, int(j)].min() <= t < seen[:, int(j)].max()}
        varies = np.ptp(seen[:, bag._stumps.view], axis=0) > 0
        drawn = {
            tuple(of_feature[cut[m, j]])
            for cut in rounds
            for j, of_feature in enumerate(of_features)
            if varies[j]
        }
        assert drawn == parts
    assert not varies.all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_samples_are_scored_by_members_that_do_not_see_them(n_classes):
    X, y = blobs(n_classes, n_samples=60, spread=3.0)
    bag = train(master(X, y, np.arange(1.0, 61.0)), 7)
    total, weights = 0.0, 0.0
    for i in range(60):
        others = np.flatnonzero(unseen(60)[i])
        if len(others):
            scores = bag.scores[i, others].astype(float).mean(axis=0)[None]
            scores = scores[:, 0] if n_classes == 2 else scores
            total += (i + 1) * log_losses(scores, y[[i]])[0]
            weights += i + 1
    assert bag.losses[-1] == pytest.approx(total / weights, rel=1e-5)


def test_the_model_is_that_of_the_best_round():
    X, y = blobs(3, n_samples=150, spread=3.0)
    bag = BaggedMCBoost(patience=20, random_state=0).fit(X, y)
    losses = bag.validation_losses_
    assert len(losses) == bag.n_iterations_ + 20
    assert losses[bag.n_iterations_ - 1] <= losses.min() + 1e-4
    short = bag.decision_function(X)
    bag.set_params(n_iterations=bag.n_iterations_).fit(X, y)
    np.testing.assert_array_equal(bag.decision_function(X), short)


def test_it_is_one_sum_of_stumps():
    for n_classes in (2, 3):
        X, y = blobs(n_classes, n_samples=100)
        frame = pd.DataFrame(X, columns=list("abcd"))
        bag = BaggedMCBoost(random_state=0).fit(frame, np.array(["ant", "bee", "cat"])[y])
        scores = bag.decision_function(frame).reshape(len(X), -1)
        terms = bag.shape_functions().explain_local(frame).to_numpy()
        np.testing.assert_allclose(terms.reshape(*scores.shape, -1).sum(axis=2), scores, atol=1e-9)
        np.testing.assert_allclose(
            bag.predict_proba(frame), probabilities(bag.decision_function(frame)), atol=1e-12
        )
        assert bag.feature_importances_.sum() == pytest.approx(1)
        rules = bag.rules()
        assert set(rules["feature"].dropna()) <= {*"abcd", ""}
        assert len(rules) == len(bag.hypotheses_) + 1
        assert bag.n_parameters_ == (n_classes % 2 * 2 + 1) * (len(rules)) + 2 * (len(rules) - 1)


def weights_that_count(outputs, X, y, least):
    """Draw weights: 0 is no sample, and others change what a bag that is fitted to them gives."""
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    present = weights > 0
    found = outputs(X, y, weights)
    np.testing.assert_array_equal(found, outputs(X[present], y[present], weights[present]))
    assert np.abs(found - outputs(X[present], y[present])).max() > least
    return weights


def test_weights_of_samples():
    X, y = blobs(3, n_samples=100, spread=3.0)
    bag = BaggedMCBoost(n_estimators=4, random_state=0)
    weights = weights_that_count(lambda *data: bag.fit(*data).decision_function(X), X, y, 0.01)
    present = weights > 0
    # Twice a sample that the same members see: the weight 2.
    X, y, weights = X[present], y[present], weights[present].astype(float)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    parts, found = unseen(len(y)), []
    for some, own in [(np.arange(len(y)), weights), (twice, np.ones(len(twice)))]:
        params = BaggedMCBoost(max_bins=8)
        params.classes_ = np.unique(y)
        training = bag_master_of(params, X[some], LogisticLoss(y[some], 3), own, None, parts[some])
        train(training, 25)
        stumps, coefficients, intercept = training.mean_model(training.votes, training.intercept)
        found.append((stumps.outputs(X) @ coefficients + intercept, training.losses))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-3)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-3)


def test_class_weights_are_weights_of_samples():
    X, y = blobs(2, n_samples=80, spread=3.0)
    heavy = BaggedMCBoost(class_weight={0: 1, 1: 4}, random_state=0).fit(X, y)
    same = BaggedMCBoost(random_state=0).fit(X, y, np.where(y == 1, 4, 1))
    np.testing.assert_array_equal(heavy.decision_function(X), same.decision_function(X))


def test_it_starts_from_the_shares_of_the_classes():
    X, y = np.ones((60, 2)), np.repeat([0, 1, 2], [10, 20, 30])
    bag = BaggedMCBoost(random_state=0).fit(X, y)
    assert bag.n_iterations_ == 0
    np.testing.assert_allclose(bag.predict_proba(X[:1])[0], [1 / 6, 1 / 3, 1 / 2], atol=0.01)
    rare = make_blobs([1, 2, 40, 40], 3, random_state=0)
    assert BaggedMCBoost(random_state=0).fit(*rare).predict_proba(rare[0]).shape == (83, 4)


def test_shells_are_told_apart():
    """Sums of stumps -1 or +1 need a constant for that, which MCBoost's do not have."""
    for X, y, most in [
        (*make_hastie_10_2(2600, random_state=3), 0.13),
        (*make_gaussian_quantiles(n_samples=2600, n_features=5, n_classes=3, random_state=3), 0.2),
    ]:
        errors = [
            1 - bag.fit(X[:600], y[:600]).score(X[600:], y[600:])
            for bag in (BaggedMCBoost(n_estimators=5, random_state=0), MCBoost(n_iterations=500))
        ]
        assert errors[0] < most < errors[1]


def test_errors():
    X, y = blobs(2)
    for params in ({"eta": 0.0}, {"n_estimators": 0}, {"patience": 0}, {"max_bins": 1}):
        with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter of BaggedMCBoost"):
            BaggedMCBoost(**params).fit(X, y)
    with pytest.raises(ValueError, match="needs at least 2 classes"):
        BaggedMCBoost().fit(X, 0 * y)


def test_small_weights_are_weights():
    X, y = blobs(3, n_samples=150, spread=3.0)
    bag = BaggedMCBoost(random_state=0).fit(X, y, np.full(len(y), 2.0**-20))
    usual = BaggedMCBoost(random_state=0).fit(X, y, np.ones(len(y)))
    assert bag.n_iterations_ == usual.n_iterations_ > 0
    np.testing.assert_allclose(bag.decision_function(X), usual.decision_function(X), rtol=1e-4)


def test_too_few_samples_to_leave_some_out():
    with pytest.raises(ValueError, match="class of 2 samples or more: give more samples"):
        BaggedMCBoost().fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("n_classes", "params"),
    [(2, {}), (3, {}), (2, {"interactions": 2}), (2, {"monotonic_cst": {"number": 1}})],
)
def test_the_model_is_the_same_for_every_number_of_threads(n_classes, params, monkeypatch):
    X, y = messy(n_classes, n_samples=500)
    monkeypatch.setattr(stump_rounds, "_BLOCK_SIZE", 1)
    bag = BaggedMCBoost(n_iterations=30, n_estimators=4, random_state=0, **params)
    scores = bag.fit(X, y).decision_function(X)
    for n_jobs in (2, 3, -1):
        bag.set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(bag.decision_function(X), scores)


@pytest.mark.parametrize("samples_per_bin", [0, np.inf])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_bins", [8, None])
def test_a_table_is_trained_as_the_columns_of_its_views(
    n_classes, max_bins, samples_per_bin, monkeypatch
):
    """The draws are the same; scores differ by the rounding of sums in another order."""
    X, y = messy(n_classes, n_samples=250)
    bag = BaggedMCBoost(n_estimators=3, max_bins=max_bins, random_state=0, n_iterations=1)
    monkeypatch.setattr(stump_columns, "_SAMPLES_PER_BIN", samples_per_bin)
    scores = bag.fit(X, y).decision_function(X)
    Z = bag.views_.transform(bag.shape_functions().numbers(X))
    monkeypatch.setattr(stump_columns, "_SAMPLES_PER_BIN", np.inf)
    of_columns = BaggedMCBoost(**bag.get_params()).fit(Z, y)
    np.testing.assert_array_equal(of_columns.hypotheses_.feature, bag.hypotheses_.feature)
    np.testing.assert_array_equal(of_columns.hypotheses_.threshold, bag.hypotheses_.threshold)
    # A sum of n numbers in single precision is off by n 2^-24 of the sum of their sizes at most,
    # and a step is a quotient of two sums.
    rounding = 2 * len(X) * 2.0**-24 * np.abs(scores).max()
    np.testing.assert_allclose(of_columns.decision_function(Z), scores, rtol=0, atol=rounding)
