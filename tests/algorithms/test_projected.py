import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostbench.algorithms import AdaBoostMH, ProjectedAdaBoostMH

from .problems import blobs


@parametrize_with_checks([ProjectedAdaBoostMH(n_iterations=12)])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


def test_it_is_adaboost_mh_on_the_projected_features():
    X, y = blobs(3, seed=5)
    projected = ProjectedAdaBoostMH(n_iterations=20, draw=4).fit(X, y)
    Z = X @ projected.projection_
    plain = AdaBoostMH(n_iterations=20).fit(Z, y)
    assert Z.shape == (len(X), 2)
    np.testing.assert_array_equal(projected.decision_function(X), plain.decision_function(Z))


def test_a_draw_is_a_projection():
    X, y = blobs(3, seed=5)
    first, again, other = (
        ProjectedAdaBoostMH(n_iterations=1, draw=draw).fit(X, y).projection_ for draw in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_unprojected_points_project_to_themselves():
    X, y = blobs(3, seed=5)
    model = ProjectedAdaBoostMH(n_iterations=1).fit(X, y)
    Z = np.random.default_rng(0).normal(size=(7, 2))
    np.testing.assert_allclose(model.project(model.unproject(Z)), Z)
