import numpy as np
import pytest

from boostbench.configs import names, read
from boostbench.data.load import load
from boostbench.data.toys import make_gaussians

COVARIANCE = [[2.5, 1.5], [1.5, 1]]


def test_classes_have_their_mean_and_covariance():
    means = [[-3, 2], [3, 0]]
    X, y = make_gaussians(means, COVARIANCE, samples_per_class=20_000)
    for label, mean in enumerate(means):
        samples = X[y == label]
        # Standard errors are below 0.02; a mean or covariance of another class is far off.
        np.testing.assert_allclose(samples.mean(axis=0), mean, atol=0.06)
        np.testing.assert_allclose(np.cov(samples.T), COVARIANCE, atol=0.12)


def test_classes_are_drawn_independently():
    X, y = make_gaussians([[0, 0], [0, 0]], COVARIANCE)
    assert not np.allclose(X[y == 0], X[y == 1])


def test_covariance_must_be_one():
    with pytest.raises(ValueError, match="positive"):
        make_gaussians([[0, 0]], [[1, 2], [2, 1]])


@pytest.mark.parametrize("name", [n for n in names("data") if n.startswith(("synth", "diag"))])
def test_another_seed_gives_other_data(name):
    spec = read("data", name)
    assert load(spec).checksum == load(spec).checksum
    assert load(spec).checksum != load(spec | {"seed": 1}).checksum
