"""Tests that boosters learn equal models from sparse and dense X."""

import numpy as np
import pytest
from scipy import sparse

from boostbench.algorithms import AdaBoostMO, MCBoost, MultiBoost, ProjectedAdaBoostMH

from .models import BINARY, CASES

MODELS = {
    name: model for name, model in CASES.items() if model.__sklearn_tags__().input_tags.sparse
} | {
    "AdaBoostMO": AdaBoostMO(n_iterations=5),
    "MCBoost, logistic, binned": MCBoost(n_iterations=15, loss="logistic", max_bins=4),
    "ProjectedAdaBoostMH": ProjectedAdaBoostMH(n_iterations=15),
}


def data(n_classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 8)) * (rng.random((150, 8)) < [1, 0.6, 0.6, 0.5, 0.5, 0.4, 0.3, 0])
    X[:, 1] = np.abs(X[:, 1])
    score = X @ rng.normal(size=8) + 0.3 * rng.normal(size=150)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_sparse_equals_dense(model):
    X, y = data(2 if isinstance(model, BINARY) else 3)
    # Equal weights would cause ties, which rounding decides.
    weights = np.random.default_rng(1).random(len(y))
    fits = [{"sample_weight": weights}, {"sample_weight": np.where(weights < 0.3, 0, weights)}]
    if not isinstance(model, AdaBoostMO):
        fits.append({})
    for fit in fits:
        expected = model.fit(X, y, **fit).decision_function(X)
        for form in (sparse.csr_array, sparse.csc_matrix):
            fitted = model.fit(form(X), y, **fit)
            np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-6)
            np.testing.assert_array_equal(fitted.predict(form(X)), fitted.predict(X))
            *_, staged = fitted.staged_decision_function(form(X))
            np.testing.assert_allclose(staged, expected, atol=1e-6)


def test_early_stopping_on_sparse_data():
    X, y = data(3)
    model = MCBoost(n_iterations=200, n_iter_no_change=5, random_state=0)
    rounds = [model.fit(form(X), y).n_iterations_ for form in (np.asarray, sparse.csr_array)]
    assert rounds[0] == rounds[1] < 200


@pytest.mark.parametrize("model", [MCBoost(weak_learner="tree"), MultiBoost()])
def test_dense_estimators_reject_sparse_data(model):
    X, y = data(3)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        model.fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_unsorted_and_duplicate_entries_are_not_modified(model):
    """The matrix is unsorted, has duplicate entries, and is read-only."""
    X, y = data(2 if isinstance(model, BINARY) else 3)
    X, y = X[:60], y[:60]
    form = sparse.csr_array(X)
    # The entries of the rows are in reverse order.
    data_, indices = (np.repeat(part, 2)[::-1] for part in (form.data / 2, form.indices))
    turned = sparse.csr_array((data_, indices, 2 * (form.nnz - form.indptr[::-1])), shape=X.shape)
    for part in (turned.data, turned.indices, turned.indptr):
        part.flags.writeable = False
    expected = model.fit(X[::-1], y).decision_function(X[::-1])
    scores = model.fit(turned, y).decision_function(turned)
    np.testing.assert_allclose(scores, expected, atol=1e-6)
