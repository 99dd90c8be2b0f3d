import numpy as np
import pytest

from boostbench.algorithms import LsBoost
from boostbench.data.loading import load
from boostbench.data.sources import generators
from boostbench.util.configs import list_options, read_option

COVARIANCE = [[2.5, 1.5], [1.5, 1]]


def test_classes_have_their_mean_and_covariance():
    means = [[-3, 2], [3, 0]]
    X, y = generators.make_gaussians(means, COVARIANCE, samples_per_class=20_000)
    for label, mean in enumerate(means):
        samples = X[y == label]
        # Standard errors are below 0.02; a mean or covariance of another class is far off.
        np.testing.assert_allclose(samples.mean(axis=0), mean, atol=0.06)
        np.testing.assert_allclose(np.cov(samples.T), COVARIANCE, atol=0.12)


def test_classes_are_drawn_independently():
    X, y = generators.make_gaussians([[0, 0], [0, 0]], COVARIANCE)
    assert not np.allclose(X[y == 0], X[y == 1])


def test_covariance_must_be_positive_definite():
    with pytest.raises(ValueError, match="positive"):
        generators.make_gaussians([[0, 0]], [[1, 2], [2, 1]])


@pytest.mark.parametrize(
    "name", [n for n in list_options("data") if n.startswith(("synth", "diag"))]
)
def test_another_seed_gives_other_data(name):
    spec = read_option("data", name)
    assert load(spec).checksum == load(spec).checksum
    assert load(spec).checksum != load(spec | {"seed": 1}).checksum


def disc(radius):
    return np.pi * radius**2 / 16


#: Area of the inner class as a share of the square of side 4, calculated by hand.
SHARES = {
    # 2 + 0.84 sin(1.78 x) integrated from 0 to 4 is 8 + 0.84 (1 - cos 7.12) / 1.78.
    "sine": 1 - (8 + 0.84 * (1 - np.cos(7.12)) / 1.78) / 16,
    # A trapezium: the line meets y = 0 at x = 1.74 / 1.87, and y = 4 at x = 5.74 / 1.87.
    "linear": (1.74 + 5.74) / 1.87 / 2 / 4,
    "parity": 5 * disc(0.5),
    "annulus": disc(1.5) - disc(1.0),
    # The segment of a parabola of height 3 over a chord of 2 sqrt(3).
    "parabolic": 2 / 3 * 3 * 2 * np.sqrt(3) / 16,
    "disjunctive": 4 * (1.4**2 - 0.8**2) / 16,
    "checkerboard": 5 / 9,
}


@pytest.mark.parametrize("name", SHARES)
def test_patterns_have_their_area(name):
    X, y = generators.make_pattern(name)
    assert X.shape == (6561, 2)
    assert set(y.tolist()) == {-1, 1}
    # A point represents a square of side 0.05, but half a square at the edges of the pattern.
    assert (y > 0).mean() == pytest.approx(SHARES[name], abs=0.018)


def test_polynomial_pattern_equals_known_points():
    X, y = generators.make_pattern("polynomial")
    label = {tuple(x): s for x, s in zip(X.tolist(), y.tolist(), strict=True)}
    # The curve has the height 0.02 + 2 at x = 2, below 0.5 at x = 0, and above 4 at x = 4.
    assert label[2.0, 2.05] == 1
    assert label[2.0, 2.0] == -1
    assert label[0.0, 0.4] == -1
    assert label[0.0, 0.45] == 1
    assert label[4.0, 4.0] == -1


def test_polygons_of_the_disjunctive_pattern_are_turned():
    X, y = generators.make_pattern("disjunctive")
    label = {tuple(x): s for x, s in zip(X.tolist(), y.tolist(), strict=True)}
    # The notch of each of the four is elsewhere.
    assert [label[x] for x in [(1.3, 1.3), (0.7, 3.3), (2.7, 0.7), (3.3, 2.7)]] == [-1] * 4
    assert [label[x] for x in [(0.7, 0.7), (1.3, 2.7), (3.3, 1.3), (2.7, 3.3)]] == [1] * 4


@pytest.mark.parametrize("name", ["annulus", "disjunctive", "checkerboard"])
def test_stumps_do_not_learn_the_patterns(name):
    """The configuration follows RpBoost, Table 12.4."""
    X, y = generators.make_pattern(name)
    assert LsBoost(n_iterations=100).fit(X, y).score(X, y) < 0.9


def test_part_of_a_pattern_keeps_class_shares():
    X, y = generators.make_pattern("annulus")
    part, labels = generators.make_pattern("annulus", n_samples=1000, random_state=3)
    assert len(np.unique(part, axis=0)) == len(labels) == 1000
    assert (labels > 0).mean() == pytest.approx((y > 0).mean(), abs=5e-4)
    label = {tuple(x): s for x, s in zip(X.tolist(), y.tolist(), strict=True)}
    assert [label[tuple(x)] for x in part.tolist()] == labels.tolist()
    other, _ = generators.make_pattern("annulus", n_samples=1000, random_state=4)
    assert not np.array_equal(part, other)


def test_unknown_pattern_is_an_error():
    with pytest.raises(ValueError, match="no pattern 'spiral'; the patterns are sine, linear"):
        generators.make_pattern("spiral")


class TestBreimansData:
    def test_ringnorm(self):
        X, y = generators.make_ringnorm(40_000)
        wide, narrow = X[y == 1], X[y == -1]
        assert len(wide) == pytest.approx(20_000, abs=600)
        np.testing.assert_allclose(np.cov(wide.T), 4 * np.eye(20), atol=0.2)
        np.testing.assert_allclose(np.cov(narrow.T), np.eye(20), atol=0.05)
        np.testing.assert_allclose(wide.mean(axis=0), 0, atol=0.07)
        np.testing.assert_allclose(narrow.mean(axis=0), 2 / 20**0.5, atol=0.04)

    def test_twonorm(self):
        X, y = generators.make_twonorm(40_000)
        for sign in (-1, 1):
            np.testing.assert_allclose(np.cov(X[y == sign].T), np.eye(20), atol=0.05)
            np.testing.assert_allclose(X[y == sign].mean(axis=0), sign * 2 / 20**0.5, atol=0.04)

    def test_waveform(self):
        X, y = generators.make_waveform(60_000)
        assert np.mean(y == 1) == pytest.approx(1 / 3, abs=0.01)
        # Peaks of 6 at the points 7, 11 and 15, each halved on average; 2 of a wave 4 points aside.
        peaks = [6, 10, 14]
        assert X[y == 1].mean(axis=0)[peaks] == pytest.approx([4, 4, 1], abs=0.1)
        assert X[y == -1].mean(axis=0)[peaks] == pytest.approx([2, 3, 3.5], abs=0.1)

    @pytest.mark.parametrize(
        "make", [generators.make_ringnorm, generators.make_twonorm, generators.make_waveform]
    )
    def test_seed_determines_the_data(self, make):
        (X, y), (again, _) = make(50, random_state=3), make(50, random_state=3)
        assert (X == again).all()
        assert (X != make(50, random_state=4)[0]).any()
        assert set(y.tolist()) == {-1, 1}
