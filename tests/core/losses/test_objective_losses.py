import numpy as np
import pytest

from boostbench.core.losses.objective import get_loss

LOSSES = ["exponential", "logistic"]


def value(name, margin):
    return get_loss(name).value_and_dual(np.asarray(margin, dtype=float))[0]


def dual(name, margin):
    return get_loss(name).value_and_dual(np.asarray(margin, dtype=float))[1]


@pytest.mark.parametrize(
    ("name", "margin", "expected"),
    [
        ("exponential", 0.0, 1.0),
        ("exponential", 1.0, 0.36787944117144233),
        ("exponential", -2.0, 7.38905609893065),
        ("logistic", 0.0, 0.6931471805599453),
        ("logistic", 1.0, 0.31326168751822286),
        ("logistic", -1.0, 1.3132616875182228),
        ("logistic", -100.0, 100.0),
        ("logistic", 50.0, 1.9287498479639178e-22),
    ],
)
def test_values_equal_results_by_hand(name, margin, expected):
    assert value(name, [margin])[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", LOSSES)
def test_weights_multiply_the_loss_and_its_derivatives(name):
    weights = np.array([0.5, 3.0, 1e-3])
    margin = np.array([[0.3, -2.0, 1.5], [1.0, 4.0, -7.0]])
    plain, weighted = get_loss(name), get_loss(name, weights)
    value, dual = plain.value_and_dual(margin)
    for actual, expected in zip(weighted.value_and_dual(margin), (value, dual), strict=True):
        np.testing.assert_array_equal(actual, weights * expected)
    np.testing.assert_allclose(
        weighted.curvature(weights * dual), weights * plain.curvature(dual), rtol=1e-9
    )


@pytest.mark.parametrize("name", LOSSES)
def test_dual_and_curvature_equal_differences(name):
    margin, step = np.linspace(-6, 6, 101), 1e-5
    curvature = get_loss(name).curvature(dual(name, margin))
    for function, derivative in ((value, dual(name, margin)), (dual, curvature)):
        slope = (function(name, margin + step) - function(name, margin - step)) / (2 * step)
        np.testing.assert_allclose(derivative, -slope, rtol=1e-8)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_convex_and_decreasing(name):
    margin = np.linspace(-40, 40, 401)
    values = value(name, margin)
    assert (values > 0).all()
    assert (np.diff(values) < 0).all()
    slopes = np.diff(values)
    assert (np.diff(slopes) >= -1e-13 * np.abs(slopes[1:])).all()
    assert (np.diff(dual(name, margin)) <= 0).all()


def test_logistic_dual_is_a_probability():
    margin = np.linspace(-30, 30, 61)
    u = dual("logistic", margin)
    assert ((u > 0) & (u < 1)).all()
    np.testing.assert_allclose(u + dual("logistic", -margin), 1.0, rtol=1e-14)
    np.testing.assert_allclose(u, np.exp(-margin) / (1 + np.exp(-margin)), rtol=1e-13)


def test_exponential_loss_equals_its_dual():
    margin = np.linspace(-30, 30, 61)
    np.testing.assert_allclose(value("exponential", margin), np.exp(-margin), rtol=1e-14)
    np.testing.assert_allclose(dual("exponential", margin), np.exp(-margin), rtol=1e-14)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("size", [1e3, 1e6, 1e300])
def test_extreme_margins_stay_finite(name, size):
    low, zero, high = value(name, [-size, 0.0, size])
    assert low > zero > high >= 0
    assert np.isfinite(low)
    assert np.isfinite(dual(name, [-size, size])).all()
    assert dual(name, [size])[0] == 0.0


def test_logistic_loss_at_extreme_margins():
    assert value("logistic", [-1e3, 1e3]).tolist() == [1e3, 0.0]
    assert dual("logistic", [-1e3, 1e3]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("name", LOSSES)
def test_losses_keep_the_shape_and_do_not_modify_the_margins(name):
    margin = np.zeros((3, 4))
    margin.setflags(write=False)
    values, duals = get_loss(name).value_and_dual(margin)
    assert values.shape == duals.shape == (3, 4)
