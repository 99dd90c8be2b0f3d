import numpy as np
import pytest

from boostbench.core.weak.base import Stack, midpoint


class Powers(Stack):
    """x, x^2, x^3, each times every number of a vector."""

    def __init__(self, factors):
        self.factors = np.asarray(factors)

    def __len__(self):
        return 3

    def outputs(self, X, some=slice(None)):
        powers = X ** np.arange(1, 4)[some]
        return np.multiply.outer(self.factors, powers).transpose(1, 0, 2)


@pytest.mark.parametrize("some", [slice(None), slice(1, 3), slice(0, 0)])
def test_scores_add_up_the_outputs_of_some(some):
    X, coefficients = np.array([[1.0], [2.0]]), np.array([1.0, 10.0, 100.0])
    wanted = [
        [f * sum(c * x**p for p, c in list(enumerate(coefficients, 1))[some]) for f in (1, -1)]
        for x in (1.0, 2.0)
    ]
    assert Powers([1, -1]).scores(X, coefficients, some).tolist() == wanted


@pytest.mark.parametrize("low", [-1.7e308, -5e-324, 0.0, 1.0, 1.7e308])
def test_a_midpoint_parts_neighbouring_doubles(low):
    high = np.nextafter(low, np.inf)
    assert low <= midpoint(low, high) < high
