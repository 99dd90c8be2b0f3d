import highspy
import numpy as np
import pytest
from generic import soft_margin

from boostbench.algorithms import LPBoost

from . import reference
from .problems import blobs, noise


@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("C", [0.12, 0.2, 0.5, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_optimum_over_all_stumps_has_no_duality_gap(problem, C, seed):
    X, y = problem(2, seed=seed)
    model = LPBoost(n_iterations=1000, C=C).fit(X, y)
    assert 0 < model.n_iterations_ < 1000
    margins = reference.margins_of_all_stumps(X, y)
    assert model.objective_[-1] == pytest.approx(soft_margin(margins, C), abs=1e-5)
    F = model.decision_function(X)
    primal = model.coefficients_.sum() + C * np.maximum(0, 1 - (2 * y - 1) * F).sum()
    assert (margins @ model.dual_).max() <= 1 + 2e-6
    assert ((model.dual_ >= 0) & (model.dual_ <= C)).all()
    assert primal == pytest.approx(model.dual_.sum(), abs=1e-5)


def test_every_round_adds_the_most_violated_constraint():
    X, y = blobs(2, n_samples=30, n_features=2, seed=2)
    margins = reference.margins_of_all_stumps(X, y)
    model = LPBoost(C=0.2).fit(X, y)
    outputs = np.array(reference.stage_outputs(model, X)) * (2.0 * y - 1)
    for t in range(model.n_iterations_):
        dual = LPBoost(C=0.2, n_iterations=t).fit(X, y).dual_ if t else np.full(30, 0.2)
        assert outputs[t] @ dual == pytest.approx((margins @ dual).max(), abs=1e-6)


def test_C_below_one_sample_gives_an_empty_model():
    X, y = blobs(2)
    model = LPBoost(C=0.9 / len(y)).fit(X, y)
    assert model.n_iterations_ == 0
    assert (model.decision_function(X) == 0).all()


def test_cancelling_scores_are_ties():
    """Many margins are 0 if samples repeat and labels are random."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (150, 4)).astype(float), rng.integers(0, 2, 150)
    model = LPBoost(C=1.0).fit(X, y)
    scores = model.hypotheses_.outputs(X) @ model.coefficients_
    rounding = (scores != 0) & (np.abs(scores) < 1e-9)
    assert rounding.sum() > 20
    assert (model.decision_function(X)[rounding] == 0).all()
    *_, last = model.staged_predict(X)
    assert (last == model.predict(X)).all()


class TestPerceptrons:
    def test_each_round_solves_the_program_of_its_perceptrons(self):
        X, y = blobs(2, seed=2)
        model = LPBoost(C=0.3, weak_learner="perceptron", random_state=1).fit(X, y)
        margins = (model.hypotheses_.outputs(X) * (2.0 * y - 1)[:, None]).T
        for t in (1, 3, model.n_iterations_):
            theirs = soft_margin(margins[:t], 0.3)
            assert model.objective_[t - 1] == pytest.approx(theirs, abs=1e-6)

    def test_constant_features_give_an_empty_model(self):
        X, y = np.ones((10, 2)), np.arange(10) % 2
        assert LPBoost(weak_learner="perceptron").fit(X, y).n_iterations_ == 0

    def test_oblique_boundary_needs_fewer_perceptrons_than_stumps(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 2))
        y = (X.sum(axis=1) > 0).astype(int)
        train, test = slice(0, 150), slice(150, 300)
        stumps, perceptrons = (
            LPBoost(C=0.1, weak_learner=kind, random_state=0).fit(X[train], y[train])
            for kind in ("stump", "perceptron")
        )
        assert perceptrons.score(X[test], y[test]) > stumps.score(X[test], y[test])
        assert perceptrons.n_iterations_ < stumps.n_iterations_


def test_highs_failure_raises(monkeypatch):
    monkeypatch.setattr(
        highspy.Highs, "getModelStatus", lambda self: highspy.HighsModelStatus.kUnknown
    )
    with pytest.raises(RuntimeError, match="program of 1 weak learners was not solved: Unknown"):
        LPBoost().fit(*blobs(2))
