import numpy as np
import pytest

from boostbench.core.projection_bounds import margin_preservation, margin_separability
from boostbench.core.projections import random_matrix


@pytest.mark.parametrize(
    ("bound", "events"),
    [(margin_preservation, 3 * 50), (margin_separability, 2 * 50)],
    ids=["theorem 1", "theorem 2"],
)
def test_least_dimension_has_the_stated_probability(bound, events):
    """The proofs sum over 6 events per pair, each of probability exp(-n/2 (e^2/2 - e^3/3))."""
    epsilon, delta = 0.2, 0.1
    n, _ = bound(50, 3, margin=1.0, epsilon=epsilon, delta=delta)

    def failure(n):
        return 6 * events * np.exp(-n / 2 * (epsilon**2 / 2 - epsilon**3 / 3))

    assert failure(n) < delta < failure(n - 1)


@pytest.mark.parametrize("bound", [margin_preservation, margin_separability])
def test_small_distortions_keep_the_margin(bound):
    k = 8
    limit = {margin_preservation: 0.7, margin_separability: 0.7 / 4}[bound]
    margins = [bound(50, k, 0.7, epsilon, 0.1)[1] for epsilon in (1e-2, 1e-4, 1e-6)]
    assert abs(margins[2] - limit) < abs(margins[1] - limit) < abs(margins[0] - limit)
    assert margins[2] == pytest.approx(limit, abs=1e-5)


@pytest.mark.parametrize("bound", [margin_preservation, margin_separability])
@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"epsilon": 1.5}, {"delta": 0}, {"delta": 1}])
def test_bounds_raise_for_invalid_probability(bound, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be between 0 and 1"):
        bound(50, 3, **{"margin": 1, "epsilon": 0.1, "delta": 0.1, **wrong})


def test_projections_keep_margins_as_often_as_theorem_2_states():
    """The test counts the event that Lemma 1 bounds, for random vectors and q = R u."""
    rng = np.random.default_rng(0)
    epsilon, delta, n_samples, k, T = 0.3, 0.2, 20, 3, 15
    n, _ = margin_separability(n_samples, k, 1.0, epsilon, delta)
    u = rng.normal(size=k * T)
    z = rng.normal(size=(n_samples * (k - 1), k * T)) + 2 * u
    before = z @ u / np.linalg.norm(z, axis=1) / np.linalg.norm(u)
    R = random_matrix("gaussian", (n, k * T), rng) / np.sqrt(n)
    q, projected = R @ u, z @ R.T
    after = projected @ q / np.linalg.norm(projected, axis=1) / np.linalg.norm(q)
    assert (before > 0).all()
    assert (after >= 1 - (1 + epsilon) / (1 - epsilon) * (1 - before)).all()
