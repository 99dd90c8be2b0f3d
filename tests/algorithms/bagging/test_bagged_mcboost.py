import copy

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import make_blobs, make_gaussian_quantiles, make_hastie_10_2
from sklearn.linear_model import LogisticRegression

from boostbench import BaggedMCBoost, MCBoost
from boostbench.algorithms.bagging import bag_stumps, stump_rounds
from boostbench.algorithms.bagging.joint_losses import LogisticLoss
from boostbench.algorithms.bagging.jointly_bagged_stumps import Threads
from boostbench.algorithms.bagging.stump_rounds import JointStumpMaster
from boostbench.algorithms.base.decision_values import probabilities
from boostbench.algorithms.base.observers import log_losses
from boostbench.core.stumps.feature_codes import fit_feature_codes
from boostbench.core.stumps.views import identity_views

from ..problems import blobs, messy, mixed


def make_logistic_training(X, y, weights=None, n_members=3, signs=None, **params):
    """Return a training without early stopping; a fifth of the samples is out of each bag."""
    params = BaggedMCBoost(**{"patience": 10_000, "max_bins": 6} | params)
    params.classes_ = np.unique(y)
    loss = LogisticLoss(y, len(params.classes_))
    is_out_of_bag = draw_out_of_bag(len(y), n_members)
    return make_training(params, X, loss, weights, signs, is_out_of_bag)


def make_training(params, X, loss, weights, signs, is_out_of_bag):
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    views = getattr(X, "views", identity_views(X.shape[1]))
    table = fit_feature_codes(getattr(X, "features", X), views, params.max_bins, weights)
    signs = np.zeros(len(views.feature), int) if signs is None else signs
    rng, threads = np.random.RandomState(0), Threads(params.n_jobs)
    bags = is_out_of_bag.T
    return JointStumpMaster(params, X, table, loss, bags, weights, rng, signs, threads)


def draw_out_of_bag(n_samples, n_members=3):
    """Draw the samples that are out of each bag of `make_logistic_training`."""
    return np.random.default_rng(1).random((n_samples, n_members)) < 0.2


def bag_mask(bag, member):
    return ~draw_out_of_bag(len(bag.scores))[:, member]


def run_rounds(training, rounds):
    for _ in range(rounds):
        result = training.generate()
        if result is None or not training.correct(result):
            break
    return training


def logistic_loss(scores, y, weights=1.0):
    """Return eq. (14) of MCBoost, for one score or for one score per class."""
    if scores.shape[1] == 1:
        scores = np.hstack([0 * scores, scores])
    margins = scores[np.arange(len(y)), y][:, None] - scores
    terms = np.logaddexp(0.0, -margins)
    terms[np.arange(len(y)), y] = 0.0
    return (np.broadcast_to(weights, len(y)) * terms.sum(axis=1)).sum()


def above_thresholds(bag):
    """Return 1 where a sample is above the threshold of a stump: (n_samples, n_stumps)."""
    return (bag.X[:, bag.codes.view_of_stump] > bag.codes.threshold_of_stump).astype(float)


@pytest.mark.parametrize("block", [1, 2**18])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_round_equals_its_definition(n_classes, block, monkeypatch):
    monkeypatch.setattr(stump_rounds, "_BLOCK_SIZE", block)
    X, y = blobs(n_classes, n_samples=300)
    bag = run_rounds(make_logistic_training(X, y, max_bins=None), 3)
    assert (len(bag.blocks) > 1) == (block == 1)
    before = bag.scores.astype(float)
    drawn = copy.deepcopy(bag).draw_regions()
    run_rounds(bag, 1)
    stumps = bag._stumps.first_stump + drawn
    for m in range(3):
        is_in_bag = bag_mask(bag, m)
        g, h = derivatives(before[:, m], y, is_in_bag)
        undivided_gain = (g.sum(axis=0) ** 2 / (h.sum(axis=0) + 1)).sum()
        move = np.zeros(before[:, m].shape)
        for j in range(X.shape[1]):
            assert bag.codes.view_of_stump[stumps[m, j]] == j
            above = X[:, j] > bag.codes.threshold_of_stump[stumps[m, j]]
            assert is_in_bag[above].any()
            assert is_in_bag[~above].any()
            steps = [g[s].sum(axis=0) / (h[s].sum(axis=0) + 1) for s in (~above, above)]
            gain = sum(
                (g[s].sum(axis=0) * v).sum() for s, v in zip((~above, above), steps, strict=True)
            )
            move += max(0.0, gain - undivided_gain) * np.where(above[:, None], *steps[::-1])
        move /= np.abs(move).max()
        # Newton step along the sum, from finite differences of the loss.
        values = [logistic_loss(before[:, m] + a * move, y, is_in_bag) for a in (-1e-3, 0, 1e-3)]
        size = -(values[2] - values[0]) / 2e-3 / ((values[2] - 2 * values[1] + values[0]) / 1e-6)
        expected = before[:, m] + 0.4 * size * move
        np.testing.assert_allclose(bag.scores[:, m], expected, rtol=1e-3, atol=1e-4)


def derivatives(scores, y, weights):
    """Return the negative slopes and curvatures of eq. (14) in each score of each sample."""
    if scores.shape[1] == 1:
        sign = 2.0 * y[:, None] - 1
        dual = expit(-sign * scores)
        return weights[:, None] * sign * dual, weights[:, None] * dual * (1 - dual)
    is_own = np.eye(scores.shape[1])[y]
    dual = expit(scores - (scores * is_own).sum(axis=1, keepdims=True)) * (1 - is_own)
    slopes = is_own * dual.sum(axis=1, keepdims=True) - dual
    curvatures = dual * (1 - dual)
    curvatures += is_own * curvatures.sum(axis=1, keepdims=True)
    return weights[:, None] * slopes, weights[:, None] * curvatures


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_round_decreases_the_loss_of_every_member(n_classes):
    X, y = blobs(n_classes, n_samples=150, spread=3.0)
    bag = make_logistic_training(X, y, max_bins=None)
    before = np.inf
    for _ in range(60):
        run_rounds(bag, 1)
        after = np.array([logistic_loss(bag.scores[:, m], y, bag_mask(bag, m)) for m in range(3)])
        assert (after < before).all()
        before = after


def test_many_rounds_converge_to_logistic_regression_on_all_stumps():
    X, y = blobs(2, n_samples=200, spread=4.0)
    bag = run_rounds(make_logistic_training(X, y, eta=0.5), 2000)
    above = above_thresholds(bag)
    for m in range(3):
        is_in_bag = bag_mask(bag, m)
        regression = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
        scores = regression.fit(above[is_in_bag], y[is_in_bag]).decision_function(above)
        min_loss = logistic_loss(scores[:, None], y, is_in_bag)
        member_loss = logistic_loss(bag.scores[:, m].astype(float), y, is_in_bag)
        assert min_loss * (1 - 1e-6) < member_loss < min_loss * 1.001


def test_many_rounds_converge_to_the_multiclass_optimum():
    X, y = blobs(3, n_samples=120, spread=4.0)
    bag = run_rounds(make_logistic_training(X, y, eta=0.5, n_members=1, max_bins=4), 3000)
    is_in_bag = ~draw_out_of_bag(len(y), 1)[:, 0]
    A = np.hstack([np.ones((len(y), 1)), above_thresholds(bag)])[is_in_bag]
    is_own = np.eye(3)[y[is_in_bag]]

    def objective(w):
        scores = A @ w.reshape(-1, 3)
        dual = expit(scores - (scores * is_own).sum(axis=1, keepdims=True)) * (1 - is_own)
        gradient = A.T @ (dual - is_own * dual.sum(axis=1, keepdims=True))
        return logistic_loss(scores, y[is_in_bag]), gradient.ravel()

    solved = minimize(objective, np.zeros(3 * A.shape[1]), jac=True, options={"maxiter": 5000})
    result = logistic_loss(bag.scores[:, 0].astype(float), y, is_in_bag)
    assert solved.fun * (1 - 1e-5) < result < solved.fun * 1.002


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stump_sum_scores_equal_the_mean_of_the_members(n_classes):
    X, y = blobs(n_classes, n_samples=90)
    bag = run_rounds(make_logistic_training(X, y, max_bins=None), 20)
    stumps, coefficients, intercept = bag.build_stump_sum(bag.votes, bag.intercept)
    scores = (stumps.outputs(X) @ coefficients + intercept).reshape(len(X), -1)
    np.testing.assert_allclose(scores, bag.scores.mean(axis=1), atol=1e-4)
    assert len(np.unique(np.stack([stumps.feature, stumps.threshold]), axis=1).T) == len(stumps)


def fit_and_record_members(model, X, y, monkeypatch, **fit):
    """Fit the model, and return the members' scores after the best round."""
    scores, corrected = {}, JointStumpMaster.correct

    def correct(training, result):
        scores.setdefault(0, start(training))
        is_improving = corrected(training, result)
        scores[len(training.losses)] = start(training)
        return is_improving

    def start(training):
        return training.scores.astype(float)

    monkeypatch.setattr(JointStumpMaster, "correct", correct)
    model.fit(X, y, **fit)
    return scores[model.n_iterations_]


@pytest.mark.parametrize("max_bins", [64, 6, None])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_model_scores_equal_the_members_mean_after_the_best_round(
    n_classes, max_bins, seed, monkeypatch
):
    X, y = mixed(n_classes, seed=seed)
    weights = None if seed % 2 else np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    model = BaggedMCBoost(n_estimators=5, max_bins=max_bins, random_state=seed)
    members = fit_and_record_members(model, X, y, monkeypatch, sample_weight=weights)
    assert model.n_iterations_ > 0
    scores = model.decision_function(X).reshape(len(X), -1)
    # Members add up their scores in single precision, one rounding a round.
    rounding = model.n_iterations_ * np.finfo(np.float32).eps * np.abs(members).max()
    np.testing.assert_allclose(scores, members.mean(axis=1), rtol=0, atol=rounding)
    # Jensen's inequality for the convex loss.
    bag_loss = log_losses(np.squeeze(scores), y).mean()
    member_losses = [log_losses(np.squeeze(members[:, m]), y).mean() for m in range(5)]
    assert bag_loss <= np.mean(member_losses) + rounding


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_calibrated_on_mixed_columns(seed):
    X, y = mixed(2, n_samples=1000, seed=seed)
    bag = BaggedMCBoost(random_state=seed).fit(X, y)
    # Three quarters of these samples are in each bag; the validation loss is out-of-bag.
    assert log_losses(bag.decision_function(X), y).mean() < bag.validation_losses_.min()
    share = y.mean()
    deviation = np.sqrt(share * (1 - share) / len(y))
    # The mean probability equals the class frequency at the optimum. The remaining difference is
    # far smaller than the frequency's standard deviation.
    assert bag.predict_proba(X)[:, 1].mean() == pytest.approx(share, abs=0.2 * deviation)


def test_members_draw_exactly_the_thresholds_that_divide_their_bag():
    X, y = mixed(2, n_samples=40)
    # This column has no admissible threshold for a member whose bag lacks the first sample.
    X = np.column_stack([X, np.arange(40) > 0])
    bag = make_logistic_training(X, y, max_bins=8)
    stumps = np.column_stack([bag.codes.view_of_stump, bag.codes.threshold_of_stump])
    feature_stumps = np.split(stumps, bag._stumps.first_stump[1:])
    rounds = [bag.draw_regions() for _ in range(300)]
    run_rounds(bag, 100)
    for m in range(3):
        bag_rows = X[bag_mask(bag, m)]
        admissible = {
            (j, t) for j, t in stumps if bag_rows[:, int(j)].min() <= t < bag_rows[:, int(j)].max()
        }
        varies = np.ptp(bag_rows[:, bag._stumps.view], axis=0) > 0
        drawn = {
            tuple(stumps_of_feature[cut[m, j]])
            for cut in rounds
            for j, stumps_of_feature in enumerate(feature_stumps)
            if varies[j]
        }
        assert drawn == admissible
    assert not varies.all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_out_of_bag_loss_uses_members_whose_bag_lacks_the_sample(n_classes):
    X, y = blobs(n_classes, n_samples=60, spread=3.0)
    bag = run_rounds(make_logistic_training(X, y, np.arange(1.0, 61.0)), 7)
    total, weights = 0.0, 0.0
    for i in range(60):
        members = np.flatnonzero(draw_out_of_bag(60)[i])
        if len(members):
            scores = bag.scores[i, members].astype(float).mean(axis=0)[None]
            scores = scores[:, 0] if n_classes == 2 else scores
            total += (i + 1) * log_losses(scores, y[[i]])[0]
            weights += i + 1
    assert bag.losses[-1] == pytest.approx(total / weights, rel=1e-5)


def test_model_is_taken_from_the_best_round():
    X, y = blobs(3, n_samples=150, spread=3.0)
    bag = BaggedMCBoost(patience=20, random_state=0).fit(X, y)
    losses = bag.validation_losses_
    assert len(losses) == bag.n_iterations_ + 20
    assert losses[bag.n_iterations_ - 1] <= losses.min() + 1e-4
    scores = bag.decision_function(X)
    bag.set_params(n_iterations=bag.n_iterations_).fit(X, y)
    np.testing.assert_array_equal(bag.decision_function(X), scores)


def test_shape_functions_and_rules_add_up_to_the_scores():
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
        assert rules["feature"][0] == "intercept"
        assert set(rules["feature"][1:]) <= {*"abcd"}
        assert np.isnan(rules["threshold"][0])
        assert len(rules) == len(bag.hypotheses_) + 1
        assert bag.n_parameters_ == (n_classes % 2 * 2 + 1) * (len(rules)) + 2 * (len(rules) - 1)


def check_sample_weights(outputs, X, y, min_loss):
    """Check that weight 0 removes a sample and that other weights change the outputs."""
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    present = weights > 0
    result = outputs(X, y, weights)
    np.testing.assert_array_equal(result, outputs(X[present], y[present], weights[present]))
    assert np.abs(result - outputs(X[present], y[present])).max() > min_loss
    return weights


def test_sample_weights_equal_repeated_samples():
    X, y = blobs(3, n_samples=100, spread=3.0)
    bag = BaggedMCBoost(n_estimators=4, random_state=0)
    weights = check_sample_weights(lambda *data: bag.fit(*data).decision_function(X), X, y, 0.01)
    present = weights > 0
    # A sample that is repeated in the same bags equals a sample of weight 2.
    X, y, weights = X[present], y[present], weights[present].astype(float)
    repeated_rows = np.repeat(np.arange(len(y)), weights.astype(int))
    is_out_of_bag, results = draw_out_of_bag(len(y)), []
    for rows, row_weights in [
        (np.arange(len(y)), weights),
        (repeated_rows, np.ones(len(repeated_rows))),
    ]:
        params = BaggedMCBoost(max_bins=8)
        params.classes_ = np.unique(y)
        training = make_training(
            params, X[rows], LogisticLoss(y[rows], 3), row_weights, None, is_out_of_bag[rows]
        )
        run_rounds(training, 25)
        stumps, coefficients, intercept = training.build_stump_sum(
            training.votes, training.intercept
        )
        results.append((stumps.outputs(X) @ coefficients + intercept, training.losses))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-3)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-3)


def test_class_weights_equal_sample_weights():
    X, y = blobs(2, n_samples=80, spread=3.0)
    weighted = BaggedMCBoost(class_weight={0: 1, 1: 4}, random_state=0).fit(X, y)
    expected = BaggedMCBoost(random_state=0).fit(X, y, np.where(y == 1, 4, 1))
    np.testing.assert_array_equal(weighted.decision_function(X), expected.decision_function(X))


def test_initial_scores_are_the_class_frequencies():
    X, y = np.ones((60, 2)), np.repeat([0, 1, 2], [10, 20, 30])
    bag = BaggedMCBoost(random_state=0).fit(X, y)
    assert bag.n_iterations_ == 0
    np.testing.assert_allclose(bag.predict_proba(X[:1])[0], [1 / 6, 1 / 3, 1 / 2], atol=0.01)
    X, y = make_blobs([1, 2, 40, 40], 3, random_state=0)
    assert BaggedMCBoost(random_state=0).fit(X, y).predict_proba(X).shape == (83, 4)


def test_bag_separates_concentric_shells():
    """Constants beside the stumps are needed for shells; MCBoost does not have them."""
    for X, y, max_error in [
        (*make_hastie_10_2(2600, random_state=3), 0.13),
        (*make_gaussian_quantiles(n_samples=2600, n_features=5, n_classes=3, random_state=3), 0.2),
    ]:
        errors = [
            1 - bag.fit(X[:600], y[:600]).score(X[600:], y[600:])
            for bag in (BaggedMCBoost(n_estimators=5, random_state=0), MCBoost(n_iterations=500))
        ]
        assert errors[0] < max_error < errors[1]


def test_invalid_parameters_are_rejected():
    X, y = blobs(2)
    for params in ({"eta": 0.0}, {"n_estimators": 0}, {"patience": 0}, {"max_bins": 1}):
        with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter of BaggedMCBoost"):
            BaggedMCBoost(**params).fit(X, y)
    with pytest.raises(ValueError, match="needs at least 2 classes"):
        BaggedMCBoost().fit(X, 0 * y)


def test_small_weights_train_the_same_model():
    X, y = blobs(3, n_samples=150, spread=3.0)
    bag = BaggedMCBoost(random_state=0).fit(X, y, np.full(len(y), 2.0**-20))
    reference = BaggedMCBoost(random_state=0).fit(X, y, np.ones(len(y)))
    assert bag.n_iterations_ == reference.n_iterations_ > 0
    np.testing.assert_allclose(bag.decision_function(X), reference.decision_function(X), rtol=1e-4)


def test_too_few_samples_are_rejected():
    with pytest.raises(ValueError, match="class of 2 samples or more: give more samples"):
        BaggedMCBoost().fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("n_classes", "params"),
    [(2, {}), (3, {}), (2, {"interactions": 2}), (2, {"monotonic_cst": {"number": 1}})],
)
def test_n_jobs_does_not_change_the_model(n_classes, params, monkeypatch):
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
def test_training_on_a_table_equals_training_on_its_views(
    n_classes, max_bins, samples_per_bin, monkeypatch
):
    """The draws are equal; scores differ by rounding, because the order of sums differs."""
    X, y = messy(n_classes, n_samples=250)
    bag = BaggedMCBoost(n_estimators=3, max_bins=max_bins, random_state=0, n_iterations=1)
    monkeypatch.setattr(bag_stumps, "_SAMPLES_PER_BIN", samples_per_bin)
    scores = bag.fit(X, y).decision_function(X)
    Z = bag.views_.transform(bag.shape_functions().numbers(X))
    monkeypatch.setattr(bag_stumps, "_SAMPLES_PER_BIN", np.inf)
    view_model = BaggedMCBoost(**bag.get_params()).fit(Z, y)
    np.testing.assert_array_equal(view_model.hypotheses_.feature, bag.hypotheses_.feature)
    np.testing.assert_array_equal(view_model.hypotheses_.threshold, bag.hypotheses_.threshold)
    # A sum of n numbers in single precision is off by n 2^-24 of the sum of their sizes at most,
    # and a step is a quotient of two sums.
    rounding = 2 * len(X) * 2.0**-24 * np.abs(scores).max()
    np.testing.assert_allclose(view_model.decision_function(Z), scores, rtol=0, atol=rounding)
