import numpy as np
import pytest

from boostbench.core.weak.wlda import fisher_direction


@pytest.mark.parametrize("seed", range(5))
def test_the_direction_maximises_fishers_ratio(seed):
    rng = np.random.default_rng(seed)
    root, difference = rng.normal(size=(6, 4)), rng.normal(size=4)
    within = root.T @ root

    def ratio(direction):
        return (direction @ difference) ** 2 / (direction @ within @ direction)

    best = fisher_direction(within, difference)
    assert best @ difference > 0
    assert all(ratio(best) >= ratio(rng.normal(size=4)) for _ in range(200))
    assert all(ratio(best) >= ratio(best + 0.01 * rng.normal(size=4)) for _ in range(50))


def test_stacks():
    rng = np.random.default_rng(0)
    roots, differences = rng.normal(size=(3, 5, 4)), rng.normal(size=(3, 4))
    within = roots.transpose(0, 2, 1) @ roots
    stacked = fisher_direction(within, differences)
    for one, matrix, difference in zip(stacked, within, differences, strict=True):
        np.testing.assert_allclose(one, np.linalg.solve(matrix, difference), rtol=1e-8)


def test_constant_features_get_no_weight():
    within = np.diag([2.0, 0.0, 1.0])
    assert fisher_direction(within, np.array([1.0, 5.0, 1.0])).tolist() == [0.5, 0.0, 1.0]
