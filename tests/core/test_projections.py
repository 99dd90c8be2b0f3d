import numpy as np
import pytest

from boostbench.core.projection_bounds import margin_preservation, margin_separability
from boostbench.core.projections import KINDS, random_matrix, random_orthonormal


@pytest.mark.parametrize("kind", KINDS)
def test_entries_have_mean_variance_and_independence(kind):
    matrix = random_matrix(kind, (400, 500), np.random.default_rng(0)).astype(float)
    assert matrix.mean() == pytest.approx(0, abs=0.01)
    assert matrix.var() == pytest.approx(1, abs=0.01)
    assert np.abs(np.corrcoef(matrix[:20]) - np.eye(20)).max() < 0.25
    assert np.abs(np.corrcoef(matrix[:, :20].T) - np.eye(20)).max() < 0.25


@pytest.mark.parametrize("kind", KINDS)
def test_projection_is_determined_by_the_generator(kind):
    first, repeated, other = (
        random_matrix(kind, (5, 2, 3), np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first.shape == (5, 2, 3)
    assert first.dtype == np.float32
    assert (first == repeated).all()
    assert (first != other).any()


def test_gaussian_entries_have_gaussian_tails():
    matrix = random_matrix("gaussian", (500, 1000), np.random.default_rng(0))
    for bound, share in [(1, 0.3173), (2, 0.0455), (3, 0.0027)]:
        assert (np.abs(matrix) > bound).mean() == pytest.approx(share, rel=0.1)


def test_sign_entries_are_plus_or_minus_one():
    matrix = random_matrix("sign", (100, 100), np.random.default_rng(0))
    assert set(matrix.ravel().tolist()) == {-1.0, 1.0}


def test_projections_preserve_distances():
    """Projections with the factor 1 / sqrt(n) nearly preserve lengths."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 30))
    for kind in KINDS:
        projected = points @ random_matrix(kind, (30, 4000), rng) / np.sqrt(4000)
        ratio = np.linalg.norm(projected, axis=1) / np.linalg.norm(points, axis=1)
        np.testing.assert_allclose(ratio, 1.0, atol=0.06)


def test_unknown_kind_error_lists_the_kinds():
    with pytest.raises(ValueError, match=r"gaussian.*sign.*sparse.*'cauchy'"):
        random_matrix("cauchy", (2, 2), np.random.default_rng(0))


def test_sparse_entries_have_three_values():
    matrix = random_matrix("sparse", (300, 300), np.random.default_rng(0)).astype(float)
    values, counts = np.unique(matrix.round(5), return_counts=True)
    np.testing.assert_allclose(values, [-(3**0.5), 0, 3**0.5], atol=1e-4)
    np.testing.assert_allclose(counts / matrix.size, [1 / 6, 2 / 3, 1 / 6], atol=0.01)


@pytest.mark.parametrize(("n_inputs", "n_outputs"), [(5, 2), (5, 5), (5, 10), (3, 7), (1, 2)])
def test_orthonormal_projections_have_orthonormal_columns(n_inputs, n_outputs):
    matrices = random_orthonormal((4, n_inputs, n_outputs), np.random.default_rng(0))
    assert matrices.shape == (4, n_inputs, n_outputs)
    for matrix in matrices:
        for start in range(0, n_outputs, n_inputs):
            basis = matrix[:, start : start + n_inputs]
            np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    assert n_inputs == 1 or not np.allclose(matrices[0], matrices[1])


def test_orthonormal_directions_are_uniform():
    """The mean of x x^T over uniform directions x is I / n."""
    first = random_orthonormal((20_000, 3, 1), np.random.default_rng(0))[:, :, 0]
    np.testing.assert_allclose(first.T @ first / len(first), np.eye(3) / 3, atol=0.01)


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
