import numpy as np
import pytest

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
    first, again, other = (
        random_matrix(kind, (5, 2, 3), np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first.shape == (5, 2, 3)
    assert first.dtype == np.float32
    assert (first == again).all()
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
