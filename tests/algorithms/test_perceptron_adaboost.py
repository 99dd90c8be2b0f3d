import numpy as np
import pytest

from boostbench.algorithms import PerceptronAdaBoost

from .problems import blobs


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
