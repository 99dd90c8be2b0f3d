import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from boostbench.core.losses.codeword import minimise_exponential_sum


@pytest.mark.parametrize("seed", range(20))
def test_step_equals_a_search_without_derivatives(seed):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=30) * (rng.random(30) < 0.8)
    slopes = rng.normal(size=30) * 10 ** rng.uniform(-3, 3) * (rng.random(30) < 0.9)
    scale = np.abs(slopes).max()

    def log_sum(a):
        return logsumexp(a * slopes / scale, b=weights)

    wanted = minimize_scalar(log_sum, bounds=(-24, 24), method="bounded", options={"xatol": 1e-9})
    step = minimise_exponential_sum(weights, slopes, 24.0)
    assert abs(step) * scale <= 24 * (1 + 1e-12)
    assert log_sum(step * scale) <= wanted.fun + 1e-9


def test_step_equals_the_closed_form_of_adaboost():
    for edge in (0.9, 0.1, -0.5, 1 - 1e-9):
        step = minimise_exponential_sum(np.array([1 + edge, 1 - edge]), np.array([-1.0, 1.0]), 24.0)
        assert step == pytest.approx(np.arctanh(edge), rel=1e-6)


@pytest.mark.parametrize("sign", [-1, 1])
def test_unbounded_step_stops_at_the_limit(sign):
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    slopes = sign * np.array([-4.0, -1.0, 7.0, 0.0])
    assert minimise_exponential_sum(weights, slopes, 24.0) == pytest.approx(sign * 6.0)


def test_zero_slope_gives_step_zero():
    assert minimise_exponential_sum(np.ones(3), np.zeros(3), 24.0) == 0.0
    assert minimise_exponential_sum(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 24.0) == 0.0


def test_weights_of_very_different_sizes():
    """The minimum is beyond the limit if a term is 200 decades below the other."""
    assert minimise_exponential_sum(np.array([1.0, 1e-200]), np.array([-1.0, 1.0]), 24.0) == 24.0
