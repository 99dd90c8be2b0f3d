import numpy as np
import pytest

from boostbench.core.weak import coded_discriminants
from boostbench.core.weak.coded_discriminants import CodedDiscriminants

from . import reference


def drawn(seed, n_classes=3, n_codes=6, n_samples=25, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * [1, 5, 0.2, 3, 1][:n_features] + 1
    weights = rng.normal(size=(n_samples, n_classes))
    codes = rng.normal(size=(n_codes, n_classes)).astype(np.float32)
    violation = 5 * rng.normal(size=n_codes).astype(np.float32)
    return X, weights, codes, violation


def signed_weights(weights, code):
    return np.array([sum(g * p for g, p in zip(row, code, strict=True)) for row in weights])


def discriminant(X, signed):
    """``(S1 + S2)^-1 (mu1 - mu2)`` from the weighted means and covariances of the two sides."""
    means, covariances = [], []
    for side in (signed > 0, signed < 0):
        size = np.abs(signed[side])
        means.append(np.average(X[side], axis=0, weights=size))
        covariances.append(np.cov(X[side].T, aweights=size, ddof=0))
    return np.linalg.pinv(sum(covariances), rcond=1e-10) @ (means[0] - means[1])


def largest(X, weights, codes, violation):
    """Eq. (24) over the stumps on the discriminants of all codes, and the code it is reached at."""
    scores = []
    for v, code in enumerate(codes):
        signed = signed_weights(weights, code)
        line = (X @ discriminant(X, signed))[:, None]
        edges = [abs(reference.edge(line, signed, *stump)) for stump in reference.stumps(line)]
        scores.append(violation[v] + max(edges))
    return max(scores), int(np.argmax(scores))


@pytest.mark.parametrize("n_features", [2, 3, 5])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_most_violated(seed, n_classes, n_features):
    X, weights, codes, violation = drawn(seed, n_classes, n_features=n_features)
    perceptron = CodedDiscriminants(X).most_violated(weights, codes, violation)
    wanted, v = largest(X, weights, codes, violation)
    assert violation[v] + signed_weights(weights, codes[v]) @ perceptron(X) == pytest.approx(wanted)
    direction = discriminant(X, signed_weights(weights, codes[v]))
    cosine = direction @ perceptron.direction / np.linalg.norm(direction)
    assert abs(cosine) == pytest.approx(np.linalg.norm(perceptron.direction))


@pytest.mark.parametrize("seed", range(4))
def test_best_for_one_code(seed):
    X, weights, codes, _ = drawn(seed)
    h = CodedDiscriminants(X).best(weights, codes[0])(X)
    wanted, _ = largest(X, weights, codes[:1], np.zeros(1))
    assert signed_weights(weights, codes[0]) @ h == pytest.approx(wanted)


@pytest.mark.parametrize("sizes", [(1, 10**6, 10**6), (5, 1, 0), (3, 60, 0), (50, 10**6, 0)])
@pytest.mark.parametrize("seed", range(3))
def test_blocks_do_not_matter(seed, sizes, monkeypatch):
    X, weights, codes, violation = drawn(seed, n_codes=40)
    whole = CodedDiscriminants(X).most_violated(weights, codes, violation)
    for name, size in zip(
        ("_BLOCK_CODES", "_PRODUCT_VALUES", "_MOST_KEPT_VALUES"), sizes, strict=True
    ):
        monkeypatch.setattr(coded_discriminants, name, size)
    parts = CodedDiscriminants(X).most_violated(weights, codes, violation)
    np.testing.assert_allclose(parts.direction, whole.direction, rtol=1e-9)
    assert parts.threshold == pytest.approx(whole.threshold)


def test_a_wide_block_of_values_holds_one_code(monkeypatch):
    X, weights, codes, violation = drawn(0)
    whole = CodedDiscriminants(X).most_violated(weights, codes, violation)
    monkeypatch.setattr(coded_discriminants, "_BLOCK_VALUES", 1)
    one = CodedDiscriminants(X).most_violated(weights, codes, violation)
    np.testing.assert_allclose(one.direction, whole.direction, rtol=1e-9)


def test_where_the_data_lie_does_not_matter():
    X, weights, codes, violation = drawn(0)
    here = CodedDiscriminants(X).most_violated(weights, codes, violation)
    there = CodedDiscriminants(X + 1e4).most_violated(weights, codes, violation)
    np.testing.assert_allclose(there.direction, here.direction, rtol=1e-6)
    assert (there(X + 1e4) == here(X)).all()


def test_repeated_and_constant_features():
    """The covariances are singular; the pseudo-inverse halves a direction between twins."""
    X, weights, codes, violation = drawn(0)
    plain = CodedDiscriminants(X).most_violated(weights, codes, violation)
    wide = np.column_stack([X, X[:, 0], np.full(len(X), 3.0)])
    perceptron = CodedDiscriminants(wide).most_violated(weights, codes, violation)
    assert (perceptron(wide) == plain(X)).all()
    halves = plain.direction * [0.5, 1, 1]
    np.testing.assert_allclose(
        perceptron.direction, [*halves, halves[0], 0], atol=1e-9 * np.abs(halves).max()
    )


@pytest.mark.parametrize("seed", range(5))
def test_equal_samples_are_not_parted(seed):
    """Nor is an edge counted that would part them."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(6, 2))
    cell = np.arange(30) % 6
    X, weights = cells[cell], rng.normal(size=(30, 3))
    codes = rng.normal(size=(8, 3)).astype(np.float32)
    h = CodedDiscriminants(X).most_violated(weights, codes, np.zeros(8))(X)
    assert all(len(set(h[cell == c])) == 1 for c in range(6))
    wanted = 0.0
    for code in codes:
        signed = signed_weights(weights, code)
        line = np.round(X @ discriminant(X, signed), 9)[:, None]
        edges = [abs(reference.edge(line, signed, *stump)) for stump in reference.stumps(line)]
        wanted = max(wanted, *edges)
    assert np.abs(codes @ (h @ weights)).max() == pytest.approx(wanted)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [0.0, 1.0, -1e-30])
def test_problems_of_one_side(weight):
    """There is no discriminant to speak of: whatever comes is finite, or nothing."""
    X = drawn(0)[0]
    weights = np.full((len(X), 2), weight)
    codes = np.ones((3, 2), np.float32)
    perceptron = CodedDiscriminants(X).most_violated(weights, codes, np.zeros(3))
    if weight == 0:
        assert perceptron is None
    else:
        assert np.isfinite([*perceptron.direction, perceptron.threshold]).all()


def test_features_that_do_not_vary():
    _, weights, codes, violation = drawn(0)
    search = CodedDiscriminants(np.full((25, 3), 0.1))
    assert search.most_violated(weights, codes, violation) is None
    assert search.best(weights, codes[0]) is None
